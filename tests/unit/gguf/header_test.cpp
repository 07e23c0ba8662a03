// SPDX-License-Identifier: MIT
// What the header reader accepts: round trips over random files, and every oddity that real files show.

#include <algorithm>
#include <map>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::Bytes;
using test::GgufWriter;
using test::parse_ok;

TEST(Header, RandomFilesComeBackAsWritten) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const test::RandomFile file = test::make_random_file(seed);
    const Header header = parse_ok(file.bytes);
    SCOPED_TRACE(seed);
    file.check(header);
    EXPECT_EQ(header.header_bytes(), file.header_bytes);
    EXPECT_EQ(test::check_gguf_file(file.bytes), "");
    if (testing::Test::HasFailure()) break;
  }
}

// Independent of the writer: every byte as the format says.
TEST(Header, BytesWrittenByHandAreRead) {
  const std::string text =
      std::string("GGUF", 4) + std::string("\3\0\0\0", 4) + std::string("\1\0\0\0\0\0\0\0", 8) + std::string("\2\0\0\0\0\0\0\0", 8) +
      // "k" = i16 -2
      std::string("\1\0\0\0\0\0\0\0k", 9) + std::string("\3\0\0\0", 4) + std::string("\xfe\xff", 2) +
      // "ab" = ["x", ""]
      std::string("\2\0\0\0\0\0\0\0ab", 10) + std::string("\x09\0\0\0", 4) + std::string("\x08\0\0\0", 4) +
      std::string("\2\0\0\0\0\0\0\0", 8) + std::string("\1\0\0\0\0\0\0\0x", 9) + std::string("\0\0\0\0\0\0\0\0", 8) +
      // tensor "w": [columns 2, rows 3], F16, at data offset 0
      std::string("\1\0\0\0\0\0\0\0w", 9) + std::string("\2\0\0\0", 4) + std::string("\2\0\0\0\0\0\0\0", 8) +
      std::string("\3\0\0\0\0\0\0\0", 8) + std::string("\1\0\0\0", 4) + std::string("\0\0\0\0\0\0\0\0", 8);
  ASSERT_EQ(text.size(), 123u);
  const std::string file = text + std::string(128 - 123, '\0') + std::string(12, 'd');
  const Header header = parse_ok(test::bytes_of(file));
  EXPECT_EQ(header.metadata().get_int("k").value(), -2);
  EXPECT_EQ(header.metadata().get_string_array("ab").value(), (std::vector<std::string_view>{"x", ""}));
  ASSERT_EQ(header.tensors().size(), 1u);
  EXPECT_EQ(header.tensors()[0].name, "w");
  EXPECT_EQ(header.tensors()[0].type, QuantType::f16);
  EXPECT_EQ(header.tensors()[0].dims[0], 2u);
  EXPECT_EQ(header.tensors()[0].dims[1], 3u);
  EXPECT_EQ(header.tensors()[0].offset, 128u);
  EXPECT_EQ(header.tensors()[0].bytes, 12u);
  EXPECT_EQ(header.header_bytes(), 123u);
  EXPECT_EQ(header.data_offset(), 128u);
}

TEST(Header, SmallestFileHasNothingInIt) {
  const Header header = parse_ok(GgufWriter().finish());
  EXPECT_EQ(header.version(), 3u);
  EXPECT_EQ(header.header_bytes(), 24u);
  EXPECT_EQ(header.file_bytes(), 24u);
  EXPECT_EQ(header.data_offset(), 24u);  // not 32: the file ends there
  EXPECT_TRUE(header.tensors().empty());
  EXPECT_TRUE(header.metadata().pairs().empty());
}

TEST(Header, ViewsLiveOnWhenTheHeaderMovesAndThePrefixIsGone) {
  std::vector<Header> headers;
  {
    const Bytes file = GgufWriter().add("general.name", "a name too long for small-string tricks")
                           .add_zero_tensor("w", QuantType::f32, {4}).finish();
    headers.push_back(parse_ok(file));
  }
  headers.reserve(headers.capacity() + 1);  // moves
  const Header moved = std::move(headers.front());
  EXPECT_EQ(moved.metadata().get_string("general.name").value(), "a name too long for small-string tricks");
  EXPECT_EQ(moved.tensors()[0].name, "w");
}

TEST(Header, ReadsVersion2LikeVersion3) {
  const Header header = parse_ok(GgufWriter(2).add_u32("a", 7).add_zero_tensor("w", QuantType::q8_0, {32, 2}).finish());
  EXPECT_EQ(header.version(), 2u);
  EXPECT_EQ(header.metadata().get_uint("a").value(), 7u);
  EXPECT_EQ(header.tensors()[0].bytes, 68u);
}

TEST(Header, ArchitectureMayComeLastAndOtherKeysInAnyOrder) {
  const Header header = parse_ok(GgufWriter().add_u32("gemma2.attention.head_count", 8).add_u32("aaa", 1)
                                     .add("general.architecture", "gemma2").finish());
  EXPECT_EQ(header.metadata().get_string("general.architecture").value(), "gemma2");
  EXPECT_EQ(header.metadata().get_uint("gemma2.attention.head_count").value(), 8u);
}

TEST(Header, AlignmentKeyCountsWhereverItStands) {
  GgufWriter writer;
  writer.add_u32("a", 1).add_zero_tensor("w", QuantType::f32, {1}).add_zero_tensor("v", QuantType::f32, {1});
  writer.add("z", "text").set_alignment(256);
  const Header header = parse_ok(writer.finish());
  EXPECT_EQ(header.data_offset() % 256, 0u);
  EXPECT_EQ(header.tensors()[0].offset, header.data_offset());
  EXPECT_EQ(header.tensors()[1].offset, header.data_offset() + 256);
}

TEST(Header, AllLegalAlignmentsPlaceTensors) {
  for (std::uint32_t alignment = 8; alignment <= (1u << 20); alignment *= 2) {
    GgufWriter writer;
    writer.set_alignment(alignment).add_zero_tensor("w", QuantType::f32, {3}).pad_last_tensor(false);
    const Bytes file = writer.finish();
    const Header header = parse_ok(file);
    EXPECT_EQ(header.tensors()[0].offset, writer.data_offset()) << alignment;
    EXPECT_EQ(header.tensors()[0].offset + header.tensors()[0].bytes, file.size()) << alignment;
  }
}

TEST(Header, UnknownKeysAndArraysOfTextsInGeneralAreKept) {
  const Header header = parse_ok(GgufWriter().add("general.architecture", "llama")
                                     .add_string_array("general.tags", {"chat", "llama"}).add_string_array("general.languages", {"en"})
                                     .add("general.base_model.0.name", "x").add_f32("general.sampling.temp", 0.5f)
                                     .add("llama.tensor_data_layout", "Meta AI original pth").finish());
  EXPECT_EQ((*header.metadata().get_string_array("general.tags"))->size(), 2u);
  EXPECT_EQ(header.metadata().pairs().size(), 6u);
}

TEST(Header, VocabularyOnlyFileNeedsNoTensorsAndNoPadding) {
  GgufWriter writer;
  writer.add("general.architecture", "llama").add_string_array("tokenizer.ggml.tokens", {"<unk>", "a", "", "a"});
  writer.add_i32_array("tokenizer.ggml.scores", {0, -1, -2, -3});
  const Bytes file = writer.finish();
  const Header header = parse_ok(file);
  EXPECT_EQ(header.header_bytes(), file.size());
  EXPECT_TRUE(header.tensors().empty());
}

TEST(Header, ArchitectureMayBeMissing) {
  EXPECT_TRUE(parse_ok(GgufWriter().add_u16("split.no", 1).finish()).metadata().has("split.no"));
}

TEST(Header, TensorsMayLieInAnyOrderWithGapsAndBytesAfterThem) {
  GgufWriter writer;
  const auto f32 = static_cast<std::uint32_t>(QuantType::f32);
  writer.add_raw_tensor({.name = "b", .type_number = f32, .dims = {8}, .n_dims = {}, .stated_offset = 128, .data = Bytes(32)});
  writer.add_raw_tensor({.name = "a", .type_number = f32, .dims = {8}, .n_dims = {}, .stated_offset = 0, .data = Bytes(200)});
  const Header header = parse_ok(writer.finish());
  EXPECT_EQ(header.tensors()[0].name, "b");  // file order
  EXPECT_EQ(header.tensors()[0].offset, header.data_offset() + 128);
  EXPECT_EQ(header.tensors()[1].offset, header.data_offset());
}

TEST(Header, ZeroDimensionsMeanOneValue) {
  const Header header = parse_ok(GgufWriter().add_zero_tensor("scalar", QuantType::f32, {}).finish());
  EXPECT_EQ(header.tensors()[0].n_dims, 0u);
  EXPECT_EQ(header.tensors()[0].bytes, 4u);
  EXPECT_EQ(header.tensors()[0].dims[0], 1u);
}

TEST(Header, ADimensionOfZeroMakesATensorWithoutBytes) {
  for (const std::vector<std::uint64_t>& dims : {std::vector<std::uint64_t>{0}, {0, 5}, {5, 0}, {32, 7, 0, 9}}) {
    GgufWriter writer;
    writer.add_zero_tensor("before", QuantType::f32, {8}).add_zero_tensor("empty", QuantType::f32, dims);
    writer.add_zero_tensor("after", QuantType::f32, {8});
    const Header header = parse_ok(writer.finish());
    EXPECT_EQ(header.tensors()[1].bytes, 0u);
    EXPECT_EQ(header.tensors()[2].bytes, 32u);
  }
  GgufWriter writer;  // alone at the very end, even where the padding is cut off
  Bytes file = writer.add_zero_tensor("empty", QuantType::q4_k, {0, 3}).finish();
  file.resize(writer.header_bytes());
  EXPECT_EQ(parse_ok(file).tensors()[0].bytes, 0u);
}

TEST(Header, ATensorWithoutBytesOverlapsNothing) {
  GgufWriter writer;
  writer.add_zero_tensor("full", QuantType::f32, {32});
  for (const std::uint64_t offset : {0u, 64u, 64u}) {
    writer.add_raw_tensor({.name = "empty." + std::to_string(writer.finish().size()), .type_number = 0, .dims = {0}, .n_dims = {},
                           .stated_offset = offset, .data = {}});
  }
  EXPECT_EQ(parse_ok(writer.finish()).tensors().size(), 4u);
}

TEST(Header, EveryKnownTensorTypeHasTheSizeOfItsBlocks) {
  for (const TypeInfo& info : kTypeInfos) {
    const Header header = parse_ok(GgufWriter().add_zero_tensor("w", info.type, {info.block_elements * 3u, 5, 2}).finish());
    EXPECT_EQ(header.tensors()[0].type, info.type);
    EXPECT_EQ(header.tensors()[0].bytes, std::uint64_t{30} * info.block_bytes) << info.name;
  }
}

TEST(Header, LongestLegalNamesAreRead) {
  const std::string name(63, 'n');
  const std::string key(65535, 'k');
  const Header header = parse_ok(GgufWriter().add_u8(key, 1).add_zero_tensor(name, QuantType::f32, {1}).finish());
  EXPECT_TRUE(header.metadata().has(key));
  EXPECT_EQ(header.tensors()[0].name, name);
}

TEST(Header, ManyPairsAreFoundAndCostLinearReading) {
  GgufWriter writer;
  constexpr std::size_t kPairs = 32768;
  for (std::size_t i = 0; i < kPairs; ++i) writer.add_u32("dummy." + std::to_string(i), static_cast<std::uint32_t>(i));
  writer.add("general.architecture", "llama");
  const Bytes file = writer.finish();
  test::GrowingParse run = test::parse_growing(file);
  ASSERT_TRUE(run.result) << run.result.error().message;
  EXPECT_LE(run.bytes_given, 4 * file.size());
  EXPECT_LE(run.calls, 8);  // 64 KiB doubled up to 1 MB
  const Header& header = std::get<Header>(*run.result);
  ASSERT_EQ(header.metadata().pairs().size(), kPairs + 1);
  for (std::size_t i = 0; i < kPairs; ++i) {
    ASSERT_EQ(header.metadata().get_uint("dummy." + std::to_string(i)).value(), i);
  }
}

TEST(Header, ManyTensorsAreRead) {
  GgufWriter writer;
  for (int i = 0; i < 5000; ++i) writer.add_zero_tensor("t." + std::to_string(i * 7919 % 5000), QuantType::f32, {1});
  const Header header = parse_ok(writer.finish());
  ASSERT_EQ(header.tensors().size(), 5000u);
  EXPECT_EQ(header.tensors()[4999].name, "t." + std::to_string(4999 * 7919 % 5000));
}

TEST(Header, AFileLargerThan4GiBIsReadFromItsHeaderAlone) {
  GgufWriter writer;
  const std::uint64_t rows = 1u << 20;
  writer.add_raw_tensor({.name = "huge", .type_number = 0, .dims = {4096, rows}, .n_dims = {}, .stated_offset = 0, .data = {}});
  writer.add_raw_tensor({.name = "next", .type_number = 0, .dims = {1}, .n_dims = {}, .stated_offset = rows << 14, .data = {}});
  const Bytes header_bytes = writer.finish();
  const std::uint64_t file_bytes = header_bytes.size() + (rows << 14) + 4;
  auto result = test::parse_exact(header_bytes, file_bytes);
  ASSERT_TRUE(result) << result.error().message;
  const Header& header = std::get<Header>(*result);
  EXPECT_EQ(header.tensors()[0].bytes, std::uint64_t{1} << 34);
  EXPECT_EQ(header.tensors()[1].offset, header.data_offset() + (std::uint64_t{1} << 34));
  EXPECT_EQ(header.file_bytes(), file_bytes);
}

}  // namespace
}  // namespace layerstream::gguf
