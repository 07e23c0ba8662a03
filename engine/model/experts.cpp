// SPDX-License-Identifier: MIT
#include "model/experts.h"

#include <algorithm>
#include <cstring>

#include "base/math.h"
#include "kernels/vector_ops.h"

namespace layerstream::model {
namespace {

// The reference clamps the sum of the selected weights at the smallest normal half.
constexpr float kSmallestSum = 6.103515625e-5f;

// Softmax over all experts, the best n_used (ties: lower id), renormalised where the model is so; ids ascending.
void select_experts(const ModelConfig& config, const float* scores, std::uint32_t* ids, float* weights) {
  const std::size_t n_experts = config.n_experts, n_used = config.n_experts_used;
  float best = scores[0];
  for (std::size_t i = 1; i < n_experts; ++i) best = std::max(best, scores[i]);
  double total = 0;
  for (std::size_t i = 0; i < n_experts; ++i) total += math::exp(static_cast<double>(scores[i]) - static_cast<double>(best));
  std::size_t n = 0;
  for (std::uint32_t id = 0; id < n_experts; ++id) {  // insertion into a short list ordered by (score desc, id asc)
    std::size_t at = n;
    while (at > 0 && scores[id] > scores[ids[at - 1]]) --at;
    if (at == n_used) continue;
    if (n < n_used) ++n;
    for (std::size_t i = n - 1; i > at; --i) ids[i] = ids[i - 1];
    ids[at] = id;
  }
  std::sort(ids, ids + n);
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = static_cast<float>(math::exp(static_cast<double>(scores[ids[i]]) - static_cast<double>(best)) / total);
    sum += weights[i];
  }
  if (!config.renormalise_experts) return;
  sum = std::max(sum, kSmallestSum);
  for (std::size_t i = 0; i < n; ++i) weights[i] /= sum;
}

// Where entry e lists the expert, or n_used.
std::size_t place_of(const Batch& b, std::size_t e, std::size_t n_used, std::uint32_t expert) {
  const std::uint32_t* ids = b.expert_ids.data() + e * n_used;
  return static_cast<std::size_t>(std::find(ids, ids + n_used, expert) - ids);
}

void list_entries(Batch& b, std::size_t n_used, std::uint32_t expert) {
  b.expert_entries.clear();
  for (std::uint32_t e = 0; e < b.n; ++e) {
    if (place_of(b, e, n_used, expert) < n_used) b.expert_entries.push_back(e);
  }
}

// y[e] += weight * out[i] for the i-th entry of the expert.
void scatter(Batch& b, std::size_t model_dim, std::size_t n_used, std::uint32_t expert) {
  for (std::size_t i = 0; i < b.expert_entries.size(); ++i) {
    const std::size_t e = b.expert_entries[i];
    float* out = b.expert_out + i * model_dim;
    kernels::scale(b.expert_weights[e * n_used + place_of(b, e, n_used, expert)], out, model_dim);
    kernels::add(out, b.y + e * model_dim, model_dim);
  }
}

// Tells the residency about every selected expert, so that a host can read them together.
void announce_experts(Script& s, const Batch& b, const Block& w, std::size_t n_used) {
  for (std::size_t i = 0; i < b.n * n_used; ++i) {
    const Expert& expert = w.experts[b.expert_ids[i]];
    for (const Matrix* m : {&expert.gate, &expert.up, &expert.down}) s.want_all(*m);
  }
}

void run_experts(Script& s, const PassContext& pass, std::size_t layer) {
  const ModelConfig& config = pass.model.config;
  const Block& w = pass.model.weights.blocks[layer];
  const std::size_t ffn_dim = config.layers[layer].ffn_dim;
  const std::size_t n_used = config.n_experts_used;
  Batch& b = pass.batch;
  for (std::uint32_t id = 0; id < config.n_experts; ++id) {
    if (s.halt() != Halt::none) return;
    list_entries(b, n_used, id);
    const std::size_t n = b.expert_entries.size();
    if (n == 0) continue;
    const Expert& expert = w.experts[id];
    s.line(Operation::experts, n * config.model_dim, [&] {
      for (std::size_t i = 0; i < n; ++i) std::memcpy(b.expert_in + i * config.model_dim, b.normed + b.expert_entries[i] * config.model_dim, config.model_dim * sizeof(float));
    });
    const Input in = s.input(b.expert_in, config.model_dim, n, {&expert.gate, &expert.up});
    s.gated(expert.gate, expert.up, config.activation, in, b.gate, b.hidden);
    const Input hidden = s.input(b.hidden, ffn_dim, n, {&expert.down});
    s.matmul(expert.down, hidden, b.expert_out);
    s.line(Operation::experts, n * config.model_dim, [&] { scatter(b, config.model_dim, n_used, id); });
  }
}

}  // namespace

void mixture_of_experts(Script& s, const PassContext& pass, std::size_t layer) {
  const ModelConfig& config = pass.model.config;
  const Block& w = pass.model.weights.blocks[layer];
  const std::size_t n_used = config.n_experts_used;
  Batch& b = pass.batch;

  const Input router_in = s.input(b.normed, config.model_dim, b.n, {&w.router});
  s.matmul(w.router, router_in, b.router);
  s.line(Operation::experts, b.n * config.n_experts, [&] {
    for (std::size_t e = 0; e < b.n; ++e) {
      select_experts(config, b.router + e * config.n_experts, b.expert_ids.data() + e * n_used, b.expert_weights.data() + e * n_used);
    }
    std::memset(b.y, 0, b.n * config.model_dim * sizeof(float));
  });
  if (s.halt() != Halt::none) return;  // the experts to come are not known yet
  run_experts(s, pass, layer);
  if (s.halt() == Halt::needs_weights) announce_experts(s, b, w, n_used);
}

}  // namespace layerstream::model
