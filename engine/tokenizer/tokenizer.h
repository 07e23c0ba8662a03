#pragma once
// SPDX-License-Identifier: MIT
// Text <-> token ids for the two tokenizer kinds of the nine families: `llama` (SentencePiece-type
// merges by score with byte fallback) and `gpt2` (byte-level BPE). Everything else is refused by name.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "gguf/metadata.h"

namespace layerstream {

using TokenId = std::int32_t;

// Values of tokenizer.ggml.token_type.
enum class TokenType : std::int32_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct TokenizerOptions {
  std::string pre_tokenizer;  // instead of the file's tokenizer.ggml.pre (gpt2 kind only); empty: the file's
};

struct EncodeOptions {
  bool add_special = false;    // BOS / EOS as the file asks
  bool parse_special = false;  // recognise the text of control tokens (for template text, never for user text)
  bool bos_once = false;       // with both: no second BOS before a text that spells one itself
};

struct SpecialTokens {
  std::optional<TokenId> bos, eos, eot, eom, unk, pad;
  bool add_bos = false;
  bool add_eos = false;
  std::vector<TokenId> end_of_generation;  // ascending; eos, eot, eom and known end-of-turn texts
};

class Tokenizer {
 public:
  // Copies what it needs: the metadata may be dropped afterwards.
  [[nodiscard]] static Result<std::unique_ptr<Tokenizer>> create(const gguf::Metadata& metadata,
                                                                 const TokenizerOptions& options = {});
  ~Tokenizer();

  [[nodiscard]] std::string_view kind() const;           // "llama" or "gpt2"
  [[nodiscard]] std::string_view pre_tokenizer() const;  // "gpt-2", ...; "" for llama
  [[nodiscard]] std::string_view pre_tokenizer_origin() const;  // who says so, for people; "" for llama
  // `text` is any bytes; invalid UTF-8 is kept byte for byte where the vocabulary can express it.
  [[nodiscard]] std::vector<TokenId> encode(std::string_view text, EncodeOptions options) const;
  [[nodiscard]] std::size_t vocab_size() const;  // number of tokens in the file
  [[nodiscard]] std::string_view token_text(TokenId id) const;  // as stored; "" out of range
  [[nodiscard]] TokenType token_type(TokenId id) const;  // `unused` out of range
  [[nodiscard]] const SpecialTokens& special() const;
  [[nodiscard]] bool is_end_of_generation(TokenId id) const;
  // encode() puts a space before text, which decoding takes off again (SentencePiece's dummy prefix).
  [[nodiscard]] bool adds_space_prefix() const;

  // The bytes a token stands for (may be part of a UTF-8 sequence). Control tokens give "" unless asked for.
  // Out-of-range ids give "".
  [[nodiscard]] std::string token_bytes(TokenId id, bool with_control) const;
  // All at once; the one leading space that add_space_prefix put there is taken off again. Valid UTF-8.
  [[nodiscard]] std::string decode(const std::vector<TokenId>& ids, bool with_control) const;

 private:
  struct Parts;  // vocabulary, special tokens and the kind's model; immutable after create()
  explicit Tokenizer(std::unique_ptr<const Parts> parts);

  std::unique_ptr<const Parts> parts_;
};

// Joins token bytes to text that never ends inside a UTF-8 sequence. A byte that can no longer become part
// of a sequence is emitted as U+FFFD as soon as that is certain; what is pending at the end becomes U+FFFD in finish().
class Utf8Stream {
 public:
  // Returns the text that became complete.
  [[nodiscard]] std::string push(std::string_view bytes);
  [[nodiscard]] std::string finish();

 private:
  std::string pending_;  // at most 3 bytes
};

// The text of an answer, token by token: never half a character, control tokens left out. Where nothing but control
// tokens stood before it (a bare BOS), the space in front of the first word is the prefix of the tokenizer, not text.
class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  void begin(bool at_text_start) { drop_space_ = at_text_start && tokenizer_.adds_space_prefix(); }
  [[nodiscard]] std::string push(TokenId id);
  // What is pending; the stream can be begun again.
  [[nodiscard]] std::string finish();

 private:
  const Tokenizer& tokenizer_;
  Utf8Stream utf8_;
  bool drop_space_ = false;
};

}  // namespace layerstream
