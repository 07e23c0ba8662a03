#pragma once
// SPDX-License-Identifier: MIT
// Errors are values. Every fallible function of the engine returns Result<T>; nothing throws,
// prints or exits. Codes name causes a caller can act on; the message carries names and numbers.
// This enum is the single source of the codes: web/src/errors.ts mirrors it (a test compares both).

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace layerstream {

// X(name, meaning)
#define LAYERSTREAM_ERROR_CODES(X)                                                       \
  X(bad_magic, "the file does not begin with GGUF")                                      \
  X(unsupported_version, "a GGUF version or byte order that is not read")                \
  X(bad_file, "the file contradicts itself or its format")                               \
  X(truncated, "the file ends before what its header announces")                         \
  X(missing_key, "a metadata key the model needs is absent")                             \
  X(bad_value, "a metadata value has a wrong type or an impossible value")               \
  X(missing_tensor, "a tensor the model needs is absent")                                \
  X(shape_mismatch, "a tensor has another shape than the config asks for")               \
  X(unsupported_arch, "an architecture that is not implemented")                         \
  X(unsupported_quant, "a tensor type that is not implemented")                          \
  X(unsupported_tokenizer, "a tokenizer model or pre-tokenizer that is not implemented") \
  X(bad_argument, "a caller's argument is out of range")                                 \
  X(context_full, "more tokens than the context holds")                                  \
  X(budget_too_small, "the smallest plan needs more memory than the budget")             \
  X(out_of_memory, "an allocation failed")                                               \
  X(io_failed, "a read failed or came back short")                                       \
  X(non_finite, "the logits are not finite numbers")                                     \
  X(no_candidates, "every token is banned or masked")                                    \
  X(cancelled, "the caller cancelled")                                                   \
  X(internal, "our bug")

enum class ErrorCode {
#define LAYERSTREAM_X(name, meaning) name,
  LAYERSTREAM_ERROR_CODES(LAYERSTREAM_X)
#undef LAYERSTREAM_X
};

[[nodiscard]] constexpr std::string_view error_code_name(ErrorCode code) {
  switch (code) {
#define LAYERSTREAM_X(name, meaning) \
  case ErrorCode::name:              \
    return #name;
    LAYERSTREAM_ERROR_CODES(LAYERSTREAM_X)
#undef LAYERSTREAM_X
  }
  return "internal";
}

struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  // one sentence with names and numbers: "blk.0.attn_q.weight is [64,64], expected [64,32]"
};

template <typename T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorCode code, std::string message) {
  return std::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace layerstream

// Value of a Result, or return its error from the enclosing function. `auto x = LS_TRY(f());`
// (A statement expression: both compilers we build with have it.)
#define LS_TRY(expression) LS_TRY_NAMED(expression, LS_CONCAT(ls_try_result_, __COUNTER__))
#define LS_TRY_NAMED(expression, name)                                \
  __extension__({                                                     \
    auto name = (expression);                                         \
    if (!name) return std::unexpected(std::move(name).error());       \
    std::move(*name);                                                 \
  })
#define LS_CONCAT(a, b) LS_CONCAT_EXPANDED(a, b)
#define LS_CONCAT_EXPANDED(a, b) a##b

// The same for Result<void>.
#define LS_CHECK(expression) LS_CHECK_NAMED(expression, LS_CONCAT(ls_check_result_, __COUNTER__))
#define LS_CHECK_NAMED(expression, name)                              \
  do {                                                                \
    auto name = (expression);                                         \
    if (!name) return std::unexpected(std::move(name).error());       \
  } while (false)
