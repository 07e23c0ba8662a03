#pragma once
// SPDX-License-Identifier: MIT
// The merging that both tokenizer kinds share: neighbouring symbols become one, lowest order first, ties from
// left to right, until no pair can merge. A linked list and a heap: O(n log n) for n symbols.
// A pair that changed after it was queued is recognised by its length and dropped (symbols only grow).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

struct Symbol {
  std::size_t begin = 0;  // in the text
  std::size_t bytes = 0;  // 0: merged into its left neighbour
  TokenId id = kNoToken;
};

struct Merge {
  std::uint32_t order = 0;  // lower comes first
  TokenId result = kNoToken;
};

// Work done, for tests of the worst cases.
struct MergeWork {
  std::size_t symbols = 0;
  std::size_t queued = 0;
};

class MergeList {
 public:
  // `symbols` lie one behind the other. `find(left, right)` gives the merge of two neighbours, if there is one.
  // Afterwards the remaining symbols stand in order at the front and the rest is cut off.
  template <typename Find>
  void merge(std::vector<Symbol>& symbols, const Find& find, MergeWork& work);

 private:
  static constexpr std::size_t kEnd = static_cast<std::size_t>(-1);
  struct Pair {
    std::uint32_t order;
    TokenId result;
    std::size_t left;
    std::size_t right;
    std::size_t bytes;  // of both when queued

    // The heap's top is the greatest: lowest order, then leftmost.
    bool operator<(const Pair& other) const { return order != other.order ? order > other.order : left > other.left; }
  };
  struct Links {
    std::size_t previous;
    std::size_t next;
  };

  // Kept from call to call for their memory.
  std::vector<Pair> queue_;
  std::vector<Links> links_;
};

template <typename Find>
void MergeList::merge(std::vector<Symbol>& symbols, const Find& find, MergeWork& work) {
  const auto queue_pair = [&](std::size_t left, std::size_t right) {
    if (left == kEnd || right == kEnd) return;
    const std::optional<Merge> merge = find(symbols[left], symbols[right]);
    if (!merge) return;
    queue_.push_back({merge->order, merge->result, left, right, symbols[left].bytes + symbols[right].bytes});
    std::push_heap(queue_.begin(), queue_.end());
    ++work.queued;
  };

  const std::size_t count = symbols.size();
  work.symbols += count;
  links_.resize(count);
  for (std::size_t i = 0; i < count; ++i) links_[i] = {i == 0 ? kEnd : i - 1, i + 1 == count ? kEnd : i + 1};
  for (std::size_t i = 1; i < count; ++i) queue_pair(i - 1, i);

  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    const Pair pair = queue_.back();
    queue_.pop_back();
    Symbol& left = symbols[pair.left];
    Symbol& right = symbols[pair.right];
    if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != pair.bytes) continue;

    left.bytes = pair.bytes;
    left.id = pair.result;
    right.bytes = 0;
    const std::size_t next = links_[pair.right].next;
    links_[pair.left].next = next;
    if (next != kEnd) links_[next].previous = pair.left;
    queue_pair(links_[pair.left].previous, pair.left);
    queue_pair(pair.left, next);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.bytes == 0; });
}

}  // namespace layerstream
