#pragma once
// SPDX-License-Identifier: MIT
// DRY's breakers as texts -> the token sequences that a SamplerConfig takes.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace layerstream {

// The field's usual ones: lines, speakers and markup are to begin alike.
inline constexpr std::array<std::string_view, 4> kUsualDryBreakers = {"\n", ":", "\"", "*"};

// All ways in which tokens can contain or spell each text: every token that contains it, and every token that ends with a
// beginning of it, followed by the longest tokens that spell the rest. bad_argument for texts that are empty or longer
// than 64 bytes; a text that no tokens spell gives no sequence.
[[nodiscard]] Result<std::vector<std::vector<TokenId>>> find_breakers(const Tokenizer& tokenizer, std::span<const std::string> texts);

}  // namespace layerstream
