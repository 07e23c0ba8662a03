// SPDX-License-Identifier: MIT
// Each step against its definition on random logits, with and without ties.

#include <algorithm>
#include <set>

#include "sampler_test_util.h"

namespace layerstream::test {
namespace {

// Ids in the one order: logit descending, id ascending.
std::vector<std::int32_t> ordered_ids(const std::vector<float>& logits) {
  std::vector<std::int32_t> ids(logits.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
  std::ranges::stable_sort(ids, [&](std::int32_t a, std::int32_t b) { return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)]; });
  return ids;
}

template <typename Check>
void for_random_logits(const Check& check) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + static_cast<std::size_t>(random() % 300);
    check(random, random_logits(random, count, 8.0f, round % 2 == 0));
  }
}

TEST(Steps, TopKKeepsTheFirstKOfTheOrder) {
  for_random_logits([](Random& random, const std::vector<float>& logits) {
    const auto k = static_cast<std::int32_t>(random() % (logits.size() + 3));
    Candidates candidates = candidates_of(logits);
    keep_top_k(candidates, k);
    std::vector<std::int32_t> expected = ordered_ids(logits);
    std::vector<std::int32_t> kept = ids_of(candidates);
    if (k <= 0 || static_cast<std::size_t>(k) >= logits.size()) {
      std::ranges::sort(kept);
      std::ranges::sort(expected);
    } else {
      expected.resize(static_cast<std::size_t>(k));
    }
    EXPECT_EQ(kept, expected);
  });
}

TEST(Steps, TopPKeepsTheShortestPrefixThatReachesP) {
  for_random_logits([](Random& random, const std::vector<float>& logits) {
    const float p = unit_float(random);
    Candidates candidates = candidates_of(logits);
    keep_top_p(candidates, p);
    const std::vector<std::int32_t> kept = ids_of(candidates);
    const std::vector<std::int32_t> order = ordered_ids(logits);
    ASSERT_LE(kept.size(), order.size());
    EXPECT_EQ(kept, std::vector<std::int32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept.size())));
    const std::vector<double> probability = softmax(logits);
    double sum = 0.0;
    for (const std::int32_t id : kept) sum += probability[static_cast<std::size_t>(id)];
    EXPECT_GE(sum, static_cast<double>(p) - 1e-12);
    EXPECT_LT(sum - probability[static_cast<std::size_t>(kept.back())], static_cast<double>(p) + 1e-12) << "one fewer would do";
  });
}

TEST(Steps, TopPOfZeroKeepsOneAndOfOneKeepsAll) {
  Candidates candidates = candidates_of({1.0f, 3.0f, 3.0f});
  keep_top_p(candidates, 1.0f);
  EXPECT_EQ(candidates.size(), 3u);
  keep_top_p(candidates, 0.0f);
  EXPECT_EQ(ids_of(candidates), std::vector<std::int32_t>{1});
}

TEST(Steps, MinPKeepsWhatIsProbableEnough) {
  for_random_logits([](Random& random, const std::vector<float>& logits) {
    const float min_p = unit_float(random) * 0.3f + 1e-4f;
    Candidates candidates = candidates_of(logits);
    if (random() % 2 == 0) candidates.sort_first(static_cast<std::size_t>(random() % (logits.size() + 1)));
    keep_min_p(candidates, min_p);
    const std::vector<std::int32_t> ids = ids_of(candidates);
    const std::set<std::int32_t> kept(ids.begin(), ids.end());
    EXPECT_EQ(kept.size(), ids.size());
    const std::vector<double> probability = softmax(logits);
    const double least = static_cast<double>(min_p) * *std::ranges::max_element(probability);
    for (std::size_t id = 0; id < logits.size(); ++id) {
      if (std::fabs(probability[id] - least) < 1e-9 * least) continue;  // too near to say
      EXPECT_EQ(kept.contains(static_cast<std::int32_t>(id)), probability[id] > least);
    }
  });
}

TEST(Steps, MinPOfOneKeepsTheMostProbable) {
  Candidates candidates = candidates_of({2.0f, 1.0f, 2.0f});
  keep_min_p(candidates, 1.0f);
  EXPECT_EQ(ids_of(candidates), (std::vector<std::int32_t>{0, 2}));
}

TEST(Steps, TheOrderHoldsHoweverTheStepsFollowEachOther) {
  for_random_logits([](Random& random, const std::vector<float>& logits) {
    Candidates candidates = candidates_of(logits);
    for (int i = 0; i < 3; ++i) {
      const std::size_t some = static_cast<std::size_t>(random() % (candidates.size() + 2));
      switch (random() % 3) {
        case 0: candidates.sort_first(some); break;
        case 1: keep_min_p(candidates, 0.01f); break;
        default: candidates.keep_first(std::max<std::size_t>(some, 1)); break;
      }
    }
    const float highest = std::ranges::max(candidates.items(), {}, &Candidate::logit).logit;
    EXPECT_EQ(candidates.highest_logit(), highest);
    candidates.sort_first(candidates.size());
    const auto before = [](const Candidate& a, const Candidate& b) { return a.before(b); };
    EXPECT_TRUE(std::ranges::is_sorted(candidates.items(), before));
  });
}

TEST(Steps, TemperatureKeepsTheOrderAndNeverOverflows) {
  for (const float temperature : {1e-45f, 1e-30f, 0.1f, 1.0f, 50.0f, 3e38f}) {
    Candidates candidates = candidates_of({-3e38f, 0.0f, 3e38f, 2.9e38f});
    apply_temperature(candidates, temperature);
    for (const Candidate& candidate : candidates.items()) {
      EXPECT_TRUE(std::isfinite(candidate.logit));
      EXPECT_LE(candidate.logit, 0.0f);
    }
    EXPECT_EQ(candidates.items()[2].logit, 0.0f);
    EXPECT_LE(candidates.items()[0].logit, candidates.items()[1].logit);
  }
}

TEST(Steps, ADrawNeverGivesAnImpossibleCandidate) {
  Rng rng(5);
  const Candidates candidates = candidates_of({-1000.0f, 0.0f, -1000.0f, 0.0f, -1000.0f});
  for (int i = 0; i < 2000; ++i) {
    const std::int32_t id = draw(candidates, rng);
    ASSERT_TRUE(id == 1 || id == 3) << id;
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
  double chi_square = 0.0;
  for (const int count : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 63 + 5 * std::sqrt(126.0));
  EXPECT_GT(chi_square, 63 - 5 * std::sqrt(126.0));
}

}  // namespace
}  // namespace layerstream::test
