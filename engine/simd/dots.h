#pragma once
// SPDX-License-Identifier: MIT
// The integer dot product of int8 activations (-127..127) and 8-bit weights, in the ways of different processors. Each gives the exact
// sums, so the bits of a product never depend on which one is taken.
//   WideDot  both sides widened to 16 bits: everywhere, exact for -128
//   PairDot  bytes to 16-bit sums of two products, which are added in 16 bits as long as they fit (LAYERSTREAM_SIMD_PAIRS)
//   QuadDot  bytes to 32-bit sums of four products (LAYERSTREAM_SIMD_QUADS)
// Dot is what the build was made for; OtherDot, if it is another, is faster on some processors (kernels/dot_choice.h);
// ExactDot is exact for -128 too.
// What a dot has:
//   prepare_unsigned (codes 0..127), prepare_signed (-128..127)         0-2 instructions, once per weight vector
//   load_values              16 activations, to meet several weights    1-2
//   dot16, dot32<kMaxCode>   the sum of all four lanes is the dot product; which lane holds what is the dot's affair. 2-5 / 3-10
//   LaneSums<kMaxCode>       dot products of 32 values of four rows, lanes = rows: add<R>, ascending R 0..3, then rows(). 5-11 per add
//   kMinus128Exact           false: a prepare_signed code of -128 gives an unspecified sum: look for it
//                            (minus_128) and take ExactDot
//   RowSums<kMaxCode>        the same for four rows at once, lanes = rows: 16 bytes of weights hold four values of each row, row
//                            after row, x is four values. add<J>: the J-th since start, ascending; rows<N>: the sums of N.
//                            1-6 per add

// Included by simd.h, behind the back end.

namespace layerstream::simd {

#if defined(__wasm_relaxed_simd__)  // other names for other code: vec.h
inline namespace dots_relaxed {
#else
inline namespace dots_plain {
#endif

// LaneSums of a dot by way of its dot32. Rows are added up two by two, so that few sums are alive at a time.
template <typename D, int kMaxCode>
class LaneSumsOf {
 public:
  template <std::size_t R, typename Values, typename Weights>
  LAYERSTREAM_INLINE void add(Values x_first, Values x_second, Weights first, Weights second) {
    const i32x4 sums = D::template dot32<kMaxCode>(x_first, x_second, first, second);
    if constexpr (R % 2 == 0) {
      even_ = sums;
    } else {
      pairs_[R / 2] = pair_sums(even_, sums);
    }
  }
  // Computes what add<R> added here (simd::hold).
  template <std::size_t R>
  LAYERSTREAM_INLINE void settle() {
    R % 2 == 0 ? hold(even_) : hold(pairs_[R / 2]);
  }
  LAYERSTREAM_INLINE i32x4 rows() const { return sums_of_pairs(pairs_[0], pairs_[1]); }

 private:
  i32x4 even_;
  i32x4 pairs_[2];
};

struct WideDot {
  struct Codes {
    i16x8 low;
    i16x8 high;
  };
  static constexpr bool kMinus128Exact = true;

  static LAYERSTREAM_INLINE Codes prepare_signed(i8x16 codes) { return {widen_low(codes), widen_high(codes)}; }
  static LAYERSTREAM_INLINE Codes prepare_unsigned(u8x16 codes) { return prepare_signed(as_i8(codes)); }
  using Values = Codes;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) { return {load_i8_as_i16(x), load_i8_as_i16(x + 8)}; }
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Codes w) { return dot_i16(x.low, w.low) + dot_i16(x.high, w.high); }
  template <int kMaxCode>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Codes first, Codes second) {
    return dot16(x_first, first) + dot16(x_second, second);
  }
  template <int kMaxCode>
  using LaneSums = LaneSumsOf<WideDot, kMaxCode>;

  template <int kMaxCode>
  class RowSums {
   public:
    LAYERSTREAM_INLINE void start(i32x4 sums) {
      low_ = interleave_low_i32(sums, i32x4{});
      high_ = interleave_high_i32(sums, i32x4{});
    }
    template <std::size_t J>
    LAYERSTREAM_INLINE void add(const std::int8_t* x, Codes w) {
      const i16x8 values = widen_low(splat_4_bytes(x));
      low_ += dot_i16(values, w.low);
      hold(low_);
      high_ += dot_i16(values, w.high);
      hold(high_);
    }
    template <std::size_t N>
    LAYERSTREAM_INLINE i32x4 rows() const {
      return __builtin_shufflevector(low_, high_, 0, 2, 4, 6) + __builtin_shufflevector(low_, high_, 1, 3, 5, 7);
    }

   private:
    i32x4 low_;  // two partial sums of each of two rows
    i32x4 high_;
  };
};

// Magnitudes, and what gives their signs to the activations instead.
struct SignedCodes {
  i8x16 magnitudes;
  i8x16 signs;
};
struct UnsignedCodes {
  i8x16 codes;
};

#if LAYERSTREAM_SIMD_PAIRS || LAYERSTREAM_SIMD_QUADS
// What the dots of bytes share.
struct ByteDot {
  static LAYERSTREAM_INLINE UnsignedCodes prepare_unsigned(u8x16 codes) { return {as_i8(codes)}; }
  static LAYERSTREAM_INLINE SignedCodes prepare_signed(i8x16 codes) { return {abs_i8(codes), signs_of(codes)}; }
  using Values = i8x16;
  static LAYERSTREAM_INLINE Values load_values(const std::int8_t* x) { return as_i8(load_u8(x)); }
};
#endif

#if LAYERSTREAM_SIMD_PAIRS
struct PairDot : ByteDot {
  static constexpr bool kMinus128Exact = kPairsTake128;
  // How many sums of two products 16 bits hold.
  static constexpr std::size_t fitting(int max_code) { return static_cast<std::size_t>(32767 / (2 * 127 * max_code)); }

  static LAYERSTREAM_INLINE i16x8 pairs(i8x16 x, UnsignedCodes w) { return dot_pairs(x, w.codes); }
  static LAYERSTREAM_INLINE i16x8 pairs(i8x16 x, SignedCodes w) { return dot_pairs(with_signs(x, w.signs), w.magnitudes); }

  template <typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Weights w) {
    return dot_i16(pairs(x, w), splat_i16(1));
  }
  template <int kMaxCode, typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Weights first, Weights second) {
    if constexpr (fitting(kMaxCode) >= 2) {
      return dot_i16(pairs(x_first, first) + pairs(x_second, second), splat_i16(1));
    } else {
      return dot16(x_first, first) + dot16(x_second, second);
    }
  }

  // Stays with 16 bits as long as they hold what is added up.
  template <int kMaxCode>
  class LaneSums16 {
   public:
    template <std::size_t R, typename Weights>
    LAYERSTREAM_INLINE void add(Values x_first, Values x_second, Weights first, Weights second) {
      const i16x8 sums = pairs(x_first, first) + pairs(x_second, second);
      if constexpr (R % 2 == 0) {
        even_ = sums;
      } else {
        pairs_[R / 2] = pair_sums(even_, sums);
      }
    }
    // Computes what add<R> added here (simd::hold).
    template <std::size_t R>
    LAYERSTREAM_INLINE void settle() {
      R % 2 == 0 ? hold(even_) : hold(pairs_[R / 2]);
    }
    LAYERSTREAM_INLINE i32x4 rows() const {
      if constexpr (fitting(kMaxCode) >= 8) return dot_i16(sums_of_pairs(pairs_[0], pairs_[1]), splat_i16(1));
      return sums_of_pairs(dot_i16(pairs_[0], splat_i16(1)), dot_i16(pairs_[1], splat_i16(1)));
    }

   private:
    i16x8 even_;
    i16x8 pairs_[2];
  };
  template <int kMaxCode>
  using LaneSums = std::conditional_t<fitting(kMaxCode) >= 4, LaneSums16<kMaxCode>, LaneSumsOf<PairDot, kMaxCode>>;

  template <int kMaxCode>
  class RowSums {
   public:
    LAYERSTREAM_INLINE void start(i32x4 sums) { total_ = sums; }
    template <std::size_t J, typename Weights>
    LAYERSTREAM_INLINE void add(const std::int8_t* x, Weights w) {
      const i16x8 products = pairs(splat_4_bytes(x), w);
      part_ = J % kFit == 0 ? products : part_ + products;
      if constexpr (J % kFit == kFit - 1) {
        total_ += dot_i16(part_, splat_i16(1));
        hold(total_);
      } else {
        hold(part_);
      }
    }
    template <std::size_t N>
    LAYERSTREAM_INLINE i32x4 rows() const {
      return N % kFit == 0 ? total_ : total_ + dot_i16(part_, splat_i16(1));
    }

   private:
    static constexpr std::size_t kFit = fitting(kMaxCode);
    i32x4 total_;
    i16x8 part_;
  };
};
#endif

#if LAYERSTREAM_SIMD_QUADS
struct QuadDot : ByteDot {
  static constexpr bool kMinus128Exact = false;

  static LAYERSTREAM_INLINE i32x4 add(i32x4 sums, i8x16 x, UnsignedCodes w) { return add_dot_quads(sums, x, w.codes); }
  static LAYERSTREAM_INLINE i32x4 add(i32x4 sums, i8x16 x, SignedCodes w) {
    return add_dot_quads(sums, with_signs(x, w.signs), w.magnitudes);
  }
  template <typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot16(Values x, Weights w) {
    return add(i32x4{}, x, w);
  }
  template <int kMaxCode, typename Weights>
  static LAYERSTREAM_INLINE i32x4 dot32(Values x_first, Values x_second, Weights first, Weights second) {
    return add(add(i32x4{}, x_first, first), x_second, second);
  }
  template <int kMaxCode>
  using LaneSums = LaneSumsOf<QuadDot, kMaxCode>;

  template <int kMaxCode>
  class RowSums {
   public:
    LAYERSTREAM_INLINE void start(i32x4 sums) { total_ = sums; }
    template <std::size_t J, typename Weights>
    LAYERSTREAM_INLINE void add(const std::int8_t* x, Weights w) {
      total_ = QuadDot::add(total_, splat_4_bytes(x), w);
      hold(total_);
    }
    template <std::size_t N>
    LAYERSTREAM_INLINE i32x4 rows() const {
      return total_;
    }

   private:
    i32x4 total_;
  };
};
#endif

#if LAYERSTREAM_SIMD_QUADS
using Dot = QuadDot;
using OtherDot = PairDot;
using ExactDot = WideDot;
#elif LAYERSTREAM_SIMD_PAIRS
using Dot = PairDot;
using OtherDot = PairDot;
using ExactDot = PairDot;
#else
using Dot = WideDot;
using OtherDot = WideDot;
using ExactDot = WideDot;
#endif
static_assert(ExactDot::kMinus128Exact);

}  // inline namespace
}  // namespace layerstream::simd
