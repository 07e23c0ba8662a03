// SPDX-License-Identifier: MIT
// Draws of every step against the exact distribution, chi-square, fixed seeds; each test also shows that the same draws
// refute the distribution of a step that is off or slightly wrong.

#include <algorithm>

#include "chain_oracle.h"

namespace layerstream::test {
namespace {

const std::vector<float> kLogits = [] {
  Random random(31);
  return random_logits(random, 40, 2.5f, false);
}();

// Of probable tokens, with a repeat.
const Ids kHistory = [] {
  Candidates candidates = candidates_of(kLogits);
  candidates.keep_first(4);
  const Ids best = ids_of(candidates);
  Ids history;
  for (const std::size_t rank : {0u, 1u, 1u, 2u, 0u, 1u, 3u, 0u, 1u}) history.push_back(best[rank]);
  return history;
}();

// Draws with `config` follow the oracle of `config` and not that of `wrong`.
void expect_exact(const SamplerConfig& config, const SamplerConfig& wrong, const Ids& history = {}) {
  expect_distribution(config, kLogits, ChainOracle(config, kLogits, history).distribution(), ChainOracle(wrong, kLogits, history).distribution(), history);
}

TEST(Distribution, OfTemperature) {
  expect_exact({.temperature = 1.0f, .seed = 1}, {.temperature = 1.1f});
  expect_exact({.temperature = 0.7f, .seed = 2}, {.temperature = 0.65f});
  expect_exact({.temperature = 3.0f, .seed = 3}, {.temperature = 2.5f});
}

TEST(Distribution, OfDynamicTemperature) {
  const SamplerConfig config{.temperature = 0.8f, .dynatemp_range = 0.6f, .dynatemp_exponent = 1.5f, .seed = 4};
  SamplerConfig wrong = config;
  wrong.dynatemp_exponent = 1.0f;
  expect_exact(config, wrong);
}

TEST(Distribution, OfTopK) { expect_exact({.temperature = 1.0f, .top_k = 9, .seed = 5}, {.temperature = 1.0f, .top_k = 10}); }
TEST(Distribution, OfTopP) { expect_exact({.temperature = 1.0f, .top_p = 0.7f, .seed = 6}, {.temperature = 1.0f, .top_p = 0.74f}); }
TEST(Distribution, OfMinP) { expect_exact({.temperature = 1.0f, .min_p = 0.2f, .seed = 7}, {.temperature = 1.0f, .min_p = 0.16f}); }
TEST(Distribution, OfTypicalP) { expect_exact({.temperature = 1.0f, .typical_p = 0.5f, .seed = 8}, {.temperature = 1.0f, .typical_p = 0.55f}); }
TEST(Distribution, OfTopNSigma) { expect_exact({.temperature = 1.0f, .top_n_sigma = 1.0f, .seed = 9}, {.temperature = 1.0f, .top_n_sigma = 1.1f}); }

TEST(Distribution, OfXtcIsAMixture) {
  const SamplerConfig config{.temperature = 1.0f, .xtc_probability = 0.6f, .xtc_threshold = 0.04f, .seed = 10};
  for (const auto& [probability, threshold] : {std::pair{0.64f, 0.04f}, std::pair{0.6f, 0.06f}, std::pair{0.0f, 0.04f}}) {
    SamplerConfig wrong = config;
    wrong.xtc_probability = probability;
    wrong.xtc_threshold = threshold;
    expect_exact(config, wrong);
  }
}

TEST(Distribution, OfPenalties) {
  const SamplerConfig config{.temperature = 1.0f, .repeat_penalty = 1.3f, .frequency_penalty = 0.2f, .presence_penalty = 0.3f, .repeat_last_n = 5, .seed = 11};
  SamplerConfig wrong = config;
  wrong.repeat_last_n = 4;
  expect_exact(config, wrong, kHistory);
}

TEST(Distribution, OfDry) {
  const SamplerConfig config{.temperature = 1.0f, .dry_multiplier = 0.8f, .dry_allowed_length = 1, .seed = 12};
  SamplerConfig wrong = config;
  wrong.dry_allowed_length = 2;
  expect_exact(config, wrong, kHistory);
}

TEST(Distribution, OfLogitBiasAndBans) {
  const SamplerConfig config{.temperature = 1.0f, .logit_bias = {{4, 1.5f}, {9, -2.0f}, {4, 0.5f}, {11, -kInfinity}}, .banned = {0, 39}, .seed = 13};
  SamplerConfig wrong = config;
  wrong.logit_bias[2].addend = 0.3f;
  expect_exact(config, wrong);
  wrong = config;
  wrong.banned = {0};
  expect_exact(config, wrong);
}

// With eta 0 the surprise allowed stays 2 tau.
TEST(Distribution, OfMirostatWithoutLearningIsASurpriseThatIsCut) {
  const SamplerConfig config{.temperature = 0.9f, .mirostat = 2, .mirostat_tau = 2.25f, .mirostat_eta = 0.0f, .seed = 14};
  const auto cut_at = [](double bits) {
    auto p = ChainOracle({.temperature = 0.9f}, kLogits).distribution();
    for (double& one : p) one = -std::log2(one) > bits ? 0.0 : one;
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& one : p) one /= total;
    return p;
  };
  ASSERT_NE(cut_at(4.5), cut_at(4.7));
  expect_distribution(config, kLogits, cut_at(4.5), cut_at(4.7));
}

TEST(Mirostat, AimsAtItsSurprise) {
  Random random(15);
  std::vector<float> logits = random_logits(random, 500, 9.0f, false);
  const std::vector<double> p = softmax(logits);
  for (const float tau : {2.0f, 4.0f, 6.0f}) {
    Sampler sampler = make_sampler({.temperature = 1.0f, .mirostat = 2, .mirostat_tau = tau, .mirostat_eta = 0.1f, .seed = 16}, logits.size());
    double allowed = 2.0 * static_cast<double>(tau);
    double sum = 0.0;
    constexpr int kDraws = 4000;
    for (int i = 0; i < kDraws; ++i) {
      double total = 0.0;
      for (const double one : p) total += -std::log2(one) <= allowed ? one : 0.0;
      total = std::max(total, *std::ranges::max_element(p));
      const double drawn = p[static_cast<std::size_t>(sampler.sample(logits, {}).value_or(0))];
      ASSERT_TRUE(-std::log2(drawn) <= allowed + 1e-9 || drawn == *std::ranges::max_element(p)) << "draw " << i;
      const double surprise = -std::log2(drawn / total);
      allowed -= 0.1f * (surprise - static_cast<double>(tau));
      if (i >= kDraws / 2) sum += surprise;
    }
    EXPECT_NEAR(sum / (kDraws / 2), tau, 0.1);
  }
}

TEST(Mirostat, BeginsAnewWithEverySampler) {
  const SamplerConfig config{.temperature = 1.0f, .mirostat = 2, .seed = 17};
  const auto first_draws = [&] {
    Sampler sampler = make_sampler(config, kLogits.size());
    Ids ids;
    for (int i = 0; i < 50; ++i) ids.push_back(*sampler.sample(kLogits, {}));
    return ids;
  };
  EXPECT_EQ(first_draws(), first_draws());
}

TEST(Mirostat, TakesThePlaceOfStepsThatRemoveTokens) {
  const SamplerConfig plain{.temperature = 0.8f, .presence_penalty = 0.4f, .mirostat = 2, .mirostat_eta = 0.0f, .seed = 18};
  SamplerConfig config = plain;
  config.top_k = 1;
  config.top_p = 0.1f;
  config.min_p = 0.9f;
  config.typical_p = 0.1f;
  config.top_n_sigma = 0.1f;
  config.xtc_probability = 1.0f;
  EXPECT_EQ(count_draws(config, kLogits, kHistory, 1000), count_draws(plain, kLogits, kHistory, 1000));
  config.presence_penalty = 2.0f;
  EXPECT_NE(count_draws(config, kLogits, kHistory, 1000), count_draws(plain, kLogits, kHistory, 1000)) << "penalties stay";
}

const SamplerConfig kAllSteps{.temperature = 1.4f,
                              .dynatemp_range = 0.3f,
                              .top_k = 25,
                              .top_p = 0.93f,
                              .min_p = 0.06f,
                              .typical_p = 0.9f,
                              .top_n_sigma = 1.9f,
                              .xtc_probability = 0.5f,
                              .xtc_threshold = 0.08f,
                              .dry_multiplier = 0.9f,
                              .dry_allowed_length = 1,
                              .repeat_penalty = 1.2f,
                              .frequency_penalty = 0.1f,
                              .presence_penalty = 0.1f,
                              .seed = 20};

TEST(ChainOrder, IsTheUsualOneByDefault) {
  // The first four keep 0.90 of the probability at temperature 1; at temperature 4 it would take more.
  const std::vector<float> logits = {4, 3, 2, 1, 0, 0, 0, 0};
  const SamplerConfig usual{.temperature = 4.0f, .top_p = 0.9f, .seed = 19};
  SamplerConfig hot_first = usual;
  hot_first.samplers = *parse_samplers("temperature;top_p");
  expect_distribution(usual, logits, ChainOracle(usual, logits).distribution(), ChainOracle(hot_first, logits).distribution());
  expect_distribution(hot_first, logits, ChainOracle(hot_first, logits).distribution(), ChainOracle(usual, logits).distribution());
  EXPECT_EQ(default_samplers(), *parse_samplers("penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature"));
  expect_exact(kAllSteps, usual, kHistory);
}

TEST(ChainOrder, AnyOrderOfAnyStepsIsWhatIsAskedFor) {
  Random random(21);
  for (int round = 0; round < 25; ++round) {
    SamplerConfig config = kAllSteps;
    config.seed = static_cast<std::uint64_t>(round);
    std::ranges::shuffle(config.samplers, random);
    config.samplers.resize(random() % 10);
    const auto expected = ChainOracle(config, kLogits, kHistory).distribution();
    EXPECT_LT(chi_square_excess(count_draws(config, kLogits, kHistory, 10000), expected), 1.0) << round;
  }
}

TEST(ChainOrder, TheReverseIsAnotherDistribution) {
  SamplerConfig reversed = kAllSteps;
  std::ranges::reverse(reversed.samplers);
  expect_exact(reversed, kAllSteps, kHistory);
}

}  // namespace
}  // namespace layerstream::test
