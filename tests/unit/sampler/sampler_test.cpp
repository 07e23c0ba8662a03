// SPDX-License-Identifier: MIT
// The whole sampler: refusals, greedy, masks and bans, log-probabilities, and sequences that every build must draw alike.

#include <algorithm>

#include "sampler_test_util.h"

namespace layerstream::test {
namespace {

ErrorCode code_of(const auto& result) { return result ? ErrorCode::internal : result.error().code; }

void expect_refused(const SamplerConfig& config, const std::string& name, const std::string& value) {
  const auto sampler = Sampler::create(config, 10);
  ASSERT_FALSE(sampler) << name << " " << value;
  EXPECT_EQ(sampler.error().code, ErrorCode::bad_argument);
  EXPECT_NE(sampler.error().message.find(name), std::string::npos) << sampler.error().message;
  EXPECT_NE(sampler.error().message.find(value), std::string::npos) << sampler.error().message;
}

TEST(SamplerSettings, ThatMeanNothingAreRefusedByNameAndValue) {
  struct Case {
    const char* name;
    float SamplerConfig::* setting;
    std::vector<float> outside;
  };
  const Case cases[] = {
      {"temperature", &SamplerConfig::temperature, {}},
      {"dynatemp_range", &SamplerConfig::dynatemp_range, {-0.5f}},
      {"dynatemp_exponent", &SamplerConfig::dynatemp_exponent, {-0.5f}},
      {"top_p", &SamplerConfig::top_p, {-0.5f}},
      {"min_p", &SamplerConfig::min_p, {1.5f}},
      {"typical_p", &SamplerConfig::typical_p, {-0.5f}},
      {"top_n_sigma", &SamplerConfig::top_n_sigma, {}},
      {"xtc_probability", &SamplerConfig::xtc_probability, {-0.5f, 1.5f}},
      {"xtc_threshold", &SamplerConfig::xtc_threshold, {-0.5f, 1.5f}},
      {"dry_multiplier", &SamplerConfig::dry_multiplier, {-0.5f}},
      {"dry_base", &SamplerConfig::dry_base, {-0.5f, 0.5f}},
      {"repeat_penalty", &SamplerConfig::repeat_penalty, {-0.5f, 0.0f}},
      {"frequency_penalty", &SamplerConfig::frequency_penalty, {}},
      {"presence_penalty", &SamplerConfig::presence_penalty, {}},
      {"mirostat_tau", &SamplerConfig::mirostat_tau, {-0.5f}},
      {"mirostat_eta", &SamplerConfig::mirostat_eta, {-0.5f}},
  };
  for (const Case& one : cases) {
    SamplerConfig config;
    for (const auto& [value, text] : {std::pair{kNan, "nan"}, std::pair{kInfinity, "inf"}, std::pair{-kInfinity, "-inf"}}) {
      config.*one.setting = value;
      expect_refused(config, one.name, text);
    }
    for (const float value : one.outside) {
      config.*one.setting = value;
      const std::string text = std::to_string(value);
      expect_refused(config, one.name, value == 0.0f ? "0" : text.substr(0, text.find_last_not_of('0') + 1));
    }
  }
  expect_refused({.dry_allowed_length = -1}, "dry_allowed_length", "-1");
  expect_refused({.dry_last_n = -2}, "dry_last_n", "-2");
  expect_refused({.repeat_last_n = INT32_MIN}, "repeat_last_n", "-2147483648");
  for (const std::int32_t version : {-1, 1, 3}) expect_refused({.mirostat = version}, "mirostat", std::to_string(version));
  expect_refused({.logit_bias = {{3, kNan}}}, "logit_bias", "nan");
  expect_refused({.logit_bias = {{3, kInfinity}}}, "logit_bias", "inf");
  for (const std::int32_t id : {-1, 10, INT32_MAX}) {
    expect_refused({.logit_bias = {{id, 1.0f}}}, "logit_bias", std::to_string(id));
    expect_refused({.banned = {id}}, "banned", std::to_string(id));
    expect_refused({.dry_breakers = {{1, id}}}, "dry_breakers", std::to_string(id));
  }
  expect_refused({.dry_breakers = {{}}}, "dry_breakers", "empty");
}

TEST(SamplerSettings, AtTheirLimitsAreTaken) {
  EXPECT_TRUE(Sampler::create({.temperature = -1.0f, .top_k = -5, .top_p = 7.0f, .min_p = -1.0f}, 10)) << "off";
  const SamplerConfig extreme{.temperature = 3e38f, .dynatemp_range = 3e38f, .dynatemp_exponent = 3e38f, .top_k = INT32_MAX, .top_p = 0.0f, .min_p = 1.0f,
                              .typical_p = 0.0f, .top_n_sigma = 3e38f, .xtc_probability = 1.0f, .xtc_threshold = 0.0f, .dry_multiplier = 3e38f,
                              .dry_base = 3e38f, .dry_allowed_length = 0, .dry_last_n = INT32_MAX, .repeat_penalty = 1e-45f, .frequency_penalty = 3e38f,
                              .presence_penalty = -3e38f, .repeat_last_n = INT32_MAX, .logit_bias = {{0, 3e38f}, {0, 3e38f}, {1, -3e38f}}};
  Random random(3);
  for (const std::int32_t mirostat : {0, 2}) {
    SamplerConfig config = extreme;
    config.mirostat = mirostat;
    config.mirostat_tau = config.mirostat_eta = 3e38f;
    Sampler sampler = make_sampler(config, 10);
    for (int i = 0; i < 200; ++i) {
      const auto id = sampler.sample(random_logits(random, 10, 3e38f, false), random_history(random, 20, 10, false));
      ASSERT_TRUE(id) << id.error().message;
      ASSERT_TRUE(*id >= 0 && *id < 10);
    }
  }
}

TEST(SamplerSettings, StepNamesAreKnownAndUnique) {
  EXPECT_EQ(*parse_samplers(""), std::vector<SamplerStep>{});
  EXPECT_EQ(*parse_samplers("min_p;top_k"), (std::vector{SamplerStep::min_p, SamplerStep::top_k}));
  for (const char* bad : {"topk", "top_k;;min_p", ";", "TOP_K", " top_k", "top_k,min_p"}) EXPECT_EQ(code_of(parse_samplers(bad)), ErrorCode::bad_argument) << bad;
  EXPECT_NE(parse_samplers("top_k;topk").error().message.find("\"topk\""), std::string::npos);
  expect_refused({.samplers = *parse_samplers("top_k;min_p;top_k")}, "samplers", "top_k twice");
}

TEST(Sampler, NonFiniteLogitsAreAnErrorWhereverTheyStand) {
  for (const float bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    for (const float temperature : {0.0f, 1.0f}) {
      for (std::size_t at = 0; at < 5; ++at) {
        std::vector<float> logits = {1, 2, 3, 4, 5};
        logits[at] = bad;
        Sampler sampler = make_sampler({.temperature = temperature}, 3);
        const auto id = sampler.sample(logits, {});  // padding rows count as well
        ASSERT_EQ(code_of(id), ErrorCode::non_finite);
        EXPECT_NE(id.error().message.find("logit " + std::to_string(at)), std::string::npos) << id.error().message;
      }
    }
  }
  Sampler sampler = make_sampler({.temperature = 1.0f}, 3);
  EXPECT_EQ(sampler.sample(std::vector{std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 0.0f}, {}), 0);
}

TEST(Sampler, TokenCountsThatDoNotFitAreRefused) {
  const std::vector<float> logits = {1, 2};
  for (const std::size_t n_tokens : {std::size_t{0}, std::size_t{3}}) {
    EXPECT_EQ(code_of(make_sampler({}, n_tokens).sample(logits, {})), ErrorCode::bad_argument);
  }
}

TEST(Sampler, GreedyTakesTheHighestAndOfEqualOnesTheLowestId) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const std::vector<float> logits = random_logits(random, 1 + static_cast<std::size_t>(random() % 50), 5.0f, round % 2 == 0);
    const auto expected = std::ranges::max_element(logits) - logits.begin();
    for (const SamplerConfig& config : {SamplerConfig{}, SamplerConfig{.temperature = -1.0f}, SamplerConfig{.top_k = 2, .top_p = 0.1f, .min_p = 0.5f},
                                        SamplerConfig{.dynatemp_range = 2.0f}, SamplerConfig{.temperature = 1.0f, .top_k = 1, .seed = random()}}) {
      EXPECT_EQ(make_sampler(config, logits.size()).sample(logits, {}), expected);
    }
  }
  EXPECT_EQ(make_sampler({}, 3).sample(std::vector<float>{-0.0f, 0.0f, 0.0f}, {}), 0) << "the zeros are equal";
}

TEST(Sampler, GreedyHeedsPenaltiesBiasesAndBans) {
  const std::vector<float> logits = {5, 4, 3, 2};
  const auto id = [&](const SamplerConfig& config) { return make_sampler(config, 4).sample(logits, Ids{0, 1}); };
  EXPECT_EQ(id({}), 0);
  EXPECT_EQ(id({.presence_penalty = 3.0f}), 2);
  EXPECT_EQ(id({.logit_bias = {{3, 3.5f}}}), 3);
  EXPECT_EQ(id({.banned = {0, 1, 1, 0}}), 2);
  EXPECT_EQ(id({.logit_bias = {{0, -kInfinity}}}), 1);
}

TEST(Sampler, PaddingRowsAreNeverDrawn) {
  const std::vector<float> logits = {1, 1, 50, 50};
  EXPECT_EQ(make_sampler({}, 2).sample(logits, {}), 0);
  Sampler warm = make_sampler({.temperature = 5.0f, .seed = 3}, 2);
  for (int i = 0; i < 500; ++i) EXPECT_LT(*warm.sample(logits, {}), 2);
}

TEST(Sampler, BannedTokensAreNeverDrawnAndNothingLeftIsAnError) {
  Random random(4);
  for (int round = 0; round < 200; ++round) {
    const std::vector<float> logits = random_logits(random, 12, 3.0f, round % 2 == 0);
    SamplerConfig config{.temperature = static_cast<float>(round % 3), .seed = random()};
    for (std::int32_t id = 0; id < 12; ++id) {
      if (random() % 3 != 0) (random() % 2 == 0 ? config.banned.push_back(id) : config.logit_bias.push_back({id, -kInfinity}));
    }
    const auto is_banned = [&](std::int32_t id) {
      return std::ranges::count(config.banned, id) > 0 || std::ranges::count(config.logit_bias, id, &LogitBias::id) > 0;
    };
    Sampler sampler = make_sampler(config, 12);
    for (int i = 0; i < 20; ++i) {
      const auto id = sampler.sample(logits, {});
      if (config.banned.size() + config.logit_bias.size() == 12) {
        EXPECT_EQ(code_of(id), ErrorCode::no_candidates);
      } else {
        ASSERT_TRUE(id) << id.error().message;
        EXPECT_FALSE(is_banned(*id));
      }
    }
  }
  EXPECT_EQ(code_of(make_sampler({.banned = {0, 1, 2}}, 3).sample(std::vector<float>{1, 2, 3}, {})), ErrorCode::no_candidates);
}

struct AllowOnly : LogitMask {
  Ids allowed;
  float forbidden = -kInfinity;
  std::vector<float> seen;
  explicit AllowOnly(Ids ids) : allowed(std::move(ids)) {}
  Result<void> apply(std::span<float> logits) override {
    seen.assign(logits.begin(), logits.end());
    for (std::size_t id = 0; id < logits.size(); ++id) {
      if (!std::ranges::count(allowed, static_cast<std::int32_t>(id))) logits[id] = forbidden;
    }
    return {};
  }
};

TEST(SamplerMask, ComesBeforeEveryStepAndDecidesWhatCanBeDrawn) {
  const std::vector<float> logits = {9, 8, 1, 1, 0, 77};
  AllowOnly mask({2, 3, 4});
  Sampler sampler = make_sampler({.temperature = 1.0f, .top_k = 2, .logit_bias = {{0, 50.0f}, {3, 1.0f}}, .seed = 1}, 5);
  std::vector<int> counts(5);
  for (int i = 0; i < 40000; ++i) ++counts[static_cast<std::size_t>(*sampler.sample(logits, {}, &mask))];
  EXPECT_EQ(mask.seen, (std::vector<float>{9, 8, 1, 1, 0})) << "the logits of the tokens, untouched";
  const double e = std::exp(1.0);
  EXPECT_LT(chi_square_excess(counts, {0, 0, 1 / (1 + e), e / (1 + e), 0}), 1.0) << "top-k counts among what the mask allows";
  EXPECT_EQ(make_sampler({}, 5).sample(logits, {}, &mask), 2);
  EXPECT_EQ(make_sampler({}, 5).sample(logits, {}), 0) << "a mask is for one draw";
}

TEST(SamplerMask, ThatLeavesNothingOrNonsenseIsAnError) {
  const std::vector<float> logits = {1, 2, 3};
  AllowOnly nothing({});
  EXPECT_EQ(code_of(make_sampler({}, 3).sample(logits, {}, &nothing)), ErrorCode::no_candidates);
  AllowOnly only_banned({1});
  EXPECT_EQ(code_of(make_sampler({.banned = {1}}, 3).sample(logits, {}, &only_banned)), ErrorCode::no_candidates);
  for (const float bad : {kNan, kInfinity}) {
    AllowOnly mask({1});
    mask.forbidden = bad;
    EXPECT_EQ(code_of(make_sampler({}, 3).sample(logits, {}, &mask)), ErrorCode::non_finite);
  }
  struct Failing : LogitMask {
    Result<void> apply(std::span<float>) override { return fail(ErrorCode::cancelled, "no"); }
  } failing;
  EXPECT_EQ(code_of(make_sampler({}, 3).sample(logits, {}, &failing)), ErrorCode::cancelled);
}

TEST(Logprobs, AreTheLogSoftmaxOfTheRawLogits) {
  Random random(8);
  for (int round = 0; round < 100; ++round) {
    const std::size_t n_tokens = 1 + random() % 200;
    std::vector<float> logits = random_logits(random, n_tokens, 12.0f, round % 2 == 0);
    const std::vector<double> p = softmax(logits);
    logits.resize(n_tokens + random() % 3, 99.0f);  // padding rows do not count
    Sampler sampler = make_sampler({.temperature = 2.0f, .top_k = 1, .logit_bias = {{0, 5.0f}}}, n_tokens);
    const auto drawn = static_cast<std::int32_t>(random() % n_tokens);
    const std::size_t n_top = random() % (n_tokens + 2);
    const Logprobs result = sampler.logprobs(logits, drawn, n_top);
    EXPECT_EQ(result.drawn.id, drawn);
    EXPECT_NEAR(result.drawn.logprob, std::log(p[static_cast<std::size_t>(drawn)]), 1e-9);
    ASSERT_EQ(result.top.size(), std::min(n_top, n_tokens));
    std::vector<std::size_t> order(n_tokens);
    for (std::size_t id = 0; id < n_tokens; ++id) order[id] = id;
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t id) { return logits[id]; });
    for (std::size_t i = 0; i < result.top.size(); ++i) {
      EXPECT_EQ(result.top[i].id, static_cast<std::int32_t>(order[i]));
      EXPECT_NEAR(result.top[i].logprob, std::log(p[order[i]]), 1e-9);
    }
  }
}

TEST(Logprobs, OfImpossibleTokensAreFinite) {
  Sampler sampler = make_sampler({}, 2);
  const Logprobs result = sampler.logprobs(std::vector<float>{3e38f, -3e38f}, 1, 2);
  EXPECT_NEAR(result.drawn.logprob, -6e38, 1e33);
  EXPECT_EQ(result.top[0].logprob, 0.0);
}

Ids draw_sequence(const SamplerConfig& config, std::size_t vocab_size, int count) {
  Random random(99);
  Sampler sampler = make_sampler(config, vocab_size);
  Ids ids;
  for (int i = 0; i < count; ++i) {
    const std::vector<float> logits = random_logits(random, vocab_size, 6.0f, i % 4 == 3);
    ids.push_back(sampler.sample(logits, ids).value_or(-1));
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

// Pinned: native and wasm, every compiler and standard library must draw these.
TEST(SamplerDeterminism, EveryBuildDrawsTheSameSequence) {
  EXPECT_EQ(draw_sequence({.temperature = 1.0f, .seed = 0}, 1000, 12), (Ids{252, 319, 367, 14, 404, 18, 876, 848, 281, 78, 277, 66}));
  EXPECT_EQ(draw_sequence({.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .seed = 42}, 1000, 12),
            (Ids{370, 142, 924, 204, 937, 141, 699, 122, 998, 691, 703, 184}));
  EXPECT_EQ(draw_sequence({.temperature = 1.5f, .top_p = 0.9f, .seed = 0xFFFFFFFFFFFFFFFFu}, 50000, 8),
            (Ids{46405, 47787, 8860, 21872, 21246, 12799, 15149, 39709}));
  EXPECT_EQ(draw_sequence({.temperature = 2.0f, .min_p = 0.1f, .seed = 7}, 300, 12),
            (Ids{26, 50, 203, 147, 290, 171, 223, 74, 299, 15, 47, 46}));
}

// The same for every step at once, with a history: pins their arithmetic on every build.
TEST(SamplerDeterminism, EveryBuildDrawsTheSameSequenceThroughAllSteps) {
  const SamplerConfig all{.temperature = 1.3f, .dynatemp_range = 0.4f, .dynatemp_exponent = 1.2f, .top_k = 200, .top_p = 0.97f, .min_p = 0.01f, .typical_p = 0.95f,
                          .top_n_sigma = 2.5f, .xtc_probability = 0.5f, .xtc_threshold = 0.02f, .dry_multiplier = 0.8f, .dry_allowed_length = 0,
                          .repeat_penalty = 1.1f, .frequency_penalty = 0.1f, .presence_penalty = 0.2f, .logit_bias = {{5, 3.0f}}, .banned = {7}, .seed = 11};
  EXPECT_EQ(draw_sequence(all, 1000, 12), (Ids{152, 787, 768, 26, 168, 417, 100, 910, 731, 618, 287, 834}));
  SamplerConfig mirostat = all;
  mirostat.mirostat = 2;
  EXPECT_EQ(draw_sequence(mirostat, 1000, 12), (Ids{813, 793, 967, 579, 239, 770, 106, 19, 785, 415, 653, 9}));
}

}  // namespace
}  // namespace layerstream::test
