#pragma once
// SPDX-License-Identifier: MIT
// Finds a token id by its text. Ids sorted by (hash, text, id) behind a bucket table: about one probe for
// ordinary vocabularies, and never worse than a binary search for texts chosen to collide.
// Does not own the texts.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace layerstream {

// Depends on all of the text in all of its bits.
[[nodiscard]] std::uint32_t text_hash(std::string_view text);

class TextIndex {
 public:
  // `texts[id]` is the text of `id`; the views must outlive the index. Empty texts are left out.
  [[nodiscard]] static TextIndex create(std::span<const std::string_view> texts);

  // The lowest id with this text.
  [[nodiscard]] std::optional<std::int32_t> find(std::span<const std::string_view> texts, std::string_view text) const;

 private:
  struct Entry {
    std::uint32_t hash;
    std::int32_t id;
  };

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> bucket_starts_;  // [n_buckets + 1]
  std::uint32_t bucket_shift_ = 31;           // hash >> shift = bucket
};

}  // namespace layerstream
