// SPDX-License-Identifier: MIT
// What is common to both kinds: special tokens, decoding, and metadata that is missing, odd or hostile.

#include <algorithm>
#include <limits>

#include "../../fuzz/tokenizer_fuzz.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

Error error_of(GgufWriter& writer) {
  const auto made = make_tokenizer(writer);
  EXPECT_FALSE(made.has_value());
  return made ? Error{} : made.error();
}

void expect_error(GgufWriter writer, ErrorCode code, const std::string& named) {
  const Error error = error_of(writer);
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(named), std::string::npos) << error.message << " does not name " << named;
}

TEST(TokenizerRefuses, OtherModelsAndPreTokenizersByName) {
  const Vocab vocab = bpe_base();
  GgufWriter bert;
  expect_error(std::move(bert.add("tokenizer.ggml.model", "bert")), ErrorCode::unsupported_tokenizer, "bert");
  expect_error(GgufWriter(), ErrorCode::missing_key, "tokenizer.ggml.model");
  expect_error(vocab.bpe("gpt-5\n"), ErrorCode::unsupported_tokenizer, "gpt-5");
  expect_error(vocab.bpe(""), ErrorCode::unsupported_tokenizer, "llama-bpe, ");
}

TEST(PreTokenizerChoice, TheFilesNameTheVocabularySizeOrTheFallback) {
  const Vocab vocab = bpe_base();
  GgufWriter named = vocab.bpe("tekken");
  EXPECT_EQ(good(named)->pre_tokenizer(), "tekken");
  EXPECT_EQ(good(named)->pre_tokenizer_origin(), "the file");

  const auto unnamed = [](const std::vector<std::string>& tokens) {
    GgufWriter writer;
    writer.add("tokenizer.ggml.model", "gpt2").add_string_array("tokenizer.ggml.tokens", tokens).add_string_array("tokenizer.ggml.merges", {});
    return good(writer);
  };
  EXPECT_EQ(unnamed(vocab.tokens)->pre_tokenizer(), "default");
  EXPECT_TRUE(unnamed(vocab.tokens)->pre_tokenizer_origin().starts_with("the fallback"));
  std::vector<std::string> padded = vocab.tokens;
  for (std::size_t i = padded.size(); i < 50257; ++i) padded.push_back("[PAD" + std::to_string(i) + "]");
  EXPECT_EQ(unnamed(padded)->pre_tokenizer(), "gpt-2");
  EXPECT_TRUE(unnamed(padded)->pre_tokenizer_origin().starts_with("guessed"));
}

TEST(PreTokenizerChoice, TheCallerMayAskForAnother) {
  const Vocab vocab = bpe_base();
  GgufWriter unknown = vocab.bpe("gpt-5");
  const auto header = written_header(unknown);
  const auto asked = Tokenizer::create(header->metadata(), {.pre_tokenizer = "qwen2"});
  ASSERT_TRUE(asked.has_value()) << asked.error().message;
  EXPECT_EQ((*asked)->pre_tokenizer(), "qwen2");
  EXPECT_EQ((*asked)->pre_tokenizer_origin(), "the caller");
  const auto wrong = Tokenizer::create(header->metadata(), {.pre_tokenizer = "qwen9"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_NE(wrong.error().message.find("qwen9"), std::string::npos);
}

TEST(TokenizerRefuses, MissingAndShortLists) {
  GgufWriter no_tokens;
  expect_error(std::move(no_tokens.add("tokenizer.ggml.model", "llama")), ErrorCode::missing_key, "tokenizer.ggml.tokens");
  Vocab empty;
  expect_error(empty.spm(), ErrorCode::bad_value, "tokenizer.ggml.tokens");

  Vocab few_scores = spm_base();
  few_scores.scores.pop_back();
  expect_error(few_scores.spm(), ErrorCode::bad_value, "tokenizer.ggml.scores");
  Vocab few_types = bpe_base();
  few_types.types.pop_back();
  expect_error(few_types.bpe(), ErrorCode::bad_value, "tokenizer.ggml.token_type");

  GgufWriter no_scores;
  no_scores.add("tokenizer.ggml.model", "llama").add_string_array("tokenizer.ggml.tokens", {"a"});
  expect_error(std::move(no_scores), ErrorCode::missing_key, "tokenizer.ggml.scores");
  GgufWriter no_merges;
  no_merges.add("tokenizer.ggml.model", "gpt2").add("tokenizer.ggml.pre", "gpt-2").add_string_array("tokenizer.ggml.tokens", {"a"});
  expect_error(std::move(no_merges), ErrorCode::missing_key, "tokenizer.ggml.merges");
}

TEST(TokenizerRefuses, ImpossibleValues) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Vocab vocab = spm_base();
    vocab.scores[7] = bad;
    expect_error(vocab.spm(), ErrorCode::bad_value, "tokenizer.ggml.scores[7]");
  }
  GgufWriter wide;
  wide.add("tokenizer.ggml.model", "llama").add_string_array("tokenizer.ggml.tokens", {"a"}).add_f64_array("tokenizer.ggml.scores", {1e300});
  expect_error(std::move(wide), ErrorCode::bad_value, "tokenizer.ggml.scores[0]");
  for (const std::int32_t bad : {-1, 7, 1 << 30}) {
    Vocab vocab = spm_base();
    vocab.types[9] = bad;
    expect_error(vocab.spm(), ErrorCode::bad_value, "tokenizer.ggml.token_type[9]");
  }
  for (const char* bad : {"", "ab", " ", "a ", " b"}) {
    Vocab vocab = bpe_base();
    vocab.merges = {"a b", bad};
    expect_error(vocab.bpe(), ErrorCode::bad_value, "tokenizer.ggml.merges[1]");
  }
  expect_error(std::move(bpe_base().bpe().add("tokenizer.ggml.bos_token_id", "one")), ErrorCode::bad_value, "tokenizer.ggml.bos_token_id");
  expect_error(std::move(bpe_base().bpe().add("tokenizer.ggml.add_bos_token", "yes")), ErrorCode::bad_value, "tokenizer.ggml.add_bos_token");
}

TEST(SpecialTokens, DefaultsDependOnTheKind) {
  GgufWriter spm = spm_base().spm();
  const auto llama = good(spm);
  EXPECT_EQ(llama->special().bos, 1);
  EXPECT_EQ(llama->special().eos, 2);
  EXPECT_EQ(llama->special().unk, 0);
  EXPECT_EQ(llama->special().pad, std::nullopt);
  EXPECT_TRUE(llama->special().add_bos);
  EXPECT_FALSE(llama->special().add_eos);

  for (const auto& [pre, add_bos] : {std::pair("gpt-2", false), {"qwen2", false}, {"llama-bpe", true}, {"tekken", true}}) {
    GgufWriter bpe = bpe_base().bpe(pre);
    const auto gpt2 = good(bpe);
    EXPECT_EQ(gpt2->special().bos, std::nullopt);
    EXPECT_EQ(gpt2->special().eos, std::nullopt);
    EXPECT_EQ(gpt2->special().add_bos, add_bos) << pre;
    EXPECT_EQ(gpt2->encode("a", {.add_special = true}), Ids{'a'}) << "no BOS id, no BOS";
  }

  Vocab two;
  two.add("a");
  two.add("b");
  GgufWriter tiny = two.spm();
  EXPECT_EQ(good(tiny)->special().eos, std::nullopt) << "a default outside the vocabulary";
}

TEST(SpecialTokens, KeysOverrideAndIdsOutOfRangeMeanNone) {
  GgufWriter writer = spm_base().spm();
  writer.add_u32("tokenizer.ggml.bos_token_id", 5).add_i64("tokenizer.ggml.eos_token_id", -1);
  writer.add_u32("tokenizer.ggml.padding_token_id", 0xFFFFFFFFu).add_u64("tokenizer.ggml.unknown_token_id", ~std::uint64_t{0});
  writer.add_u32("tokenizer.ggml.eot_token_id", 259).add_u8("tokenizer.ggml.eom_token_id", 7);
  writer.add_bool("tokenizer.ggml.add_bos_token", false).add_bool("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = good(writer);
  const SpecialTokens& special = tokenizer->special();
  EXPECT_EQ(special.bos, 5);
  EXPECT_EQ(special.eos, std::nullopt);
  EXPECT_EQ(special.pad, std::nullopt);
  EXPECT_EQ(special.unk, std::nullopt);
  EXPECT_EQ(special.eot, std::nullopt) << "259 is one past the last";
  EXPECT_EQ(special.eom, 7);
  EXPECT_FALSE(special.add_bos);
  EXPECT_TRUE(special.add_eos);
  EXPECT_EQ(special.end_of_generation, (Ids{2, 7})) << "</s> by its text";
}

TEST(SpecialTokens, BosAndEosAreAddedAsTheFileAsks) {
  Vocab vocab = bpe_base();
  const TokenId bos = vocab.add("<|bos|>", TokenType::control);
  const TokenId eos = vocab.add("<|eos|>", TokenType::control);
  GgufWriter writer = vocab.bpe();
  writer.add_u32("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(bos)).add_u32("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(eos));
  writer.add_bool("tokenizer.ggml.add_bos_token", true).add_bool("tokenizer.ggml.add_eos_token", true);
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("a", {.add_special = true}), (Ids{bos, 'a', eos}));
  EXPECT_EQ(tokenizer->encode("", {.add_special = true}), (Ids{bos, eos}));
  EXPECT_EQ(tokenizer->encode("a", {}), Ids{'a'});
  EXPECT_EQ(tokenizer->decode({bos, 'a', eos}, false), "a");
  EXPECT_EQ(tokenizer->decode({bos, 'a', eos}, true), "<|bos|>a<|eos|>");
}

TEST(SpecialTokens, ATextThatBeginsWithBosGetsNoSecondOneWhereAsked) {
  GgufWriter writer = spm_base().spm();
  const auto tokenizer = good(writer);
  constexpr EncodeOptions kTwice{.add_special = true, .parse_special = true};
  constexpr EncodeOptions kOnce{.add_special = true, .parse_special = true, .bos_once = true};
  EXPECT_EQ(tokenizer->encode("<s></s>", kTwice), (Ids{1, 1, 2}));
  EXPECT_EQ(tokenizer->encode("<s></s>", kOnce), (Ids{1, 2}));
  EXPECT_EQ(tokenizer->encode("</s><s>", kOnce), (Ids{1, 2, 1}));
  EXPECT_EQ(tokenizer->encode("", kOnce), Ids{1});
  constexpr EncodeOptions kUserText{.add_special = true, .bos_once = true};
  EXPECT_EQ(tokenizer->encode("<s>", kUserText).front(), 1) << "here the text spells nothing";
}

TEST(SpecialTokens, EndOfGenerationIsFoundByText) {
  Vocab vocab = bpe_base();
  Ids ends;
  for (const char* text : {"<|eot_id|>", "<|eot|>", "<|eom|>", "<|EOT|>", "<|END_OF_TURN_TOKEN|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>", "<EOT>", "[EOT]", "[EOS]",
                           "<|end_of_text|>", "<end_of_utterance>", "<eos>", "<\xEF\xBD\x9C" "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
                           "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"}) {
    ends.push_back(vocab.add(text, TokenType::user_defined));
  }
  const TokenId other = vocab.add("<|user|>", TokenType::control);
  GgufWriter writer = vocab.bpe();
  writer.add_u32("tokenizer.ggml.fim_sep_token_id", 3).add_i32_array("tokenizer.ggml.eos_token_ids", {5, 4, -1, 1 << 30, 4});
  ends.insert(ends.begin(), {3, 4, 5});
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->special().end_of_generation, ends);
  for (const TokenId id : ends) EXPECT_TRUE(tokenizer->is_end_of_generation(id));
  for (const TokenId id : {TokenId{6}, other, TokenId{-1}, TokenId{1 << 30}}) EXPECT_FALSE(tokenizer->is_end_of_generation(id));
  EXPECT_EQ(tokenizer->token_type(ends.back()), TokenType::control) << "texts that end turns are never user text";
}

TEST(SpecialTokens, SomeEndTextsMeanSomethingElseInSomeVocabularies) {
  Vocab harmony = bpe_base();
  harmony.add("<|end|>", TokenType::control);
  const TokenId back = harmony.add("<|return|>", TokenType::control);
  const TokenId call = harmony.add("<|call|>", TokenType::control);
  GgufWriter harmony_writer = harmony.bpe();
  EXPECT_EQ(good(harmony_writer)->special().end_of_generation, (Ids{back, call}));

  Vocab gemma = bpe_base();
  const TokenId eos = gemma.add("<eos>", TokenType::control);
  const TokenId html = gemma.add("</s>", TokenType::user_defined);
  GgufWriter gemma_writer = gemma.bpe();
  const auto tokenizer = good(gemma_writer);
  EXPECT_EQ(tokenizer->special().end_of_generation, Ids{eos});
  EXPECT_EQ(tokenizer->encode("</s>", {}), Ids{html});
}

TEST(SpecialTokens, LooksDecideWhatTheFileTypedOtherwise) {
  const auto type_of = [](const char* text) {
    Vocab one = spm_base();
    const TokenId id = one.add(text, TokenType::user_defined);
    GgufWriter writer = one.spm();
    return good(writer)->token_type(id);
  };
  for (const char* text : {"<|user|>", "<\xEF\xBD\x9CUser\xEF\xBD\x9C>", "<unused99>", "<pad>", "<mask>"}) EXPECT_EQ(type_of(text), TokenType::control) << text;
  for (const char* text : {"<||>", "<|", "|>", "<|>", "<unusedx>", "<unused>", "<table>", "[INST]", "\n\n"}) EXPECT_EQ(type_of(text), TokenType::user_defined) << text;
}

TEST(SpecialTokens, Phi3TakesTheWhiteSpaceBehindThemAlong) {
  Vocab vocab = spm_base();
  for (const char* text : {"\xE2\x96\x81", "a"}) vocab.add(text, TokenType::normal, -1);
  const TokenId user = vocab.add("<|user|>", TokenType::control);
  const auto encode = [&](const char* architecture, const char* name, const char* text) {
    GgufWriter writer;
    writer.add("general.architecture", architecture).add("general.name", name).add("tokenizer.ggml.model", "llama");
    writer.add_string_array("tokenizer.ggml.tokens", vocab.tokens).add_f32_array("tokenizer.ggml.scores", vocab.scores);
    writer.add_i32_array("tokenizer.ggml.token_type", vocab.types).add_bool("tokenizer.ggml.add_space_prefix", false);
    return good(writer)->encode(text, {.parse_special = true});
  };
  EXPECT_EQ(encode("phi3", "x", "<|user|> \n\ta"), (Ids{user, 260}));
  EXPECT_EQ(encode("llama", "My PHI-3 mini", "<|user|>\na"), (Ids{user, 260}));
  EXPECT_EQ(encode("llama", "x", "<|user|> a"), (Ids{user, 259, 260}));
  EXPECT_EQ(encode("phi3", "x", "<s> a"), (Ids{1, 259, 260})) << "not <s>";
}

TEST(Decoding, OnlyTheOneSpaceInFrontIsTakenOff) {
  Vocab vocab = spm_base();
  const TokenId mark = vocab.add("\xE2\x96\x81", TokenType::normal, -1);
  const TokenId word = vocab.add("\xE2\x96\x81" "a", TokenType::normal, -1);
  const TokenId user = vocab.add(" u", TokenType::user_defined);
  const TokenId control = vocab.add("<|x|>", TokenType::control);
  GgufWriter writer = vocab.spm();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->decode({word, word}, false), "a a");
  EXPECT_EQ(tokenizer->decode({mark, word}, false), " a");
  EXPECT_EQ(tokenizer->decode({1, word}, false), "a");
  EXPECT_EQ(tokenizer->decode({1, control, word}, true), "<s><|x|>a");
  EXPECT_EQ(tokenizer->decode({word, control, word}, false), "a a");
  EXPECT_EQ(tokenizer->decode({user, word}, false), " u a") << "its space is its own";
  EXPECT_EQ(tokenizer->decode({}, false), "");
  EXPECT_EQ(tokenizer->decode({3 + ' ', word}, false), "  a") << "a byte token is no such space";
  EXPECT_EQ(tokenizer->token_bytes(word, false), " a") << "in a stream nothing is taken off";
  EXPECT_EQ(tokenizer->token_bytes(0, false), "");
  EXPECT_EQ(tokenizer->token_bytes(0, true), "<unk>");

  GgufWriter no_prefix = vocab.spm().add_bool("tokenizer.ggml.add_space_prefix", false);
  EXPECT_EQ(good(no_prefix)->decode({word}, false), " a");
}

TEST(Decoding, IdsOutOfRangeGiveNothing) {
  GgufWriter writer = bpe_base().bpe();
  const auto tokenizer = good(writer);
  for (const TokenId id : {-1, 256, std::numeric_limits<TokenId>::min(), std::numeric_limits<TokenId>::max()}) {
    EXPECT_EQ(tokenizer->token_bytes(id, true), "");
    EXPECT_EQ(tokenizer->token_text(id), "");
    EXPECT_EQ(tokenizer->token_type(id), TokenType::unused);
  }
  EXPECT_EQ(tokenizer->decode({'a', -1, 256, 'b'}, false), "ab");
}

TEST(Decoding, CharactersSplitOverTokensComeOutWhole) {
  GgufWriter writer = bpe_base().bpe();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->decode({0xF0, 0x9F, 0x98, 0x80}, false), "\xF0\x9F\x98\x80");
  EXPECT_EQ(tokenizer->decode({0xF0, 0x9F, 'a', 0xFF}, false), "\xEF\xBF\xBD" "a" "\xEF\xBF\xBD");
}

TEST(Vocabularies, OfTwoEqualTokensTheFirstCounts) {
  Vocab vocab = bpe_base();
  vocab.add("a");
  vocab.add("<|x|>", TokenType::control);
  vocab.add("<|x|>", TokenType::control);
  GgufWriter writer = vocab.bpe();
  const auto tokenizer = good(writer);
  EXPECT_EQ(tokenizer->encode("a<|x|>", {.parse_special = true}), (Ids{'a', 257}));
  EXPECT_EQ(tokenizer->token_bytes(256, false), "a");
}

TEST(Vocabularies, DamagedFilesGiveAnErrorOrAWorkingTokenizer) {
  Vocab spm = spm_base();
  for (const char* text : {"\xE2\x96\x81", "a", "b", "ab", "\xE2\x96\x81" "ab"}) spm.add(text, TokenType::normal, -1);
  spm.add("<|x|>", TokenType::user_defined);
  Vocab bpe = bpe_base();
  bpe.add_merge("a", "b");
  bpe.add_merge("ab", "ab");
  bpe.add("<|x|>", TokenType::control);
  GgufWriter spm_writer = spm.spm().add_u32("tokenizer.ggml.bos_token_id", 1);
  GgufWriter bpe_writer = bpe.bpe("llama-bpe").add_u32("tokenizer.ggml.eos_token_id", 258);
  const Bytes files[] = {spm_writer.finish(), bpe_writer.finish()};
  Random random(33);
  for (int round = 0; round < 3000; ++round) {
    Bytes file = files[round % 2];
    for (std::size_t n = below(random, 6); n > 0; --n) {
      // Half of the damage goes where the keys and numbers are.
      const std::size_t at = below(random, 2) == 0 ? below(random, file.size()) : below(random, std::min<std::size_t>(file.size(), 200));
      file[at] = below(random, 2) == 0 ? static_cast<std::byte>(random()) : static_cast<std::byte>(static_cast<unsigned>(file[at]) ^ (1u << below(random, 8)));
    }
    const std::string text = round % 3 == 0 ? random_bytes(random, 20) : random_utf8(random, 12) + "<|x|> abab";
    ASSERT_EQ(check_tokenizer_file(file, text), "") << "round " << round;
  }
}

}  // namespace
}  // namespace layerstream::test
