// SPDX-License-Identifier: MIT
// What both kinds share: special tokens are cut out first, the kind's model does the rest.

#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "gguf/message_text.h"
#include "tokenizer/byte_bpe.h"
#include "tokenizer/special_split.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/spm.h"
#include "tokenizer/text_model.h"
#include "tokenizer/vocabulary.h"

namespace layerstream {

struct Tokenizer::Parts {
  explicit Parts(Vocabulary v) : vocabulary(std::move(v)) {}

  const Vocabulary vocabulary;
  SpecialTokens special;
  std::unique_ptr<const TextModel> model;           // refers to `vocabulary`
  std::unique_ptr<const SpecialSplitter> splitter;
};

namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";

bool contains_ignoring_case(std::string_view text, std::string_view lower) {
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b; };
  return !std::ranges::search(text, lower, same).empty();
}

// Phi-3's own tokenizer lets special tokens take the white space behind them along. GGUF does not store that,
// so it goes by the model's name, as for other readers of these files.
Result<bool> is_phi3(const gguf::Metadata& metadata) {
  const auto architecture = LS_TRY(metadata.get_string("general.architecture"));
  if (architecture == "phi3") return true;
  const auto name = LS_TRY(metadata.get_string("general.name"));
  return name && (contains_ignoring_case(*name, "phi-3") || contains_ignoring_case(*name, "phi3"));
}

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(const gguf::Metadata& metadata, const TokenizerOptions& options) {
  const auto kind = LS_TRY(metadata.get_string(kModelKey));
  if (!kind) return fail(ErrorCode::missing_key, gguf::join(kModelKey, " is missing"));
  const bool spm = *kind == "llama";
  if (!spm && *kind != "gpt2") {
    return fail(ErrorCode::unsupported_tokenizer,
                gguf::join("tokenizer model ", gguf::quoted(*kind), " is not implemented (llama and gpt2 are)"));
  }

  auto parts = std::make_unique<Parts>(LS_TRY(Vocabulary::create(metadata, spm)));
  const Vocabulary& vocabulary = parts->vocabulary;
  if (spm) {
    parts->special = LS_TRY(read_special_tokens(metadata, vocabulary, {.bos = 1, .eos = 2, .unk = 0, .add_bos = true}));
    parts->model = LS_TRY(SpmModel::create(metadata, vocabulary, parts->special.unk.value_or(kNoToken)));
  } else {
    auto model = LS_TRY(ByteBpeModel::create(metadata, vocabulary, options.pre_tokenizer));
    parts->special = LS_TRY(read_special_tokens(metadata, vocabulary, {.add_bos = model->adds_bos()}));
    parts->model = std::move(model);
  }
  const bool phi3 = spm && LS_TRY(is_phi3(metadata));
  parts->splitter = std::make_unique<SpecialSplitter>(vocabulary, [&](TokenId id) {
    const std::string_view text = vocabulary.text(id);
    return phi3 && text != "<unk>" && text != "<s>" && text != "<|endoftext|>";
  });
  return std::unique_ptr<Tokenizer>(new Tokenizer(std::move(parts)));
}

std::string_view Tokenizer::kind() const { return parts_->model->kind(); }
std::string_view Tokenizer::pre_tokenizer() const { return parts_->model->pre_tokenizer(); }
std::string_view Tokenizer::pre_tokenizer_origin() const { return parts_->model->pre_tokenizer_origin(); }
std::size_t Tokenizer::vocab_size() const { return parts_->vocabulary.size(); }
const SpecialTokens& Tokenizer::special() const { return parts_->special; }

std::string_view Tokenizer::token_text(TokenId id) const {
  return parts_->vocabulary.contains(id) ? parts_->vocabulary.text(id) : std::string_view();
}

TokenType Tokenizer::token_type(TokenId id) const {
  return parts_->vocabulary.contains(id) ? parts_->vocabulary.type(id) : TokenType::unused;
}

bool Tokenizer::is_end_of_generation(TokenId id) const {
  return std::ranges::binary_search(parts_->special.end_of_generation, id);
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const SpecialTokens& special = parts_->special;
  const std::vector<Fragment> fragments = parts_->splitter->split(text, options.parse_special);
  const bool has_bos = options.bos_once && !fragments.empty() && fragments.front().token == special.bos;
  std::vector<TokenId> ids;
  EncodeState state(text.size());
  if (options.add_special && special.add_bos && special.bos && !has_bos) ids.push_back(*special.bos);
  bool at_start = true;
  for (const Fragment& fragment : fragments) {
    at_start = at_start || fragment.token != kNoToken;
    if (fragment.token != kNoToken) {
      ids.push_back(fragment.token);
    } else {
      parts_->model->encode(text.substr(fragment.begin, fragment.bytes), at_start, ids, state);
      at_start = false;
    }
  }
  if (options.add_special && special.add_eos && special.eos) ids.push_back(*special.eos);
  return ids;
}

std::string Tokenizer::token_bytes(TokenId id, bool with_control) const {
  if (!parts_->vocabulary.contains(id)) return {};
  switch (parts_->vocabulary.type(id)) {
    case TokenType::normal:
    case TokenType::byte:
      return parts_->model->bytes_of(id);
    case TokenType::user_defined:
      return std::string(parts_->vocabulary.text(id));
    case TokenType::unknown:
    case TokenType::control:
      return std::string(with_control ? parts_->vocabulary.text(id) : std::string_view());
    case TokenType::unused:
      break;
  }
  return {};
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool with_control) const {
  const Vocabulary& vocabulary = parts_->vocabulary;
  const auto is_control = [&](TokenId id) { return vocabulary.contains(id) && vocabulary.type(id) == TokenType::control; };
  // Control tokens in front (BOS) come before the space that was put before the text.
  const auto first_text = std::ranges::find_if_not(ids, is_control);
  Utf8Stream stream;
  std::string text;
  for (auto at = ids.begin(); at != ids.end(); ++at) {
    const std::string bytes = token_bytes(*at, with_control);
    const bool drop_space = at == first_text && parts_->model->adds_space() && token_type(*at) == TokenType::normal &&
                            bytes.starts_with(' ');
    text += stream.push(std::string_view(bytes).substr(drop_space ? 1 : 0));
  }
  return text + stream.finish();
}

bool Tokenizer::adds_space_prefix() const { return parts_->model->adds_space(); }

std::string TextStream::push(TokenId id) {
  const std::string bytes = tokenizer_.token_bytes(id, false);
  if (bytes.empty()) return {};
  const bool drop = drop_space_ && tokenizer_.token_type(id) == TokenType::normal && bytes.starts_with(' ');
  drop_space_ = false;
  return utf8_.push(std::string_view(bytes).substr(drop ? 1 : 0));
}

std::string TextStream::finish() {
  drop_space_ = false;
  return utf8_.finish();
}

}  // namespace layerstream
