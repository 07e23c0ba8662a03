// SPDX-License-Identifier: MIT
// The hash is FNV-1a over 64 bits, folded by one multiplication so that the top bits (the bucket) depend on
// all of it.

#include "tokenizer/text_index.h"

#include <algorithm>

namespace layerstream {

std::uint32_t text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
  hash ^= hash >> 32;
  return static_cast<std::uint32_t>((hash * 0x9e3779b97f4a7c15u) >> 32);
}

TextIndex TextIndex::create(std::span<const std::string_view> texts) {
  TextIndex index;
  index.entries_.reserve(texts.size());
  for (std::size_t id = 0; id < texts.size(); ++id) {
    if (!texts[id].empty()) index.entries_.push_back({text_hash(texts[id]), static_cast<std::int32_t>(id)});
  }
  const auto text_of = [&](const Entry& entry) { return texts[static_cast<std::size_t>(entry.id)]; };
  std::sort(index.entries_.begin(), index.entries_.end(), [&](const Entry& a, const Entry& b) {
    if (a.hash != b.hash) return a.hash < b.hash;
    const int order = text_of(a).compare(text_of(b));
    return order != 0 ? order < 0 : a.id < b.id;
  });

  std::uint32_t bucket_bits = 1;
  while (bucket_bits < 24 && (std::size_t{1} << bucket_bits) < index.entries_.size()) ++bucket_bits;
  index.bucket_shift_ = 32 - bucket_bits;
  index.bucket_starts_.assign((std::size_t{1} << bucket_bits) + 1, 0);
  for (const Entry& entry : index.entries_) ++index.bucket_starts_[(entry.hash >> index.bucket_shift_) + 1];
  for (std::size_t i = 1; i < index.bucket_starts_.size(); ++i) index.bucket_starts_[i] += index.bucket_starts_[i - 1];
  return index;
}

std::optional<std::int32_t> TextIndex::find(std::span<const std::string_view> texts, std::string_view text) const {
  if (entries_.empty() || text.empty()) return std::nullopt;
  const std::uint32_t hash = text_hash(text);
  const std::uint32_t bucket = hash >> bucket_shift_;
  const auto begin = entries_.begin() + bucket_starts_[bucket];
  const auto end = entries_.begin() + bucket_starts_[bucket + 1];
  const auto at = std::partition_point(begin, end, [&](const Entry& entry) {
    return entry.hash != hash ? entry.hash < hash : texts[static_cast<std::size_t>(entry.id)] < text;
  });
  if (at == end || at->hash != hash || texts[static_cast<std::size_t>(at->id)] != text) return std::nullopt;
  return at->id;
}

}  // namespace layerstream
