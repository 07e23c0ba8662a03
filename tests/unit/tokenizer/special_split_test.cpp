// SPDX-License-Identifier: MIT
// Splitting at special tokens, against the definition: token by token, longest first, over all fragments.

#include "tokenizer/special_split.h"

#include <algorithm>

#include "tokenizer_test_util.h"

namespace layerstream::test {
namespace {

struct Special {
  std::string text;
  TokenType type;
  bool swallows_space = false;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// As slow and as plain as the rule reads.
std::vector<std::pair<std::string, TokenId>> split_by_definition(const std::vector<Special>& specials, const std::string& text,
                                                                 bool parse_special) {
  std::vector<std::size_t> order(specials.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return specials[i].text.size(); });
  std::vector<std::pair<std::string, TokenId>> fragments;
  if (!text.empty()) fragments.emplace_back(text, kNoToken);
  for (const std::size_t i : order) {
    const Special& special = specials[i];
    if (!parse_special && special.type != TokenType::user_defined) continue;
    std::vector<std::pair<std::string, TokenId>> next;
    for (const auto& [fragment, token] : fragments) {
      if (token != kNoToken) {
        next.emplace_back(fragment, token);
        continue;
      }
      std::string rest = fragment;
      for (std::size_t hit = rest.find(special.text); hit != std::string::npos; hit = rest.find(special.text)) {
        if (hit > 0) next.emplace_back(rest.substr(0, hit), kNoToken);
        std::size_t end = hit + special.text.size();
        while (special.swallows_space && end < rest.size() && is_space(rest[end])) ++end;
        next.emplace_back(rest.substr(hit, end - hit), static_cast<TokenId>(i));
        rest.erase(0, end);
      }
      if (!rest.empty()) next.emplace_back(rest, kNoToken);
    }
    fragments = std::move(next);
  }
  return fragments;
}

class Split {
 public:
  explicit Split(const std::vector<Special>& specials) {
    Vocab vocab;
    for (const Special& special : specials) vocab.add(special.text, special.type);
    GgufWriter writer = vocab.spm();
    const auto header = written_header(writer);
    vocabulary_ = std::make_unique<Vocabulary>(*Vocabulary::create(header->metadata(), true));
    splitter_ = std::make_unique<SpecialSplitter>(
        *vocabulary_, [&](TokenId id) { return specials[static_cast<std::size_t>(id)].swallows_space; });
  }
  std::vector<std::pair<std::string, TokenId>> operator()(const std::string& text, bool parse_special) const {
    std::vector<std::pair<std::string, TokenId>> out;
    for (const Fragment& fragment : splitter_->split(text, parse_special)) {
      out.emplace_back(text.substr(fragment.begin, fragment.bytes), fragment.token);
    }
    return out;
  }

 private:
  std::unique_ptr<Vocabulary> vocabulary_;
  std::unique_ptr<SpecialSplitter> splitter_;
};

TEST(SpecialSplit, TheLongestTokenWinsEvenIfItStandsLater) {
  const Split split({{"<a>", TokenType::control}, {">xxxx<", TokenType::control}, {"<b>", TokenType::control}});
  const std::vector<std::pair<std::string, TokenId>> expected = {{"<a", kNoToken}, {">xxxx<", 1}, {"b>", kNoToken}};
  EXPECT_EQ(split("<a>xxxx<b>", true), expected);
}

TEST(SpecialSplit, ControlTokensNeedPermissionAndUserDefinedOnesDoNot) {
  const Split split({{"<c>", TokenType::control}, {"<u>", TokenType::user_defined}, {"<k>", TokenType::unknown}});
  const std::vector<std::pair<std::string, TokenId>> plain = {{"<c>", kNoToken}, {"<u>", 1}, {"<k>", kNoToken}};
  EXPECT_EQ(split("<c><u><k>", false), plain);
  const std::vector<std::pair<std::string, TokenId>> parsed = {{"<c>", 0}, {"<u>", 1}, {"<k>", 2}};
  EXPECT_EQ(split("<c><u><k>", true), parsed);
}

TEST(SpecialSplit, AgreesWithTheDefinitionOnRandomTokensAndTexts) {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Special> specials;
    const auto letters = [&](std::size_t most) {
      std::string text(1 + below(random, most), ' ');
      for (char& c : text) c = "ab  \n"[below(random, round % 3 == 0 ? 2 : 5)];
      return text;
    };
    for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
      constexpr TokenType kTypes[] = {TokenType::control, TokenType::user_defined, TokenType::unknown};
      Special special{letters(5), kTypes[below(random, 3)], below(random, 4) == 0};
      const bool repeated = std::ranges::any_of(specials, [&](const Special& s) { return s.text == special.text; });
      if (!repeated) specials.push_back(special);
    }
    const Split split(specials);
    for (int i = 0; i < 4; ++i) {
      const std::string text = below(random, 10) == 0 ? "" : letters(30);
      for (const bool parse_special : {false, true}) {
        ASSERT_EQ(split(text, parse_special), split_by_definition(specials, text, parse_special)) << testing::PrintToString(text);
      }
    }
  }
}

}  // namespace
}  // namespace layerstream::test
