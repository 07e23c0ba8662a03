// SPDX-License-Identifier: MIT
// Files broken at random or cut off: a typed error or a header that keeps its promises, within bounded
// memory. What "keeps its promises" means is in tests/fuzz/gguf_fuzz.h, shared with the fuzzer.

#include <algorithm>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::Bytes;
using test::GgufWriter;

Bytes model_with(bool pad_last) {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add_u32("llama.block_count", 2);
  writer.add_string_array("tokenizer.ggml.tokens", {"<unk>", "", "abc"}).add_f32_array("scores", {1, 2, 3});
  writer.add_zero_tensor("token_embd.weight", QuantType::q4_0, {32, 3}).add_zero_tensor("norm", QuantType::f32, {5});
  return writer.pad_last_tensor(pad_last).finish();
}

TEST(HostileFiles, TruncationAtEveryByteIsAnErrorThatSaysSo) {
  const Bytes file = model_with(false);
  EXPECT_EQ(test::parse_ok(file).tensors().size(), 2u);
  for (std::size_t bytes = 0; bytes < file.size(); ++bytes) {
    const Error error = test::parse_error(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes)));
    ASSERT_EQ(error_code_name(error.code), "truncated") << bytes << ": " << error.message;
  }
}

TEST(HostileFiles, OnlyThePaddingAfterTheLastTensorMayBeMissing) {
  const Bytes file = model_with(true);
  const std::size_t unpadded = model_with(false).size();
  ASSERT_LT(unpadded, file.size());
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    const auto result = test::parse_exact(std::span(file).first(bytes), bytes);
    ASSERT_EQ(result.has_value(), bytes >= unpadded) << bytes;
  }
}

TEST(HostileFiles, TruncatedRandomFilesKeepTheContract) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Bytes file = test::make_random_file(seed).bytes;
    test::Random random(seed);
    file.resize(static_cast<std::size_t>(test::below(random, file.size())));
    ASSERT_EQ(test::check_gguf_file(file), "") << "seed " << seed;
  }
}

// One of the ways a byte can go wrong, at a random place, mostly in the header.
void mutate(Bytes& file, std::size_t header_bytes, test::Random& random) {
  const std::size_t reach = test::below(random, 8) == 0 ? file.size() : header_bytes;
  const std::size_t at = static_cast<std::size_t>(test::below(random, reach));
  switch (test::below(random, 6)) {
    case 0: file[at] ^= static_cast<std::byte>(1u << test::below(random, 8)); break;
    case 1: file[at] = static_cast<std::byte>(random()); break;
    case 2: file[at] = static_cast<std::byte>(test::below(random, 2) == 0 ? 0x00 : 0xff); break;
    case 3: {  // a number of 64 bits near a border
      constexpr std::uint64_t kBorders[] = {0, 1, 1ull << 31, 1ull << 32, 1ull << 61, 1ull << 63, ~0ull, ~0ull / 18 + 1};
      const std::uint64_t number = kBorders[test::below(random, 8)] + test::below(random, 3) - 1;
      if (at + 8 <= file.size()) test::patch(file, at, number);
      break;
    }
    case 4: file.erase(file.begin() + static_cast<std::ptrdiff_t>(at)); break;
    default: file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::byte>(random())); break;
  }
}

TEST(HostileFiles, MutatedFilesKeepTheContractInBoundedMemory) {
  int good = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    test::RandomFile original = test::make_random_file(seed % 500);
    Bytes file = std::move(original.bytes);
    test::Random random(seed);
    for (std::uint64_t i = 0; i <= test::below(random, 3); ++i) mutate(file, original.header_bytes, random);
    const std::size_t before = test::allocated_bytes();
    good += Header::parse(file, file.size()).has_value() ? 1 : 0;
    ASSERT_LT(test::allocated_bytes() - before, 40 * file.size() + 8192) << "seed " << seed;
    ASSERT_EQ(test::check_gguf_file(file), "") << "seed " << seed;
  }
  // Both outcomes are met, or this test says little.
  EXPECT_GT(good, 500);
  EXPECT_LT(good, 5500);
}

TEST(HostileFiles, EverySingleBitFlipOfASmallModelKeepsTheContract) {
  const Bytes file = model_with(false);
  for (std::size_t bit = 0; bit < file.size() * 8; ++bit) {
    Bytes flipped = file;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    ASSERT_EQ(test::check_gguf_file(flipped), "") << "bit " << bit;
  }
}

TEST(HostileFiles, RandomBytesAfterAGoodPreambleKeepTheContract) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    GgufWriter writer;
    writer.override_pair_count(test::below(random, 4)).override_tensor_count(test::below(random, 4));
    Bytes file = writer.finish();
    const std::size_t extra = static_cast<std::size_t>(test::below(random, 300));
    // Small numbers make more of it readable than uniform bytes do.
    for (std::size_t i = 0; i < extra; ++i) file.push_back(test::below(random, 4) != 0 ? std::byte{0} : static_cast<std::byte>(test::below(random, 16)));
    ASSERT_EQ(test::check_gguf_file(file), "") << "seed " << seed;
  }
}

TEST(HostileFiles, LongKeysThatDifferOnlyAtTheirEndsCostLinearReading) {
  GgufWriter writer;
  const std::string common(900, 'k');
  for (int i = 0; i < 5000; ++i) writer.add_u8(common + std::to_string(i), 1);
  const Bytes file = writer.finish();
  const test::GrowingParse run = test::parse_growing(file);
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_LE(run.bytes_given, 4 * file.size());
}

}  // namespace
}  // namespace layerstream::gguf
