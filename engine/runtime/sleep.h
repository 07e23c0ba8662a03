#pragma once
// SPDX-License-Identifier: MIT
// Sleeping until another thread changes a number. std::atomic's wait does this natively; in Emscripten's library it polls the
// clock and then sleeps for up to 8 ms at a time, so that waking is late and an idle thread is never at rest. The instructions
// behind Atomics.wait and Atomics.notify do what is meant (WebAssembly threads proposal).

#include <atomic>
#include <cstdint>

namespace layerstream::runtime {

using Word = std::atomic<std::uint32_t>;

// Until it is no longer `value`; may return earlier.
inline void sleep_while(Word& word, std::uint32_t value) {
#if defined(__wasm__)
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&word), static_cast<int>(value), -1);
#else
  word.wait(value);
#endif
}

// All that sleep on the word, after it was changed.
inline void wake_all(Word& word) {
#if defined(__wasm__)
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&word), ~0u);
#else
  word.notify_all();
#endif
}

}  // namespace layerstream::runtime
