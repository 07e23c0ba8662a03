#pragma once
// SPDX-License-Identifier: MIT
// Mixture of experts (Mixtral, Jiang et al. 2024): router, softmax over all experts, the best few renormalised, their
// gated feed-forwards summed. Entries are grouped by expert; each entry's experts add up in ascending id.

#include "model/block.h"

namespace layerstream::model {

// y[e] = sum over the selected experts of weight * ffn_expert(normed[e]).
void mixture_of_experts(Script& script, const PassContext& pass, std::size_t layer);

}  // namespace layerstream::model
