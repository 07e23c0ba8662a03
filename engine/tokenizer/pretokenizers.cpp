// SPDX-License-Identifier: MIT
// The table of pre-tokenizers, and the cutting.

#include "tokenizer/pretokenizers.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/splitters.h"

namespace layerstream {
namespace {

constexpr Splitter kGpt2[] = {splitters::gpt2};
constexpr Splitter kDigitsThenGpt2[] = {splitters::single_numbers, splitters::gpt2};
constexpr Splitter kLlama3[] = {splitters::llama3};
constexpr Splitter kQwen2[] = {splitters::qwen2};
constexpr Splitter kSeedCoder[] = {splitters::seed_coder};
constexpr Splitter kTekken[] = {splitters::tekken};
constexpr Splitter kGpt4o[] = {splitters::gpt4o};
constexpr Splitter kDeepseekLlm[] = {splitters::single_lines, splitters::cased_letters, splitters::listed_marks,
                                     splitters::last_spaces,  splitters::han_hangul,    splitters::single_numbers};
constexpr Splitter kDeepseekCoder[] = {splitters::single_lines, splitters::letters, splitters::punctuation,
                                       splitters::han_hangul, splitters::single_numbers};
constexpr Splitter kDeepseekV3[] = {splitters::three_numbers, splitters::han_kana, splitters::deepseek_v3};
constexpr Splitter kDefault[] = {splitters::default_marks, splitters::gpt2, splitters::numbers, splitters::three_digits};
constexpr Splitter kFalcon[] = {splitters::falcon_marks, splitters::gpt2, splitters::numbers, splitters::three_digits};
constexpr Splitter kViking[] = {splitters::viking, splitters::single_numbers};

constexpr PreTokenizer kPreTokenizers[] = {
    {.name = "default", .stages = kDefault},
    {.name = "falcon", .stages = kFalcon},
    {.name = "gpt-2", .stages = kGpt2},
    {.name = "phi-2", .stages = kGpt2},
    {.name = "mpt", .stages = kGpt2},
    {.name = "olmo", .stages = kGpt2},
    {.name = "jais", .stages = kGpt2},
    {.name = "trillion", .stages = kGpt2},
    {.name = "granite-docling", .stages = kGpt2},
    {.name = "gigachat", .stages = kGpt2},
    {.name = "a.x-4.0", .stages = kGpt2},
    {.name = "mellum", .stages = kGpt2},
    {.name = "exaone4", .stages = kGpt2},
    {.name = "smollm", .stages = kDigitsThenGpt2},
    {.name = "starcoder", .stages = kDigitsThenGpt2},
    {.name = "refact", .stages = kDigitsThenGpt2},
    {.name = "command-r", .stages = kDigitsThenGpt2},
    {.name = "codeshell", .stages = kDigitsThenGpt2},
    {.name = "exaone", .stages = kDigitsThenGpt2},
    {.name = "minerva-7b", .stages = kDigitsThenGpt2},
    {.name = "llama-bpe", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "llama3", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "llama-v3", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "falcon3", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "pixtral", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "midm-2.0", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "lfm2", .stages = kLlama3, .whole_piece_first = true, .adds_bos = true},
    {.name = "smaug-bpe", .stages = kLlama3},
    {.name = "dbrx", .stages = kLlama3},
    {.name = "chatglm-bpe", .stages = kLlama3},
    {.name = "glm4", .stages = kLlama3},
    // Only Qwen's own is known to be composed; for its relatives both ways are around.
    {.name = "qwen2", .stages = kQwen2, .composes = true},
    {.name = "deepseek-r1-qwen", .stages = kQwen2},
    {.name = "stablelm2", .stages = kQwen2},
    {.name = "megrez", .stages = kQwen2},
    {.name = "hunyuan", .stages = kQwen2},
    {.name = "kormo", .stages = kQwen2},
    {.name = "seed-coder", .stages = kSeedCoder},
    {.name = "tekken", .stages = kTekken, .whole_piece_first = true, .adds_bos = true},
    {.name = "gpt-4o", .stages = kGpt4o},
    {.name = "llama4", .stages = kGpt4o},
    {.name = "kanana2", .stages = kGpt4o},
    {.name = "deepseek-llm", .stages = kDeepseekLlm},
    {.name = "deepseek-coder", .stages = kDeepseekCoder},
    {.name = "deepseek-v3", .stages = kDeepseekV3},
    {.name = "viking", .stages = kViking},
};

// Vocabularies that were in use before files named their pre-tokenizer, padding included.
struct KnownSize {
  std::size_t first, last;
  std::string_view name;
};
constexpr KnownSize kKnownSizes[] = {
    {32256, 32256, "deepseek-coder"},
    {49152, 49153, "starcoder"},
    {50257, 50257, "gpt-2"},
    {50295, 50295, "phi-2"},
    {51200, 51200, "phi-2"},
    {102400, 102400, "deepseek-llm"},
    {128256, 128256, "llama-bpe"},
    {131072, 131072, "tekken"},
    {151643, 152064, "qwen2"},
};

std::vector<CodePoint> classify(std::string_view text) {
  std::vector<CodePoint> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8::Unit unit = utf8::next_unit(text);
    const char32_t value = unit.kind == utf8::UnitKind::valid ? unit.code_point : char32_t{0xFFFD};
    out.push_back({value, unit.bytes, unicode::classes_of(value)});
    text.remove_prefix(unit.bytes);
  }
  return out;
}

// Cuts the pieces (lengths in code points) of one stage further.
std::vector<std::size_t> cut(std::span<const CodePoint> text, std::span<const std::size_t> pieces, Splitter splitter) {
  std::vector<std::size_t> out;
  std::size_t begin = 0;
  for (const std::size_t length : pieces) {
    const std::span<const CodePoint> piece = text.subspan(begin, length);
    for (std::size_t at = 0; at < length;) {
      const std::size_t end = splitter(piece, at);
      out.push_back(end - at);
      at = end;
    }
    begin += length;
  }
  return out;
}

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto* at = std::ranges::find(kPreTokenizers, name, &PreTokenizer::name);
  return at == std::end(kPreTokenizers) ? nullptr : at;
}

const PreTokenizer* guess_pre_tokenizer(std::size_t vocab_size) {
  for (const KnownSize& known : kKnownSizes) {
    if (vocab_size >= known.first && vocab_size <= known.last) return find_pre_tokenizer(known.name);
  }
  return nullptr;
}

std::string pre_tokenizer_names() {
  std::string names;
  for (const PreTokenizer& one : kPreTokenizers) names.append(names.empty() ? "" : ", ").append(one.name);
  return names;
}

std::vector<std::uint32_t> split_pieces(const PreTokenizer& pre_tokenizer, std::string_view text) {
  const std::vector<CodePoint> code_points = classify(text);
  std::vector<std::size_t> pieces{code_points.size()};
  for (const Splitter splitter : pre_tokenizer.stages) pieces = cut(code_points, pieces, splitter);
  std::vector<std::uint32_t> bytes;
  bytes.reserve(pieces.size());
  std::size_t at = 0;
  for (const std::size_t length : pieces) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += code_points[at++].bytes;
    bytes.push_back(sum);
  }
  return bytes;
}

}  // namespace layerstream
