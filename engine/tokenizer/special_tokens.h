#pragma once
// SPDX-License-Identifier: MIT
// Which ids begin and end texts and turns: from metadata where it says so, else by the token's text.

#include <string_view>

#include "base/error.h"
#include "gguf/metadata.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

// What holds where the file has no key.
struct SpecialDefaults {
  TokenId bos = kNoToken;
  TokenId eos = kNoToken;
  TokenId unk = kNoToken;
  bool add_bos = false;
};

// Ids outside the vocabulary mean "none", in the file as in the defaults.
[[nodiscard]] Result<SpecialTokens> read_special_tokens(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                                        const SpecialDefaults& defaults);

// Whether the text is one that only special tokens have: `<|...|>`, `<pad>`, `<unusedN>`, `</s>`, ... The vocabulary
// matters for `</s>`, which is mere HTML where the text's end has another name (Gemma's `<eos>`).
[[nodiscard]] bool looks_special(const Vocabulary& vocabulary, std::string_view text);

}  // namespace layerstream
