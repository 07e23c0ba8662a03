// SPDX-License-Identifier: MIT
// The whole sampler: refusals, greedy, the exact distribution of each setting, and sequences that every build
// must draw alike.

#include <algorithm>
#include <limits>

#include "sampler_test_util.h"

namespace layerstream::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Sampler make(const SamplerConfig& config) { return *Sampler::create(config); }

TEST(Sampler, RefusesSettingsThatMeanNothing) {
  for (const float bad : {kNan, kInfinity, -kInfinity}) {
    for (const SamplerConfig& config : {SamplerConfig{.temperature = bad}, SamplerConfig{.top_p = bad}, SamplerConfig{.min_p = bad}}) {
      const auto sampler = Sampler::create(config);
      ASSERT_FALSE(sampler.has_value());
      EXPECT_EQ(sampler.error().code, ErrorCode::bad_argument);
    }
  }
  EXPECT_FALSE(Sampler::create({.top_p = -0.1f}).has_value());
  EXPECT_FALSE(Sampler::create({.min_p = 1.1f}).has_value());
  EXPECT_TRUE(Sampler::create({.temperature = -1.0f, .top_k = -5, .top_p = 7.0f, .min_p = -1.0f}).has_value()) << "off";
}

TEST(Sampler, NonFiniteLogitsAreAnErrorWhereverTheyStand) {
  for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (const float temperature : {0.0f, 1.0f}) {
      for (std::size_t at = 0; at < 5; ++at) {
        std::vector<float> logits = {1, 2, 3, 4, 5};
        logits[at] = bad;
        Sampler sampler = make({.temperature = temperature});
        const auto id = sampler.sample(logits, 3);  // padding rows count as well
        ASSERT_FALSE(id.has_value());
        EXPECT_EQ(id.error().code, ErrorCode::non_finite);
        EXPECT_NE(id.error().message.find("logit " + std::to_string(at)), std::string::npos) << id.error().message;
      }
    }
  }
  Sampler sampler = make({.temperature = 1.0f});
  const std::vector<float> extreme = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 0.0f};
  EXPECT_EQ(sampler.sample(extreme, 3), 0);
}

TEST(Sampler, TokenCountsThatDoNotFitAreRefused) {
  Sampler sampler = make({});
  const std::vector<float> logits = {1, 2};
  for (const std::size_t n_tokens : {std::size_t{0}, std::size_t{3}}) {
    const auto id = sampler.sample(logits, n_tokens);
    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error().code, ErrorCode::bad_argument);
  }
  EXPECT_FALSE(sampler.sample({}, 0).has_value());
}

TEST(Sampler, GreedyTakesTheHighestAndOfEqualOnesTheLowestId) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const std::vector<float> logits = random_logits(random, 1 + static_cast<std::size_t>(random() % 50), 5.0f, round % 2 == 0);
    const auto expected = std::ranges::max_element(logits) - logits.begin();
    for (const float temperature : {0.0f, -1.0f}) {
      Sampler sampler = make({.temperature = temperature, .top_k = 2, .top_p = 0.1f});
      EXPECT_EQ(sampler.sample(logits, logits.size()), expected);
    }
    Sampler top_one = make({.temperature = 1.0f, .top_k = 1, .seed = random()});
    EXPECT_EQ(top_one.sample(logits, logits.size()), expected);
  }
  Sampler sampler = make({});
  EXPECT_EQ(sampler.sample(std::vector<float>{-0.0f, 0.0f, 0.0f}, 3), 0) << "the zeros are equal";
}

TEST(Sampler, PaddingRowsAreNeverDrawn) {
  const std::vector<float> logits = {1, 1, 50, 50};
  Sampler greedy = make({});
  EXPECT_EQ(greedy.sample(logits, 2), 0);
  Sampler warm = make({.temperature = 5.0f, .seed = 3});
  for (int i = 0; i < 500; ++i) EXPECT_LT(*warm.sample(logits, 2), 2);
}

const std::vector<float> kLogits = {0.5f, 2.0f, -1.0f, 1.5f, 2.0f, -4.0f, 0.0f, 1.0f};

// The softmax of those that `keep` names, at a temperature; 0 for the others.
std::vector<double> kept_softmax(const std::vector<std::size_t>& keep, double temperature) {
  std::vector<float> logits;
  for (const std::size_t id : keep) logits.push_back(kLogits[id]);
  const std::vector<double> p = softmax(logits, temperature);
  std::vector<double> out(kLogits.size());
  for (std::size_t i = 0; i < keep.size(); ++i) out[keep[i]] = p[i];
  return out;
}

TEST(SamplerDistribution, OfTemperatureAloneIsTheSoftmax) {
  expect_distribution({.temperature = 1.0f, .seed = 1}, kLogits, softmax(kLogits));
  expect_distribution({.temperature = 0.7f, .seed = 2}, kLogits, softmax(kLogits, static_cast<double>(0.7f)));
  expect_distribution({.temperature = 3.0f, .seed = 3}, kLogits, softmax(kLogits, 3.0));
}

TEST(SamplerDistribution, OfTopKIsTheSoftmaxOfTheFirstK) {
  expect_distribution({.temperature = 1.0f, .top_k = 3, .seed = 4}, kLogits, kept_softmax({1, 4, 3}, 1.0));
}

TEST(SamplerDistribution, OfTopPIsTakenBeforeTheTemperature) {
  // At temperature 1 ids 1, 4 and 3 hold 0.725 of the probability and 1, 4 hold 0.552.
  expect_distribution({.temperature = 4.0f, .top_p = 0.6f, .seed = 5}, kLogits, kept_softmax({1, 4, 3}, 4.0));
}

TEST(SamplerDistribution, OfMinPIsTakenBeforeTheTemperature) {
  // e^-1 = 0.37 of the best is id 7; e^-1.5 = 0.22 is id 0.
  expect_distribution({.temperature = 4.0f, .min_p = 0.3f, .seed = 6}, kLogits, kept_softmax({1, 4, 3, 7}, 4.0));
}

TEST(SamplerDistribution, OfAllStepsTogether) {
  // top-k 5: 1 4 3 7 0; of these top-p 0.9 takes off 0; min-p 0.4 takes off 7.
  expect_distribution({.temperature = 0.8f, .top_k = 5, .top_p = 0.9f, .min_p = 0.4f, .seed = 7}, kLogits,
                      kept_softmax({1, 4, 3}, static_cast<double>(0.8f)));
}

std::vector<std::int32_t> draw_sequence(const SamplerConfig& config, std::size_t vocab_size, int count) {
  Random random(99);
  Sampler sampler = make(config);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) {
    const std::vector<float> logits = random_logits(random, vocab_size, 6.0f, i % 4 == 3);
    ids.push_back(sampler.sample(logits, logits.size()).value_or(-1));
  }
  return ids;
}

TEST(SamplerDeterminism, TheSeedDecidesAndNothingElse) {
  const SamplerConfig config{.temperature = 0.9f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .seed = 1234};
  const auto first = draw_sequence(config, 500, 50);
  EXPECT_EQ(draw_sequence(config, 500, 50), first);
  SamplerConfig other = config;
  other.seed = 1235;
  EXPECT_NE(draw_sequence(other, 500, 50), first);
}

TEST(SamplerDeterminism, TopKOfAVocabularyIsThatOfItsFullOrder) {
  // Partial selection and a full sort end in the same draws, ties included.
  const SamplerConfig config{.temperature = 1.0f, .top_k = 50, .top_p = 0.8f, .seed = 8};
  Random random(4);
  Sampler sampler = make(config);
  Rng rng(config.seed);
  for (int round = 0; round < 50; ++round) {
    const std::vector<float> logits = random_logits(random, 3000, 6.0f, round % 2 == 0);
    Candidates candidates = candidates_of(logits);
    candidates.sort_first(candidates.size());
    candidates.keep_first(50);
    keep_top_p(candidates, 0.8f);
    apply_temperature(candidates, 1.0f);
    EXPECT_EQ(sampler.sample(logits, logits.size()), draw(candidates, rng));
  }
}

// Pinned: native and wasm, every compiler and standard library must draw these.
TEST(SamplerDeterminism, EveryBuildDrawsTheSameSequence) {
  using Ids = std::vector<std::int32_t>;
  EXPECT_EQ(draw_sequence({.temperature = 1.0f, .seed = 0}, 1000, 12), (Ids{252, 319, 367, 14, 404, 18, 876, 848, 281, 78, 277, 66}));
  EXPECT_EQ(draw_sequence({.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .seed = 42}, 1000, 12),
            (Ids{370, 142, 924, 204, 937, 141, 699, 122, 998, 691, 703, 184}));
  EXPECT_EQ(draw_sequence({.temperature = 1.5f, .top_p = 0.9f, .seed = 0xFFFFFFFFFFFFFFFFu}, 50000, 8),
            (Ids{46405, 47787, 8860, 21872, 21246, 12799, 15149, 39709}));
  EXPECT_EQ(draw_sequence({.temperature = 2.0f, .min_p = 0.1f, .seed = 7}, 300, 12),
            (Ids{26, 50, 203, 147, 290, 171, 223, 74, 299, 15, 47, 46}));
}

}  // namespace
}  // namespace layerstream::test
