// SPDX-License-Identifier: MIT
#include "runtime/thread_pool.h"

#include <algorithm>

#if LAYERSTREAM_THREADS
#include <atomic>
#include <thread>
#include <vector>
#endif

namespace layerstream::runtime {

#if LAYERSTREAM_THREADS

namespace {

// About 20 us of polling: longer than the gap between two lines of a block, far shorter than a time slice.
constexpr int kSpins = 2000;
constexpr std::uint32_t kThreadNumbers = 128;  // more than there are threads

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  std::vector<std::thread> workers;
  // A job is published by a new `generation`, a count with the number of its threads in the low bits; its fields are written
  // before and read after that, and only by those threads, which the caller waits for.
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint32_t> running{0};  // workers that have not finished the current job
  std::atomic<std::size_t> next{0};
  std::uint32_t n_used = 1;
  std::size_t count = 0;
  std::size_t grain = 1;
  Function function = nullptr;
  void* context = nullptr;
  bool stop = false;

  void work(std::uint32_t thread) {
    for (;;) {
      const std::size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) return;
      function(context, begin, std::min(begin + grain, count), thread);
    }
  }

  void serve(std::uint32_t thread) {
    std::uint32_t seen = 0;
    for (;;) {
      const int spins = thread < seen % kThreadNumbers ? kSpins : 0;
      for (int spin = 0; spin < spins && generation.load(std::memory_order_acquire) == seen; ++spin) pause_briefly();
      while (generation.load(std::memory_order_acquire) == seen) generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (thread >= seen % kThreadNumbers) continue;
      if (stop) return;
      work(thread);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) running.notify_one();
    }
  }

  void publish() {
    const std::uint32_t last = generation.load(std::memory_order_relaxed);
    generation.store((last / kThreadNumbers + 1) * kThreadNumbers + n_used, std::memory_order_release);
    generation.notify_all();
  }
};

ThreadPool::ThreadPool(std::uint32_t n_threads) : state_(std::make_unique<State>()) {
  for (std::uint32_t thread = 1; thread < n_threads; ++thread) {
    state_->workers.emplace_back([state = state_.get(), thread] { state->serve(thread); });
  }
  use(n_threads);
}

ThreadPool::~ThreadPool() {
  state_->stop = true;
  use(n_threads());
  state_->publish();
  for (std::thread& worker : state_->workers) worker.join();
}

std::uint32_t ThreadPool::n_threads() const { return static_cast<std::uint32_t>(state_->workers.size()) + 1; }

void ThreadPool::use(std::uint32_t n_threads) { state_->n_used = std::clamp(n_threads, 1u, this->n_threads()); }

void ThreadPool::run(std::size_t count, std::size_t grain, Function function, void* context) {
  grain = std::max<std::size_t>(grain, 1);
  if (state_->n_used == 1 || count <= grain) {
    if (count > 0) function(context, 0, count, 0);
    return;
  }
  state_->count = count;
  state_->grain = grain;
  state_->function = function;
  state_->context = context;
  state_->next.store(0, std::memory_order_relaxed);
  state_->running.store(state_->n_used - 1, std::memory_order_relaxed);
  state_->publish();
  state_->work(0);
  for (int spin = 0; spin < kSpins && state_->running.load(std::memory_order_acquire) != 0; ++spin) pause_briefly();
  for (std::uint32_t left = state_->running.load(std::memory_order_acquire); left != 0;
       left = state_->running.load(std::memory_order_acquire)) {
    state_->running.wait(left, std::memory_order_acquire);
  }
}

#else

struct ThreadPool::State {};

ThreadPool::ThreadPool(std::uint32_t) {}
ThreadPool::~ThreadPool() = default;
std::uint32_t ThreadPool::n_threads() const { return 1; }
void ThreadPool::use(std::uint32_t) {}
void ThreadPool::run(std::size_t count, std::size_t, Function function, void* context) {
  if (count > 0) function(context, 0, count, 0);
}

#endif

}  // namespace layerstream::runtime
