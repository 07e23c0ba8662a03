// SPDX-License-Identifier: MIT
#include "model/weights.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/matmul.h"

namespace layerstream::model {
namespace {

// Tensors a role found, before they are arranged.
struct Found {
  const gguf::TensorInfo* weight = nullptr;
  Vector bias, scale;
};
using FoundRoles = std::array<Found, static_cast<std::size_t>(Role::count)>;

std::string shape_text(const std::uint64_t (&dims)[4], std::uint32_t n_dims) {
  // Docs write [out, in]; the file lists the row length first.
  std::string text = "[";
  for (std::uint32_t i = n_dims; i-- > 0;) text += std::to_string(dims[i]) + (i == 0 ? "" : ",");
  return text + "]";
}

class Binder {
 public:
  Binder(const gguf::ModelFile& file, const Family& family, const ModelConfig& config, std::uint64_t unit_bytes)
      : file_(file), family_(family), config_(config), unit_bytes_(unit_bytes) {}

  Result<Weights> bind() {
    LS_CHECK(bind_model());
    for (std::size_t layer = 0; layer < config_.n_layers; ++layer) LS_CHECK(bind_block(layer));
    LS_CHECK(bind_head());
    LS_CHECK(check_unclaimed());
    LS_CHECK(weights_.fixed.allocate());
    resolve();
    return std::move(weights_);
  }

 private:
  std::uint64_t size_of(Dim dim, std::size_t layer) const {
    const LayerConfig& l = config_.layers[layer];
    switch (dim) {
      case Dim::one: return 1;
      case Dim::model: return config_.model_dim;
      case Dim::head: return config_.head_dim;
      case Dim::q: return config_.q_dim(layer);
      case Dim::kv: return config_.kv_dim(layer);
      case Dim::qkv: return config_.q_dim(layer) + 2 * config_.kv_dim(layer);
      case Dim::ffn: return l.ffn_dim;
      case Dim::ffn_twice: return 2 * l.ffn_dim;
      case Dim::vocab: return config_.vocab_size;
      case Dim::context: return config_.n_ctx_train;
      case Dim::experts: return config_.n_experts;
      case Dim::rope_pairs: return config_.ropes.empty() ? 0 : config_.ropes.front().dims / 2;
    }
    return 0;
  }

  Result<void> check_shape(const gguf::TensorInfo& tensor, std::uint64_t columns, std::uint64_t rows, std::uint64_t depth) const {
    const std::uint64_t expected[4] = {columns, rows, depth, 1};
    if (std::equal(expected, expected + 4, tensor.dims)) return {};
    const std::uint32_t n_dims = depth > 1 ? 3 : rows > 1 ? 2 : 1;
    return fail(ErrorCode::shape_mismatch, std::string(tensor.name) + " is " + shape_text(tensor.dims, std::max(1u, tensor.n_dims)) +
                                               ", expected " + shape_text(expected, n_dims));
  }

  const gguf::TensorInfo* claim(const std::string& name, Role role) {
    const gguf::TensorInfo* tensor = file_.find_tensor(name);
    if (tensor != nullptr) weights_.tensor_roles.emplace(name, role);
    return tensor;
  }

  // A small tensor kept as floats: only the three float types can stand there.
  Result<Vector> fixed(const gguf::TensorInfo& tensor) {
    if (tensor.type != QuantType::f32 && tensor.type != QuantType::f16 && tensor.type != QuantType::bf16) {
      return fail(ErrorCode::unsupported_quant, std::string(tensor.name) + " has type " + std::string(type_info(tensor.type).name) + ", expected F32, F16 or BF16");
    }
    Vector vector;
    vector.item = weights_.fixed.add(tensor);
    vector.count = weights_.fixed.items()[vector.item].count;
    return vector;
  }

  Result<Found> find_role(const RoleSpec& spec, const std::string& prefix, std::size_t layer) {
    Found found;
    const std::string stem = prefix + std::string(spec.name);
    const std::uint64_t rows = size_of(spec.rows, layer), columns = size_of(spec.columns, layer), depth = size_of(spec.depth, layer);
    found.weight = claim(stem + ".weight", spec.role);
    if (found.weight == nullptr) {
      if (spec.weight == Need::required) return fail(ErrorCode::missing_tensor, "the file has no tensor " + stem + ".weight");
      return found;
    }
    LS_CHECK(check_shape(*found.weight, columns, rows, depth));
    ++weights_.found[static_cast<std::size_t>(spec.role)];
    if (spec.bias != Need::absent) {
      if (const gguf::TensorInfo* bias = claim(stem + ".bias", spec.role)) {
        LS_CHECK(check_shape(*bias, spec.rows == Dim::one ? columns : rows, depth, 1));
        found.bias = LS_TRY(fixed(*bias));
      } else if (spec.bias == Need::required) {
        return fail(ErrorCode::missing_tensor, "the file has no tensor " + stem + ".bias");
      }
    }
    const gguf::TensorInfo* scale = claim(stem + ".scale", spec.role);
    if (scale == nullptr) scale = claim(stem + ".weight.scale", spec.role);
    if (scale != nullptr) {
      LS_CHECK(check_shape(*scale, depth, 1, 1));
      found.scale = LS_TRY(fixed(*scale));
    }
    return found;
  }

  Result<FoundRoles> find_roles(std::span<const RoleSpec> specs, const std::string& prefix, std::size_t layer) {
    FoundRoles roles;
    for (const RoleSpec& spec : specs) {
      if (roles[static_cast<std::size_t>(spec.role)].weight != nullptr) continue;  // an earlier spelling was there
      roles[static_cast<std::size_t>(spec.role)] = LS_TRY(find_role(spec, prefix, layer));
    }
    return roles;
  }

  Result<Norm> norm(const Found& found) {
    Norm out;
    if (found.weight == nullptr) return out;
    out.weight = LS_TRY(fixed(*found.weight));
    out.bias = found.bias;
    return out;
  }

  // Rows [first_row, first_row + rows) of a tensor (of expert `expert`) as a matrix; units come later.
  Result<Matrix> matrix(const Found& found, std::uint64_t first_row, std::uint64_t rows, std::size_t expert = 0) const {
    Matrix m;
    if (found.weight == nullptr) return m;
    const gguf::TensorInfo& tensor = *found.weight;
    if (!kernels::is_supported(tensor.type)) {
      return fail(ErrorCode::unsupported_quant, std::string(tensor.name) + " has type " + std::string(type_info(tensor.type).name) + ", which is not implemented");
    }
    m.type = tensor.type;
    m.rows = static_cast<std::size_t>(rows);
    m.columns = static_cast<std::size_t>(tensor.dims[0]);
    m.row_bytes = static_cast<std::size_t>(row_bytes(tensor.type, tensor.dims[0]));
    m.part = tensor.part;
    m.offset = tensor.offset + (expert * tensor.dims[1] + first_row) * m.row_bytes;
    m.bias = found.bias;
    m.bias_offset = expert * static_cast<std::size_t>(tensor.dims[1]) + static_cast<std::size_t>(first_row);
    m.scale = found.scale;
    m.scale_index = expert;
    return m;
  }

  Result<Matrix> whole(const Found& found) const {
    return matrix(found, 0, found.weight == nullptr ? 0 : found.weight->dims[1]);
  }

  // Rows a unit takes: a multiple of 8 (the kernels' row group), at least 8, of at most about unit_bytes_. Units of one matrix are
  // about equal: a short one computes for too little time to read a long one meanwhile.
  std::size_t rows_per_unit(const Matrix& m) const {
    const std::uint64_t most = std::max<std::uint64_t>(8, unit_bytes_ / m.row_bytes / 8 * 8);
    const std::uint64_t n_units = (m.rows + most - 1) / most;
    const std::uint64_t rows = ((m.rows + n_units - 1) / n_units + 7) / 8 * 8;
    return static_cast<std::size_t>(std::min<std::uint64_t>(rows, m.rows));
  }

  void emit_unit(Matrix& m, std::uint32_t unit, std::uint32_t stage, bool conditional) {
    const std::uint64_t first_row = std::uint64_t{unit} * m.rows_per_unit;
    weights_.units.push_back(stream::Unit{m.offset + first_row * m.row_bytes, m.unit_rows(unit) * m.row_bytes, m.part, stage, conditional});
  }

  void slice(Matrix& m, std::uint32_t stage, bool conditional = false) {
    if (!m) return;
    m.rows_per_unit = rows_per_unit(m);
    m.n_units = static_cast<std::uint32_t>((m.rows + m.rows_per_unit - 1) / m.rows_per_unit);
    m.first_unit = static_cast<stream::UnitId>(weights_.units.size());
    for (std::uint32_t unit = 0; unit < m.n_units; ++unit) emit_unit(m, unit, stage, conditional);
  }

  // Gate and up alternate slice by slice, so that only their product has to be kept.
  void slice_pair(Matrix& gate, Matrix& up, std::uint32_t stage, bool conditional = false) {
    if (!gate) return slice(up, stage, conditional);
    gate.rows_per_unit = up.rows_per_unit = std::min(rows_per_unit(gate), rows_per_unit(up));
    gate.n_units = up.n_units = static_cast<std::uint32_t>((gate.rows + gate.rows_per_unit - 1) / gate.rows_per_unit);
    gate.first_unit = static_cast<stream::UnitId>(weights_.units.size());
    up.first_unit = gate.first_unit + 1;
    gate.unit_stride = up.unit_stride = 2;
    for (std::uint32_t unit = 0; unit < gate.n_units; ++unit) {
      emit_unit(gate, unit, stage, conditional);
      emit_unit(up, unit, stage, conditional);
    }
  }

  Result<RowTable> row_table(const Found& found) const {
    RowTable table;
    if (found.weight == nullptr) return table;
    const Matrix m = LS_TRY(whole(found));
    return RowTable{m.type, m.rows, m.columns, m.row_bytes, m.part, m.offset};
  }

  Result<void> bind_model() {
    model_roles_ = LS_TRY(find_roles(family_.model_roles, "", 0));
    weights_.token_embd = LS_TRY(row_table(role(model_roles_, Role::token_embd)));
    weights_.position_embd = LS_TRY(row_table(role(model_roles_, Role::position_embd)));
    weights_.output_norm = LS_TRY(norm(role(model_roles_, Role::output_norm)));
    for (const auto& [r, vector] : {std::pair{Role::rope_freqs, &weights_.rope_freqs}, std::pair{Role::rope_long, &weights_.rope_long},
                                    std::pair{Role::rope_short, &weights_.rope_short}}) {
      if (const gguf::TensorInfo* tensor = role(model_roles_, r).weight) *vector = LS_TRY(fixed(*tensor));
    }
    return {};
  }

  Result<void> bind_block(std::size_t layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const std::uint32_t stage = static_cast<std::uint32_t>(layer) + 1;
    const FoundRoles roles = LS_TRY(find_roles(family_.block_roles, prefix, layer));
    Block& block = weights_.blocks.emplace_back();
    for (const auto& [r, target] : {std::pair{Role::attn_norm, &block.attn_norm}, std::pair{Role::q_norm, &block.q_norm},
                                    std::pair{Role::k_norm, &block.k_norm}, std::pair{Role::attn_post_norm, &block.attn_post_norm},
                                    std::pair{Role::ffn_norm, &block.ffn_norm}, std::pair{Role::ffn_post_norm, &block.ffn_post_norm}}) {
      *target = LS_TRY(norm(role(roles, r)));
    }
    LS_CHECK(bind_attention(roles, prefix, layer, block));
    slice(block.q, stage);
    slice(block.k, stage);
    slice(block.v, stage);
    slice(block.attn_out, stage);
    return config_.n_experts > 0 ? bind_experts(roles, prefix, stage, block) : bind_ffn(roles, prefix, layer, stage, block);
  }

  Result<void> bind_attention(const FoundRoles& roles, const std::string& prefix, std::size_t layer, Block& block) {
    const Found& fused = role(roles, Role::qkv);
    if (fused.weight != nullptr) {
      const std::uint64_t q_rows = config_.q_dim(layer), kv_rows = config_.kv_dim(layer);
      block.q = LS_TRY(matrix(fused, 0, q_rows));
      block.k = LS_TRY(matrix(fused, q_rows, kv_rows));
      block.v = LS_TRY(matrix(fused, q_rows + kv_rows, kv_rows));
    } else {
      for (const auto& [r, target, name] : {std::tuple{Role::q, &block.q, "attn_q"}, std::tuple{Role::k, &block.k, "attn_k"}, std::tuple{Role::v, &block.v, "attn_v"}}) {
        if (role(roles, r).weight == nullptr) return fail(ErrorCode::missing_tensor, "the file has neither " + prefix + name + ".weight nor " + prefix + "attn_qkv.weight");
        *target = LS_TRY(whole(role(roles, r)));
      }
    }
    block.attn_out = LS_TRY(whole(role(roles, Role::attn_out)));
    return {};
  }

  Result<void> bind_ffn(const FoundRoles& roles, const std::string& prefix, std::size_t layer, std::uint32_t stage, Block& block) {
    const Found& fused = role(roles, Role::gate_up);
    const std::uint64_t rows = config_.layers[layer].ffn_dim;
    if (fused.weight != nullptr) {
      block.gate = LS_TRY(matrix(fused, 0, rows));
      block.up = LS_TRY(matrix(fused, rows, rows));
    } else {
      block.gate = LS_TRY(whole(role(roles, Role::gate)));
      block.up = LS_TRY(whole(role(roles, Role::up)));
    }
    if (!block.up) return fail(ErrorCode::missing_tensor, "the file has no tensor " + prefix + "ffn_up.weight");
    block.down = LS_TRY(whole(role(roles, Role::down)));
    if (!block.down) return fail(ErrorCode::missing_tensor, "the file has no tensor " + prefix + "ffn_down.weight");
    slice_pair(block.gate, block.up, stage);
    slice(block.down, stage);
    return {};
  }

  // One expert's matrix: a slice of the merged 3-D tensor, or a tensor of its own in files from before April 2024.
  Result<Matrix> expert_matrix(const FoundRoles& roles, Role r, const std::string& prefix, const char* old_name, std::size_t expert,
                               std::uint64_t rows, std::uint64_t columns) {
    const Found& merged = role(roles, r);
    if (merged.weight != nullptr) return matrix(merged, 0, merged.weight->dims[1], expert);
    Found found;
    found.weight = claim(prefix + old_name + "." + std::to_string(expert) + ".weight", r);
    if (found.weight == nullptr) return Matrix{};
    LS_CHECK(check_shape(*found.weight, columns, rows, 1));
    return whole(found);
  }

  Result<void> bind_experts(const FoundRoles& roles, const std::string& prefix, std::uint32_t stage, Block& block) {
    const std::size_t layer = stage - 1;
    const std::uint64_t ffn = config_.layers[layer].ffn_dim;
    block.router = LS_TRY(whole(role(roles, Role::router)));
    if (!block.router) return fail(ErrorCode::missing_tensor, "the file has no tensor " + prefix + "ffn_gate_inp.weight");
    slice(block.router, stage);
    block.experts.resize(config_.n_experts);
    for (std::size_t e = 0; e < config_.n_experts; ++e) {
      Expert& expert = block.experts[e];
      expert.gate = LS_TRY(expert_matrix(roles, Role::gate_experts, prefix, "ffn_gate", e, ffn, config_.model_dim));
      expert.up = LS_TRY(expert_matrix(roles, Role::up_experts, prefix, "ffn_up", e, ffn, config_.model_dim));
      expert.down = LS_TRY(expert_matrix(roles, Role::down_experts, prefix, "ffn_down", e, config_.model_dim, ffn));
      if (!expert.up || !expert.down) {
        return fail(ErrorCode::missing_tensor, "the file lacks " + prefix + (expert.up ? "ffn_down" : "ffn_up") + " weights of expert " + std::to_string(e));
      }
      slice_pair(expert.gate, expert.up, stage, true);
      slice(expert.down, stage, true);
    }
    return {};
  }

  Result<void> bind_head() {
    const std::uint32_t stage = static_cast<std::uint32_t>(config_.n_layers) + 1;
    const Found& output = role(model_roles_, Role::output);
    if (output.weight != nullptr) {
      weights_.output = LS_TRY(whole(output));
    } else {
      weights_.output = LS_TRY(whole(role(model_roles_, Role::token_embd)));
      weights_.output_is_tied = true;
    }
    slice(weights_.output, stage);
    return {};
  }

  // A tensor of a block that no role claims would be silently left out of the computation: refused, except for what is
  // known to change nothing.
  Result<void> check_unclaimed() {
    for (const gguf::TensorInfo& tensor : file_.tensors()) {
      if (weights_.tensor_roles.contains(tensor.name)) continue;
      const std::string_view name = tensor.name;
      const bool harmless = name.ends_with(".input_scale") || name.find("rot_embd") != name.npos || name.ends_with(".attn.masked_bias") || name.ends_with(".attn.bias");
      if ((name.starts_with("blk.") || name.starts_with("output")) && !harmless) {
        return fail(ErrorCode::bad_file, "tensor " + std::string(name) + " has no role in the family " + std::string(family_.name));
      }
      weights_.unused_tensors.emplace_back(name);
    }
    return {};
  }

  static const Found& role(const FoundRoles& roles, Role r) { return roles[static_cast<std::size_t>(r)]; }

  void resolve(Vector& vector) {
    if (vector) vector.data = weights_.fixed.values(vector.item).data();
  }
  void resolve(Norm& n) {
    resolve(n.weight);
    resolve(n.bias);
  }
  void resolve(Matrix& m) {
    resolve(m.bias);
    resolve(m.scale);
  }
  // The arena exists only once all items are known.
  void resolve() {
    resolve(weights_.output_norm);
    resolve(weights_.output);
    for (Vector* vector : {&weights_.rope_freqs, &weights_.rope_long, &weights_.rope_short}) resolve(*vector);
    for (Block& block : weights_.blocks) {
      for (Norm* n : {&block.attn_norm, &block.q_norm, &block.k_norm, &block.attn_post_norm, &block.ffn_norm, &block.ffn_post_norm}) resolve(*n);
      for (Matrix* m : {&block.q, &block.k, &block.v, &block.attn_out, &block.gate, &block.up, &block.down, &block.router}) resolve(*m);
      for (Expert& expert : block.experts) {
        for (Matrix* m : {&expert.gate, &expert.up, &expert.down}) resolve(*m);
      }
    }
  }

  const gguf::ModelFile& file_;
  const Family& family_;
  const ModelConfig& config_;
  std::uint64_t unit_bytes_;
  Weights weights_;
  FoundRoles model_roles_;
};

}  // namespace

Result<Weights> bind(const gguf::ModelFile& file, const Family& family, const ModelConfig& config, std::uint64_t unit_bytes) {
  return Binder(file, family, config, unit_bytes).bind();
}

}  // namespace layerstream::model
