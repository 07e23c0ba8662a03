#pragma once
// SPDX-License-Identifier: MIT
// Splits a range of rows over threads: a share for each, in chunks, and who is done helps others. Workers spin briefly, then sleep. They never call out of
// the engine, allocate or grow memory. Without LAYERSTREAM_THREADS everything runs inline on the caller.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace layerstream::runtime {

class ThreadPool {
 public:
  // `n_threads` counts the caller too; 0 and 1: no workers.
  explicit ThreadPool(std::uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] std::uint32_t n_threads() const;

  // From now on only so many of them work, at least the caller; the others sleep.
  void use(std::uint32_t n_threads);

  // Calls body(begin, end, thread) over [0, count) in chunks of at most `grain`; returns when all are done.
  // thread in [0, n_threads()). Which thread gets which chunk is not fixed, so results must not depend on it.
  template <typename Body>
  void parallel_for(std::size_t count, std::size_t grain, Body&& body) {
    run(count, grain, [](void* context, std::size_t begin, std::size_t end, std::uint32_t thread) {
      (*static_cast<std::remove_reference_t<Body>*>(context))(begin, end, thread);
    }, &body);
  }

 private:
  using Function = void (*)(void* context, std::size_t begin, std::size_t end, std::uint32_t thread);
  void run(std::size_t count, std::size_t grain, Function function, void* context);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace layerstream::runtime
