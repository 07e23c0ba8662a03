// SPDX-License-Identifier: MIT
// Every type of the registry: sizes, dequantisation against golden blocks and against an independent decoder, and the
// SIMD view of a tile against the scalar one.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "../kernels/test_data.h"
#include "obvious_decoder.h"
#include "quant/registry.h"

namespace layerstream {
namespace {

using test::Random;
using test::Scales;

template <typename Q>
class Quant : public testing::Test {};
template <typename... Q>
using GoogleTypes = testing::Types<Q...>;
TYPED_TEST_SUITE(Quant, quant::Types::apply<GoogleTypes>);

TYPED_TEST(Quant, IsListedWithItsSizes) {
  const TypeInfo* info = find_type_info(static_cast<std::uint32_t>(TypeParam::kType));
  ASSERT_NE(info, nullptr);
  if constexpr (quant::IntegerTrait<TypeParam>) {
    EXPECT_EQ(info->block_elements % quant::kActivationBlock, 0u);
  }
  std::size_t calls = 0;
  EXPECT_TRUE(quant::with_quant(TypeParam::kType, [&]<typename Q>(std::type_identity<Q>) {
    ++calls;
    EXPECT_EQ(Q::kType, TypeParam::kType);
  }));
  EXPECT_EQ(calls, 1u);
}

TYPED_TEST(Quant, DequantisesRandomBlocksAsTheObviousDecoder) {
  Random random(81);
  const TypeInfo& info = type_info(TypeParam::kType);
  for (int round = 0; round < 400; ++round) {
    const std::size_t columns = 2 * info.block_elements;
    const auto m = test::make_matrix(random, TypeParam::kType, 1, columns, static_cast<Scales>(round % 3));
    std::vector<float> out(columns);
    quant::dequantize_row<TypeParam>(m.bytes.data(), out.data(), columns);
    for (std::size_t i = 0; i < columns; ++i) {
      const auto* block = reinterpret_cast<const std::uint8_t*>(m.bytes.data()) + i / info.block_elements * info.block_bytes;
      float expected = 0.0f;
      ASSERT_TRUE(test::obvious_value(TypeParam::kType, block, i % info.block_elements, expected)) << "add the type to obvious_decoder.h";
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(out[i]));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i]), std::bit_cast<std::uint32_t>(expected)) << "value " << i;
      }
    }
  }
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TYPED_TEST(Quant, DequantisesTheGoldenBlocksBitForBit) {
  std::string name(type_info(TypeParam::kType).name);
  if (TypeParam::kType == QuantType::f32) return;  // plain floats have no golden blocks
  for (char& c : name) c = c == 'K' ? 'K' : static_cast<char>(std::tolower(c));
  const std::string base = std::string(LAYERSTREAM_SOURCE_DIR) + "/../shared/golden/blocks/" + name;
  const std::vector<char> raw = read_file(base + ".raw");
  const std::vector<char> golden = read_file(base + ".f32");
  if (raw.empty()) GTEST_SKIP() << "no golden blocks beside the repository (" << base << ")";
  const TypeInfo& info = type_info(TypeParam::kType);
  const std::size_t count = raw.size() / info.block_bytes * info.block_elements;
  ASSERT_EQ(golden.size(), count * 4);
  ASSERT_GT(count, 1000u);
  std::vector<float> out(count);
  quant::dequantize_row<TypeParam>(reinterpret_cast<const std::byte*>(raw.data()), out.data(), count);
  EXPECT_EQ(std::memcmp(out.data(), golden.data(), golden.size()), 0);
}

template <typename Q>
void expect_tile_equals_scalar(const std::byte* row, std::size_t tile, std::size_t count) {
  const simd::f32x4 scales = Q::scales(row, tile, count);
  simd::unroll<quant::kTileBlocks>([&](auto index) {
    constexpr std::size_t k = index;
    if (k >= count) {
      EXPECT_EQ(scales[k], 0.0f);
      return;
    }
    const quant::ScalarBlock expected = Q::scalar_block(row, tile * quant::kTileBlocks + k);
    EXPECT_TRUE(test::same(scales[k], expected.scale));
    const quant::CodePair codes = Q::codes(row, tile, index);
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint8_t code = i < 16 ? codes.first[i] : codes.second[i - 16];
      int v = code - Q::kOffset;
      if (Q::kCodes == quant::Codes::signed8) {
        v = static_cast<std::int8_t>(code);
      } else {
        EXPECT_LE(code, Q::kMaxCode);
        EXPECT_LE(Q::kMaxCode, 127);
      }
      EXPECT_EQ(v, expected.v[i]);
    }
    if constexpr (Q::kSubScale != quant::SubScale::none) {
      const quant::SubScales sub = Q::sub_scales(row, tile);
      EXPECT_EQ(sub.first[k], expected.sub_scale[0]);
      EXPECT_EQ(sub.second[k], expected.sub_scale[1]);
    }
    if constexpr (Q::kHasMinimum) {
      EXPECT_TRUE(test::same(Q::minimums(row, tile, count)[k], expected.minimum));
      EXPECT_EQ(Q::sub_minimums(row, tile)[2 * k], expected.sub_minimum[0]);
      EXPECT_EQ(Q::sub_minimums(row, tile)[2 * k + 1], expected.sub_minimum[1]);
    }
  });
}

TYPED_TEST(Quant, TheVectorViewEqualsTheScalarView) {
  Random random(82);
  for (int round = 0; round < 200; ++round) {
    const std::size_t block = type_info(TypeParam::kType).block_elements;
    const std::size_t columns = block > 32 ? 2 * block : 32 * random.between(1, 9);
    const auto m = test::make_matrix(random, TypeParam::kType, 1, columns, static_cast<Scales>(round % 3));
    if constexpr (quant::IntegerTrait<TypeParam>) {
      const std::size_t n_blocks = columns / 32;
      for (std::size_t tile = 0; 4 * tile < n_blocks; ++tile) {
        expect_tile_equals_scalar<TypeParam>(m.bytes.data(), tile, std::min<std::size_t>(4, n_blocks - 4 * tile));
      }
    } else {
      for (std::size_t i = 0; i + 4 <= columns; i += 4) {
        for (std::size_t j = 0; j < 4; ++j) {
          EXPECT_TRUE(test::same(TypeParam::load4(m.bytes.data(), i)[j], TypeParam::load1(m.bytes.data(), i + j)));
        }
      }
    }
  }
}

TEST(WithQuant, RefusesWhatIsNotInTheList) {
  const auto never = [](auto) { ADD_FAILURE(); };
  for (const QuantType type : {QuantType::q8_1, QuantType::q8_k, QuantType::i8, QuantType::f64, static_cast<QuantType>(4), static_cast<QuantType>(99999)}) {
    EXPECT_FALSE(quant::with_quant(type, never));
  }
}

}  // namespace
}  // namespace layerstream
