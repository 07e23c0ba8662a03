// SPDX-License-Identifier: MIT
// Sizes and buffers: checked arithmetic at its ends, aligned buffers that refuse instead of throwing.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/aligned_buffer.h"
#include "base/checked.h"

// Under ASan an allocation that is too large shall fail, not abort.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace layerstream {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, AddAndMultiplyStopAtTheEnd) {
  EXPECT_EQ(checked_add(kMax - 1, 1), kMax);
  EXPECT_FALSE(checked_add(kMax, 1).has_value());
  EXPECT_EQ(checked_mul(kMax / 3, 3), kMax);
  EXPECT_FALSE(checked_mul(std::uint64_t{1} << 32, std::uint64_t{1} << 32).has_value());
  EXPECT_EQ(checked_mul(kMax, 0), 0u);
}

TEST(Checked, AlignRoundsUpOrRefuses) {
  for (std::uint64_t value = 0; value < 200; ++value) {
    const std::uint64_t aligned = *checked_align(value, 32);
    EXPECT_EQ(aligned % 32, 0u);
    EXPECT_GE(aligned, value);
    EXPECT_LT(aligned - value, 32u);
  }
  EXPECT_EQ(checked_align(kMax - 31, 32), kMax - 31);
  EXPECT_FALSE(checked_align(kMax - 30, 32).has_value());
}

TEST(AlignedBuffer, IsAlignedAndHoldsWhatWasAskedFor) {
  for (const std::uint64_t bytes : {1u, 63u, 64u, 65u, 100000u}) {
    auto buffer = AlignedBuffer::create(bytes);
    ASSERT_TRUE(buffer.has_value());
    EXPECT_EQ(buffer->size_bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % AlignedBuffer::kAlignment, 0u);
    buffer->bytes().front() = std::byte{1};
    buffer->bytes().back() = std::byte{2};
  }
  EXPECT_EQ(AlignedBuffer::create(0)->data(), nullptr);
}

TEST(AlignedBuffer, RefusesWhatCannotBeAllocated) {
  for (const std::uint64_t bytes : {kMax, kMax - 62, kMax / 2, (kMax >> 1) - 100}) {
    const auto buffer = AlignedBuffer::create(bytes);
    ASSERT_FALSE(buffer.has_value());
    EXPECT_EQ(buffer.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(buffer.error().message.find(std::to_string(bytes)), std::string::npos);
  }
}

TEST(AlignedBuffer, MovingHandsTheMemoryOver) {
  AlignedBuffer a = *AlignedBuffer::create(128);
  a.as<std::uint32_t>()[31] = 77;
  const std::byte* memory = a.data();
  AlignedBuffer b = std::move(a);
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(a.data(), nullptr);
  EXPECT_EQ(a.size_bytes(), 0u);
  AlignedBuffer c = *AlignedBuffer::create(64);
  c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_EQ(c.as<std::uint32_t>().size(), 32u);
  EXPECT_EQ(c.as<std::uint32_t>()[31], 77u);
}

}  // namespace
}  // namespace layerstream
