// SPDX-License-Identifier: MIT
// Every type of the registry: sizes, dequantisation against golden blocks and against an independent decoder, and the
// SIMD view of a tile against the scalar one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "../kernels/test_data.h"
#include "obvious_decoder.h"
#include "quant/iq_grids.h"
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

void expect_obvious_values(const TypeInfo& info, const std::byte* row, const std::vector<float>& seen) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto* block = reinterpret_cast<const std::uint8_t*>(row) + i / info.block_elements * info.block_bytes;
    float expected = 0.0f;
    ASSERT_TRUE(test::obvious_value(info.type, block, i % info.block_elements, expected)) << "add the type to obvious_decoder.h";
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(seen[i]));
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(seen[i]), std::bit_cast<std::uint32_t>(expected)) << "value " << i;
    }
  }
}

TYPED_TEST(Quant, DequantisesRandomBlocksAsTheObviousDecoder) {
  Random random(81);
  const TypeInfo& info = type_info(TypeParam::kType);
  for (int round = 0; round < 400 && !this->HasFatalFailure(); ++round) {
    const std::size_t columns = 2 * info.block_elements;
    const auto m = test::make_matrix(random, TypeParam::kType, 1, columns, static_cast<Scales>(round % 3));
    std::vector<float> out(columns);
    quant::dequantize_row<TypeParam>(m.bytes.data(), out.data(), columns);
    expect_obvious_values(info, m.bytes.data(), out);
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

// A block as the vector view of its tile shows it.
struct VectorBlock {
  int v[quant::kActivationBlock] = {};
  int max_code = 0;
  float scale = 0.0f;
  float sub_scale[2] = {1.0f, 1.0f};
  float minimum = 0.0f;
  float sub_minimum[2] = {1.0f, 1.0f};
};

template <typename Q, typename Constant>
VectorBlock vector_block(quant::Tile tile, std::size_t count, Constant constant) {
  constexpr std::size_t k = constant;
  VectorBlock block;
  block.scale = Q::scales(tile, count)[k];
  const quant::CodePair codes = Q::codes(tile, constant);
  for (std::size_t i = 0; i < quant::kActivationBlock; ++i) {
    const std::uint8_t code = i < 16 ? codes.first[i] : codes.second[i - 16];
    if (Q::kCodes == quant::Codes::signed8) {
      block.v[i] = static_cast<std::int8_t>(code);
    } else {
      block.v[i] = code - Q::kOffset;
      block.max_code = std::max<int>(block.max_code, code);
    }
  }
  if constexpr (Q::kSubScale == quant::SubScale::per16_wide) {
    const quant::WideSubScales sub = Q::wide_sub_scales(tile, count);
    block.sub_scale[0] = sub.first[k];
    block.sub_scale[1] = sub.second[k];
  } else if constexpr (Q::kSubScale != quant::SubScale::none) {
    const quant::SubScales sub = Q::sub_scales(tile);
    block.sub_scale[0] = static_cast<float>(sub.first[k]);
    block.sub_scale[1] = static_cast<float>(sub.second[k]);
  }
  if constexpr (Q::kHasMinimum) {
    block.minimum = Q::minimums(tile, count)[k];
    for (std::size_t half = 0; half < 2; ++half) block.sub_minimum[half] = static_cast<float>(Q::sub_minimums(tile)[2 * k + half]);
  }
  return block;
}

// Not a template: expectations in all types' loops would be most of the time to compile the tests.
void expect_same(const VectorBlock& seen, const quant::ScalarBlock& expected) {
  EXPECT_TRUE(test::same(seen.scale, expected.scale));
  for (std::size_t i = 0; i < quant::kActivationBlock; ++i) EXPECT_EQ(seen.v[i], expected.v[i]);
  EXPECT_TRUE(test::same(seen.minimum, expected.minimum));
  for (std::size_t half = 0; half < 2; ++half) {
    EXPECT_EQ(seen.sub_scale[half], static_cast<float>(expected.sub_scale[half]));
    EXPECT_EQ(seen.sub_minimum[half], static_cast<float>(expected.sub_minimum[half]));
  }
}

template <typename Q>
void expect_tile_equals_scalar(const std::byte* row, std::size_t index, std::size_t count) {
  const quant::Tile tile = quant::tile_at<Q>(row, index);
  simd::unroll<quant::kTileBlocks>([&](auto constant) {
    constexpr std::size_t k = constant;
    if (k >= count) {
      EXPECT_TRUE(std::isfinite(Q::scales(tile, count)[k]));
      return;
    }
    const VectorBlock seen = vector_block<Q>(tile, count, constant);
    expect_same(seen, quant::scalar_block_at<Q>(row, index * quant::kTileBlocks + k));
    if constexpr (Q::kCodes != quant::Codes::signed8) {
      static_assert(Q::kMaxCode <= 127);
      EXPECT_LE(seen.max_code, Q::kMaxCode);
    }
  });
}

TYPED_TEST(Quant, TheVectorViewEqualsTheScalarView) {
  Random random(82);
  for (int round = 0; round < 200; ++round) {
    const std::size_t columns = std::max<std::size_t>(type_info(TypeParam::kType).block_elements, 32) * random.between(1, 9);
    const auto m = test::make_matrix(random, TypeParam::kType, 1, columns, static_cast<Scales>(round % 3));
    if constexpr (quant::IntegerTrait<TypeParam>) {
      const std::size_t n_blocks = columns / 32;
      for (std::size_t tile = 0; 4 * tile < n_blocks; ++tile) {
        expect_tile_equals_scalar<TypeParam>(m.bytes.data(), tile, std::min<std::size_t>(4, n_blocks - 4 * tile));
      }
    } else {
      for (std::size_t i = 0; i + 4 <= columns; i += 4) {
        for (std::size_t j = 0; j < 4; ++j) {
          const float vector = TypeParam::load4(m.bytes.data(), i)[j];
          const float scalar = TypeParam::load1(m.bytes.data(), i + j);
          EXPECT_TRUE(test::same(vector, scalar) || (std::isnan(scalar) && !std::isfinite(vector)));
        }
      }
    }
  }
}

// What the published tables add up to, and their order: rows rise when read as numbers, value 0 the lowest digit.
template <std::size_t Rows, std::size_t Length, std::size_t Levels>
void expect_grid(const quant::IqGrid<Rows, Length, Levels>& grid, int expected_sum) {
  int sum = 0;
  for (std::size_t row = 0; row < Rows; ++row) {
    if (row > 0) {
      EXPECT_LT(grid.rows[row - 1], grid.rows[row]);
    }
    for (std::size_t i = 0; i < Length; ++i) sum += test::obvious_grid(grid, row, i);
  }
  EXPECT_EQ(sum, expected_sum);
}
TEST(IqGrids, HaveTheSumsAndTheOrderOfTheFormat) {
  expect_grid(quant::kIq2XxsGrid, 38611);
  expect_grid(quant::kIq2XsGrid, 81582);
  expect_grid(quant::kIq2SGrid, 167589);
  expect_grid(quant::kIq3XxsGrid, 25592);
  expect_grid(quant::kIq3SGrid, 12748);
  expect_grid(quant::kIq1SGrid, -15);
}

TEST(WithQuant, RefusesWhatIsNotInTheList) {
  const auto never = [](auto) { ADD_FAILURE(); };
  for (const QuantType type : {QuantType::q8_1, QuantType::q8_k, QuantType::i8, QuantType::f64, static_cast<QuantType>(4), static_cast<QuantType>(99999)}) {
    EXPECT_FALSE(quant::with_quant(type, never));
  }
}

}  // namespace
}  // namespace layerstream
