// SPDX-License-Identifier: MIT
// Penalties and DRY: exact logits by hand, by the plain definition over random histories, and in linear time.

#include <chrono>

#include "chain_oracle.h"

namespace layerstream::test {
namespace {

std::vector<float> penalised(const SamplerConfig& config, const std::vector<float>& logits, const Ids& history) {
  Candidates candidates = candidates_of(logits);
  Penalties().apply(candidates, config, history);
  return logits_of(candidates, logits.size());
}

std::vector<float> dried(const SamplerConfig& config, const std::vector<float>& logits, const Ids& history) {
  Candidates candidates = candidates_of(logits);
  Dry(config, logits.size()).apply(candidates, config, history);
  return logits_of(candidates, logits.size());
}

void expect_near(const std::vector<float>& logits, const std::vector<double>& expected) {
  for (std::size_t id = 0; id < logits.size(); ++id) ASSERT_NEAR(logits[id], expected[id], 1e-5 * (1.0 + std::fabs(expected[id]))) << id;
}

TEST(Penalties, RepetitionDividesWhatIsAboveZeroAndMultipliesTheRest) {
  EXPECT_EQ(penalised({.repeat_penalty = 2.0f}, {4, -4, 0, 4}, {0, 1, 2, 0}), (std::vector<float>{2, -8, 0, 4}));
}

TEST(Penalties, FrequencyCountsAndPresenceDoesNot) {
  EXPECT_EQ(penalised({.frequency_penalty = 0.5f}, {4, 4, 4}, {0, 1, 0, 0}), (std::vector<float>{2.5f, 3.5f, 4}));
  EXPECT_EQ(penalised({.presence_penalty = 0.5f}, {4, 4, 4}, {0, 1, 0, 0}), (std::vector<float>{3.5f, 3.5f, 4}));
  EXPECT_EQ(penalised({.frequency_penalty = -1.0f}, {4, 4}, {1, 1}), (std::vector<float>{4, 6})) << "negative ones reward";
}

TEST(Penalties, RepetitionComesBeforeTheOthers) {
  EXPECT_EQ(penalised({.repeat_penalty = 2.0f, .frequency_penalty = 1.0f, .presence_penalty = 0.5f}, {4, 1}, {0}), (std::vector<float>{0.5f, 1}));
}

TEST(Penalties, LookAtTheLastNTokens) {
  const std::vector<float> logits = {1, 1, 1};
  const Ids history = {0, 1, 2};
  const auto with = [&](std::int32_t last_n) { return penalised({.presence_penalty = 1.0f, .repeat_last_n = last_n}, logits, history); };
  EXPECT_EQ(with(0), logits);
  EXPECT_EQ(with(1), (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(with(2), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(with(3), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(with(1000), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(with(-1), (std::vector<float>{0, 0, 0}));
}

TEST(Penalties, TokensThatAreNoCandidatesAreOverlooked) {
  EXPECT_EQ(penalised({.presence_penalty = 1.0f}, {1, 1}, {5, 1, 7}), (std::vector<float>{1, 0})) << "padding rows can be run";
  EXPECT_EQ(penalised({.presence_penalty = 1.0f}, {1, 1}, {}), (std::vector<float>{1, 1}));
}

TEST(Penalties, AreThoseOfTheDefinition) {
  Random random(11);
  for (int round = 0; round < 300; ++round) {
    const std::size_t n_tokens = 1 + random() % 50;
    const std::vector<float> logits = random_logits(random, n_tokens, 8.0f, false);
    const Ids history = random_history(random, random() % 100, n_tokens, round % 3 == 0);
    const SamplerConfig config{.repeat_penalty = 0.5f + unit_float(random), .frequency_penalty = unit_float(random) - 0.5f,
                               .presence_penalty = unit_float(random) - 0.5f, .repeat_last_n = static_cast<std::int32_t>(random() % 101) - 1};
    ChainOracle oracle(config, logits, history);
    oracle.penalties();
    expect_near(penalised(config, logits, history), oracle.logits());
  }
}

const std::vector<float> kFlat(8, 10.0f);
constexpr float kBig = 1.0f;

// What DRY takes off each logit.
std::vector<float> taken(const SamplerConfig& config, const Ids& history) {
  std::vector<float> taken = dried(config, kFlat, history);
  for (float& logit : taken) logit = kFlat[0] - logit;
  return taken;
}

TEST(Dry, PunishesTheTokenThatContinuesARepeat) {
  const SamplerConfig config{.dry_multiplier = kBig, .dry_base = 2.0f, .dry_allowed_length = 2};
  EXPECT_EQ(taken(config, {1, 2, 3, 1, 2}), (std::vector<float>{0, 0, 0, 1, 0, 0, 0, 0})) << "1 2 was followed by 3";
  EXPECT_EQ(taken(config, {4, 1, 2, 3, 4, 1, 2}), (std::vector<float>{0, 0, 0, 2, 0, 0, 0, 0})) << "one token more, twice as much";
  EXPECT_EQ(taken(config, {2, 3, 2}), std::vector<float>(8)) << "shorter than allowed";
  EXPECT_EQ(taken(config, {1, 2, 3, 4}), std::vector<float>(8)) << "no repeat";
  EXPECT_EQ(taken(config, {}), std::vector<float>(8));
  EXPECT_EQ(taken(config, {1}), std::vector<float>(8));
}

TEST(Dry, TheLongestRepeatOfATokenCounts) {
  const SamplerConfig config{.dry_multiplier = kBig, .dry_base = 3.0f, .dry_allowed_length = 1};
  // After "2" came 3 (repeat 1 2: length 2) and, elsewhere, 4 and once more 3 (length 1).
  EXPECT_EQ(taken(config, {1, 2, 3, 2, 4, 5, 2, 3, 1, 2}), (std::vector<float>{0, 0, 0, 3, 1, 0, 0, 0}));
}

TEST(Dry, RepeatsMayOverlap) {
  const SamplerConfig config{.dry_multiplier = kBig, .dry_base = 2.0f, .dry_allowed_length = 2};
  EXPECT_EQ(taken(config, {1, 1, 1, 1, 1}), (std::vector<float>{0, 4, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(taken(config, {1, 2, 1, 2, 1}), (std::vector<float>{0, 0, 2, 0, 0, 0, 0, 0}));
}

TEST(Dry, NoRepeatReachesAcrossABreaker) {
  SamplerConfig config{.dry_multiplier = kBig, .dry_base = 2.0f, .dry_allowed_length = 1};
  const Ids history = {1, 2, 3, 4, 1, 2, 3};
  EXPECT_EQ(taken(config, history)[4], 4.0f);
  config.dry_breakers = {{1}};
  EXPECT_EQ(taken(config, history)[4], 2.0f) << "2 3";
  config.dry_breakers = {{1, 2}};
  EXPECT_EQ(taken(config, history)[4], 1.0f) << "3";
  config.dry_breakers = {{2}, {1, 2, 3}};
  EXPECT_EQ(taken(config, history), std::vector<float>(8)) << "the one that ends last counts, though it begins before the other";
  config.dry_breakers = {{2, 1}, {7}, {3, 1}};
  EXPECT_EQ(taken(config, history)[4], 4.0f) << "none of them is there";
}

TEST(Dry, LooksAtTheLastNTokens) {
  SamplerConfig config{.dry_multiplier = kBig, .dry_base = 2.0f, .dry_allowed_length = 2};
  const Ids history = {1, 2, 3, 1, 2};
  for (const auto& [last_n, expected] : {std::pair{0, 0.0f}, std::pair{4, 0.0f}, std::pair{5, 1.0f}, std::pair{50, 1.0f}, std::pair{-1, 1.0f}}) {
    config.dry_last_n = last_n;
    EXPECT_EQ(taken(config, history)[3], expected) << last_n;
  }
}

TEST(Dry, IsThatOfTheDefinition) {
  Random random(12);
  std::size_t punished = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t n_tokens = 2 + random() % 6;
    const std::vector<float> logits = random_logits(random, n_tokens, 8.0f, false);
    const Ids history = random_history(random, random() % 60, n_tokens, round % 3 == 0);
    SamplerConfig config{.dry_multiplier = 0.1f + unit_float(random), .dry_base = 1.0f + unit_float(random),
                         .dry_allowed_length = static_cast<std::int32_t>(random() % 4), .dry_last_n = static_cast<std::int32_t>(random() % 62) - 1};
    for (std::size_t n = random() % 3; n > 0; --n) config.dry_breakers.push_back(random_history(random, 1 + random() % 4, n_tokens, false));
    ChainOracle oracle(config, logits, history);
    oracle.dry();
    const std::vector<float> result = dried(config, logits, history);
    expect_near(result, oracle.logits());
    punished += result != logits ? 1 : 0;
  }
  EXPECT_GT(punished, 1000u);
}

TEST(Dry, HugePenaltiesStayFiniteNumbers) {
  const Ids history(500, 1);
  for (const float base : {1.0f, 1.75f, 3e38f}) {
    for (const float multiplier : {1e-30f, 3e38f}) {
      const std::vector<float> logits = dried({.dry_multiplier = multiplier, .dry_base = base}, {-3e38f, -3e38f}, history);
      EXPECT_TRUE(std::isfinite(logits[0]) && std::isfinite(logits[1]));
    }
  }
}

// A quadratic algorithm would need 10^10 comparisons for each of these.
TEST(Dry, WorstCasesTakeLinearTime) {
  constexpr std::size_t kLength = 200000;
  const auto start = std::chrono::steady_clock::now();
  for (const std::size_t period : {std::size_t{1}, std::size_t{2}, std::size_t{447}, kLength / 2}) {
    Ids history(kLength);
    for (std::size_t i = 0; i < kLength; ++i) history[i] = i % period == 0 ? 1 : 2;
    const SamplerConfig config{.dry_multiplier = 1.0f, .dry_base = 1.0f, .dry_breakers = {{3}, {1, 3}}};
    EXPECT_NE(dried(config, kFlat, history), kFlat);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace layerstream::test
