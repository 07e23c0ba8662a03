#pragma once
// SPDX-License-Identifier: MIT
// Metadata from generated or real files, small vocabularies of both kinds, seeded random texts.

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gguf/header.h"
#include "support/gguf_writer.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer.h"

namespace layerstream::test {

using Ids = std::vector<TokenId>;
using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t bound) { return static_cast<std::size_t>(random() % bound); }

inline const std::string kSourceDir = LAYERSTREAM_SOURCE_DIR;
inline const std::string kSharedDir = kSourceDir + "/../shared";

inline bool file_exists(const std::string& path) { return std::ifstream(path, std::ios::binary).good(); }

// Only the header: parsed from as long a prefix as the reader asks for.
inline Result<gguf::Header> read_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(ErrorCode::io_failed, "cannot open " + path);
  const auto file_bytes = static_cast<std::uint64_t>(file.tellg());
  Bytes prefix;
  std::uint64_t want = std::min<std::uint64_t>(file_bytes, 1 << 20);
  while (true) {
    const std::size_t had = prefix.size();
    prefix.resize(static_cast<std::size_t>(want));
    file.seekg(static_cast<std::streamoff>(had));
    file.read(reinterpret_cast<char*>(prefix.data() + had), static_cast<std::streamsize>(prefix.size() - had));
    auto parsed = LS_TRY(gguf::Header::parse(prefix, file_bytes));
    if (auto* header = std::get_if<gguf::Header>(&parsed)) return std::move(*header);
    want = std::get<gguf::NeedMore>(parsed).prefix_bytes;
  }
}

inline Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& path) {
  const auto header = read_header(path);
  if (!header) return std::unexpected(header.error());
  return Tokenizer::create(header->metadata());
}

inline Result<gguf::Header> written_header(GgufWriter& writer) {
  const Bytes file = writer.finish();
  auto parsed = LS_TRY(gguf::Header::parse(file, file.size()));
  return std::get<gguf::Header>(std::move(parsed));
}

inline Result<std::unique_ptr<Tokenizer>> make_tokenizer(GgufWriter& writer) {
  const auto header = written_header(writer);
  if (!header) return std::unexpected(header.error());
  return Tokenizer::create(header->metadata());
}

// The tokenizer of a writer that must be a good one.
inline std::unique_ptr<Tokenizer> good(GgufWriter& writer) {
  auto made = make_tokenizer(writer);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

struct Vocab {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
  std::vector<std::string> merges;

  TokenId add(std::string text, TokenType type = TokenType::normal, float score = 0.0f) {
    tokens.push_back(std::move(text));
    types.push_back(static_cast<std::int32_t>(type));
    scores.push_back(score);
    return static_cast<TokenId>(tokens.size() - 1);
  }
  // byte-level BPE: a merge and its result.
  void add_merge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    add(left + right);
  }

  [[nodiscard]] GgufWriter spm() const {
    GgufWriter writer;
    writer.add("general.architecture", "llama").add("tokenizer.ggml.model", "llama");
    writer.add_string_array("tokenizer.ggml.tokens", tokens).add_f32_array("tokenizer.ggml.scores", scores);
    writer.add_i32_array("tokenizer.ggml.token_type", types);
    return writer;
  }
  [[nodiscard]] GgufWriter bpe(std::string_view pre = "gpt-2") const {
    GgufWriter writer;
    writer.add("general.architecture", "gpt2").add("tokenizer.ggml.model", "gpt2").add("tokenizer.ggml.pre", pre);
    writer.add_string_array("tokenizer.ggml.tokens", tokens).add_string_array("tokenizer.ggml.merges", merges);
    writer.add_i32_array("tokenizer.ggml.token_type", types);
    return writer;
  }
};

// <unk> <s> </s>, the 256 byte tokens (3..258), then what the test adds.
inline Vocab spm_base() {
  Vocab vocab;
  vocab.add("<unk>", TokenType::unknown);
  vocab.add("<s>", TokenType::control);
  vocab.add("</s>", TokenType::control);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    vocab.add(std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", TokenType::byte);
  }
  return vocab;
}

// The stand-ins of the 256 bytes, id == byte.
inline Vocab bpe_base() {
  Vocab vocab;
  for (int byte = 0; byte < 256; ++byte) {
    const auto c = static_cast<char>(byte);
    std::string text;
    byte_alphabet::append_encoded(text, {&c, 1});
    vocab.add(text);
  }
  return vocab;
}

inline std::string random_bytes(Random& random, std::size_t max_bytes) {
  std::string out(below(random, max_bytes + 1), '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

inline void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// Valid UTF-8 of all lengths, heavy on what tokenizers care about.
inline std::string random_utf8(Random& random, std::size_t max_code_points) {
  static constexpr char32_t kCommon[] = {' ', ' ', ' ', 'a', 'b', 'e', 't', 's', '\'', '\n', '1', '2', '.', 0xE9, 0x4E2D, 0x1F600, 0x301};
  std::string out;
  for (std::size_t left = below(random, max_code_points + 1); left > 0; --left) {
    char32_t code = kCommon[below(random, std::size(kCommon))];
    if (below(random, 4) == 0) {
      constexpr char32_t kLimits[] = {0x80, 0x800, 0x10000, 0x110000};
      code = static_cast<char32_t>(below(random, kLimits[below(random, 4)]));
      if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;
    }
    append_utf8(out, code);
  }
  return out;
}

inline std::string all_bytes(const Tokenizer& tokenizer, const Ids& ids) {
  std::string out;
  for (const TokenId id : ids) out += tokenizer.token_bytes(id, true);
  return out;
}

}  // namespace layerstream::test
