#pragma once
// SPDX-License-Identifier: MIT
// Seeded data for the kernel and quant tests: the same bytes in every build (integer arithmetic only).

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/half.h"
#include "base/mat_view.h"
#include "kernels/activations.h"

namespace layerstream::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {  // splitmix64
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(bits() % bound); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  // [-1, 1), 24 bits, exact.
  float unit() { return static_cast<float>(static_cast<std::int32_t>(bits() >> 40) - (1 << 23)) * 0x1p-23f; }
  // A float of any exponent that is finite.
  float any_finite() {
    for (;;) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
      if (std::isfinite(value)) return value;
    }
  }

 private:
  std::uint64_t state_;
};

// What the scale halves of generated blocks look like.
enum class Scales {
  sane,       // normal halves around 2^-6, either sign
  subnormal,  // subnormal halves and zeros
  hostile,    // any half at all, infinity and NaN included
};

// Offsets of the bytes of a quant block that hold its float scales.
inline std::vector<std::size_t> scale_bytes(QuantType type) {
  switch (type) {
    case QuantType::q4_1:
    case QuantType::q5_1:
    case QuantType::q4_k:
    case QuantType::q5_k:
      return {0, 1, 2, 3};
    case QuantType::q2_k:
      return {80, 81, 82, 83};
    case QuantType::q3_k:
      return {108, 109};
    case QuantType::q6_k:
      return {208, 209};
    case QuantType::tq1_0:
      return {52, 53};
    case QuantType::tq2_0:
      return {64, 65};
    case QuantType::iq1_m:
      return {49, 51, 53, 55};
    case QuantType::mxfp4:
      return {0};
    case QuantType::nvfp4:
      return {0, 1, 2, 3};
    default:
      return {0, 1};
  }
}

inline std::uint16_t scale_half(Random& random, Scales scales) {
  const std::uint64_t bits = random.bits();
  if (scales == Scales::sane) return static_cast<std::uint16_t>((bits & 0x83ffu) | ((7u + ((bits >> 20) & 3u)) << 10));
  if (scales == Scales::subnormal) return static_cast<std::uint16_t>(bits & 0x83ffu);
  return static_cast<std::uint16_t>(bits);
}

// A random scale into the bytes that scale_bytes names.
inline void set_scales(Random& random, QuantType type, Scales scales, std::byte* block) {
  const std::vector<std::size_t> at = scale_bytes(type);
  if (type == QuantType::mxfp4 || type == QuantType::nvfp4) {  // exponents around 2^-6; exponents 0 and 1, subnormal and zero codes
    const std::size_t sane_base = type == QuantType::mxfp4 ? 119 : 0x30;
    for (const std::size_t offset : at) {
      const std::size_t value = scales == Scales::sane ? sane_base + random.below(8) : random.below(scales == Scales::subnormal ? 2 : 256);
      block[offset] = static_cast<std::byte>(value);
    }
  } else if (type == QuantType::iq1_m) {  // four bits each, in the upper halves of the bytes
    const std::uint16_t half = scale_half(random, scales);
    for (std::size_t i = 0; i < 4; ++i) {
      block[at[i]] = (block[at[i]] & std::byte{0x0f}) | static_cast<std::byte>(((half >> (4 * i)) & 15) << 4);
    }
  } else {
    for (std::size_t i = 0; i < at.size(); i += 2) {
      const std::uint16_t half = scale_half(random, scales);
      std::memcpy(block + at[i], &half, sizeof half);
    }
  }
}

// [rows, columns] of random codes.
struct Matrix {
  std::vector<std::byte> bytes;
  MatView view;
};

inline Matrix make_matrix(Random& random, QuantType type, std::size_t rows, std::size_t columns, Scales scales = Scales::sane) {
  const TypeInfo& info = type_info(type);
  Matrix m;
  const std::size_t row_size = static_cast<std::size_t>(row_bytes(type, columns));
  m.bytes.resize(rows * row_size);
  for (std::byte& b : m.bytes) b = static_cast<std::byte>(random.bits());
  for (std::size_t at = 0; at < m.bytes.size(); at += info.block_bytes) {
    std::byte* block = m.bytes.data() + at;
    if (type == QuantType::f32) {
      const float value = scales == Scales::hostile ? random.any_finite() * 0x1p-60f : random.unit();
      std::memcpy(block, &value, sizeof value);
    } else if (type == QuantType::bf16) {
      const std::uint16_t value = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(random.unit()) >> 16);
      if (scales != Scales::hostile) std::memcpy(block, &value, sizeof value);
    } else {
      set_scales(random, type, scales, block);
    }
  }
  m.view = MatView{m.bytes.data(), type, rows, columns, row_size};
  return m;
}

// Activation columns in both forms. The int8 form exists if the length is a multiple of 32.
struct Columns {
  std::vector<float> f32;
  std::vector<std::int8_t> q8;
  std::vector<float> scales;
  std::vector<std::int32_t> sums;
  std::size_t n_columns = 0;
  std::size_t length = 0;

  [[nodiscard]] kernels::Activations view(std::size_t first = 0, std::size_t count = static_cast<std::size_t>(-1)) const {
    if (count == static_cast<std::size_t>(-1)) count = n_columns - first;
    kernels::Activations a;
    a.f32 = f32.data() + first * length;
    if (!q8.empty()) {
      a.q8 = q8.data() + first * length;
      a.q8_scales = scales.data() + first * (length / 32);
      a.q8_sums = sums.data() + first * (length / 32);
    }
    a.n_columns = count;
    a.length = length;
    return a;
  }
};

inline Columns make_columns(Random& random, std::size_t n_columns, std::size_t length) {
  Columns c;
  c.n_columns = n_columns;
  c.length = length;
  c.f32.resize(n_columns * length);
  for (float& value : c.f32) value = 3.0f * random.unit();
  if (length % 32 == 0) {
    c.q8.resize(n_columns * length);
    c.scales.resize(n_columns * length / 32);
    c.sums.resize(n_columns * length / 32);
    for (std::size_t i = 0; i < n_columns; ++i) {
      kernels::quantize_activations(c.f32.data() + i * length, length, c.q8.data() + i * length, c.scales.data() + i * (length / 32),
                                    c.sums.data() + i * (length / 32));
    }
  }
  return c;
}

inline std::vector<float> random_vector(Random& random, std::size_t length, float factor = 1.0f) {
  std::vector<float> v(length);
  for (float& x : v) x = factor * random.unit();
  return v;
}

// Equal bits, or both not finite.
inline bool same(float a, float b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return !std::isfinite(a) && !std::isfinite(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

// Index of the first difference in the sense of `same`, or the size.
inline std::size_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (!same(a[i], b[i])) return i;
  }
  return a.size();
}

}  // namespace layerstream::test
