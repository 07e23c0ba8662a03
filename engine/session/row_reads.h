#pragma once
// SPDX-License-Identifier: MIT
// Embedding rows of a pass that are read on demand: a 256k-row table must not be a memory floor.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace layerstream {

class RowReads {
 public:
  struct Row {
    std::uint32_t part = 0;
    std::uint64_t offset = 0;
    std::span<std::byte> into;
  };

  void clear() { rows_.clear(), state_.clear(), next_ = 0, pending_ = 0; }
  void add(const Row& row) {
    rows_.push_back(row);
    state_.push_back(State::absent);
    ++pending_;
  }
  [[nodiscard]] bool all_there() const { return pending_ == 0; }
  // A cancelled pass may leave reads behind; their destination is the batch, so the next pass has to wait for them.
  [[nodiscard]] bool any_in_flight() const { return std::find(state_.begin(), state_.end(), State::in_flight) != state_.end(); }
  // Nothing more is asked for; reads in flight stay known until they end.
  void abandon() {
    std::replace(state_.begin(), state_.end(), State::absent, State::there);
    next_ = rows_.size();
  }

  [[nodiscard]] std::optional<std::size_t> next_read() {
    while (next_ < rows_.size() && state_[next_] != State::absent) ++next_;
    if (next_ == rows_.size()) return std::nullopt;
    state_[next_] = State::in_flight;
    return next_++;
  }
  [[nodiscard]] const Row& row(std::size_t index) const { return rows_[index]; }
  [[nodiscard]] bool in_flight(std::size_t index) const { return index < rows_.size() && state_[index] == State::in_flight; }
  void complete(std::size_t index) {
    state_[index] = State::there;
    --pending_;
  }
  void fail_read(std::size_t index) {
    state_[index] = State::absent;
    next_ = std::min(next_, index);
  }

 private:
  enum class State : std::uint8_t { absent, in_flight, there };
  std::vector<Row> rows_;
  std::vector<State> state_;
  std::size_t next_ = 0;
  std::size_t pending_ = 0;
};

}  // namespace layerstream
