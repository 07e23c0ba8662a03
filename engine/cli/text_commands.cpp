// SPDX-License-Identifier: MIT
// tokenize and detokenize: they need the vocabulary only, so they work on files without tensors.
#include <cstdio>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/json_text.h"
#include "cli/model_options.h"

namespace layerstream::cli {
namespace {

constexpr std::string_view kValues[] = {"--pre"};

Result<std::unique_ptr<Tokenizer>> open_tokenizer(const Args& args) {
  FileHost host;
  const gguf::ModelFile file = LS_TRY(host.open(args.file()));
  return Tokenizer::create(file.metadata(), {.pre_tokenizer = std::string(args.text("--pre").value_or(""))});
}

// Calls body(line) for each line that is not empty.
template <typename Body>
Result<void> for_each_line(std::string_view text, Body&& body) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view line = text.substr(0, end); !line.empty()) LS_CHECK(body(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

void print_array(const std::vector<TokenId>& ids) {
  JsonWriter json;
  json.begin_array();
  for (const TokenId id : ids) json.value(id);
  std::printf("%s\n", json.end_array().take().c_str());
}

}  // namespace

Result<void> tokenize(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--add-special", "--parse-special", "--jsonl"};
  const Args args = LS_TRY(Args::parse(arguments, kValues, kFlags));
  const auto tokenizer = LS_TRY(open_tokenizer(args));
  const EncodeOptions options{.add_special = args.has("--add-special"), .parse_special = args.has("--parse-special")};
  const std::string text = LS_TRY(read_stdin());
  if (args.has("--jsonl")) {
    return for_each_line(text, [&](std::string_view line) -> Result<void> {
      print_array(tokenizer->encode(LS_TRY(parse_json_string(line)), options));
      return {};
    });
  }
  const std::vector<TokenId> ids = tokenizer->encode(text, options);
  for (std::size_t i = 0; i < ids.size(); ++i) std::printf("%s%d", i == 0 ? "" : " ", ids[i]);
  std::printf("\n");
  return {};
}

Result<void> detokenize(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--with-control", "--jsonl"};
  const Args args = LS_TRY(Args::parse(arguments, kValues, kFlags));
  const auto tokenizer = LS_TRY(open_tokenizer(args));
  const std::string text = LS_TRY(read_stdin());
  const bool with_control = args.has("--with-control");
  if (args.has("--jsonl")) {
    return for_each_line(text, [&](std::string_view line) -> Result<void> {
      JsonWriter json;
      json.value(tokenizer->decode(LS_TRY(parse_json_ids(line)), with_control));
      std::printf("%s\n", json.take().c_str());
      return {};
    });
  }
  const std::string decoded = tokenizer->decode(LS_TRY(parse_ids(text)), with_control);
  std::fwrite(decoded.data(), 1, decoded.size(), stdout);
  return {};
}

}  // namespace layerstream::cli
