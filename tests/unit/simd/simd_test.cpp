// SPDX-License-Identifier: MIT
// Every vector operation against its scalar meaning.

#include "simd/simd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "../kernels/test_data.h"
#include "base/half.h"
#include "simd/half4.h"

namespace layerstream {
namespace {

using namespace simd;
using test::Random;

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(HalfToFloat4, EqualsBaseHalfForEveryCode) {
  for (std::uint32_t code = 0; code < 65536; code += 4) {
    const f32x4 got = half_to_float4(u32x4{code, code + 1, code + 2, code + 3});
    for (std::uint32_t i = 0; i < 4; ++i) {
      const float expected = half_to_float(static_cast<std::uint16_t>(code + i));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got[i]));
      } else {
        ASSERT_EQ(bits(got[i]), bits(expected)) << code + i;
      }
    }
  }
}

void expect_same_half(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  const std::uint32_t in[] = {a, b, c, d};
  const u32x4 got = float_to_half4(as_f32(u32x4{a, b, c, d}));
  for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(got[i], float_to_half(std::bit_cast<float>(in[i]))) << std::hex << in[i];
}

TEST(FloatToHalf4, EqualsBaseHalfForEveryExponentAndMantissaEdge) {
  std::vector<std::uint32_t> mantissas = {0, 1, 0x7fffff, 0x7ffffe, 0x400000, 0x3fffff, 0x400001};
  for (std::uint32_t bit = 0; bit < 23; ++bit) {
    for (const std::uint32_t around : {0u, 1u}) {
      mantissas.push_back((1u << bit) + around);
      mantissas.push_back((1u << bit) - around);
      mantissas.push_back(((0x7fffffu << bit) & 0x7fffffu) + around);  // runs of ones: carries and ties
      mantissas.push_back((0x7fffffu >> bit) - around * (bit < 22));
      mantissas.push_back(((3u << bit) & 0x7fffffu) + around);
    }
  }
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (const std::uint32_t mantissa : mantissas) {
      const std::uint32_t value = (exponent << 23) | (mantissa & 0x7fffffu);
      expect_same_half(value, value | 0x80000000u, value ^ 1u, value ^ 0x1000u);
    }
  }
}

TEST(FloatToHalf4, EqualsBaseHalfForRandomBits) {
  Random random(71);
  for (int i = 0; i < 400000; ++i) {
    const std::uint64_t a = random.bits();
    // Half of them in the range of halves.
    const std::uint64_t b = (random.bits() & 0x87ffffff87ffffffu) | 0x3000000030000000u;
    expect_same_half(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), static_cast<std::uint32_t>(b),
                     static_cast<std::uint32_t>(b >> 32));
  }
}

TEST(GatherHalf4, ReadsOnlyTheCountedHalves) {
  const std::uint16_t one = 0x3c00;
  for (std::size_t count = 1; count <= 4; ++count) {
    std::vector<std::byte> exact(18 * (count - 1) + 2);  // a read behind the last half would be seen by ASan
    for (std::size_t i = 0; i < count; ++i) std::memcpy(exact.data() + 18 * i, &one, 2);
    const f32x4 v = gather_half4(exact.data(), 18, count);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(v[i], i < count ? 1.0f : 0.0f);
  }
}

TEST(PminPmax, KeepTheFirstOperandUnlessTheSecondIsStrictlyBetter) {
  const float values[] = {1.0f, -2.0f, 0.0f, -0.0f, INFINITY, -INFINITY, NAN};
  for (const float a : values) {
    for (const float b : values) {
      const float low = b < a ? b : a;
      const float high = a < b ? b : a;
      EXPECT_EQ(bits(pmin(splat_f32(a), splat_f32(b))[0]), bits(low)) << a << " " << b;
      EXPECT_EQ(bits(pmax(splat_f32(a), splat_f32(b))[3]), bits(high)) << a << " " << b;
    }
  }
}

TEST(Lanes, ShufflesPutLanesWhereTheyBelong) {
  f32x4 a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = {9, 10, 11, 12}, d = {13, 14, 15, 16};
  const f32x4 even = even_lanes(a, b), odd = odd_lanes(a, b), low = interleave_low(even, odd), high = interleave_high(even, odd);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(even[i], static_cast<float>(2 * i + 1));
    EXPECT_EQ(odd[i], static_cast<float>(2 * i + 2));
    EXPECT_EQ(low[i], a[i]);
    EXPECT_EQ(high[i], b[i]);
  }
  transpose(a, b, c, d);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(a[i], static_cast<float>(4 * i + 1));
    EXPECT_EQ(b[i], static_cast<float>(4 * i + 2));
    EXPECT_EQ(c[i], static_cast<float>(4 * i + 3));
    EXPECT_EQ(d[i], static_cast<float>(4 * i + 4));
  }
  const i32x4 sums = lane_sums(i32x4{1, 2, 3, 4}, i32x4{10, 20, 30, 40}, i32x4{-1, -2, -3, -4}, i32x4{0, 0, 0, 7});
  EXPECT_EQ(sums[0], 10);
  EXPECT_EQ(sums[1], 100);
  EXPECT_EQ(sums[2], -10);
  EXPECT_EQ(sums[3], 7);
  EXPECT_EQ(reduce_add(f32x4{1e8f, -1e8f, 1.0f, 3.0f}), (1e8f + 1.0f) + (-1e8f + 3.0f));
  const u8x16 bytes = low_bytes(u32x4{0x101, 0x202, 3, 4}, u32x4{5, 6, 7, 8}, u32x4{9, 10, 11, 12}, u32x4{13, 14, 15, 0xffffff10u});
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(bytes[i], i + 1);
}

TEST(Conversions, AreExactOrRoundToEven) {
  const f32x4 f = to_f32(i32x4{16777217, 16777219, -16777217, 2147483647});
  EXPECT_EQ(f[0], 16777216.0f);
  EXPECT_EQ(f[1], 16777220.0f);
  EXPECT_EQ(f[2], -16777216.0f);
  EXPECT_EQ(f[3], 2147483648.0f);
  const f32x4 v = {0.1f, -1e-40f, 3e38f, -0.0f};
  EXPECT_EQ(promote_low(v)[1], static_cast<double>(-1e-40f));
  EXPECT_EQ(promote_high(v)[0], static_cast<double>(3e38f));
  const i32x4 wide = bytes_as_i32(0xff804001u);
  EXPECT_EQ(wide[0], 1);
  EXPECT_EQ(wide[1], 0x40);
  EXPECT_EQ(wide[2], 0x80);
  EXPECT_EQ(wide[3], 0xff);
  const std::uint16_t halves[4] = {1, 0x8000, 0xffff, 77};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(load_u16_as_u32(halves)[i], halves[i]);
}

TEST(Bytes, ShiftInsideTheirLane) {
  for (int value = 0; value < 256; ++value) {
    const u8x16 v = splat_u8(static_cast<std::uint8_t>(value));
    EXPECT_EQ(shift_right_u8<4>(v)[7], value >> 4);
    EXPECT_EQ(shift_right_u8<1>(v)[8], value >> 1);
    EXPECT_EQ(shift_left_u8<4>(v)[9], (value << 4) & 0xff);
  }
}

TEST(Parts, TouchOnlyTheirLanes) {
  for (std::size_t count = 1; count < 4; ++count) {
    std::vector<float> in(count, 2.0f), out(count, 0.0f);
    std::vector<std::int32_t> ints(count, -3);
    const f32x4 v = load_f32_part(in.data(), count);
    const i32x4 w = load_i32_part(ints.data(), count);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(v[i], i < count ? 2.0f : 0.0f);
      EXPECT_EQ(w[i], i < count ? -3 : 0);
    }
    store_f32_part(out.data(), v, count);
    EXPECT_EQ(out, in);
  }
}

std::int32_t total(i32x4 v) { return v[0] + v[1] + v[2] + v[3]; }

template <typename D>
void check_dots(Random& random, int kind) {
  std::int8_t x[32], w[32];
  std::uint8_t u[32];
  std::int32_t signed_first = 0, signed_all = 0, unsigned_first = 0, unsigned_all = 0, small_all = 0;
  std::uint8_t small[32];
  for (std::size_t i = 0; i < 32; ++i) {
    x[i] = static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    w[i] = static_cast<std::int8_t>(static_cast<int>(random.below(D::kMinus128Exact ? 256 : 255)) - (D::kMinus128Exact ? 128 : 127));
    u[i] = static_cast<std::uint8_t>(random.below(128));
    if (kind == 1) x[i] = 127, w[i] = 127, u[i] = 127;
    if (kind == 2) x[i] = -127, w[i] = static_cast<std::int8_t>(D::kMinus128Exact ? -128 : -127), u[i] = 127;
    if (kind == 3) x[i] = 127, w[i] = static_cast<std::int8_t>(D::kMinus128Exact ? -128 : -127), u[i] = 0;
    small[i] = u[i] & 64 ? 64 : u[i];
    if (i < 16) signed_first += x[i] * w[i], unsigned_first += x[i] * u[i];
    signed_all += x[i] * w[i];
    unsigned_all += x[i] * u[i];
    small_all += x[i] * small[i];
  }
  const auto x0 = D::load_values(x), x1 = D::load_values(x + 16);
  const auto s0 = D::prepare_signed(as_i8(load_u8(w))), s1 = D::prepare_signed(as_i8(load_u8(w + 16)));
  const auto u0 = D::prepare_unsigned(load_u8(u)), u1 = D::prepare_unsigned(load_u8(u + 16));
  const auto m0 = D::prepare_unsigned(load_u8(small)), m1 = D::prepare_unsigned(load_u8(small + 16));
  ASSERT_EQ(total(D::dot16(x0, s0)), signed_first);
  ASSERT_EQ(total(D::template dot32<128>(x0, x1, s0, s1)), signed_all);
  ASSERT_EQ(total(D::dot16(x0, u0)), unsigned_first);
  ASSERT_EQ(total(D::template dot32<127>(x0, x1, u0, u1)), unsigned_all);
  ASSERT_EQ(total(D::template dot32<64>(x0, x1, m0, m1)), small_all);
}

TEST(Dot, IsTheExactIntegerIncludingTheEnds) {
  Random random(72);
  for (int round = 0; round < 5000; ++round) {
    check_dots<Dot>(random, round < 4 ? round : 0);
    check_dots<OtherDot>(random, round < 4 ? round : 0);
    check_dots<WideDot>(random, round < 4 ? round : 0);
  }
}

// Four rows of 16 or 32 codes up to kMaxCode, four values of each row at a time.
template <typename D, int kMaxCode, std::size_t N>
void check_row_sums(Random& random, bool ends) {
  std::int8_t x[4 * N];
  std::uint8_t codes[4][4 * N];
  std::int32_t begin[4], expected[4];
  for (std::size_t r = 0; r < 4; ++r) begin[r] = expected[r] = static_cast<std::int32_t>(random.below(2000)) - 1000;
  for (std::size_t i = 0; i < 4 * N; ++i) {
    x[i] = ends ? std::int8_t{127} : static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    for (std::size_t r = 0; r < 4; ++r) {
      codes[r][i] = static_cast<std::uint8_t>(ends ? kMaxCode : random.below(kMaxCode + 1));
      expected[r] += x[i] * codes[r][i];
    }
  }
  typename D::template RowSums<kMaxCode> sums;
  sums.start(load_i32(begin));
  unroll<N>([&](auto j) {
    std::uint8_t packed[16];
    for (std::size_t r = 0; r < 4; ++r) std::copy_n(codes[r] + 4 * j, 4, packed + 4 * r);
    sums.template add<j>(x + 4 * j, D::prepare_unsigned(load_u8(packed)));
  });
  const i32x4 rows = sums.template rows<N>();
  for (std::size_t r = 0; r < 4; ++r) ASSERT_EQ(rows[r], expected[r]) << kMaxCode << " row " << r;
}

template <typename D>
void check_all_row_sums(Random& random, bool ends) {
  unroll<2>([&](auto n) {
    constexpr std::size_t kCount = n == 0 ? 4 : 8;
    check_row_sums<D, 3, kCount>(random, ends);
    check_row_sums<D, 15, kCount>(random, ends);
    check_row_sums<D, 31, kCount>(random, ends);
    check_row_sums<D, 63, kCount>(random, ends);
    check_row_sums<D, 127, kCount>(random, ends);
  });
}

TEST(Dot, SumsOfFourRowsAreExactIncludingTheEnds) {
  Random random(73);
  for (int round = 0; round < 1000; ++round) {
    check_all_row_sums<Dot>(random, round == 0);
    check_all_row_sums<OtherDot>(random, round == 0);
    check_all_row_sums<WideDot>(random, round == 0);
  }
}

// Four rows of 32 codes up to kMaxCode, row by row.
template <typename D, int kMaxCode>
void check_lane_sums(Random& random, bool ends) {
  std::int8_t x[32];
  std::uint8_t codes[4][32];
  std::int32_t expected[4] = {};
  for (std::size_t i = 0; i < 32; ++i) {
    x[i] = ends ? std::int8_t{-127} : static_cast<std::int8_t>(static_cast<int>(random.below(255)) - 127);
    for (std::size_t r = 0; r < 4; ++r) {
      codes[r][i] = static_cast<std::uint8_t>(ends ? kMaxCode : random.below(kMaxCode + 1));
      expected[r] += x[i] * codes[r][i];
    }
  }
  typename D::template LaneSums<kMaxCode> sums;
  unroll<4>([&](auto r) {
    sums.template add<r>(D::load_values(x), D::load_values(x + 16), D::prepare_unsigned(load_u8(codes[r])), D::prepare_unsigned(load_u8(codes[r] + 16)));
  });
  const i32x4 rows = sums.rows();
  for (std::size_t r = 0; r < 4; ++r) ASSERT_EQ(rows[r], expected[r]) << kMaxCode << " row " << r;
}

template <typename D>
void check_all_lane_sums(Random& random, bool ends) {
  check_lane_sums<D, 3>(random, ends);
  check_lane_sums<D, 15>(random, ends);
  check_lane_sums<D, 31>(random, ends);
  check_lane_sums<D, 63>(random, ends);
  check_lane_sums<D, 127>(random, ends);
}

TEST(Dot, LaneSumsAreExactIncludingTheEnds) {
  Random random(74);
  for (int round = 0; round < 1000; ++round) {
    check_all_lane_sums<Dot>(random, round == 0);
    check_all_lane_sums<OtherDot>(random, round == 0);
    check_all_lane_sums<WideDot>(random, round == 0);
  }
}

TEST(DotI16, AddsNeighbouringProducts) {
  const i32x4 v = dot_i16(i16x8{1, 2, -3, 4, 32767, 32767, -32768, 1}, i16x8{10, 20, 30, -40, 32767, 32767, 1, -32768});
  EXPECT_EQ(v[0], 50);
  EXPECT_EQ(v[1], -250);
  EXPECT_EQ(v[2], 2 * 32767 * 32767);
  EXPECT_EQ(v[3], -65536);
}

TEST(Select, TakesLanesByMask) {
  const f32x4 v = select(f32x4{1, 5, 1, NAN} < splat_f32(3.0f), splat_f32(10.0f), splat_f32(20.0f));
  EXPECT_EQ(v[0], 10.0f);
  EXPECT_EQ(v[1], 20.0f);
  EXPECT_EQ(v[2], 10.0f);
  EXPECT_EQ(v[3], 20.0f);
  EXPECT_EQ(max_i32(i32x4{1, -5, 3, -2147483647}, i32x4{2, -6, 3, 0})[1], -5);
}

}  // namespace
}  // namespace layerstream
