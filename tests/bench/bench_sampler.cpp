// SPDX-License-Identifier: MIT
// One draw of the sampler, by vocabulary size and settings. Logits fall with the logarithm of a random rank, as those of
// language models about do (Zipf), with noise; the history is 4096 tokens long.

#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "base/json_writer.h"
#include "sampler/sampler.h"
#include "timing.h"

namespace {

using namespace layerstream;

struct Case {
  const char* name;
  SamplerConfig config;
  std::size_t n_top = 0;  // log-probabilities asked for
};

std::vector<Case> cases() {
  const SamplerConfig usual{.temperature = 0.8f, .top_k = 40, .top_p = 0.95f, .min_p = 0.05f};
  std::vector<Case> all = {
      {"greedy", {}},
      {"usual", usual},
      {"temperature", {.temperature = 0.8f}},
      {"top_p", {.temperature = 0.8f, .top_p = 0.95f}},
      {"min_p", {.temperature = 0.8f, .min_p = 0.05f}},
      {"typical_p", {.temperature = 0.8f, .typical_p = 0.95f}},
      {"top_n_sigma", {.temperature = 0.8f, .top_n_sigma = 1.0f}},
      {"mirostat", {.temperature = 0.8f, .mirostat = 2}},
      {"usual_logprobs", usual, 20},
  };
  Case everything{"usual_with_xtc_penalties_dry", usual};
  everything.config.xtc_probability = 0.5f;
  everything.config.repeat_penalty = 1.1f;
  everything.config.dry_multiplier = 0.8f;
  all.push_back(everything);
  everything.name = "usual_with_xtc_penalties_dry_whole_context";
  everything.config.repeat_last_n = -1;
  all.push_back(everything);
  return all;
}

std::vector<float> zipf_logits(std::size_t vocab_size) {
  std::mt19937_64 random(1);
  std::vector<std::size_t> ranks(vocab_size);
  std::iota(ranks.begin(), ranks.end(), std::size_t{1});
  std::ranges::shuffle(ranks, random);
  std::vector<float> logits(vocab_size);
  for (std::size_t id = 0; id < vocab_size; ++id) {
    const double noise = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    logits[id] = static_cast<float>(20.0 - 1.5 * std::log(static_cast<double>(ranks[id])) + noise);
  }
  return logits;
}

std::vector<std::int32_t> some_history(std::size_t vocab_size) {
  std::mt19937_64 random(2);
  std::vector<std::int32_t> ids(4096);
  for (auto& id : ids) id = static_cast<std::int32_t>(random() % vocab_size);
  return ids;
}

}  // namespace

int main() {
  JsonWriter json;
  json.begin_object().field("bench", "sampler").key("cases").begin_array();
  for (const std::size_t vocab_size : {std::size_t{32000}, std::size_t{128256}, std::size_t{262144}}) {
    const std::vector<float> logits = zipf_logits(vocab_size);
    const std::vector<std::int32_t> history = some_history(vocab_size);
    for (const Case& one : cases()) {
      auto sampler = Sampler::create(one.config, vocab_size);
      bool failed = !sampler;
      const bench::Spread spread = bench::time_rounds(failed ? 0.0 : 0.3, [&] {
        const auto id = sampler ? sampler->sample(logits, history) : Result<std::int32_t>(0);
        failed |= !id;
        if (!failed && one.n_top > 0) failed |= sampler->logprobs(logits, *id, one.n_top).top.size() != one.n_top;
      });
      if (failed) {
        std::fprintf(stderr, "%s failed\n", one.name);
        return 1;
      }
      json.begin_object()
          .field("name", one.name)
          .field("vocab_size", vocab_size)
          .field("median_us", spread.median_us)
          .field("p10_us", spread.p10_us)
          .field("p90_us", spread.p90_us)
          .field("rounds", spread.rounds)
          .end_object();
    }
  }
  std::printf("%s\n", json.end_array().end_object().take().c_str());
  return 0;
}
