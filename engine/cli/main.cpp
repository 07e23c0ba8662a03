// SPDX-License-Identifier: MIT
// layerstream: the engine without a browser. Errors go to stderr as "error: <code>: <message>"; exit status 2 for what a
// caller can mend, 1 for our own bugs.
#include <array>
#include <cstdio>
#include <string_view>

#include "cli/commands.h"

namespace {

using layerstream::Result;

struct Command {
  std::string_view name;
  Result<void> (*run)(std::span<char* const>);
};

constexpr std::array kCommands = {
    Command{"inspect", layerstream::cli::inspect},       Command{"tokenize", layerstream::cli::tokenize},
    Command{"detokenize", layerstream::cli::detokenize}, Command{"logits", layerstream::cli::logits},
    Command{"generate", layerstream::cli::generate},     Command{"bench", layerstream::cli::bench},
    Command{"perplexity", layerstream::cli::perplexity},
};

constexpr const char* kUsage =
    "usage: layerstream COMMAND MODEL.gguf [options]\n"
    "  inspect     [--json] [--budget BYTES|min] [--ctx N]\n"
    "  tokenize    [--add-special] [--parse-special] [--jsonl] [--pre NAME]     text on standard input\n"
    "  detokenize  [--with-control] [--jsonl] [--pre NAME]                      ids on standard input\n"
    "  logits      --tokens FILE --out FILE [--positions all|last|i,j,...] [--steps] [--chunk N] [--kv-out FILE]\n"
    "  generate    (--prompt TEXT | --ids FILE) [-n N] [--ignore-eos] [--json]\n"
    "              [--temp T] [--top-k K] [--top-p P] [--min-p M] [--seed S] and the other sampling options of docs/cli.md\n"
    "  bench       [-p N] [-n N] [--json]\n"
    "  perplexity  text on standard input\n"
    "options of all that run a model: [--ctx N] [--threads N] [--budget BYTES|min] [--kv f32|f16|q8] [--attention trained|full]\n"
    "              [--unit-bytes N] [--pre NAME]\n";

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command& command : kCommands) {
    if (command.name != name) continue;
    const auto result = command.run({argv + 2, static_cast<std::size_t>(argc - 2)});
    if (result) return 0;
    const std::string_view code = layerstream::error_code_name(result.error().code);
    std::fprintf(stderr, "error: %.*s: %s\n", static_cast<int>(code.size()), code.data(), result.error().message.c_str());
    return result.error().code == layerstream::ErrorCode::internal ? 1 : 2;
  }
  if (name == "--help" || name == "help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  std::fprintf(stderr, "error: bad_argument: unknown command \"%s\"\n%s", argc > 1 ? argv[1] : "", kUsage);
  return 2;
}
