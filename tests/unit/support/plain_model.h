#pragma once
// SPDX-License-Identifier: MIT
// The llama-like block once more, as plainly as it can be written: double precision, whole matrices, no cache. An outside
// opinion for shapes and families no golden case has. Reads F32 files; biases, QK-norm and output act by being there.

#include <cmath>
#include <cstring>
#include <vector>

#include "gguf/model_file.h"
#include "support/run_tokens.h"

namespace layerstream::test {

class PlainModel {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  PlainModel(const Bytes& bytes, const gguf::ModelFile& file, bool half_split) : bytes_(bytes), file_(file), half_split_(half_split) {
    const gguf::Metadata& metadata = file.metadata();
    prefix_ = std::string(**metadata.get_string("general.architecture")) + ".";
    n_layers_ = number("block_count");
    n_heads_ = number("attention.head_count");
    n_kv_heads_ = number("attention.head_count_kv");
    head_dim_ = number("attention.key_length");
  }

  // Logits of every position. [n, vocab_size]
  [[nodiscard]] Rows logits(std::span<const TokenId> ids) const {
    const Row table = tensor("token_embd.weight");
    const std::size_t dim = tensor("output_norm.weight").size();
    Rows x;
    for (const TokenId id : ids) x.emplace_back(table.begin() + id * static_cast<std::ptrdiff_t>(dim), table.begin() + (id + 1) * static_cast<std::ptrdiff_t>(dim));
    for (std::size_t layer = 0; layer < n_layers_; ++layer) {
      const std::string blk = "blk." + std::to_string(layer) + ".";
      add(x, linear(blk + "attn_output", attention(blk, norm(blk + "attn_norm", x))));
      add(x, linear(blk + "ffn_down", gated(blk, norm(blk + "ffn_norm", x))));
    }
    return linear(file_.find_tensor("output.weight") != nullptr ? "output" : "token_embd", norm("output_norm", x));
  }

 private:
  std::size_t number(const char* key) const { return static_cast<std::size_t>(**file_.metadata().get_uint(prefix_ + key)); }

  // All values; empty if the file has no such tensor.
  Row tensor(const std::string& name) const {
    const gguf::TensorInfo* info = file_.find_tensor(name);
    if (info == nullptr) return {};
    std::vector<float> values(static_cast<std::size_t>(info->bytes) / sizeof(float));
    std::memcpy(values.data(), bytes_.data() + info->offset, values.size() * sizeof(float));
    return Row(values.begin(), values.end());
  }

  Rows linear(const std::string& name, const Rows& in) const {
    const Row weight = tensor(name + ".weight"), bias = tensor(name + ".bias");
    Rows out;
    for (const Row& x : in) {
      Row y(weight.size() / x.size());
      for (std::size_t r = 0; r < y.size(); ++r) {
        y[r] = bias.empty() ? 0.0 : bias[r];
        for (std::size_t c = 0; c < x.size(); ++c) y[r] += weight[r * x.size() + c] * x[c];
      }
      out.push_back(y);
    }
    return out;
  }

  static void normalise(const Row& weight, double* x) {
    double squares = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) squares += x[i] * x[i];
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(weight.size()) + static_cast<double>(1e-5f));
    for (std::size_t i = 0; i < weight.size(); ++i) x[i] *= factor * weight[i];
  }

  Rows norm(const std::string& name, Rows x) const {
    const Row weight = tensor(name + ".weight");
    for (Row& row : x) normalise(weight, row.data());
    return x;
  }

  // Head-wise norm (where the file has one) and rotation.
  void prepare_heads(const Row& head_norm, Rows& rows) const {
    for (std::size_t pos = 0; pos < rows.size(); ++pos) {
      for (std::size_t begin = 0; begin < rows[pos].size(); begin += head_dim_) {
        double* head = rows[pos].data() + begin;
        if (!head_norm.empty()) normalise(head_norm, head);
        for (std::size_t i = 0; i < head_dim_ / 2; ++i) {
          const double angle = static_cast<double>(pos) * std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(head_dim_));
          double& a = half_split_ ? head[i] : head[2 * i];
          double& b = half_split_ ? head[i + head_dim_ / 2] : head[2 * i + 1];
          const double turned = a * std::cos(angle) - b * std::sin(angle);
          b = a * std::sin(angle) + b * std::cos(angle);
          a = turned;
        }
      }
    }
  }

  Rows attention(const std::string& blk, const Rows& in) const {
    Rows q = linear(blk + "attn_q", in), k = linear(blk + "attn_k", in);
    const Rows v = linear(blk + "attn_v", in);
    prepare_heads(tensor(blk + "attn_q_norm.weight"), q);
    prepare_heads(tensor(blk + "attn_k_norm.weight"), k);
    Rows out;
    for (std::size_t pos = 0; pos < in.size(); ++pos) {
      out.emplace_back(n_heads_ * head_dim_, 0.0);
      for (std::size_t head = 0; head < n_heads_; ++head) {
        const std::size_t at = head * head_dim_, kv_at = head / (n_heads_ / n_kv_heads_) * head_dim_;
        Row weights(pos + 1);
        double total = 0;
        for (std::size_t i = 0; i <= pos; ++i) {
          double score = 0;
          for (std::size_t d = 0; d < head_dim_; ++d) score += q[pos][at + d] * k[i][kv_at + d];
          total += weights[i] = std::exp(score / std::sqrt(static_cast<double>(head_dim_)));
        }
        for (std::size_t i = 0; i <= pos; ++i) {
          for (std::size_t d = 0; d < head_dim_; ++d) out[pos][at + d] += weights[i] / total * v[i][kv_at + d];
        }
      }
    }
    return out;
  }

  Rows gated(const std::string& blk, const Rows& in) const {
    Rows gate = linear(blk + "ffn_gate", in);
    const Rows up = linear(blk + "ffn_up", in);
    for (std::size_t e = 0; e < gate.size(); ++e) {
      for (std::size_t i = 0; i < gate[e].size(); ++i) gate[e][i] = gate[e][i] / (1.0 + std::exp(-gate[e][i])) * up[e][i];
    }
    return gate;
  }

  static void add(Rows& x, const Rows& y) {
    for (std::size_t e = 0; e < x.size(); ++e) {
      for (std::size_t i = 0; i < x[e].size(); ++i) x[e][i] += y[e][i];
    }
  }

  const Bytes& bytes_;
  const gguf::ModelFile& file_;
  bool half_split_;
  std::string prefix_;
  std::size_t n_layers_ = 0, n_heads_ = 0, n_kv_heads_ = 0, head_dim_ = 0;
};

}  // namespace layerstream::test
