#pragma once
// SPDX-License-Identifier: MIT
// Where the time goes, by kind of operation. A host that wants to know owns a Profile and gives it to the session; without
// one, each operation costs a comparison with null. The engine has no clock of its own: the host brings it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace layerstream::runtime {

enum class Operation : std::uint8_t {
  embedding, norm, quantize, rope, attention, activation, residual, experts, logits, sampling, tokenizer, waiting, count,
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Operation::count)> kOperationNames = {
    "embedding",
    "norm",
    "activations to int8",
    "rope, K and V to cache",
    "attention",
    "activation",
    "residual",
    "choice of experts",
    "soft cap, check of logits",
    "sampling",
    "tokenizer",
    "waiting for weights",
};

struct Spent {
  double seconds = 0;
  std::uint64_t calls = 0;
  std::uint64_t work = 0;  // multiply-adds, where that means something
};

struct Profile {
  double (*now)() = nullptr;  // seconds, from any beginning
  std::array<Spent, static_cast<std::size_t>(Operation::count)> operations{};
  std::array<Spent, kTypeInfos.size()> matmul{};  // in the order of kTypeInfos

  [[nodiscard]] Spent& of(Operation operation) { return operations[static_cast<std::size_t>(operation)]; }
  [[nodiscard]] Spent& of(QuantType type) {
    std::size_t index = 0;
    while (kTypeInfos[index].type != type) ++index;
    return matmul[index];
  }
};

// Adds the time of its life to one kind of operation; does nothing where `profile` is null.
class Timed {
 public:
  template <typename Kind>  // Operation, or the QuantType of a matrix
  Timed(Profile* profile, Kind kind, std::uint64_t work = 0) : profile_(profile) {
    if (profile_ == nullptr) return;
    spent_ = &profile_->of(kind);
    spent_->work += work;
    begin_ = profile_->now();
  }
  ~Timed() {
    if (profile_ == nullptr) return;
    spent_->seconds += profile_->now() - begin_;
    ++spent_->calls;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Profile* profile_;
  Spent* spent_ = nullptr;
  double begin_ = 0;
};

}  // namespace layerstream::runtime
