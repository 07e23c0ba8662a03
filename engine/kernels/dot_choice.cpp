// SPDX-License-Identifier: MIT
#include "kernels/dot_choice.h"

#include <algorithm>
#include <chrono>

#include "simd/simd.h"

namespace layerstream::kernels {
namespace {

#if LAYERSTREAM_SIMD_QUADS

constexpr int kRounds = 3000;  // about 0.3 ms: three of the steps in which a page that is not isolated sees time
constexpr int kTries = 3;      // the best of them: other work only makes slower

// Sums of four rows and two columns over and over, as the product of panels does them.
template <typename D>
[[gnu::noinline]] double seconds_of(const std::int8_t* bytes, std::int32_t& sink) {
  const auto begin = std::chrono::steady_clock::now();
  simd::i32x4 sum = {};
  for (int round = 0; round < kRounds; ++round) {
    asm volatile("" ::: "memory");  // the bytes are read in every round
    typename D::template RowSums<15> sums[2];
    simd::unroll<2>([&](auto c) __attribute__((always_inline)) { sums[c].start(simd::i32x4{}); });
    simd::unroll<8>([&](auto j) __attribute__((always_inline)) {
      const auto weights = D::prepare_unsigned(simd::load_u8(bytes + 16 * j));
      simd::unroll<2>([&](auto c) __attribute__((always_inline)) { sums[c].template add<j>(bytes + 4 * j + 32 * c, weights); });
    });
    sum += sums[0].template rows<8>() + sums[1].template rows<8>();
  }
  sink += simd::lane_sums(sum, sum, sum, sum)[0];
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

DotChoice measure() {
  std::int8_t bytes[128];
  for (int i = 0; i < 128; ++i) bytes[i] = static_cast<std::int8_t>(i % 16);
  std::int32_t sink = 0;
  double main = 1.0, other = 1.0;
  for (int i = 0; i < kTries; ++i) {
    main = std::min(main, seconds_of<simd::Dot>(bytes, sink));
    other = std::min(other, seconds_of<simd::OtherDot>(bytes, sink));
  }
  asm volatile("" ::"r"(sink));
  return other < 0.9 * main ? DotChoice::other : DotChoice::main;
}

#else

DotChoice measure() { return DotChoice::main; }

#endif

}  // namespace

DotChoice preferred_dot() {
  static const DotChoice choice = measure();
  return choice;
}

}  // namespace layerstream::kernels
