// SPDX-License-Identifier: MIT
// The text of an answer, token by token.

#include "../../fuzz/tokenizer_fuzz.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

const std::string kWord = "\xE2\x96\x81word";

class TextStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    Vocab vocab = spm_base();
    word_ = vocab.add(kWord);
    GgufWriter writer = vocab.spm();
    tokenizer_ = good(writer);
  }
  std::string stream(bool at_text_start, const Ids& ids) {
    TextStream text(*tokenizer_);
    text.begin(at_text_start);
    std::string out;
    for (const TokenId id : ids) out += text.push(id);
    return out + text.finish();
  }
  TokenId word_ = 0;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(TextStreamTest, TheTokenizersOwnSpaceIsNoText) {
  EXPECT_EQ(stream(true, {word_, word_}), "word word");
  EXPECT_EQ(stream(true, {1, word_, word_}), "word word") << "a control token gives no text";
  EXPECT_EQ(stream(true, {word_, word_}), tokenizer_->decode({word_, word_}, false));
}

TEST_F(TextStreamTest, AfterATextTheSpaceBelongsToTheAnswer) { EXPECT_EQ(stream(false, {word_, word_}), " word word"); }

TEST_F(TextStreamTest, CharactersAreNeverCutAndLoneBytesEndAsReplacement) {
  TextStream text(*tokenizer_);
  text.begin(false);
  const TokenId first_byte = 3;
  EXPECT_EQ(text.push(first_byte + 0xC3), "");
  EXPECT_EQ(text.push(first_byte + 0xB6), "\xC3\xB6");
  EXPECT_EQ(text.push(first_byte + 0xE2), "");
  EXPECT_EQ(text.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(text.push(word_), " word");
}

// Any ids, not only those that a text gives: half characters, control tokens and nonsense in between.
TEST_F(TextStreamTest, StreamedTextEqualsTextAtOnceAndIsAlwaysUtf8) {
  Vocab bpe = bpe_base();
  bpe.add("<|x|>", TokenType::control);
  bpe.add("\xC3\xB0\xC5\x81");  // the first two bytes of an emoji
  GgufWriter writer = bpe.bpe();
  const auto byte_level = good(writer);
  Random random(51);
  for (const Tokenizer* tokenizer : {tokenizer_.get(), byte_level.get()}) {
    for (int round = 0; round < 2000; ++round) {
      Ids ids(below(random, 12));
      for (TokenId& id : ids) id = static_cast<TokenId>(below(random, tokenizer->vocab_size() + 2));
      if (round % 2 == 0) ids = tokenizer->encode(random_utf8(random, 12), {.add_special = round % 4 == 0});
      TextStream stream(*tokenizer);
      stream.begin(true);
      std::string streamed;
      for (const TokenId id : ids) {
        const std::string part = stream.push(id);
        ASSERT_TRUE(is_utf8(part)) << "round " << round;
        streamed += part;
      }
      streamed += stream.finish();
      ASSERT_EQ(streamed, tokenizer->decode(ids, false)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace layerstream::test
