// SPDX-License-Identifier: MIT
// One number per kernel that every build must reproduce: native and wasm, plain and relaxed. The inputs are seeded and
// made by integer arithmetic; a change of a reduction order, a contraction or another libm shows here.
// A deliberate change of a definition changes these constants: print the new ones with the failure messages.

#include <gtest/gtest.h>

#include "kernels/attention.h"
#include "kernels/matmul.h"
#include "kernels/rope.h"
#include "kernels/vector_ops.h"
#include "quant/registry.h"
#include "test_data.h"

namespace layerstream {
namespace {

using test::Random;

// FNV-1a over the bits of finite floats; anything else counts as one mark.
class Hash {
 public:
  void add(const std::vector<float>& values) {
    for (const float value : values) {
      const std::uint32_t bits = std::isfinite(value) ? std::bit_cast<std::uint32_t>(value) : 0x7fc00000u;
      for (int shift = 0; shift < 32; shift += 8) state_ = (state_ ^ ((bits >> shift) & 0xffu)) * 0x100000001b3u;
    }
  }
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325u;
};

std::uint64_t matmul_hash(QuantType type) {
  Random random(61);
  Hash hash;
  for (const std::size_t length : {256, 768, 2048}) {
    for (const std::size_t n_columns : {1, 3, 8}) {
      const auto w = test::make_matrix(random, type, 11, length);
      const auto x = test::make_columns(random, n_columns, length);
      std::vector<float> y(11 * n_columns);
      kernels::matmul(w.view, x.view(), 0, 11, y.data(), 11);
      hash.add(y);
    }
  }
  return hash.value();
}

struct TypeHash {
  QuantType type;
  std::uint64_t hash;
};
constexpr TypeHash kTypeHashes[] = {
    {QuantType::f32, 9533340108406506419u},    {QuantType::f16, 6392264487443926989u},   {QuantType::bf16, 9313442522934405463u},
    {QuantType::q8_0, 6041677557993806167u},   {QuantType::q4_0, 296208540643375880u},   {QuantType::q4_1, 7420663917315987136u},
    {QuantType::q5_0, 8083052190772892375u},   {QuantType::q5_1, 5953347593115109986u},  {QuantType::q4_k, 3077392731432499820u},
    {QuantType::q5_k, 974372213220301514u},    {QuantType::q6_k, 9953324265605390864u},  {QuantType::q2_k, 1132766411930919167u},
    {QuantType::q3_k, 11419364917718080802u},  {QuantType::iq4_nl, 17768831002854141823u}, {QuantType::iq4_xs, 5563508546893003187u},
    {QuantType::mxfp4, 13976170187151112439u}, {QuantType::nvfp4, 9058851477938096503u}, {QuantType::q1_0, 14994463503102608314u},
    {QuantType::q2_0, 6914845700399545844u}, {QuantType::tq1_0, 17982885082045456529u}, {QuantType::tq2_0, 13021845192969354322u},
    {QuantType::iq1_s, 3816565296501333218u}, {QuantType::iq1_m, 13980797369715381680u}, {QuantType::iq2_xxs, 14848734557137369838u},
    {QuantType::iq2_xs, 9091734405305855440u}, {QuantType::iq2_s, 952767181312685835u}, {QuantType::iq3_xxs, 10877961656119583381u},
    {QuantType::iq3_s, 3155803828119697734u},
};

TEST(SameBits, MatmulOfEveryTypeHasItsPinnedHash) {
  std::size_t n_types = 0;
  for (const TypeInfo& info : kTypeInfos) {
    if (!kernels::is_supported(info.type)) continue;
    ++n_types;
    std::uint64_t pinned = 0;
    for (const TypeHash& entry : kTypeHashes) {
      if (entry.type == info.type) pinned = entry.hash;
    }
    EXPECT_EQ(matmul_hash(info.type), pinned) << info.name;
  }
  EXPECT_EQ(n_types, std::size(kTypeHashes));
}

TEST(SameBits, AttentionHasItsPinnedHash) {
  Random random(62);
  Hash hash;
  for (const std::size_t dim : {7, 64, 128}) {
    for (const auto type : {kernels::KvType::f32, kernels::KvType::f16}) {
      const auto k = test::random_vector(random, 40 * dim, 2.0f);
      const auto v = test::random_vector(random, 40 * dim);
      const auto q = test::random_vector(random, 3 * dim, 2.0f);
      std::vector<std::byte> k_bytes(4 * k.size()), v_bytes(4 * v.size());
      kernels::kv_store(type, k.data(), k.size(), k_bytes.data());
      kernels::kv_store(type, v.data(), v.size(), v_bytes.data());
      std::vector<float> out(3 * dim), scratch(3 * 44);
      for (const float cap : {0.0f, 20.0f}) {
        kernels::attend({type, k_bytes.data(), v_bytes.data(), 40, dim}, {0.125f, cap}, 3, 38, q.data(), out.data(), 3, scratch.data());
        hash.add(out);
      }
    }
  }
  EXPECT_EQ(hash.value(), 553263726699361459u);
}

TEST(SameBits, VectorOperationsAndRopeHaveTheirPinnedHash) {
  Random random(63);
  Hash hash;
  const std::size_t length = 1003;
  const auto x = test::random_vector(random, length, 20.0f);
  const auto w = test::random_vector(random, length);
  const auto b = test::random_vector(random, length);
  std::vector<float> y(length);
  kernels::rms_norm(x.data(), w.data(), 1e-6f, y.data(), length);
  hash.add(y);
  kernels::layer_norm(x.data(), w.data(), b.data(), 1e-5f, y.data(), length);
  hash.add(y);
  kernels::silu_multiply(x.data(), w.data(), y.data(), length);
  hash.add(y);
  kernels::gelu_multiply(x.data(), w.data(), y.data(), length);
  hash.add(y);
  kernels::exp_f32(x.data(), y.data(), length);
  hash.add(y);
  y = x;
  kernels::soft_cap(15.0f, y.data(), length);
  hash.add(y);
  std::vector<double> frequencies;
  for (int i = 0; i < 32; ++i) frequencies.push_back(1.0 / static_cast<double>(1 + 37 * i));
  std::vector<float> cos(32), sin(32);
  for (const std::uint64_t position : {0u, 1u, 4095u, 1048575u}) {
    kernels::rope_table(position, frequencies, 1.0, cos.data(), sin.data());
    auto heads = x;
    kernels::rope_apply(kernels::RopePairs::adjacent, cos.data(), sin.data(), 32, heads.data(), 10, 96);
    kernels::rope_apply(kernels::RopePairs::half_split, cos.data(), sin.data(), 32, heads.data(), 10, 96);
    hash.add(heads);
  }
  EXPECT_EQ(hash.value(), 6170765945006404512u);
}

}  // namespace
}  // namespace layerstream
