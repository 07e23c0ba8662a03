// SPDX-License-Identifier: MIT
// Split models: joining parts, and refusing parts that are missing, out of order, twice or of another model.

#include "gguf/model_file.h"

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

using test::Bytes;
using test::GgufWriter;
using test::parse_ok;

// Part `number` (from 0) of `count`, with `n_tensors` tensors named "p<number>.t<i>".
GgufWriter part_writer(std::uint16_t number, std::uint16_t count, int n_tensors, std::int32_t all_tensors) {
  GgufWriter writer;
  if (number == 0) writer.add("general.architecture", "llama").add_u32("llama.block_count", 3);
  writer.add_split(number, count, all_tensors);
  for (int i = 0; i < n_tensors; ++i) {
    writer.add_zero_tensor("p" + std::to_string(number) + ".t" + std::to_string(i), QuantType::f32, {8});
  }
  return writer;
}

Header part(std::uint16_t number, std::uint16_t count, int n_tensors, std::int32_t all_tensors) {
  return parse_ok(part_writer(number, count, n_tensors, all_tensors).finish());
}

Result<ModelFile> join_parts(auto... headers) {
  std::vector<Header> parts;
  (parts.push_back(std::move(headers)), ...);
  return ModelFile::create(std::move(parts));
}

void expect_error(const Result<ModelFile>& result, ErrorCode code, std::initializer_list<std::string_view> words) {
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(error_code_name(result.error().code), error_code_name(code)) << result.error().message;
  for (const std::string_view word : words) {
    EXPECT_NE(result.error().message.find(word), std::string::npos) << word << " not in: " << result.error().message;
  }
}

TEST(ModelFile, OneUnsplitHeaderIsAModel) {
  const auto model = join_parts(parse_ok(GgufWriter().add("general.architecture", "llama")
                                             .add_zero_tensor("b", QuantType::f32, {1}).add_zero_tensor("a", QuantType::f32, {2}).finish()));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->parts().size(), 1u);
  ASSERT_EQ(model->tensors().size(), 2u);
  EXPECT_EQ(model->tensors()[0].name, "b");  // file order
  EXPECT_EQ(model->find_tensor("a"), &model->tensors()[1]);
  EXPECT_EQ(model->find_tensor("b"), &model->tensors()[0]);
  EXPECT_EQ(model->find_tensor("c"), nullptr);
  EXPECT_EQ(model->find_tensor(""), nullptr);
  EXPECT_EQ(model->metadata().get_string("general.architecture").value(), "llama");
}

TEST(ModelFile, PartsJoinToOneTableThatSaysWhereEachTensorLies) {
  const auto model = join_parts(part(0, 3, 0, 5), part(1, 3, 2, 5), part(2, 3, 3, 5));  // the first with metadata only
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->metadata().get_uint("llama.block_count").value(), 3u);
  ASSERT_EQ(model->tensors().size(), 5u);
  for (const TensorInfo& tensor : model->tensors()) {
    EXPECT_EQ(std::string(tensor.name.substr(0, 2)), "p" + std::to_string(tensor.part));
    EXPECT_GE(tensor.offset, model->parts()[tensor.part].data_offset());
    EXPECT_EQ(model->find_tensor(tensor.name), &tensor);
  }
}

TEST(ModelFile, StaysWholeWhenMoved) {
  auto model = join_parts(part(0, 2, 1, 2), part(1, 2, 1, 2));
  ASSERT_TRUE(model);
  const ModelFile moved = std::move(*model);
  ASSERT_NE(moved.find_tensor("p1.t0"), nullptr);
  EXPECT_EQ(moved.find_tensor("p1.t0")->part, 1u);
}

TEST(ModelFile, SplitKeysMayHaveAnyIntegerType) {
  GgufWriter first;
  first.add_i32("split.no", 0).add_u64("split.count", 2).add_u16("split.tensors.count", 1).add_zero_tensor("w", QuantType::f32, {1});
  GgufWriter second;
  second.add_u8("split.no", 1).add_i64("split.count", 2);  // no total: not every part says it
  EXPECT_TRUE(join_parts(parse_ok(first.finish()), parse_ok(second.finish())));
}

TEST(ModelFile, ASplitIntoOnePartIsAModel) { EXPECT_TRUE(join_parts(part(0, 1, 2, 2))); }

TEST(ModelFile, NoPartsAreTheCallersFault) { expect_error(join_parts(), ErrorCode::bad_argument, {"at least one part"}); }

TEST(ModelFile, MissingPartIsRefused) {
  expect_error(join_parts(part(0, 3, 1, 3), part(1, 3, 1, 3)), ErrorCode::bad_argument, {"3 part(s)", "2 were given"});
}

TEST(ModelFile, ALaterPartAloneIsRefusedAsSuch) {
  expect_error(join_parts(part(1, 3, 1, 3)), ErrorCode::bad_argument, {"3 part(s)", "split.no = 1"});
}

TEST(ModelFile, MorePartsThanAnnouncedAreRefused) {
  expect_error(join_parts(part(0, 1, 1, 1), part(1, 1, 1, 1)), ErrorCode::bad_argument, {"1 part(s)", "2 were given"});
  expect_error(join_parts(parse_ok(GgufWriter().finish()), part(1, 2, 1, 1)), ErrorCode::bad_argument, {"1 part(s)"});
}

TEST(ModelFile, SamePartTwiceOrOutOfOrderIsRefused) {
  expect_error(join_parts(part(0, 2, 1, 2), part(0, 2, 1, 2)), ErrorCode::bad_file, {"part 2 of 2", "split.no = 0", "expected 1"});
  expect_error(join_parts(part(1, 2, 1, 2), part(0, 2, 1, 2)), ErrorCode::bad_file, {"part 1 of 2", "split.no = 1", "expected 0"});
}

TEST(ModelFile, PartNumberBeyondTheCountIsRefused) {
  expect_error(join_parts(part(0, 2, 1, 2), part(7, 2, 1, 2)), ErrorCode::bad_file, {"split.no = 7"});
}

TEST(ModelFile, PartsThatDisagreeAboutTheirCountAreRefused) {
  expect_error(join_parts(part(0, 2, 1, 2), part(1, 3, 1, 2)), ErrorCode::bad_file, {"part 2 of 2", "split.count = 3"});
}

TEST(ModelFile, PartWithoutSplitKeysIsRefused) {
  const auto plain = [] { return parse_ok(GgufWriter().add_zero_tensor("w", QuantType::f32, {1}).finish()); };
  expect_error(join_parts(part(0, 2, 1, 2), plain()), ErrorCode::missing_key, {"part 2 of 2", "'split.count'"});
  const auto numberless = [] { return parse_ok(GgufWriter().add_u16("split.count", 1).finish()); };
  expect_error(join_parts(numberless()), ErrorCode::missing_key, {"'split.no'"});
}

TEST(ModelFile, WrongTensorTotalIsRefused) {
  expect_error(join_parts(part(0, 2, 1, 3), part(1, 2, 1, 3)), ErrorCode::bad_file, {"split.tensors.count = 3", "2 tensors"});
}

TEST(ModelFile, SameTensorInTwoPartsIsRefused) {
  GgufWriter first = part_writer(0, 2, 1, 4);
  first.add_zero_tensor("shared", QuantType::f32, {1});
  GgufWriter second = part_writer(1, 2, 1, 4);
  second.add_zero_tensor("shared", QuantType::f32, {1});
  expect_error(join_parts(parse_ok(first.finish()), parse_ok(second.finish())), ErrorCode::bad_file, {"'shared'", "part 1 of 2", "part 2 of 2"});
}

TEST(ModelFile, PartOfAnotherArchitectureIsRefused) {
  GgufWriter second = part_writer(1, 2, 1, 2);
  second.add("general.architecture", "gemma2");
  expect_error(join_parts(part(0, 2, 1, 2), parse_ok(second.finish())), ErrorCode::bad_file, {"'gemma2'", "'llama'"});
}

TEST(ModelFile, MistypedSplitKeysAreRefused) {
  expect_error(join_parts(parse_ok(GgufWriter().add("split.count", "2").finish())), ErrorCode::bad_value, {"'split.count'"});
  expect_error(join_parts(parse_ok(GgufWriter().add_i32("split.no", -1).add_u16("split.count", 1).finish())), ErrorCode::bad_value, {"'split.no'"});
}

TEST(SplitCount, IsOneWithoutTheKeyAndOtherwiseWhatItSays) {
  EXPECT_EQ(split_count(parse_ok(GgufWriter().finish())).value(), 1u);
  EXPECT_EQ(split_count(part(0, 14, 0, 963)).value(), 14u);
  EXPECT_EQ(split_count(parse_ok(GgufWriter().add_i32("split.count", 9).finish())).value(), 9u);
}

TEST(SplitCount, RefusesImpossibleCounts) {
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{65536}, ~std::uint64_t{0}}) {
    const auto result = split_count(parse_ok(GgufWriter().add_u64("split.count", count).finish()));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::bad_value);
  }
}

TEST(SplitPartName, ReplacesTheNumberAndKeepsTheRest) {
  EXPECT_EQ(split_part_name("x-00001-of-00003.gguf", 2, 3).value(), "x-00002-of-00003.gguf");
  EXPECT_EQ(split_part_name("x-00001-of-00003.gguf", 1, 3).value(), "x-00001-of-00003.gguf");
  EXPECT_EQ(split_part_name("-00001-of-00003.gguf", 3, 3).value(), "-00003-of-00003.gguf");
  EXPECT_EQ(split_part_name("a/b-00001-of-00009/q-00001-of-12345.gguf", 12345, 12345).value(), "a/b-00001-of-00009/q-12345-of-12345.gguf");
}

TEST(SplitPartName, RefusesOtherNamesAndNumbers) {
  const auto refused = [](std::string_view name, std::uint32_t number, std::uint32_t count) {
    const auto result = split_part_name(name, number, count);
    return !result && result.error().code == ErrorCode::bad_argument;
  };
  for (const char* name : {"", "x.gguf", "x-00001-of-00003", "x-00001-of-00003.bin", "x-0001-of-00003.gguf", "x-00001_of-00003.gguf",
                           "x-00001-of-0003.gguf", "x00001-of-00003.gguf", "x-+0001-of-00003.gguf", "x-0000a-of-00003.gguf",
                           "x- 0001-of-00003.gguf", "x-00001-of-00003.gguf.part", "0001-of-00003.gguf"}) {
    EXPECT_TRUE(refused(name, 2, 3)) << name;
  }
  EXPECT_TRUE(refused("x-00002-of-00003.gguf", 2, 3));  // not the first part
  EXPECT_TRUE(refused("x-00001-of-00004.gguf", 2, 3));  // another count than the header's
  EXPECT_TRUE(refused("x-00001-of-00003.gguf", 0, 3));
  EXPECT_TRUE(refused("x-00001-of-00003.gguf", 4, 3));
}

}  // namespace
}  // namespace layerstream::gguf
