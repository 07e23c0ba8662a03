// SPDX-License-Identifier: MIT
// libFuzzer entry point of the GGUF reader; see gguf_fuzz.h for what is checked.
//
//   clang++ -std=c++23 -O1 -g -fsanitize=fuzzer,address,undefined -Iengine \
//     tests/fuzz/gguf_fuzz.cpp engine/gguf/*.cpp -o gguf_fuzz && ./gguf_fuzz corpus/
//
// Needs clang 19 or newer: older ones cannot compile the standard library's std::expected.

#include "gguf_fuzz.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string problem = layerstream::test::check_gguf_file({reinterpret_cast<const std::byte*>(data), size});
  if (problem.empty()) return 0;
  std::fprintf(stderr, "gguf_fuzz: %s\n", problem.c_str());
  std::abort();
}
