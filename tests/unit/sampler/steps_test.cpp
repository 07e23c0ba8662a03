// SPDX-License-Identifier: MIT
// Each step against its definition (chain_oracle.h) on random logits, with and without ties: the same tokens stay,
// with the same logits.

#include <algorithm>

#include "chain_oracle.h"

namespace layerstream::test {
namespace {

// check(random, logits) for vocabularies of 1 to 300 tokens.
template <typename Check>
void for_random_logits(const Check& check) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + static_cast<std::size_t>(random() % 300);
    check(random, random_logits(random, count, 8.0f, round % 2 == 0));
  }
}

void expect_same(const Candidates& candidates, const ChainOracle& oracle) {
  const std::vector<double>& expected = oracle.logits();
  const std::vector<float> logits = logits_of(candidates, expected.size());
  for (std::size_t id = 0; id < expected.size(); ++id) {
    if (expected[id] == -INFINITY) {
      ASSERT_EQ(logits[id], -kInfinity) << "id " << id << " should have gone";
    } else {
      ASSERT_NEAR(logits[id], expected[id], 1e-5 * (1.0 + std::fabs(expected[id]))) << "id " << id;
    }
  }
}

// Candidates in one of the standings a step may meet: by id, in order, or changed after having been ordered.
Candidates somehow(Random& random, const std::vector<float>& logits) {
  Candidates candidates = candidates_of(logits);
  const auto kind = random() % 3;
  if (kind > 0) candidates.keep_first(candidates.size());
  if (kind > 1) candidates.change_all([](double logit) { return logit; });
  return candidates;
}

// Runs a step on both. `set` puts a random setting into the config.
template <typename Set, typename Step>
void compare(const Set& set, const Step& step, void (ChainOracle::*expected)()) {
  for_random_logits([&](Random& random, const std::vector<float>& logits) {
    SamplerConfig config;
    set(random, config, logits.size());
    Candidates candidates = somehow(random, logits);
    step(candidates, config);
    ChainOracle oracle(config, logits);
    (oracle.*expected)();
    expect_same(candidates, oracle);
  });
}

TEST(Steps, TopKKeepsTheFirstKOfTheOrder) {
  compare([](Random& random, SamplerConfig& config, std::size_t n) { config.top_k = static_cast<std::int32_t>(random() % (n + 3)) - 1; },
          [](Candidates& candidates, const SamplerConfig& config) { keep_top_k(candidates, config.top_k); }, &ChainOracle::top_k);
}

TEST(Steps, TopPKeepsTheShortestPrefixThatReachesP) {
  compare([](Random& random, SamplerConfig& config, std::size_t) { config.top_p = unit_float(random); },
          [](Candidates& candidates, const SamplerConfig& config) { keep_top_p(candidates, config.top_p); }, &ChainOracle::top_p);
}

TEST(Steps, TopPOfZeroKeepsOneAndOfOneKeepsAll) {
  Candidates candidates = candidates_of({1.0f, 3.0f, 3.0f});
  keep_top_p(candidates, 1.0f);
  EXPECT_EQ(candidates.size(), 3u);
  keep_top_p(candidates, 0.0f);
  EXPECT_EQ(ids_of(candidates), Ids{1});
}

TEST(Steps, MinPKeepsWhatIsProbableEnough) {
  compare([](Random& random, SamplerConfig& config, std::size_t) { config.min_p = unit_float(random) * 0.3f + 1e-4f; },
          [](Candidates& candidates, const SamplerConfig& config) { keep_min_p(candidates, config.min_p); }, &ChainOracle::min_p);
}

TEST(Steps, MinPOfOneKeepsTheMostProbable) {
  Candidates candidates = candidates_of({2.0f, 1.0f, 2.0f});
  keep_min_p(candidates, 1.0f);
  EXPECT_EQ(ids_of(candidates), (Ids{0, 2}));
}

TEST(Steps, TypicalKeepsWhatIsNearestToTheEntropy) {
  compare([](Random& random, SamplerConfig& config, std::size_t) { config.typical_p = unit_float(random); },
          [](Candidates& candidates, const SamplerConfig& config) { keep_typical(candidates, config.typical_p); }, &ChainOracle::typical_p);
}

TEST(Steps, TypicalMayDropTheMostProbable) {
  // One token of 0.4 and sixty of 0.01: the entropy, 3.13, is nearer to -ln 0.01 = 4.6 than to -ln 0.4 = 0.92.
  std::vector<float> logits(61, std::log(0.01f));
  logits[7] = std::log(0.4f);
  Candidates candidates = candidates_of(logits);
  keep_typical(candidates, 0.5f);
  EXPECT_EQ(candidates.size(), 51u);  // more than 0.5
  EXPECT_FALSE(std::ranges::count(ids_of(candidates), 7));
}

TEST(Steps, TopNSigmaKeepsWhatIsNearTheHighest) {
  compare([](Random& random, SamplerConfig& config, std::size_t) { config.top_n_sigma = unit_float(random) * 3.0f; },
          [](Candidates& candidates, const SamplerConfig& config) { keep_top_n_sigma(candidates, config.top_n_sigma); }, &ChainOracle::top_n_sigma);
  Candidates candidates = candidates_of({0.0f, 4.0f, 2.0f, 2.0f});  // mean 2, deviation sqrt 2
  keep_top_n_sigma(candidates, -1.0f);
  EXPECT_EQ(candidates.size(), 4u) << "off";
  keep_top_n_sigma(candidates, 1.5f);
  EXPECT_EQ(ids_of(candidates), (Ids{1, 2, 3}));
  keep_top_n_sigma(candidates, 1.0f);  // mean 8/3, deviation 0.94
  EXPECT_EQ(ids_of(candidates), Ids{1});
}

TEST(Steps, XtcKeepsTheLeastProbableOfTheTopChoices) {
  compare(
      [](Random& random, SamplerConfig& config, std::size_t n) {
        config.xtc_probability = 1.0f;
        config.xtc_threshold = std::min(0.5f, unit_float(random) * 3.0f / static_cast<float>(n));
      },
      [](Candidates& candidates, const SamplerConfig& config) {
        Rng rng(3);
        exclude_top_choices(candidates, config, rng);
      },
      &ChainOracle::xtc);
}

TEST(Steps, XtcLeavesOneChoiceAloneAndIsOffAboveAHalf) {
  const std::vector<float> one_choice = {0.0f, 5.0f, 0.0f};
  for (const auto& [threshold, logits] : {std::pair{0.1f, one_choice}, std::pair{0.51f, std::vector<float>{0.0f, 0.0f}}}) {
    Rng rng(1);
    Candidates candidates = candidates_of(logits);
    exclude_top_choices(candidates, {.xtc_probability = 1.0f, .xtc_threshold = threshold}, rng);
    EXPECT_EQ(candidates.size(), logits.size());
  }
}

TEST(Steps, TemperatureDivides) {
  compare([](Random& random, SamplerConfig& config, std::size_t) { config.temperature = 0.05f + 3.0f * unit_float(random); },
          [](Candidates& candidates, const SamplerConfig& config) { apply_temperature(candidates, config); }, &ChainOracle::temperature);
}

TEST(Steps, TemperatureKeepsTheOrderAndNeverOverflows) {
  const std::vector<float> extreme = {-3e38f, 0.0f, 3e38f, 2.9e38f};
  for (const float temperature : {1e-45f, 1e-30f, 0.1f, 1.0f, 50.0f, 3e38f}) {
    Candidates candidates = candidates_of(extreme);
    apply_temperature(candidates, {.temperature = temperature});
    const std::vector<float> logits = logits_of(candidates, 4);
    for (const float logit : logits) EXPECT_TRUE(std::isfinite(logit));
    EXPECT_TRUE(logits[0] <= logits[1] && logits[1] <= logits[3] && logits[3] < logits[2]);
    for (const float range : {1e-45f, 1.0f, 3e38f}) {
      Candidates dynamic = candidates_of(extreme);
      apply_temperature(dynamic, {.temperature = temperature, .dynatemp_range = range});
      for (const Candidate& candidate : dynamic.items()) EXPECT_TRUE(std::isfinite(candidate.logit));
    }
  }
}

TEST(Steps, DynamicTemperatureFollowsTheEntropy) {
  compare(
      [](Random& random, SamplerConfig& config, std::size_t) {
        config.temperature = 0.2f + unit_float(random);
        config.dynatemp_range = 0.1f * unit_float(random);
        config.dynatemp_exponent = 2.0f * unit_float(random);
      },
      [](Candidates& candidates, const SamplerConfig& config) { apply_temperature(candidates, config); }, &ChainOracle::temperature);
}

TEST(Steps, DynamicTemperatureGoesFromOneEndToTheOther) {
  // Equal logits have the greatest entropy; a certain token has none, and its temperature would be 0.
  Candidates certain = candidates_of({0.0f, 1000.0f});
  apply_temperature(certain, {.temperature = 1.0f, .dynatemp_range = 2.0f});
  EXPECT_EQ(ids_of(certain), Ids{1});
  Candidates even = candidates_of({5.0f, 5.0f, 5.0f, 5.0f});
  apply_temperature(even, {.temperature = 1.0f, .dynatemp_range = 2.0f});
  EXPECT_EQ(even.size(), 4u);
  Candidates exponent_zero = candidates_of({0.0f, 1000.0f});
  apply_temperature(exponent_zero, {.temperature = 1.0f, .dynatemp_range = 1.0f, .dynatemp_exponent = 0.0f});
  EXPECT_FLOAT_EQ(logits_of(exponent_zero, 2)[1], 500.0f) << "the upper end";
}

TEST(Steps, ADrawNeverGivesAnImpossibleCandidate) {
  Rng rng(5);
  const Candidates candidates = candidates_of({-1000.0f, 0.0f, -1000.0f, 0.0f, -1000.0f});
  for (int i = 0; i < 2000; ++i) {
    const Draw drawn = draw(candidates, rng);
    ASSERT_TRUE(drawn.id == 1 || drawn.id == 3) << drawn.id;
    ASSERT_DOUBLE_EQ(drawn.probability, 0.5);
  }
}

TEST(Candidates, HoldWhateverTheStepsDo) {
  for_random_logits([](Random& random, const std::vector<float>& logits) {
    Candidates candidates = candidates_of(logits);
    for (int i = 0; i < 4; ++i) {
      const Ids before = ids_of(candidates);
      const std::size_t some = 1 + static_cast<std::size_t>(random() % candidates.size());
      switch (random() % 4) {
        case 0: candidates.keep_first(some); break;
        case 1: keep_min_p(candidates, 0.01f); break;
        case 2: candidates.change_all([](double logit) { return 0.5 * logit; }); break;
        default: keep_typical(candidates, 0.9f); break;
      }
      ASSERT_GT(candidates.size(), 0u);
      ASSERT_EQ(candidates.highest_logit(), std::ranges::max(candidates.items(), {}, &Candidate::logit).logit);
      for (const std::int32_t id : ids_of(candidates)) ASSERT_TRUE(std::ranges::count(before, id)) << id;
    }
    const std::vector<float> left = logits_of(candidates, logits.size());
    candidates.keep_first(candidates.size());
    EXPECT_TRUE(std::ranges::is_sorted(candidates.items(), [](const Candidate& a, const Candidate& b) { return a.before(b); }));
    EXPECT_EQ(logits_of(candidates, logits.size()), left);
  });
}

TEST(Candidates, SelectionFromALargeVocabularyIsThatOfAFullSort) {
  Random random(6);
  for (int round = 0; round < 12; ++round) {
    std::vector<float> logits = random_logits(random, 20000, 6.0f, round % 3 == 0);
    if (round % 4 == 1) std::ranges::sort(logits);  // every candidate passes the threshold so far
    if (round % 4 == 2) std::ranges::sort(logits, std::greater{});
    Candidates sorted = candidates_of(logits);
    sorted.keep_first(logits.size());
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{40}, std::size_t{1000}, std::size_t{19999}}) {
      Candidates candidates = candidates_of(logits);
      candidates.keep_first(count);
      Ids expected = ids_of(sorted);
      expected.resize(count);
      ASSERT_EQ(ids_of(candidates), expected);
    }
  }
}

TEST(Candidates, ChangesFindTheirTokenInEveryStanding) {
  const std::vector<TokenValue> addends = {{0, 1.0}, {3, 2.0}, {4, 5.0}, {99, 1.0}};
  const auto add = [](double logit, double addend) { return logit + addend; };
  const std::vector<float> logits = {5, 4, 3, 2, 1};
  for (int standing = 0; standing < 3; ++standing) {
    Candidates candidates;
    candidates.assign(logits, Ids{3});
    if (standing > 0) candidates.keep_first(5);
    if (standing > 1) candidates.change_all([](double logit) { return logit; });
    candidates.change(addends, add);
    EXPECT_EQ(logits_of(candidates, 5), (std::vector<float>{6, 4, 3, -kInfinity, 6}));
    candidates.keep_first(2);
    EXPECT_EQ(ids_of(candidates), (Ids{0, 4}));
  }
}

// Values of the published reference implementations of splitmix64 and xoshiro256++, seed 0 and state {1,2,3,4}.
TEST(Rng, GivesTheKnownSequence) {
  constexpr std::uint64_t kFromSeed0 = [] {
    // First output from the state that splitmix64 makes of 0: its first four outputs are known.
    const std::uint64_t s0 = 0xe220a8397b1dcdafu, s3 = 0xf88bb8a8724c81ecu;
    return std::rotl(s0 + s3, 23) + s0;
  }();
  EXPECT_EQ(Rng(0).next(), kFromSeed0);
  Rng rng(42);
  for (int i = 0; i < 1000; ++i) {
    const double u = rng.next_uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
  }
}

TEST(Rng, IsUniform) {
  Rng rng(7);
  std::vector<int> counts(64);
  constexpr int kDraws = 64000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<std::size_t>(rng.next_uniform() * 64)];
  EXPECT_LT(chi_square_excess(counts, std::vector<double>(64, 1.0 / 64)), 1.0);
}

}  // namespace
}  // namespace layerstream::test
