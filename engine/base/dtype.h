#pragma once
// SPDX-License-Identifier: MIT
// The tensor types of GGUF: number, name, quant-block length and bytes. Known here means "can be
// bounds-checked"; what can be computed with is in quant/registry.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace layerstream {

// Values are the type numbers of the file format.
enum class QuantType : std::uint32_t {
  f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q5_0 = 6, q5_1 = 7, q8_0 = 8, q8_1 = 9,
  q2_k = 10, q3_k = 11, q4_k = 12, q5_k = 13, q6_k = 14, q8_k = 15,
  iq2_xxs = 16, iq2_xs = 17, iq3_xxs = 18, iq1_s = 19, iq4_nl = 20, iq3_s = 21, iq2_s = 22, iq4_xs = 23,
  i8 = 24, i16 = 25, i32 = 26, i64 = 27, f64 = 28, iq1_m = 29, bf16 = 30,
  tq1_0 = 34, tq2_0 = 35, mxfp4 = 39, nvfp4 = 40, q1_0 = 41, q2_0 = 42,
};

struct TypeInfo {
  QuantType type;
  std::string_view name;
  std::uint32_t block_elements;  // values per quant block
  std::uint32_t block_bytes;
};

inline constexpr std::array kTypeInfos = {
    TypeInfo{QuantType::f32, "F32", 1, 4},         TypeInfo{QuantType::f16, "F16", 1, 2},
    TypeInfo{QuantType::q4_0, "Q4_0", 32, 18},     TypeInfo{QuantType::q4_1, "Q4_1", 32, 20},
    TypeInfo{QuantType::q5_0, "Q5_0", 32, 22},     TypeInfo{QuantType::q5_1, "Q5_1", 32, 24},
    TypeInfo{QuantType::q8_0, "Q8_0", 32, 34},     TypeInfo{QuantType::q8_1, "Q8_1", 32, 36},
    TypeInfo{QuantType::q2_k, "Q2_K", 256, 84},    TypeInfo{QuantType::q3_k, "Q3_K", 256, 110},
    TypeInfo{QuantType::q4_k, "Q4_K", 256, 144},   TypeInfo{QuantType::q5_k, "Q5_K", 256, 176},
    TypeInfo{QuantType::q6_k, "Q6_K", 256, 210},   TypeInfo{QuantType::q8_k, "Q8_K", 256, 292},
    TypeInfo{QuantType::iq2_xxs, "IQ2_XXS", 256, 66}, TypeInfo{QuantType::iq2_xs, "IQ2_XS", 256, 74},
    TypeInfo{QuantType::iq3_xxs, "IQ3_XXS", 256, 98}, TypeInfo{QuantType::iq1_s, "IQ1_S", 256, 50},
    TypeInfo{QuantType::iq4_nl, "IQ4_NL", 32, 18}, TypeInfo{QuantType::iq3_s, "IQ3_S", 256, 110},
    TypeInfo{QuantType::iq2_s, "IQ2_S", 256, 82},  TypeInfo{QuantType::iq4_xs, "IQ4_XS", 256, 136},
    TypeInfo{QuantType::i8, "I8", 1, 1},           TypeInfo{QuantType::i16, "I16", 1, 2},
    TypeInfo{QuantType::i32, "I32", 1, 4},         TypeInfo{QuantType::i64, "I64", 1, 8},
    TypeInfo{QuantType::f64, "F64", 1, 8},         TypeInfo{QuantType::iq1_m, "IQ1_M", 256, 56},
    TypeInfo{QuantType::bf16, "BF16", 1, 2},       TypeInfo{QuantType::tq1_0, "TQ1_0", 256, 54},
    TypeInfo{QuantType::tq2_0, "TQ2_0", 256, 66},  TypeInfo{QuantType::mxfp4, "MXFP4", 32, 17},
    TypeInfo{QuantType::nvfp4, "NVFP4", 64, 36},   TypeInfo{QuantType::q1_0, "Q1_0", 128, 18},
    TypeInfo{QuantType::q2_0, "Q2_0", 64, 18},
};

// The row for a type number of a file, or nullptr (unknown or removed number).
[[nodiscard]] constexpr const TypeInfo* find_type_info(std::uint32_t number) {
  for (const TypeInfo& info : kTypeInfos) {
    if (static_cast<std::uint32_t>(info.type) == number) return &info;
  }
  return nullptr;
}

[[nodiscard]] constexpr const TypeInfo& type_info(QuantType type) {
  return *find_type_info(static_cast<std::uint32_t>(type));
}

// Bytes of a row of `columns` values; `columns` must be a multiple of the quant block.
[[nodiscard]] constexpr std::uint64_t row_bytes(QuantType type, std::uint64_t columns) {
  const TypeInfo& info = type_info(type);
  return columns / info.block_elements * info.block_bytes;
}

}  // namespace layerstream
