#pragma once
// SPDX-License-Identifier: MIT
// The steps of the chain, one file each. None of them empties the candidates.

#include <cstdint>

#include "sampler/candidates.h"
#include "sampler/rng.h"

namespace layerstream {

// Keeps the k highest; k <= 0 keeps all.
void keep_top_k(Candidates& candidates, std::int32_t k);

// Keeps the shortest prefix of the order whose probability reaches p (the candidate that crosses p included);
// p >= 1 keeps all.
void keep_top_p(Candidates& candidates, float p);

// Keeps those at least min_p times as probable as the most probable one; min_p <= 0 keeps all.
void keep_min_p(Candidates& candidates, float min_p);

// Logits become (logit - highest) / temperature; temperature > 0.
void apply_temperature(Candidates& candidates, float temperature);

// Draws by softmax over the candidates, in the order in which they stand. Takes one number from the generator.
[[nodiscard]] std::int32_t draw(const Candidates& candidates, Rng& rng);

}  // namespace layerstream
