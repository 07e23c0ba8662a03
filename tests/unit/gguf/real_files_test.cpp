// SPDX-License-Identifier: MIT
// Real vocabulary files and models, where a folder of them lies beside the repository; skipped otherwise.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "gguf_test_util.h"

namespace layerstream::gguf {
namespace {

namespace fs = std::filesystem;
using test::Bytes;

const fs::path kShared = fs::path(LAYERSTREAM_SOURCE_DIR) / ".." / "shared";

Bytes read_file(const fs::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.string().c_str(), "rb"), std::fclose);
  if (!file) return {};
  Bytes bytes(static_cast<std::size_t>(fs::file_size(path)));
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  return bytes;
}

std::vector<fs::path> gguf_files(const char* folder) {
  std::vector<fs::path> found;
  std::error_code absent;
  for (const auto& entry : fs::recursive_directory_iterator(kShared / folder, absent)) {
    if (entry.path().extension() == ".gguf") found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

class RealFiles : public testing::TestWithParam<const char*> {};

TEST_P(RealFiles, AreReadAsTheyGrowInLinearWork) {
  const std::vector<fs::path> files = gguf_files(GetParam());
  if (files.empty()) GTEST_SKIP() << "no GGUF files in ../shared/" << GetParam();
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.string());
    const Bytes file = read_file(path);
    test::GrowingParse run = test::parse_growing(file);
    ASSERT_TRUE(run.result) << run.result.error().message;
    Header& header = std::get<Header>(*run.result);
    EXPECT_LE(run.bytes_given, 4 * header.header_bytes() + 200000);
    EXPECT_TRUE(header.metadata().get_string("general.architecture").value().has_value());
    EXPECT_EQ(test::check_header(header), "");
    EXPECT_EQ(test::check_model(std::move(header)), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, RealFiles, testing::Values("data/vocab", "data/models", "data/tinychat", "golden"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

TEST(RealFile, KnownVocabulariesHaveTheirKnownSizes) {
  struct Known {
    const char* file;
    const char* architecture;
    std::size_t tokens;
    std::size_t merges;
  };
  const Known all[] = {{"ggml-vocab-gpt-2.gguf", "gpt2", 50257, 50000},
                       {"vocab-llama-3.1.gguf", "llama", 128256, 280147},
                       {"ggml-vocab-llama-spm.gguf", "llama", 32000, 0}};
  int seen = 0;
  for (const Known& known : all) {
    const fs::path path = kShared / "data/vocab" / known.file;
    if (!fs::exists(path)) continue;
    ++seen;
    const Header header = test::parse_ok(read_file(path));
    EXPECT_EQ(header.metadata().get_string("general.architecture").value(), known.architecture);
    EXPECT_EQ(header.metadata().get_string_array("tokenizer.ggml.tokens").value()->size(), known.tokens);
    EXPECT_EQ(header.metadata().get_int_array("tokenizer.ggml.token_type").value()->size(), known.tokens);
    const auto merges = header.metadata().get_string_array("tokenizer.ggml.merges").value();
    EXPECT_EQ(merges ? merges->size() : 0, known.merges);
    EXPECT_TRUE(header.tensors().empty());
  }
  if (seen == 0) GTEST_SKIP() << "no vocabularies in ../shared/data/vocab";
}

TEST(RealFile, EveryTruncationOfARealModelNearItsBordersIsAnError) {
  const fs::path path = kShared / "data/models/stories260K-q8_0.gguf";
  if (!fs::exists(path)) GTEST_SKIP() << "no ../shared/data/models";
  const Bytes file = read_file(path);
  const Header header = test::parse_ok(file);
  const std::uint64_t last_end = std::ranges::max(header.tensors(), {}, &TensorInfo::offset).offset +
                                 std::ranges::max(header.tensors(), {}, &TensorInfo::offset).bytes;
  for (const std::uint64_t border : {header.header_bytes(), header.data_offset(), last_end}) {
    for (std::uint64_t bytes = border - 3; bytes < std::min<std::uint64_t>(border + 3, last_end); ++bytes) {
      const auto result = test::parse_exact(std::span(file).first(static_cast<std::size_t>(bytes)), bytes);
      ASSERT_FALSE(result.has_value()) << bytes;
      EXPECT_EQ(result.error().code, ErrorCode::truncated) << bytes;
    }
  }
}

}  // namespace
}  // namespace layerstream::gguf
