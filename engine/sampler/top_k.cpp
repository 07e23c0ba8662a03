// SPDX-License-Identifier: MIT
// top-k: the k highest logits.

#include "sampler/steps.h"

namespace layerstream {

void keep_top_k(Candidates& candidates, std::int32_t k) {
  if (k <= 0 || static_cast<std::size_t>(k) >= candidates.size()) return;
  candidates.keep_first(static_cast<std::size_t>(k));
}

}  // namespace layerstream
