#pragma once
// SPDX-License-Identifier: MIT
// The `llama` kind: characters merge into the token with the best score; what is no token becomes bytes.

#include <array>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "gguf/metadata.h"
#include "tokenizer/text_model.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

class SpmModel final : public TextModel {
 public:
  // missing_key without scores; bad_value if they are too few or not finite. `unknown` stands for bytes that the
  // vocabulary cannot express (kNoToken: they are left out). The vocabulary must outlive the model.
  [[nodiscard]] static Result<std::unique_ptr<SpmModel>> create(const gguf::Metadata& metadata,
                                                                const Vocabulary& vocabulary, TokenId unknown);

  [[nodiscard]] std::string_view kind() const override { return "llama"; }
  [[nodiscard]] std::string_view pre_tokenizer() const override { return ""; }
  [[nodiscard]] std::string_view pre_tokenizer_origin() const override { return ""; }
  [[nodiscard]] bool adds_space() const override { return adds_space_; }
  void encode(std::string_view text, bool at_start, std::vector<TokenId>& ids, EncodeState& state) const override;
  [[nodiscard]] std::string bytes_of(TokenId id) const override;

 private:
  explicit SpmModel(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}
  void find_byte_tokens(TokenId unknown);
  void encode_word(std::string_view word, std::vector<TokenId>& ids, EncodeState& state) const;

  const Vocabulary& vocabulary_;
  std::vector<std::uint32_t> merge_order_;   // [vocab] falls as the score rises
  std::array<TokenId, 256> byte_tokens_{};
  bool adds_space_ = true;
  bool removes_extra_spaces_ = false;
  bool words_are_separate_ = true;  // no token reaches over the start of a word
};

}  // namespace layerstream
