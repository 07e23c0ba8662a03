#pragma once
// SPDX-License-Identifier: MIT
// Cuts the texts of special tokens out of a text before a tokenizer kind sees the rest.
// The longest token wins wherever it stands, not the leftmost: <|a|><|b|> holding a token `|><|` is cut there
// if that is the longest. Equally long ones: the lower id first; occurrences of one token from left to right.
// Work is linear in the text (times the longest run of tokens that are prefixes of each other).

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

// A stretch of the text: one special token, or (token == kNoToken) text between them, never empty.
struct Fragment {
  std::size_t begin = 0;
  std::size_t bytes = 0;
  TokenId token = kNoToken;
};

class SpecialSplitter {
 public:
  // Tokens for which `swallows_space` is true take the ASCII white space behind them with them.
  SpecialSplitter(const Vocabulary& vocabulary, const std::function<bool(TokenId)>& swallows_space);

  // User-defined tokens always; control and unknown tokens only with `parse_special`.
  [[nodiscard]] std::vector<Fragment> split(std::string_view text, bool parse_special) const;

 private:
  // Trie over the token texts. Children of a node form a list.
  struct Node {
    std::uint32_t first_child = 0;   // 0: none (the root is nobody's child)
    std::uint32_t next_sibling = 0;
    std::uint32_t token_index = 0;   // 1-based position in tokens_; 0: no token ends here
    std::uint32_t shorter = 0;       // the nearest ancestor where a token ends; 0: none
    std::uint8_t byte = 0;
  };
  struct Token {
    TokenId id = kNoToken;
    std::uint32_t bytes = 0;
    bool always = false;          // also without parse_special
    bool swallows_space = false;
  };
  class Cutter;

  void add(std::string_view text, Token token);
  [[nodiscard]] std::uint32_t child(std::uint32_t node, std::uint8_t byte) const;
  // Nodes where a token ends (0: none): the longest one that may be used and begins `text`, and the longest one
  // that is shorter than that of `node`.
  [[nodiscard]] std::uint32_t longest_match(std::string_view text, bool parse_special) const;
  [[nodiscard]] std::uint32_t shorter_match(std::uint32_t node, bool parse_special) const;
  [[nodiscard]] const Token& token_at(std::uint32_t node) const { return tokens_[nodes_[node].token_index - 1]; }

  std::vector<Node> nodes_;
  std::vector<Token> tokens_;
  std::array<std::uint32_t, 256> first_bytes_{};  // children of the root
};

}  // namespace layerstream
