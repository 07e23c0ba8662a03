#pragma once
// SPDX-License-Identifier: MIT
// The steps that need nothing but the candidates, one file each. All take at least one candidate and leave at least one.
// penalties.h and dry.h have those that look at the tokens so far.

#include <cstdint>

#include "sampler/candidates.h"
#include "sampler/config.h"
#include "sampler/rng.h"

namespace layerstream {

// Keeps the k highest; k <= 0 keeps all.
void keep_top_k(Candidates& candidates, std::int32_t k);

// Keeps the shortest prefix of the order whose probability reaches p (the candidate that crosses p included);
// p >= 1 keeps all.
void keep_top_p(Candidates& candidates, float p);

// Keeps those at least min_p times as probable as the most probable one; min_p <= 0 keeps all.
void keep_min_p(Candidates& candidates, float min_p);

// Locally typical (Meister et al.): in the order of |-ln p - entropy|, keeps until the probability exceeds p;
// p >= 1 keeps all.
void keep_typical(Candidates& candidates, float p);

// Keeps logits of at least highest - n * standard deviation (of the candidates' logits); n <= 0 keeps all.
void keep_top_n_sigma(Candidates& candidates, float n);

// Exclude top choices: with config.xtc_probability, of the candidates with p >= xtc_threshold only the last of the order
// stays. Takes one number from the generator if it is on.
void exclude_top_choices(Candidates& candidates, const SamplerConfig& config, Rng& rng);

// Logits become logit / temperature. temperature <= 0 keeps the highest only; with a dynatemp_range the temperature
// follows the entropy.
void apply_temperature(Candidates& candidates, const SamplerConfig& config);

struct Draw {
  std::int32_t id = 0;
  double probability = 1.0;  // among the candidates
};

// Draws by softmax over the candidates, in the order in which they stand. Takes one number from the generator.
[[nodiscard]] Draw draw(const Candidates& candidates, Rng& rng);

// Mirostat version 2 (Basu et al.): removes what is more surprising than max_surprise, draws, and moves max_surprise by
// mirostat_eta times what the draw was off mirostat_tau. Bits.
[[nodiscard]] Draw draw_mirostat(Candidates& candidates, const SamplerConfig& config, double& max_surprise, Rng& rng);

}  // namespace layerstream
