#pragma once
// SPDX-License-Identifier: MIT
// Pieces of error messages. Names in a file are hostile: they are quoted with everything but printable
// ASCII escaped and long ones shortened, so that a message is one short line whatever the file holds.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace layerstream::gguf {

inline void append_text(std::string& out, std::string_view piece) { out += piece; }
inline void append_text(std::string& out, std::integral auto number) { out += std::to_string(number); }

// Texts and integers, one after the other.
template <typename... Pieces>
[[nodiscard]] std::string join(const Pieces&... pieces) {
  std::string out;
  (append_text(out, pieces), ...);
  return out;
}

// abc -> 'abc'; other bytes as \xHH; beyond 80 bytes: the first 80 and the length.
[[nodiscard]] std::string quoted(std::string_view text);

// [4096,32000]
[[nodiscard]] std::string dims_text(const std::uint64_t* dims, std::uint32_t n_dims);

}  // namespace layerstream::gguf
