#pragma once
// SPDX-License-Identifier: MIT
// The one list of weight types that can be computed with, and the one step from a type number at run time to a trait at
// compile time. A type that is in this list is in the kernels, the typed tests and the benchmarks.

#include <type_traits>

#include "quant/bf16.h"
#include "quant/f16.h"
#include "quant/f32.h"
#include "quant/iq4_nl.h"
#include "quant/iq4_xs.h"
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

namespace layerstream::quant {

template <Trait... Q>
struct TypeList {
  template <template <typename...> typename Other>
  using apply = Other<Q...>;
};

using Types = TypeList<F32, F16, Bf16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4K, Q5K, Q6K, Q2K, Q3K, Iq4Nl, Iq4Xs>;

namespace detail {
template <typename Fn, typename... Q>
bool with_quant_of(QuantType type, Fn& fn, TypeList<Q...>) {
  return ((type == Q::kType && (fn(std::type_identity<Q>{}), true)) || ...);
}
}  // namespace detail

// Calls fn(std::type_identity<Q>) with the trait of `type`. False (and no call) if the type is not in the list.
// Once per matrix, not per row.
template <typename Fn>
[[nodiscard]] bool with_quant(QuantType type, Fn&& fn) {
  return detail::with_quant_of(type, fn, Types{});
}

}  // namespace layerstream::quant
