#pragma once
// SPDX-License-Identifier: MIT
// Short ways to parse a file in tests, and seeded random files that know what they hold.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../../fuzz/gguf_fuzz.h"
#include "gguf/header.h"
#include "gguf/model_file.h"
#include "support/gguf_writer.h"

namespace layerstream::test {

// Parses a whole file. Anything but a header is a test failure.
[[nodiscard]] inline gguf::Header parse_ok(const Bytes& file) {
  ParseResult result = parse_exact(file, file.size());
  EXPECT_TRUE(result.has_value()) << result.error().message;
  if (!result) return {};
  EXPECT_TRUE(std::holds_alternative<gguf::Header>(*result)) << "NeedMore";
  if (!std::holds_alternative<gguf::Header>(*result)) return {};
  return std::get<gguf::Header>(std::move(*result));
}

// The error of a whole file; its message is empty (a test failure) if there is none.
[[nodiscard]] inline Error parse_error(const Bytes& file) {
  const ParseResult result = parse_exact(file, file.size());
  EXPECT_FALSE(result.has_value());
  return result ? Error{} : result.error();
}

[[nodiscard]] inline bool is_need_more(const ParseResult& result) {
  return result && std::holds_alternative<gguf::NeedMore>(*result);
}

// What a host does: reads longer and longer prefixes until the header is there.
struct GrowingParse {
  ParseResult result;
  std::uint64_t bytes_given = 0;  // sum of all prefixes
  int calls = 0;
};
[[nodiscard]] inline GrowingParse parse_growing(std::span<const std::byte> file, std::uint64_t first = 0) {
  GrowingParse run;
  std::uint64_t prefix_bytes = first;
  do {
    run.result = gguf::Header::parse(file.first(static_cast<std::size_t>(prefix_bytes)), file.size());
    run.bytes_given += prefix_bytes;
    ++run.calls;
    if (is_need_more(run.result)) prefix_bytes = std::get<gguf::NeedMore>(*run.result).prefix_bytes;
  } while (is_need_more(run.result) && run.calls < 64);
  return run;
}

using Random = std::mt19937_64;

// 0 .. bound-1; the same everywhere, which std's distributions are not.
[[nodiscard]] inline std::uint64_t below(Random& random, std::uint64_t bound) { return random() % bound; }

[[nodiscard]] inline std::string random_text(Random& random, std::size_t max_bytes) {
  std::string text(static_cast<std::size_t>(below(random, max_bytes + 1)), '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

template <typename T>
[[nodiscard]] std::vector<T> random_numbers(Random& random) {
  std::vector<T> values(static_cast<std::size_t>(below(random, 9)));
  // Floats with a short mantissa: exact in f32 and f64, never NaN, so that they compare equal.
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) value = static_cast<T>(static_cast<std::int16_t>(random())) / T{16};
    else value = static_cast<T>(random());
  }
  return values;
}

// A file with pairs of all value types and tensors of many types, and the checks that find it all again.
struct RandomFile {
  Bytes bytes;
  std::size_t header_bytes = 0;
  std::vector<std::function<void(const gguf::Header&, const Bytes&)>> checks;
  void check(const gguf::Header& header) const {
    for (const auto& one : checks) one(header, bytes);
  }
};
[[nodiscard]] RandomFile make_random_file(std::uint64_t seed);

// Bytes asked of operator new so far (in the whole test program).
[[nodiscard]] std::size_t allocated_bytes();

}  // namespace layerstream::test
