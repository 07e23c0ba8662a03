#pragma once
// SPDX-License-Identifier: MIT
// Texts repeat their words. A word (or piece) that was met before in the same text gets its ids by copying them from
// where they stand in the result. A table of fixed size in which the newest word of a slot wins, so texts made to
// collide cost no more than texts without repetition. Owns its words, refers to the
// result by index.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/text_index.h"
#include "tokenizer/tokenizer.h"

namespace layerstream {

class WordCache {
 public:
  explicit WordCache(std::size_t text_bytes) : slots_(std::bit_ceil(std::clamp<std::size_t>(text_bytes / 16, 1, 4096))) {}

  // Appends the ids of `word`: known ones, or those that `encode()` appends.
  template <typename Encode>
  void append(std::string_view word, std::vector<TokenId>& ids, const Encode& encode) {
    const std::size_t begin = ids.size();
    Slot& slot = slots_[text_hash(word) & (slots_.size() - 1)];
    if (slot.word == word) {
      ids.resize(begin + slot.count);
      std::copy_n(ids.begin() + static_cast<std::ptrdiff_t>(slot.begin), slot.count, ids.begin() + static_cast<std::ptrdiff_t>(begin));
      return;
    }
    encode();
    slot.word.assign(word);
    slot.begin = begin;
    slot.count = ids.size() - begin;
  }

 private:
  struct Slot {
    std::string word;  // empty: free (no word is)
    std::size_t begin = 0, count = 0;
  };
  std::vector<Slot> slots_;
};

}  // namespace layerstream
