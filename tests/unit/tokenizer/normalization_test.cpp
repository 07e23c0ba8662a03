// SPDX-License-Identifier: MIT
// NFC against JavaScript's (normalization_cases.json), and what holds for any bytes.

#include "tokenizer/normalization.h"

#include "support/json.h"
#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

using unicode::to_nfc;

TEST(Nfc, IsWhatJavaScriptComposes) {
  const auto data = Json::read_file(kSourceDir + "/tests/unit/tokenizer/normalization_cases.json");
  ASSERT_TRUE(data.has_value());
  ASSERT_EQ(data->at("cases").array().size(), 1500u);
  std::size_t changed = 0;
  for (const Json& one : data->at("cases").array()) {
    const std::string& text = one.at("text").string();
    const std::string& expected = one.has("nfc") ? one.at("nfc").string() : text;
    changed += expected != text;
    EXPECT_EQ(to_nfc(text), expected) << text;
  }
  EXPECT_GT(changed, 500u);
}

TEST(Nfc, ComposesMarksHangulAndSingletons) {
  EXPECT_EQ(to_nfc("e\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(to_nfc("e\xCC\x81\xCC\x81"), "\xC3\xA9\xCC\x81") << "one mark joins";
  EXPECT_EQ(to_nfc("a\xCC\x81\xCC\xA3"), "\xE1\xBA\xA1\xCC\x81") << "the dot below comes first";
  EXPECT_EQ(to_nfc("\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8"), "\xEA\xB0\x81");
  EXPECT_EQ(to_nfc("\xE2\x84\xAB"), "\xC3\x85") << "the angstrom sign is a letter";
  EXPECT_EQ(to_nfc("plain \xC3\xA9"), "plain \xC3\xA9");
  EXPECT_EQ(to_nfc(""), "");
}

TEST(Nfc, StrayBytesStayAndSeparate) {
  EXPECT_EQ(to_nfc("e\xFF\xCC\x81"), "e\xFF\xCC\x81");
  EXPECT_EQ(to_nfc("\xCC\x81\xCC"), "\xCC\x81\xCC");
  Random random(61);
  for (int round = 0; round < 3000; ++round) {
    const std::string text = round % 2 == 0 ? random_bytes(random, 40) : random_utf8(random, 20);
    const std::string once = to_nfc(text);
    ASSERT_EQ(to_nfc(once), once);
    ASSERT_LE(once.size(), 3 * text.size());
  }
}

// A pass over the marks for each mark would take hours here.
TEST(Nfc, AMillionMarksAreOrderedSoon) {
  std::string text = "a";
  for (int i = 0; i < 250000; ++i) text += "\xCC\x81\xCC\xA3";  // above, below
  const std::string composed = to_nfc(text);
  EXPECT_TRUE(composed.starts_with("\xE1\xBA\xA1\xCC\xA3\xCC\xA3"));
  EXPECT_TRUE(composed.ends_with("\xCC\x81\xCC\x81"));
}

}  // namespace
}  // namespace layerstream::test
