#pragma once
// SPDX-License-Identifier: MIT
// The forward pass, stage by stage: embed, one function for every block of every family, head.

#include <cstdint>

#include "kernels/attention.h"
#include "model/batch.h"
#include "model/model.h"
#include "model/script.h"
#include "runtime/kv_cache.h"

namespace layerstream::model {

// What a pass works with. References outlive the pass.
struct PassContext {
  const Model& model;
  Batch& batch;
  runtime::KvCache& kv;
  kernels::KvType kv_type;
};

// embed and forward_block work on the chunk of entries at hand.

// x[e] = embedding of the entry's token (batch.rows holds the table rows as read; with learned positions each entry's
// position row follows its token row), scaled; and the rope tables.
void embed(Script& script, const PassContext& pass);

void forward_block(Script& script, const PassContext& pass, std::size_t layer);

// For the whole pass: the final norm of the entries that want logits or their hidden state, and the logits of the former.
void head(Script& script, const PassContext& pass);

}  // namespace layerstream::model
