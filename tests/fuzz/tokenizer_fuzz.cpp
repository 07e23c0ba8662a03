// SPDX-License-Identifier: MIT
// libFuzzer entry point of the tokenizer; see tokenizer_fuzz.h for what is checked. Input: one byte (length of
// the text), the text, then a GGUF file. Seeds: any vocabulary file behind a zero byte.
//
//   clang++ -std=c++23 -O1 -g -fsanitize=fuzzer,address,undefined -Iengine \
//     tests/fuzz/tokenizer_fuzz.cpp engine/base/*.cpp engine/gguf/*.cpp engine/tokenizer/*.cpp -o tokenizer_fuzz && ./tokenizer_fuzz corpus/
//
// Needs clang 19 or newer: older ones cannot compile the standard library's std::expected.

#include "tokenizer_fuzz.h"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t text_bytes = std::min<std::size_t>(data[0], size - 1);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), text_bytes);
  const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(data + 1 + text_bytes), size - 1 - text_bytes);
  const std::string problem = layerstream::test::check_tokenizer_file(file, text);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "tokenizer_fuzz: %s\n", problem.c_str());
  std::abort();
}
