#pragma once
// SPDX-License-Identifier: MIT
// Elementary functions of our own in double precision, so that native, wasm, x86 and ARM agree bit
// for bit (libm does not). Only + - * / sqrt and integer operations are used; no contraction.
// Errors are stated per function and tested against libm.

namespace layerstream::math {

// e^x, relative error below 2e-16 while the result is normal; overflow -> +inf, underflow -> 0 gradually, NaN -> NaN.
[[nodiscard]] double exp(double x);
// Natural logarithm, relative error below 4e-16; log(0) = -inf, negative -> NaN.
[[nodiscard]] double log(double x);
// tanh(x), absolute error below 4e-16 (relative below 1e-15).
[[nodiscard]] double tanh(double x);
// Sine and cosine, absolute error below 4e-16 for |x| <= 2^30 (positions up to 1 M and far beyond). Outside, and for
// NaN, both are NaN: a wrong angle must not pass for a right one.
struct SinCos {
  double sin;
  double cos;
};
[[nodiscard]] SinCos sincos(double x);
// base^exponent for base > 0: exp(exponent * log(base)); relative error below 2e-16 + 4e-16 * |exponent * log(base)|.
[[nodiscard]] double pow(double base, double exponent);

}  // namespace layerstream::math
