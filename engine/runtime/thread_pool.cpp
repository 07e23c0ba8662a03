// SPDX-License-Identifier: MIT
#include "runtime/thread_pool.h"

#include <algorithm>

#if LAYERSTREAM_THREADS
#include <atomic>
#include <thread>
#include <vector>

#include "runtime/sleep.h"
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
#elif defined(__wasm__)
  std::atomic_thread_fence(std::memory_order_seq_cst);  // there is no pause; a fence takes about as long
#endif
}

// Returns when the word is no longer `value`.
void wait_while(Word& word, std::uint32_t value, int spins) {
  for (int spin = 0; spin < spins && word.load(std::memory_order_acquire) == value; ++spin) pause_briefly();
  while (word.load(std::memory_order_acquire) == value) sleep_while(word, value);
}

}  // namespace

struct ThreadPool::State {
  // The part of a job that a thread begins with: it works through it from the front, and so does who has finished his own. So
  // each thread reads one stretch of memory for most of the time; the prefetchers of two that take turns fetch for each other.
  struct alignas(64) Share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  std::vector<std::thread> workers;
  std::vector<Share> shares;
  // A job is published by a new `generation`, a count with the number of its threads in the low bits; its fields are written
  // before and read after that, and only by those threads, which the caller waits for.
  alignas(64) Word generation{0};
  alignas(64) Word running{0};  // workers that have not finished the current job
  std::uint32_t n_used = 1;
  std::size_t grain = 1;
  Function function = nullptr;
  void* context = nullptr;
  bool stop = false;

  void divide(std::size_t count) {
    const std::size_t n_grains = count / grain + (count % grain != 0);
    std::size_t begin = 0;
    for (std::uint32_t thread = 0; thread < n_used; ++thread) {
      shares[thread].next.store(begin, std::memory_order_relaxed);
      const std::size_t grains = n_grains / n_used + (thread < n_grains % n_used);
      begin = std::min(begin + grains * grain, count);
      shares[thread].end = begin;
    }
  }

  void work_on(Share& share, std::uint32_t thread) {
    for (;;) {
      const std::size_t begin = share.next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= share.end) return;
      function(context, begin, std::min(begin + grain, share.end), thread);
    }
  }

  void work(std::uint32_t thread) {
    for (std::uint32_t i = 0; i < n_used; ++i) work_on(shares[(thread + i) % n_used], thread);
  }

  void serve(std::uint32_t thread) {
    std::uint32_t seen = 0;
    for (;;) {
      const int spins = thread < seen % kThreadNumbers ? kSpins : 0;
      wait_while(generation, seen, spins);
      seen = generation.load(std::memory_order_acquire);
      if (thread >= seen % kThreadNumbers) continue;
      if (stop) return;
      work(thread);
      if (running.fetch_sub(1, std::memory_order_acq_rel) == 1) wake_all(running);
    }
  }

  void publish() {
    const std::uint32_t last = generation.load(std::memory_order_relaxed);
    generation.store((last / kThreadNumbers + 1) * kThreadNumbers + n_used, std::memory_order_release);
    wake_all(generation);
  }
};

ThreadPool::ThreadPool(std::uint32_t n_threads) : state_(std::make_unique<State>()) {
  state_->shares = std::vector<State::Share>(std::max(n_threads, 1u));
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
  state_->grain = grain;
  state_->function = function;
  state_->context = context;
  state_->divide(count);
  state_->running.store(state_->n_used - 1, std::memory_order_relaxed);
  state_->publish();
  state_->work(0);
  for (std::uint32_t left = state_->n_used - 1; left != 0; left = state_->running.load(std::memory_order_acquire)) {
    wait_while(state_->running, left, kSpins);
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
