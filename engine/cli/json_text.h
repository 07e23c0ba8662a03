#pragma once
// SPDX-License-Identifier: MIT
// The two JSON forms the program reads: one string, one array of ids.

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tokenizer/tokenizer.h"

namespace layerstream::cli {

// A JSON string to UTF-8; unpaired surrogate escapes become U+FFFD.
[[nodiscard]] Result<std::string> parse_json_string(std::string_view json);
[[nodiscard]] Result<std::vector<TokenId>> parse_json_ids(std::string_view json);

}  // namespace layerstream::cli
