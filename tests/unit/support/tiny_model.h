#pragma once
// SPDX-License-Identifier: MIT
// Generates tiny models with random weights of any family, as GGUF bytes: shapes that no download offers.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "support/gguf_writer.h"

namespace layerstream::test {

struct TinyModel {
  std::string family = "llama";
  QuantType type = QuantType::f32;  // of matrices
  std::size_t n_layers = 2;
  std::size_t model_dim = 64;
  std::size_t n_heads = 4;
  std::size_t n_kv_heads = 2;
  std::size_t head_dim = 16;
  std::size_t ffn_dim = 96;
  std::size_t vocab_size = 280;
  std::size_t n_ctx_train = 128;
  std::size_t window = 0;      // attention.sliding_window; 0: no key
  std::size_t n_experts = 0;
  std::size_t n_experts_used = 2;
  bool tied = false;
  bool old_expert_tensors = false;  // one 2-D tensor an expert
  std::uint64_t seed = 1;
};

// Where the half scales of a quant block lie, and what makes random codes average 0: a block whose d is 1 has values of about
// +-`largest`, and its minimum (m or dmin, at minimum_at; 0: none) is `minimum` times d.
struct BlockScales {
  QuantType type;
  double largest;
  std::size_t scale_at = 0;
  std::size_t minimum_at = 0;
  double minimum = 0;
};
inline constexpr BlockScales kBlockScales[] = {
    {QuantType::q8_0, 127},
    {QuantType::q4_0, 8},
    {QuantType::q4_1, 8, 0, 2, -7.5},
    {QuantType::q5_0, 16},
    {QuantType::q5_1, 16, 0, 2, -15.5},
    {QuantType::q2_k, 24, 80, 82, 1.5},
    {QuantType::q3_k, 72, 108},
    {QuantType::q4_k, 440, 0, 2, 7.5},
    {QuantType::q5_k, 890, 0, 2, 15.5},
    {QuantType::q6_k, 2300, 208},
    {QuantType::iq4_nl, 120},
    {QuantType::iq4_xs, 2200},
};

class TinyModelWriter {
 public:
  explicit TinyModelWriter(const TinyModel& model) : m_(model), random_(model.seed) {}

  [[nodiscard]] Bytes write() { return writer().finish(); }

  // For tests that change something before finish().
  [[nodiscard]] GgufWriter& writer() {
    if (!written_) add_all();
    written_ = true;
    return w_;
  }

 private:
  std::string key(const std::string& name) const { return m_.family + "." + name; }
  bool is(const std::string& family) const { return m_.family == family; }
  bool layer_norm() const { return is("phi2") || is("gpt2"); }

  void add_all() {
    add_keys();
    add_tokenizer();
    const std::size_t q = m_.n_heads * m_.head_dim, kv = m_.n_kv_heads * m_.head_dim;
    matrix("token_embd", m_.model_dim, m_.vocab_size);
    if (is("gpt2")) tensor("position_embd.weight", QuantType::f32, {m_.model_dim, m_.n_ctx_train}, 0.3);
    norm("output_norm", m_.model_dim);
    if (!m_.tied && !is("gemma2") && !is("gemma3")) matrix("output", m_.model_dim, m_.vocab_size, is("phi2"));
    for (std::size_t i = 0; i < m_.n_layers; ++i) {
      const std::string blk = "blk." + std::to_string(i) + ".";
      add_attention(blk, q, kv);
      if (m_.n_experts > 0) {
        add_experts(blk);
      } else {
        add_ffn(blk);
      }
    }
  }

  void add_keys() {
    w_.add("general.architecture", m_.family).add("general.name", "tiny");
    const auto u32 = [&](const char* name, std::size_t value) { w_.add_u32(key(name), static_cast<std::uint32_t>(value)); };
    u32("block_count", m_.n_layers);
    u32("context_length", m_.n_ctx_train);
    u32("embedding_length", m_.model_dim);
    u32("feed_forward_length", m_.ffn_dim);
    u32("attention.head_count", m_.n_heads);
    u32("attention.head_count_kv", m_.n_kv_heads);
    u32("attention.key_length", m_.head_dim);
    u32("attention.value_length", m_.head_dim);
    w_.add_f32(key(layer_norm() ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"), 1e-5f);
    if (is("phi2")) u32("rope.dimension_count", m_.head_dim / 2);
    if (m_.window > 0) u32("attention.sliding_window", m_.window);
    if (m_.n_experts > 0) {
      u32("expert_count", m_.n_experts);
      u32("expert_used_count", m_.n_experts_used);
    }
  }

  // A llama-type vocabulary: three specials, 256 bytes, the rest short words.
  void add_tokenizer() {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> types = {2, 3, 3};
    for (int byte = 0; byte < 256; ++byte) {
      char text[8];
      std::snprintf(text, sizeof text, "<0x%02X>", byte);
      tokens.emplace_back(text);
      types.push_back(6);
    }
    while (tokens.size() < m_.vocab_size) {
      tokens.push_back("w" + std::to_string(tokens.size()));
      types.push_back(1);
    }
    tokens.resize(m_.vocab_size);
    types.resize(m_.vocab_size);
    w_.add("tokenizer.ggml.model", "llama").add_string_array("tokenizer.ggml.tokens", tokens);
    w_.add_f32_array("tokenizer.ggml.scores", std::vector<float>(tokens.size(), 0.0f)).add_i32_array("tokenizer.ggml.token_type", types);
    w_.add_u32("tokenizer.ggml.bos_token_id", 1).add_u32("tokenizer.ggml.eos_token_id", 2);
  }

  void add_attention(const std::string& blk, std::size_t q, std::size_t kv) {
    const bool bias = is("phi2") || is("gpt2") || is("qwen2");
    norm(blk + "attn_norm", m_.model_dim);
    if (is("phi3") || is("gpt2")) {
      matrix(blk + "attn_qkv", m_.model_dim, q + 2 * kv, bias);
    } else {
      matrix(blk + "attn_q", m_.model_dim, q, bias);
      matrix(blk + "attn_k", m_.model_dim, kv, bias);
      matrix(blk + "attn_v", m_.model_dim, kv, bias);
    }
    if (is("gemma3") || is("qwen3")) {
      norm(blk + "attn_q_norm", m_.head_dim);
      norm(blk + "attn_k_norm", m_.head_dim);
    }
    matrix(blk + "attn_output", q, m_.model_dim, layer_norm());
    if (is("gemma2") || is("gemma3")) norm(blk + "post_attention_norm", m_.model_dim);
    if (!is("phi2")) norm(blk + "ffn_norm", m_.model_dim);
  }

  void add_ffn(const std::string& blk) {
    if (is("phi3")) {
      matrix(blk + "ffn_up", m_.model_dim, 2 * m_.ffn_dim);
    } else {
      if (!layer_norm()) matrix(blk + "ffn_gate", m_.model_dim, m_.ffn_dim);
      matrix(blk + "ffn_up", m_.model_dim, m_.ffn_dim, layer_norm());
    }
    matrix(blk + "ffn_down", m_.ffn_dim, m_.model_dim, layer_norm());
    if (is("gemma2") || is("gemma3")) norm(blk + "post_ffw_norm", m_.model_dim);
  }

  void add_experts(const std::string& blk) {
    tensor(blk + "ffn_gate_inp.weight", QuantType::f32, {m_.model_dim, m_.n_experts}, 0.5);
    const struct {
      const char* name;
      std::size_t columns, rows;
    } matrices[] = {{"ffn_gate", m_.model_dim, m_.ffn_dim}, {"ffn_up", m_.model_dim, m_.ffn_dim}, {"ffn_down", m_.ffn_dim, m_.model_dim}};
    for (const auto& matrix_of : matrices) {
      const double spread = 1.0 / std::sqrt(static_cast<double>(matrix_of.columns));
      if (!m_.old_expert_tensors) {
        tensor(blk + matrix_of.name + "_exps.weight", type_for(matrix_of.columns), {matrix_of.columns, matrix_of.rows, m_.n_experts}, spread);
        continue;
      }
      for (std::size_t e = 0; e < m_.n_experts; ++e) {
        tensor(blk + matrix_of.name + "." + std::to_string(e) + ".weight", type_for(matrix_of.columns), {matrix_of.columns, matrix_of.rows}, spread);
      }
    }
  }

  QuantType type_for(std::size_t columns) const { return columns % type_info(m_.type).block_elements == 0 ? m_.type : QuantType::f16; }

  void matrix(const std::string& name, std::size_t columns, std::size_t rows, bool bias = false) {
    tensor(name + ".weight", type_for(columns), {columns, rows}, 1.0 / std::sqrt(static_cast<double>(columns)));
    if (bias) tensor(name + ".bias", QuantType::f32, {rows}, 0.2);
  }

  void norm(const std::string& name, std::size_t length) {
    std::vector<float> weights(length);
    for (float& weight : weights) weight = static_cast<float>(1.0 + 0.2 * normal());
    w_.add_tensor(name + ".weight", QuantType::f32, {length}, bytes_of(weights));
    if (layer_norm()) tensor(name + ".bias", QuantType::f32, {length}, 0.1);
  }

  void tensor(const std::string& name, QuantType type, std::vector<std::uint64_t> dims, double spread) {
    std::uint64_t rows = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) rows *= dims[i];
    Bytes data;
    for (std::uint64_t row = 0; row < rows; ++row) append_row(type, static_cast<std::size_t>(dims[0]), spread, data);
    w_.add_tensor(name, type, std::move(dims), std::move(data));
  }

  void append_row(QuantType type, std::size_t columns, double spread, Bytes& out) {
    const auto put16 = [&](std::uint16_t value) {
      out.push_back(static_cast<std::byte>(value & 0xff));
      out.push_back(static_cast<std::byte>(value >> 8));
    };
    const TypeInfo& info = type_info(type);
    for (std::size_t i = 0; i < columns; i += info.block_elements) {
      const float value = static_cast<float>(spread * normal());
      if (type == QuantType::f32) {
        const Bytes raw = bytes_of(std::vector<float>{value});
        out.insert(out.end(), raw.begin(), raw.end());
      } else if (type == QuantType::f16) {
        put16(float_to_half(value));
      } else if (type == QuantType::bf16) {
        put16(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
      } else {
        append_block(type, spread, out);
      }
    }
  }

  // Random bytes are valid codes of every type in kBlockScales; the scales must be sane.
  void append_block(QuantType type, double spread, Bytes& out) {
    const BlockScales& scales = *std::ranges::find(kBlockScales, type, &BlockScales::type);
    const std::size_t begin = out.size();
    for (std::size_t b = 0; b < type_info(type).block_bytes; ++b) out.push_back(static_cast<std::byte>(random_() & 0xff));
    const auto put_half = [&](std::size_t at, double value) {
      const std::uint16_t half = float_to_half(static_cast<float>(value));
      std::memcpy(out.data() + begin + at, &half, sizeof half);
    };
    const double d = spread * 1.7 / scales.largest;
    put_half(scales.scale_at, d);
    if (scales.minimum_at != 0) put_half(scales.minimum_at, scales.minimum * d);
  }

  // Sum of uniforms: normal enough, and the same on every library.
  double normal() {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random_() >> 11) * 0x1p-53;
    return sum - 6.0;
  }

  TinyModel m_;
  std::mt19937_64 random_;
  GgufWriter w_;
  bool written_ = false;
};

[[nodiscard]] inline Bytes tiny_model(const TinyModel& model) { return TinyModelWriter(model).write(); }

}  // namespace layerstream::test
