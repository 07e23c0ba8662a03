// SPDX-License-Identifier: MIT
// Replaces operator new of this test program to count what is asked for, so that tests can show that
// hostile counts do not turn into memory.

#include <atomic>
#include <cstdlib>
#include <new>

#include "gguf_test_util.h"

namespace {

std::atomic<std::size_t> g_allocated_bytes{0};  // test program only

void* counted(std::size_t bytes) noexcept {
  g_allocated_bytes += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted_or_abort(std::size_t bytes) {
  void* memory = counted(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

std::size_t layerstream::test::allocated_bytes() { return g_allocated_bytes; }

void* operator new(std::size_t bytes) { return counted_or_abort(bytes); }
void* operator new[](std::size_t bytes) { return counted_or_abort(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
