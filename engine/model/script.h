#pragma once
// SPDX-License-Identifier: MIT
// How a stage runs although its weights may not be there yet. A stage is a list of lines; when a line lacks a unit the
// script stops, and the whole list is replayed later: lines that are finished are skipped by number, so the code of a
// block reads straight through, keeps no state of its own and allocates nothing.

#include <cstdint>
#include <initializer_list>

#include "kernels/activations.h"
#include "model/batch.h"
#include "model/weights.h"
#include "runtime/profile.h"
#include "runtime/thread_pool.h"
#include "stream/residency.h"

namespace layerstream::model {

using runtime::Operation;

enum class Halt {
  none,          // the stage ran through
  needs_weights, // the residency was told which (want)
  paused,        // the work limit was reached
};

// The input of a matrix product: n vectors of `length`, as floats and, once quantised, as int8.
struct Input {
  const float* values = nullptr;
  std::size_t length = 0;
  std::size_t n = 0;
};

class Script {
 public:
  Script(stream::Residency& residency, runtime::ThreadPool& pool, Batch& batch) : residency_(residency), pool_(pool), batch_(batch) {}

  // Forgets the finished lines: the next run starts a stage from its first line.
  void new_stage() { done_ = 0, unit_ = 0; }
  // Starts a (re)play. `max_work`: multiply-adds after which it pauses.
  void replay(std::uint64_t max_work) { at_ = 0, halt_ = Halt::none, work_left_ = max_work; }
  [[nodiscard]] Halt halt() const { return halt_; }
  [[nodiscard]] std::uint64_t work_left() const { return work_left_; }
  [[nodiscard]] runtime::ThreadPool& pool() { return pool_; }

  // Not owned; null (the beginning): nothing is measured.
  void set_profile(runtime::Profile* profile) { profile_ = profile; }

  // One line that needs no weights. `work` in multiply-adds, roughly.
  template <typename Body>
  void line(Operation operation, std::uint64_t work, Body&& body) {
    if (!enter()) return;
    {
      const runtime::Timed timed(profile_, operation, work);
      body();
    }
    finish_line();
    spend(work);
  }

  // The int8 form of an input, made once if any of the matrices needs it.
  Input input(const float* values, std::size_t length, std::size_t n, std::initializer_list<const Matrix*> matrices);

  // y[e][r] = scale * (m x[e])[r] + bias[r] for all entries of the input; y is [n, m.rows]. An absent matrix does nothing.
  void matmul(const Matrix& m, const Input& x, float* y);

  // hidden = activation(gate x) * (up x), or activation(up x) without a gate; slice by slice. hidden is [n, up.rows].
  void gated(const Matrix& gate, const Matrix& up, Activation activation, const Input& x, float* gate_slice, float* hidden);

  // Says that all units of a matrix will be needed, so that a host can fetch them together.
  void want_all(const Matrix& m);

 private:
  [[nodiscard]] bool enter() { return halt_ == Halt::none && at_++ >= done_; }
  void finish_line() { ++done_, unit_ = 0; }
  void spend(std::uint64_t work) {
    if (work >= work_left_) {
      work_left_ = 0;
      halt_ = Halt::paused;
    } else {
      work_left_ -= work;
    }
  }
  // The bytes of unit `unit`, or nullptr after asking for it and halting.
  [[nodiscard]] const std::byte* fetch(const Matrix& m, std::uint32_t unit);
  void multiply(const Matrix& m, std::uint32_t unit, const std::byte* data, const Input& x, float* y, std::size_t y_stride);

  stream::Residency& residency_;
  runtime::ThreadPool& pool_;
  Batch& batch_;
  runtime::Profile* profile_ = nullptr;
  std::uint32_t done_ = 0;  // finished lines of this stage
  std::uint32_t at_ = 0;    // lines met in this replay
  std::uint32_t unit_ = 0;  // finished units of the line at hand
  std::uint64_t work_left_ = 0;
  Halt halt_ = Halt::none;
};

}  // namespace layerstream::model
