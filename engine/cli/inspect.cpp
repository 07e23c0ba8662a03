// SPDX-License-Identifier: MIT
#include <cstdio>

#include "cli/commands.h"
#include "cli/model_options.h"

namespace layerstream::cli {

Result<void> inspect(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--json"};
  const Args args = LS_TRY(Args::parse(arguments, kModelOptions, kFlags));
  const Opened model = LS_TRY(open_model(args.file(), LS_TRY(session_options(args))));
  // Without --json the tensor table is left out and the object is broken into lines for reading.
  const std::string json = model.session->describe_json(args.has("--json"));
  if (args.has("--json")) {
    std::printf("%s\n", json.c_str());
    return {};
  }
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"' && (i == 0 || json[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && (c == '}' || c == ']')) --depth;
    std::fputc(c, stdout);
    if (!quoted && (c == '{' || c == '[')) ++depth;
    if (!quoted && c == ',' && depth <= 2) std::printf("\n%*s", depth * 2, "");
  }
  std::fputc('\n', stdout);
  return {};
}

}  // namespace layerstream::cli
