#pragma once
// SPDX-License-Identifier: MIT
// The commands of the program (contract: docs/cli.md). Each gets the arguments after its name.

#include <span>

#include "base/error.h"

namespace layerstream::cli {

Result<void> inspect(std::span<char* const> arguments);
Result<void> tokenize(std::span<char* const> arguments);
Result<void> detokenize(std::span<char* const> arguments);
Result<void> logits(std::span<char* const> arguments);
Result<void> generate(std::span<char* const> arguments);
Result<void> bench(std::span<char* const> arguments);
Result<void> perplexity(std::span<char* const> arguments);

}  // namespace layerstream::cli
