#pragma once
// SPDX-License-Identifier: MIT
// The `gpt2` kind: bytes of a piece merge by the rank of the file's merge list.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/metadata.h"
#include "tokenizer/pretokenizers.h"
#include "tokenizer/text_model.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

class ByteBpeModel final : public TextModel {
 public:
  // missing_key without merges; bad_value for a merge that is not two texts; unsupported_tokenizer for an unknown
  // pre-tokenizer. `pre_tokenizer`: instead of the file's; empty: the file's. A file without one is guessed by its
  // vocabulary size, or gets "default". The vocabulary must outlive the model.
  [[nodiscard]] static Result<std::unique_ptr<ByteBpeModel>> create(const gguf::Metadata& metadata, const Vocabulary& vocabulary,
                                                                    std::string_view pre_tokenizer = {});

  [[nodiscard]] std::string_view kind() const override { return "gpt2"; }
  [[nodiscard]] std::string_view pre_tokenizer() const override { return pre_tokenizer_.rules->name; }
  [[nodiscard]] std::string_view pre_tokenizer_origin() const override { return pre_tokenizer_.origin; }
  [[nodiscard]] bool adds_bos() const { return pre_tokenizer_.rules->adds_bos; }
  [[nodiscard]] bool adds_space() const override { return false; }
  void encode(std::string_view text, bool at_start, std::vector<TokenId>& ids, EncodeState& state) const override;
  [[nodiscard]] std::string bytes_of(TokenId id) const override;

 private:
  struct ChosenPreTokenizer {
    const PreTokenizer* rules;
    std::string_view origin;
  };
  struct Rule {
    TokenId left;
    TokenId right;
    std::uint32_t rank;
    TokenId result;
  };

  ByteBpeModel(const Vocabulary& vocabulary, ChosenPreTokenizer pre_tokenizer)
      : vocabulary_(vocabulary), pre_tokenizer_(pre_tokenizer) {}
  [[nodiscard]] static Result<ChosenPreTokenizer> choose_pre_tokenizer(const gguf::Metadata& metadata, std::size_t vocab_size,
                                                                       std::string_view asked);
  [[nodiscard]] Result<void> read_rules(const gguf::Metadata& metadata);
  [[nodiscard]] std::optional<Merge> find_merge(TokenId left, TokenId right) const;
  void encode_piece(std::string_view piece, std::vector<TokenId>& ids, EncodeState& state) const;

  const Vocabulary& vocabulary_;
  ChosenPreTokenizer pre_tokenizer_;
  std::array<TokenId, 256> byte_tokens_{};
  std::vector<Rule> rules_;                // ascending by (left, right), one per pair
  std::vector<std::uint32_t> rule_starts_; // [vocab + 1] of each left token's rules
};

}  // namespace layerstream
