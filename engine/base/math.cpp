// SPDX-License-Identifier: MIT
// Elementary functions in double: reduce the argument to a small interval with a constant split into
// exactly multipliable parts (Cody and Waite), sum a Taylor series there, put the result back together.
// Series lengths are chosen so that the first neglected term is below 1e-17 of the result; what is left
// is rounding. No contraction, no libm: every step is one IEEE operation, hence the same bits everywhere.

#include "base/math.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

namespace layerstream::math {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// ln 2 = kLn2High + kLn2Low. The high part has 38 bits, so its product with any exponent is exact.
constexpr double kLn2High = 0x1.62e42fefa0000p-1;
constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;

// pi / 2 in three parts of 22 bits and a rest: a 30-bit multiple of each of the first three is exact.
constexpr double kHalfPi1 = 0x1.921fb00000000p+0;
constexpr double kHalfPi2 = 0x1.5110b00000000p-22;
constexpr double kHalfPi3 = 0x1.1846980000000p-44;
constexpr double kHalfPi4 = 0x1.3198a2e037073p-69;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kSinCosLimit = 1073741824.0;  // 2^30: beyond it the multiple of pi/2 has more than 30 bits

// 2^exponent for -1022 <= exponent <= 1023.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// e^r - 1 - r for |r| <= 0.36, as r^2 * (1/2! + r/3! + ... + r^12/14!).
double exp_tail(double r) {
  constexpr double kInverseFactorials[] = {
      1.0 / 2.0,       1.0 / 6.0,        1.0 / 24.0,        1.0 / 120.0,        1.0 / 720.0,         1.0 / 5040.0,
      1.0 / 40320.0,   1.0 / 362880.0,   1.0 / 3628800.0,   1.0 / 39916800.0,   1.0 / 479001600.0,   1.0 / 6227020800.0,
      1.0 / 87178291200.0};
  double sum = 0.0;
  for (std::size_t i = std::size(kInverseFactorials); i-- > 0;) sum = sum * r + kInverseFactorials[i];
  return sum * (r * r);
}

// sin(r) for |r| <= 0.79: r - r^3/3! + ... + r^17/17!.
double sin_reduced(double r) {
  constexpr double kCoefficients[] = {-1.0 / 6.0,         1.0 / 120.0,          -1.0 / 5040.0,           1.0 / 362880.0,
                                      -1.0 / 39916800.0,  1.0 / 6227020800.0,   -1.0 / 1307674368000.0,  1.0 / 355687428096000.0};
  const double square = r * r;
  double sum = 0.0;
  for (std::size_t i = std::size(kCoefficients); i-- > 0;) sum = sum * square + kCoefficients[i];
  return r + (r * square) * sum;
}

// cos(r) for |r| <= 0.79: 1 - (r^2/2! - r^4/4! + ... - r^16/16!).
double cos_reduced(double r) {
  constexpr double kCoefficients[] = {1.0 / 2.0,        -1.0 / 24.0,         1.0 / 720.0,            -1.0 / 40320.0,
                                      1.0 / 3628800.0,  -1.0 / 479001600.0,  1.0 / 87178291200.0,    -1.0 / 20922789888000.0};
  const double square = r * r;
  double sum = 0.0;
  for (std::size_t i = std::size(kCoefficients); i-- > 0;) sum = sum * square + kCoefficients[i];
  return 1.0 - square * sum;
}

}  // namespace

double exp(double x) {
  if (x != x) return x;
  if (x > 709.8) return kInfinity;   // ln of the greatest double is 709.78
  if (x < -745.2) return 0.0;        // e^-745.2 is below half of the smallest subnormal
  const double multiple = std::floor(x * kInverseLn2 + 0.5);
  const double high = x - multiple * kLn2High;
  const double low = multiple * kLn2Low;
  const double r = high - low;
  const double lost = (high - r) - low;  // what rounding took from r
  const double value = 1.0 + (r + (exp_tail(r) + lost));
  // Two factors, so that a subnormal result is rounded once and 2^1024 is never formed.
  const int exponent = static_cast<int>(multiple);
  const int half = exponent / 2;
  return (value * power_of_two(half)) * power_of_two(exponent - half);
}

double log(double x) {
  if (x != x) return x;
  if (x == 0.0) return -kInfinity;
  if (x < 0.0) return kNaN;
  if (x == kInfinity) return x;
  int exponent = 0;
  if (x < std::numeric_limits<double>::min()) {  // subnormal
    x *= 0x1p54;
    exponent = -54;
  }
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffffu) | 0x3ff0000000000000u;
  double mantissa = std::bit_cast<double>(bits);  // [1, 2)
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    ++exponent;
  }
  // log(1+f) = 2s + s*rest with s = f/(2+f), and 2s = f - f^2/2 + s*f^2/2: f itself carries no rounding.
  const double f = mantissa - 1.0;
  const double s = f / (2.0 + f);
  const double square = s * s;
  double rest = 0.0;
  for (int k = 12; k >= 1; --k) rest = (rest + 2.0 / static_cast<double>(2 * k + 1)) * square;
  const double half_square = 0.5 * f * f;
  const double k = static_cast<double>(exponent);
  return k * kLn2High - ((half_square - (s * (half_square + rest) + k * kLn2Low)) - f);
}

double tanh(double x) {
  const double magnitude = std::fabs(x);
  double value = 1.0;
  if (magnitude < 0.17) {
    const double twice = 2.0 * magnitude;
    const double expm1 = twice + exp_tail(twice);
    value = expm1 / (expm1 + 2.0);
  } else if (!(magnitude > 20.0)) {  // NaN comes here too; beyond 20 the result rounds to 1
    value = 1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0);
  }
  return x < 0.0 ? -value : (x == 0.0 ? x : value);
}

SinCos sincos(double x) {
  if (!(std::fabs(x) <= kSinCosLimit)) return {kNaN, kNaN};
  const double multiple = std::floor(x * kTwoOverPi + 0.5);
  const double r = (((x - multiple * kHalfPi1) - multiple * kHalfPi2) - multiple * kHalfPi3) - multiple * kHalfPi4;
  const double sin = sin_reduced(r);
  const double cos = cos_reduced(r);
  switch (static_cast<int>(multiple - 4.0 * std::floor(multiple * 0.25))) {
    case 0:
      return {sin, cos};
    case 1:
      return {cos, -sin};
    case 2:
      return {-sin, -cos};
    default:
      return {-cos, sin};
  }
}

double pow(double base, double exponent) { return exp(exponent * log(base)); }

}  // namespace layerstream::math
