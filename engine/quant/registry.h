#pragma once
// SPDX-License-Identifier: MIT
// The one list of weight types that can be computed with, and the one step from a type number at run time to a trait at
// compile time. A type that is in this list is in the kernels, the typed tests and the benchmarks.

#include <type_traits>

#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "quant/iq1_m.h"
#include "quant/iq1_s.h"
#include "quant/iq2_s.h"
#include "quant/iq2_xs.h"
#include "quant/iq2_xxs.h"
#include "quant/iq3_s.h"
#include "quant/iq3_xxs.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
#include "quant/mxfp4.h"
#include "quant/nvfp4.h"
#include "quant/q1_0.h"
#include "quant/q2_0.h"
#include "quant/q2_k.h"
#include "quant/q3_k.h"
#include "quant/q4_0.h"
#include "quant/q4_1.h"
#include "quant/q4_k.h"
#include "quant/q5_0.h"
#include "quant/q5_1.h"
#include "quant/q5_k.h"
#include "quant/q6_k.h"
#include "quant/q8_0.h"
#include "quant/quant_traits.h"
#include "quant/tq1_0.h"
#include "quant/tq2_0.h"

namespace layerstream::quant {

template <Trait... Q>
struct TypeList {
  template <template <typename...> typename Other>
  using apply = Other<Q...>;
};
template <Trait... A, Trait... B>
TypeList<A..., B...> operator+(TypeList<A...>, TypeList<B...>);  // for decltype

// In groups that take about as long to compile: the matrix products of a group are one translation unit.
using FloatTypes = TypeList<F32, F16, Bf16>;
using Blocks32Types = TypeList<Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Iq4Nl, Mxfp4>;
using KTypes = TypeList<Q4K, Q5K, Q6K, Q2K, Q3K, Iq4Xs>;
using FewBitTypes = TypeList<Nvfp4, Q1_0, Q2_0, Tq1_0, Tq2_0>;
using GridTypes = TypeList<Iq1S, Iq1M, Iq2Xxs, Iq2Xs, Iq2S, Iq3Xxs, Iq3S>;

using Types = decltype(FloatTypes{} + Blocks32Types{} + KTypes{} + FewBitTypes{} + GridTypes{});

namespace detail {
template <typename Fn, typename... Q>
bool with_quant_of(QuantType type, Fn& fn, TypeList<Q...>) {
  return ((type == Q::kType && (fn(std::type_identity<Q>{}), true)) || ...);
}
}  // namespace detail

// Calls fn(std::type_identity<Q>) with the trait of `type`. False (and no call) if the type is not in the list.
// Once per matrix, not per row.
template <typename List = Types, typename Fn>
[[nodiscard]] bool with_quant(QuantType type, Fn&& fn) {
  return detail::with_quant_of(type, fn, List{});
}

}  // namespace layerstream::quant
