// SPDX-License-Identifier: MIT
// Attention of one position and the heads that share a kv head. Definition: attention.h.
//   score[g][p] = cap(scale * q[g] . k[p]);  weight = e^(score - max);  out[g] = (sum_p weight[g][p] * v[p]) / sum_p weight
// K and V rows are converted to float once and used by every head of the group. Rows are visited in ascending absolute
// position with a running ring index; no modulo inside. Score buffers begin at a multiple of 4 positions (the
// padding is masked), so that the lane of a position in the sum of weights is its absolute number mod 4.
// Memory-bound for one head per kv head, arithmetic beyond about four.

#include "kernels/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/half.h"
#include "kernels/activations.h"
#include "kernels/elementary.h"
#include "kernels/matmul_f32.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "simd/half4.h"

namespace layerstream::kernels {
namespace {

using simd::f32x4;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::size_t kMaxBufferedDim = 512;  // longer heads are converted per query instead
constexpr std::size_t kValueRows = 4;         // V rows per visit of an output vector
constexpr std::size_t kValueDims = 128;       // V values per buffered row

// What the steps share. Scores of head g: scores + g * stride, position first at index pad.
struct Context {
  const KvHeadView& kv;
  const AttentionParams& params;
  std::uint64_t first;
  std::size_t visible;
  std::size_t n_group;
  float* scores;
  std::size_t stride;
  std::size_t pad;

  [[nodiscard]] float* head_scores(std::size_t g) const { return scores + g * stride; }
};

// Ring rows in ascending position.
class RingWalk {
 public:
  RingWalk(const std::byte* rows, const KvHeadView& kv, std::uint64_t first)
      : rows_(rows),
        row_bytes_(kv_row_bytes(kv.type, kv.head_dim)),
        index_(static_cast<std::size_t>(first % kv.ring_rows)),
        ring_rows_(kv.ring_rows) {}
  const std::byte* next() {
    const std::byte* row = rows_ + index_ * row_bytes_;
    if (++index_ == ring_rows_) index_ = 0;
    return row;
  }

 private:
  const std::byte* rows_;
  std::size_t row_bytes_;
  std::size_t index_;
  std::size_t ring_rows_;
};

LAYERSTREAM_INLINE f32x4 load_scores(const float* p, std::size_t count) {
  return count >= 4 ? simd::load_f32(p) : simd::load_f32_part(p, count);
}

LAYERSTREAM_INLINE void store_scores(float* p, f32x4 v, std::size_t count) {
  if (count >= 4) {
    simd::store_f32(p, v);
  } else {
    simd::store_f32_part(p, v, count);
  }
}

// How rows of a type are read. convert: values [begin, begin + count) as floats, begin a multiple of 32. fill_scores: dot
// products of every query with every visible row.
template <typename Weight>
struct FloatRows {
  static void convert(const std::byte* row, std::size_t, std::size_t begin, std::size_t count, float* out) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) simd::store_f32(out + i, Weight::load4(row, begin + i));
    for (; i < count; ++i) out[i] = Weight::load1(row, begin + i);
  }

  static void fill_scores(const Context& c, const float* queries) {
    const std::size_t dim = c.kv.head_dim;
    RingWalk keys(c.kv.k, c.kv, c.first);
    const bool buffered = Weight::kType != QuantType::f32 && c.n_group > 1 && dim <= kMaxBufferedDim;
    alignas(16) float buffer[kMaxBufferedDim];
    for (std::size_t p = 0; p < c.visible; ++p) {
      const std::byte* key = keys.next();
      if (buffered) convert(key, dim, 0, dim, buffer);
      for (std::size_t g = 0; g < c.n_group; ++g) {
        float dot = 0.0f;
        if (buffered) {
          FloatKernel<quant::F32, 1, 1>::run(reinterpret_cast<const std::byte*>(buffer), 0, queries + g * dim, dim, &dot, 0);
        } else {
          FloatKernel<Weight, 1, 1>::run(key, 0, queries + g * dim, dim, &dot, 0);
        }
        c.head_scores(g)[c.pad + p] = dot;
      }
    }
  }
};

constexpr std::size_t blocks_of(std::size_t dim) { return (dim + quant::kActivationBlock - 1) / quant::kActivationBlock; }

// Some values of one vector as int8 blocks; those behind the last are zero.
struct QuantizedPart {
  static constexpr std::size_t kDims = 256;
  std::int8_t q[kDims];
  float scales[kDims / quant::kActivationBlock];

  void set(const float* values, std::size_t count) {
    alignas(16) float padded[kDims];
    const std::size_t length = blocks_of(count) * quant::kActivationBlock;
    std::copy_n(values, count, padded);
    std::fill(padded + count, padded + length, 0.0f);
    std::int32_t sums[kDims / quant::kActivationBlock];
    quantize_activations(padded, length, q, scales, sums);
  }
};

struct Q8Rows {
  static float scale_at(const std::byte* row, std::size_t block) {
    float scale;
    std::memcpy(&scale, row + 4 * block, sizeof scale);
    return scale;
  }
  static const std::byte* values(const std::byte* row, std::size_t dim) { return row + 4 * blocks_of(dim); }

  static void convert(const std::byte* row, std::size_t dim, std::size_t begin, std::size_t count, float* out) {
    for (std::size_t at = 0; at < count; at += quant::kActivationBlock) {
      const f32x4 scale = simd::splat_f32(scale_at(row, (begin + at) / quant::kActivationBlock));
      const std::byte* q = values(row, dim) + begin + at;
      const std::size_t n = std::min(quant::kActivationBlock, count - at);
      std::size_t i = 0;
      for (; i + 4 <= n; i += 4) simd::store_f32(out + at + i, scale * simd::to_f32(simd::load_i8_as_i32(q + i)));
      for (; i < n; ++i) out[at + i] = scale[0] * static_cast<float>(static_cast<std::int8_t>(q[i]));
    }
  }

  static void fill_scores(const Context& c, const float* queries) {
    const std::size_t dim = c.kv.head_dim;
    RingWalk keys(c.kv.k, c.kv, c.first);
    for (std::size_t p = 0; p < c.visible; p += kTileRows) {
      const std::size_t count = std::min(kTileRows, c.visible - p);
      const std::byte* rows[kTileRows];
      for (std::size_t i = 0; i < count; ++i) rows[i] = keys.next();
      // The last rows of a group of four may be repeated: their lanes are not stored.
      for (std::size_t i = count; i % kLanes != 0; ++i) rows[i] = rows[count - 1];
      for (std::size_t g = 0; g < c.n_group; ++g) {
        float* scores = c.head_scores(g) + c.pad + p;
        std::fill_n(scores, count, 0.0f);
        for (std::size_t begin = 0; begin < dim; begin += QuantizedPart::kDims) {
          const std::size_t dims = std::min(QuantizedPart::kDims, dim - begin);
          QuantizedPart query;
          query.set(queries + g * dim + begin, dims);
          for (std::size_t i = 0; i < count; i += kLanes) {
            const std::size_t lanes = std::min(kLanes, count - i);
            store_scores(scores + i, add_dots(rows + i, dim, begin, query, blocks_of(dims), load_scores(scores + i, lanes)), lanes);
          }
        }
      }
    }
  }

 private:
  static constexpr std::size_t kLanes = 4;
  static constexpr std::size_t kTileRows = 64;  // about 5 KB of keys that all heads of the group read

  // Four rows with one query: lanes are rows.
  static LAYERSTREAM_INLINE f32x4 add_dots(const std::byte* const* rows, std::size_t dim, std::size_t begin, const QuantizedPart& query,
                                           std::size_t n_blocks, f32x4 acc) {
    using Dot = simd::ExactDot;
    const std::size_t first_block = begin / quant::kActivationBlock;
    for (std::size_t b = 0; b < n_blocks; ++b) {
      simd::i32x4 dots[kLanes];
      simd::unroll<kLanes>([&](auto r) __attribute__((always_inline)) {
        const std::byte* q = values(rows[r], dim) + begin + b * quant::kActivationBlock;
        const auto first = Dot::prepare_signed(simd::as_i8(simd::load_u8(q)));
        const auto second = Dot::prepare_signed(simd::as_i8(simd::load_u8(q + 16)));
        const std::int8_t* x = query.q + b * quant::kActivationBlock;
        dots[r] = Dot::template dot32<127>(Dot::load_values(x), Dot::load_values(x + 16), first, second);
      });
      const f32x4 scales = {scale_at(rows[0], first_block + b), scale_at(rows[1], first_block + b), scale_at(rows[2], first_block + b),
                            scale_at(rows[3], first_block + b)};
      acc = acc + simd::to_f32(simd::lane_sums(dots[0], dots[1], dots[2], dots[3])) * (scales * query.scales[b]);
    }
    return acc;
  }
};

// All ones where index i + lane belongs to a visible position: not padding, not behind the last.
LAYERSTREAM_INLINE simd::i32x4 visible_lanes(const Context& c, std::size_t i) {
  const std::size_t count = c.pad + c.visible - i;
  const simd::i32x4 lane = {0, 1, 2, 3};
  const std::int32_t skip = i == 0 ? static_cast<std::int32_t>(c.pad) : 0;
  const std::int32_t end = count < 4 ? static_cast<std::int32_t>(count) : 4;
  return (lane >= simd::splat_i32(skip)) & (lane < simd::splat_i32(end));
}

// Dot products become weights e^(score - max). Returns the sum of the weights.
float softmax_weights(const Context& c, float* scores) {
  const std::size_t count = c.pad + c.visible;
  std::fill(scores, scores + c.pad, 0.0f);
  f32x4 greatest = simd::splat_f32(kMinusInfinity);
  const f32x4 cap = simd::splat_f32(c.params.soft_cap);
  for (std::size_t i = 0; i < count; i += 4) {
    f32x4 score = load_scores(scores + i, count - i) * c.params.score_scale;
    if (c.params.soft_cap != 0.0f) score = soft_cap4(score, cap);
    greatest = simd::pmax(greatest, simd::select(visible_lanes(c, i), score, simd::splat_f32(kMinusInfinity)));
    store_scores(scores + i, score, count - i);
  }
  const float max = std::max(std::max(greatest[0], greatest[2]), std::max(greatest[1], greatest[3]));
  f32x4 sums = {};
  for (std::size_t i = 0; i < count; i += 4) {
    const f32x4 weights = exp4(load_scores(scores + i, count - i) - max);
    sums += simd::select(visible_lanes(c, i), weights, f32x4{});
    store_scores(scores + i, weights, count - i);
  }
  return simd::reduce_add(sums);
}

// out[d] += sum over N rows of weight[row] * values[row][d], one row after the other.
template <std::size_t N>
LAYERSTREAM_INLINE void add_rows(const float* weights, const float* values, std::size_t dims, float* out) {
  f32x4 splats[N];
  simd::unroll<N>([&](auto n) __attribute__((always_inline)) { splats[n] = simd::splat_f32(weights[n]); });
  std::size_t d = 0;
  for (; d + 4 <= dims; d += 4) {
    f32x4 acc = simd::load_f32(out + d);
    simd::unroll<N>([&](auto n) __attribute__((always_inline)) {
      acc = acc + splats[n] * simd::load_f32(values + n * kValueDims + d);
    });
    simd::store_f32(out + d, acc);
  }
  for (; d < dims; ++d) {
    for (std::size_t n = 0; n < N; ++n) out[d] = out[d] + weights[n] * values[n * kValueDims + d];
  }
}

// N rows of V from position index p on, for every head of the group.
template <typename Rows, std::size_t N>
void add_values(const Context& c, RingWalk& values, std::size_t p, float* outputs) {
  const std::size_t dim = c.kv.head_dim;
  const std::byte* rows[N];
  for (const std::byte*& row : rows) row = values.next();
  alignas(16) float buffer[N * kValueDims];
  for (std::size_t begin = 0; begin < dim; begin += kValueDims) {
    const std::size_t dims = std::min(kValueDims, dim - begin);
    for (std::size_t n = 0; n < N; ++n) Rows::convert(rows[n], dim, begin, dims, buffer + n * kValueDims);
    for (std::size_t g = 0; g < c.n_group; ++g) {
      add_rows<N>(c.head_scores(g) + c.pad + p, buffer, dims, outputs + g * dim + begin);
    }
  }
}

template <typename Rows>
void attend_as(const Context& c, const float* queries, float* outputs) {
  const std::size_t dim = c.kv.head_dim;
  Rows::fill_scores(c, queries);
  std::fill(outputs, outputs + c.n_group * dim, 0.0f);
  RingWalk values(c.kv.v, c.kv, c.first);
  for (std::size_t g = 0; g < c.n_group; ++g) {
    float* weights = c.head_scores(g);
    // Kept behind the last weight: stride leaves four floats, the padding takes at most three.
    weights[c.pad + c.visible] = softmax_weights(c, weights);
  }
  std::size_t p = 0;
  for (; p + kValueRows <= c.visible; p += kValueRows) add_values<Rows, kValueRows>(c, values, p, outputs);
  for (; p < c.visible; ++p) add_values<Rows, 1>(c, values, p, outputs);
  for (std::size_t g = 0; g < c.n_group; ++g) {
    const float factor = 1.0f / c.head_scores(g)[c.pad + c.visible];
    for (std::size_t d = 0; d < dim; ++d) outputs[g * dim + d] = outputs[g * dim + d] * factor;
  }
}

void store_halves(const float* values, std::size_t n, std::byte* out) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const simd::u32x4 halves = simd::float_to_half4(simd::load_f32(values + i));
    const std::uint16_t packed[4] = {static_cast<std::uint16_t>(halves[0]), static_cast<std::uint16_t>(halves[1]),
                                     static_cast<std::uint16_t>(halves[2]), static_cast<std::uint16_t>(halves[3])};
    std::memcpy(out + 2 * i, packed, sizeof packed);
  }
  for (; i < n; ++i) {
    const std::uint16_t half = float_to_half(values[i]);
    std::memcpy(out + 2 * i, &half, sizeof half);
  }
}

template <typename Body>
void with_rows(KvType type, Body&& body) {
  switch (type) {
    case KvType::f32: return body(std::type_identity<FloatRows<quant::F32>>{});
    case KvType::f16: return body(std::type_identity<FloatRows<quant::F16>>{});
    case KvType::q8: return body(std::type_identity<Q8Rows>{});
  }
}

}  // namespace

void kv_store(KvType type, const float* values, std::size_t head_dim, std::byte* row) {
  switch (type) {
    case KvType::f32:
      std::memcpy(row, values, head_dim * sizeof(float));
      return;
    case KvType::f16:
      store_halves(values, head_dim, row);
      return;
    case KvType::q8:
      for (std::size_t begin = 0; begin < head_dim; begin += QuantizedPart::kDims) {
        const std::size_t count = std::min(QuantizedPart::kDims, head_dim - begin);
        QuantizedPart part;
        part.set(values + begin, count);
        std::memcpy(row + begin / 8, part.scales, 4 * blocks_of(count));
        std::memcpy(row + 4 * blocks_of(head_dim) + begin, part.q, blocks_of(count) * quant::kActivationBlock);
      }
      return;
  }
}

void kv_load(KvType type, const std::byte* row, std::size_t head_dim, float* out) {
  with_rows(type, [&]<typename Rows>(std::type_identity<Rows>) { Rows::convert(row, head_dim, 0, head_dim, out); });
}

void attend(const KvHeadView& kv, const AttentionParams& params, std::uint64_t first, std::uint64_t last, const float* queries,
            float* outputs, std::size_t n_group, float* scratch) {
  const std::size_t visible = static_cast<std::size_t>(last - first) + 1;
  const Context context{kv, params, first, visible, n_group, scratch, visible + 4, static_cast<std::size_t>(first % 4)};
  with_rows(kv.type, [&]<typename Rows>(std::type_identity<Rows>) { attend_as<Rows>(context, queries, outputs); });
}

}  // namespace layerstream::kernels
