// SPDX-License-Identifier: MIT
// Texts to ids: ordinary ones and the worst, over the vocabulary of a file.
//   bench_tokenizer MODEL.gguf [TEXT FILE]
// Without a text: prose of made-up words, as frequent as words are (the rank-th has frequency 1 / rank).

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "base/json_writer.h"
#include "gguf/header.h"
#include "timing.h"
#include "tokenizer/tokenizer.h"

namespace {

using namespace layerstream;

constexpr std::size_t kTextBytes = 1 << 20;

std::string file_text(const char* path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.size() > most) text.resize(most);
  return text;
}

std::string repeated(std::string_view unit) {
  std::string text;
  while (text.size() < kTextBytes) text += unit;
  return text;
}

std::string prose() {
  std::mt19937_64 random(1);
  std::vector<std::string> words(5000);
  for (std::string& word : words) {
    word.resize(2 + random() % 8);
    for (char& c : word) c = "etaoinshrdlucmfwypvbgk"[std::min(random() % 22, random() % 22)];
  }
  std::string text;
  while (text.size() < kTextBytes) {
    const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    text += words[static_cast<std::size_t>(std::pow(static_cast<double>(words.size()), uniform)) - 1];
    text += random() % 12 == 0 ? ". " : random() % 90 == 0 ? ",\n" : " ";
  }
  return text;
}

struct Case {
  const char* name;
  std::string text;
};

std::vector<Case> cases(const char* text_path) {
  std::vector<Case> all = {{"prose", prose()}};
  if (text_path != nullptr) all.push_back({"file", repeated(file_text(text_path, kTextBytes))});
  for (const auto& [name, unit] : {std::pair{"one_letter", "a"}, {"spaces", " "}, {"line_ends", "\n"}, {"digits", "1"}, {"emoji", "\xF0\x9F\x98\x80"},
                                   {"han", "\xE6\xA8\xA1\xE5\x9E\x8B"}, {"invalid_utf8", "\xFF\xC3"}, {"marks", "\xCC\x81\xCC\xA3"}}) {
    all.push_back({name, repeated(unit)});
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? file_text(argv[1], std::string::npos) : std::string();
  const auto header = gguf::Header::parse(std::as_bytes(std::span(file)), file.size());
  if (!header || !std::holds_alternative<gguf::Header>(*header)) {
    std::fprintf(stderr, "usage: bench_tokenizer MODEL.gguf [TEXT FILE]\n");
    return 2;
  }
  const auto tokenizer = Tokenizer::create(std::get<gguf::Header>(*header).metadata());
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 2;
  }
  JsonWriter json;
  json.begin_object().field("bench", "tokenizer").field("kind", (*tokenizer)->kind()).field("pre", (*tokenizer)->pre_tokenizer());
  json.field("vocab_size", (*tokenizer)->vocab_size()).key("cases").begin_array();
  for (const Case& one : cases(argc > 2 ? argv[2] : nullptr)) {
    std::vector<TokenId> ids;
    const bench::Spread encode = bench::time_rounds(0.5, [&] { ids = (*tokenizer)->encode(one.text, {}); });
    std::string text;
    const bench::Spread decode = bench::time_rounds(0.2, [&] { text = (*tokenizer)->decode(ids, false); });
    json.begin_object().field("name", one.name).field("text_bytes", one.text.size()).field("tokens", ids.size());
    for (const auto& [name, spread] : {std::pair{"encode", encode}, {"decode", decode}}) {
      json.key(name).begin_object().field("median_us", spread.median_us).field("p10_us", spread.p10_us).field("p90_us", spread.p90_us);
      json.field("rounds", spread.rounds).end_object();
    }
    json.end_object();
  }
  std::printf("%s\n", json.end_array().end_object().take().c_str());
  return 0;
}
