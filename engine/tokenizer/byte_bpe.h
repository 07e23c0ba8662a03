#pragma once
// SPDX-License-Identifier: MIT
// The `gpt2` kind: bytes of a piece merge by the rank of the file's merge list.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/error.h"
#include "gguf/metadata.h"
#include "tokenizer/pretokenizers.h"
#include "tokenizer/text_model.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

class ByteBpeModel final : public TextModel {
 public:
  // missing_key without merges; bad_value for a merge that is not two texts; unsupported_tokenizer for an unknown
  // tokenizer.ggml.pre, or none and a vocabulary size that does not tell. The vocabulary must outlive the model.
  [[nodiscard]] static Result<std::unique_ptr<ByteBpeModel>> create(const gguf::Metadata& metadata,
                                                                    const Vocabulary& vocabulary);

  [[nodiscard]] std::string_view kind() const override { return "gpt2"; }
  [[nodiscard]] std::string_view pre_tokenizer() const override { return pre_tokenizer_->name; }
  [[nodiscard]] bool adds_bos() const { return pre_tokenizer_->adds_bos; }
  [[nodiscard]] bool adds_space() const override { return false; }
  void encode(std::string_view text, bool at_start, std::vector<TokenId>& ids, MergeWork& work) const override;
  [[nodiscard]] std::string bytes_of(TokenId id) const override;

 private:
  struct Rule {
    TokenId left;
    TokenId right;
    std::uint32_t rank;
    TokenId result;
  };

  ByteBpeModel(const Vocabulary& vocabulary, const PreTokenizer& pre_tokenizer)
      : vocabulary_(vocabulary), pre_tokenizer_(&pre_tokenizer) {}
  [[nodiscard]] Result<void> read_rules(const gguf::Metadata& metadata);
  [[nodiscard]] std::optional<Merge> find_merge(TokenId left, TokenId right) const;

  const Vocabulary& vocabulary_;
  const PreTokenizer* pre_tokenizer_;
  std::array<TokenId, 256> byte_tokens_{};
  std::vector<Rule> rules_;                // ascending by (left, right), one per pair
  std::vector<std::uint32_t> rule_starts_; // [vocab + 1] of each left token's rules
};

}  // namespace layerstream
