// SPDX-License-Identifier: MIT
// One walk finds the longest token at each place. Places are then settled by falling length; where a place
// loses only its end to a longer neighbour, it is tried again with its next shorter token.

#include "tokenizer/special_split.h"

#include <algorithm>

namespace layerstream {
namespace {

bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

SpecialSplitter::SpecialSplitter(const Vocabulary& vocabulary, const std::function<bool(TokenId)>& swallows_space) {
  nodes_.emplace_back();
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    const TokenType type = vocabulary.type(id);
    const bool always = type == TokenType::user_defined;
    if (!always && type != TokenType::control && type != TokenType::unknown) continue;
    const std::string_view text = vocabulary.text(id);
    if (text.empty()) continue;
    add(text, {id, static_cast<std::uint32_t>(text.size()), always, swallows_space(id)});
  }
  // Children come after their parents, so one pass hands the links down.
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    const std::uint32_t nearest = nodes_[node].token_index != 0 ? node : nodes_[node].shorter;
    for (std::uint32_t at = nodes_[node].first_child; at != 0; at = nodes_[at].next_sibling) nodes_[at].shorter = nearest;
  }
}

void SpecialSplitter::add(std::string_view text, Token token) {
  std::uint32_t node = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    std::uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      std::uint32_t& head = node == 0 ? first_bytes_[byte] : nodes_[node].first_child;
      const Node fresh{.next_sibling = head, .byte = byte};
      head = next;
      nodes_.push_back(fresh);
    }
    node = next;
  }
  if (nodes_[node].token_index != 0) return;  // the same text again: the first one counts
  tokens_.push_back(token);
  nodes_[node].token_index = static_cast<std::uint32_t>(tokens_.size());
}

std::uint32_t SpecialSplitter::child(std::uint32_t node, std::uint8_t byte) const {
  if (node == 0) return first_bytes_[byte];
  std::uint32_t at = nodes_[node].first_child;
  while (at != 0 && nodes_[at].byte != byte) at = nodes_[at].next_sibling;
  return at;
}

std::uint32_t SpecialSplitter::longest_match(std::string_view text, bool parse_special) const {
  std::uint32_t longest = 0;
  std::uint32_t node = 0;
  for (const char c : text) {
    node = child(node, static_cast<std::uint8_t>(c));
    if (node == 0) break;
    if (nodes_[node].token_index != 0 && (parse_special || token_at(node).always)) longest = node;
  }
  return longest;
}

std::uint32_t SpecialSplitter::shorter_match(std::uint32_t node, bool parse_special) const {
  do {
    node = nodes_[node].shorter;
  } while (node != 0 && !parse_special && !token_at(node).always);
  return node;
}

// Settles the matches of one text.
class SpecialSplitter::Cutter {
 public:
  Cutter(const SpecialSplitter& splitter, std::string_view text, bool parse_special)
      : splitter_(splitter), text_(text), parse_special_(parse_special) {}

  std::vector<Fragment> cut() {
    for (std::size_t begin = 0; begin < text_.size(); ++begin) {
      if (splitter_.first_bytes_[static_cast<std::uint8_t>(text_[begin])] == 0) continue;
      push(splitter_.longest_match(text_.substr(begin), parse_special_), begin);
    }
    if (!queue_.empty()) taken_.resize(text_.size());
    while (!queue_.empty()) settle();
    return fragments();
  }

 private:
  struct Match {
    std::uint32_t bytes;
    TokenId id;
    std::size_t begin;
    std::uint32_t node;

    // The heap's top is the greatest: longest, then lowest id, then leftmost.
    bool operator<(const Match& other) const {
      if (bytes != other.bytes) return bytes < other.bytes;
      return id != other.id ? id > other.id : begin > other.begin;
    }
  };

  void push(std::uint32_t node, std::size_t begin) {
    if (node == 0) return;
    const Token& token = splitter_.token_at(node);
    queue_.push_back({token.bytes, token.id, begin, node});
    std::push_heap(queue_.begin(), queue_.end());
  }

  // All that was taken before is at least as long, so an overlap covers the first or the last byte of a match.
  void settle() {
    std::pop_heap(queue_.begin(), queue_.end());
    const Match match = queue_.back();
    queue_.pop_back();
    std::size_t end = match.begin + match.bytes;
    if (taken_[match.begin]) return;
    if (taken_[end - 1]) return push(splitter_.shorter_match(match.node, parse_special_), match.begin);
    if (splitter_.token_at(match.node).swallows_space) {
      while (end < text_.size() && !taken_[end] && is_ascii_space(text_[end])) ++end;
    }
    for (std::size_t i = match.begin; i < end; ++i) taken_[i] = true;
    cuts_.push_back({match.begin, end - match.begin, match.id});
  }

  std::vector<Fragment> fragments() {
    std::ranges::sort(cuts_, {}, &Fragment::begin);
    std::vector<Fragment> out;
    std::size_t at = 0;
    for (const Fragment& cut : cuts_) {
      if (cut.begin > at) out.push_back({at, cut.begin - at, kNoToken});
      out.push_back(cut);
      at = cut.begin + cut.bytes;
    }
    if (at < text_.size()) out.push_back({at, text_.size() - at, kNoToken});
    return out;
  }

  const SpecialSplitter& splitter_;
  std::string_view text_;
  bool parse_special_;
  std::vector<Match> queue_;
  std::vector<bool> taken_;  // per byte of the text
  std::vector<Fragment> cuts_;
};

std::vector<Fragment> SpecialSplitter::split(std::string_view text, bool parse_special) const {
  return Cutter(*this, text, parse_special).cut();
}

}  // namespace layerstream
