#pragma once
// SPDX-License-Identifier: MIT
// Reads a GGUF header front to back from the first bytes of its file. Three ways a step can end: a value;
// the prefix is too short (more of the file has to be fetched); an error (the *file* is too short, or wrong).
// Never looks outside the prefix and allocates nothing but error messages.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "gguf/limits.h"

namespace layerstream::gguf {

static_assert(std::endian::native == std::endian::little, "values are copied from the file as they lie");

// Why a step gave no value: the prefix ends before byte `need_bytes`, or (need_bytes = 0) `error`.
struct Stop {
  Error error;
  std::uint64_t need_bytes = 0;
  [[nodiscard]] bool is_error() const { return need_bytes == 0; }
};

template <typename T>
using Step = std::expected<T, Stop>;

[[nodiscard]] inline std::unexpected<Stop> stop(ErrorCode code, std::string message) {
  return std::unexpected<Stop>(Stop{Error{code, std::move(message)}, 0});
}

class Cursor {
 public:
  // `prefix` is not longer than the file and outlives the cursor and every view taken from it.
  Cursor(std::span<const std::byte> prefix, std::uint64_t file_bytes) : prefix_(prefix), file_bytes_(file_bytes) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t file_bytes_left() const { return file_bytes_ - position_; }
  // Everything taken since `begin` (an earlier position).
  [[nodiscard]] std::span<const std::byte> since(std::uint64_t begin) const {
    return prefix_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(position_ - begin));
  }

  // The next `bytes` bytes; `what` names them in errors.
  [[nodiscard]] Step<std::span<const std::byte>> take(std::uint64_t bytes, std::string_view what) {
    if (bytes > file_bytes_left()) return stop_truncated(bytes, what);
    const std::uint64_t end = position_ + bytes;
    if (end > kMaxHeaderBytes) return stop_too_long(what);
    if (end > prefix_.size()) return std::unexpected<Stop>(Stop{{}, end});
    const auto taken = prefix_.subspan(static_cast<std::size_t>(position_), static_cast<std::size_t>(bytes));
    position_ = end;
    return taken;
  }

  template <typename T>
  [[nodiscard]] Step<T> number(std::string_view what) {
    static_assert(std::is_arithmetic_v<T>);
    const auto bytes = LS_TRY(take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  // A u64 length, then that many bytes.
  [[nodiscard]] Step<std::string_view> string(std::uint64_t max_bytes, std::string_view what) {
    const std::uint64_t length = LS_TRY(number<std::uint64_t>(what));
    if (length > max_bytes) return stop_long_string(length, max_bytes, what);
    const auto bytes = LS_TRY(take(length, what));
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

 private:
  // Out of line: messages are built on the way out only.
  [[nodiscard]] std::unexpected<Stop> stop_truncated(std::uint64_t bytes, std::string_view what) const;
  [[nodiscard]] std::unexpected<Stop> stop_too_long(std::string_view what) const;
  [[nodiscard]] std::unexpected<Stop> stop_long_string(std::uint64_t length, std::uint64_t max_bytes,
                                                       std::string_view what) const;

  std::span<const std::byte> prefix_;
  std::uint64_t file_bytes_;
  std::uint64_t position_ = 0;
};

}  // namespace layerstream::gguf
