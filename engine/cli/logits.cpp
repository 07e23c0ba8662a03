// SPDX-License-Identifier: MIT
// Logits of given positions, for comparison with a reference.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "cli/commands.h"
#include "cli/model_options.h"

namespace layerstream::cli {
namespace {

// "all", "last" or "i,j,..." -> positions in the order asked.
Result<std::vector<std::uint32_t>> parse_positions(const std::string& text, std::size_t n) {
  std::vector<std::uint32_t> positions;
  if (text == "last") return std::vector<std::uint32_t>{static_cast<std::uint32_t>(n - 1)};
  if (text == "all") {
    for (std::uint32_t i = 0; i < n; ++i) positions.push_back(i);
    return positions;
  }
  for (const char *at = text.data(), *end = at + text.size(); at <= end;) {
    std::uint32_t position = 0;
    const auto [next, error] = std::from_chars(at, end, position);
    if (error != std::errc{} || (next != end && *next != ',') || position >= n) {
      return fail(ErrorCode::bad_argument, "--positions is \"" + text + "\", expected all, last or numbers below " + std::to_string(n) + " separated by commas");
    }
    positions.push_back(position);
    at = next + 1;
  }
  return positions;
}

}  // namespace

Result<void> logits(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--steps"};
  const auto options_with_value = with_model_options({"--tokens", "--out", "--positions", "--chunk", "--kv-out"});
  const Args args = LS_TRY(Args::parse(arguments, options_with_value, kFlags));
  if (!args.has("--tokens") || !args.has("--out")) return fail(ErrorCode::bad_argument, "logits needs --tokens FILE and --out FILE");
  const std::vector<TokenId> ids = LS_TRY(read_ids(*args.text("--tokens")));
  if (ids.empty()) return fail(ErrorCode::bad_argument, *args.text("--tokens") + " holds no token ids");
  const auto positions = LS_TRY(parse_positions(args.text("--positions").value_or("all"), ids.size()));
  const std::size_t asked_chunk = static_cast<std::size_t>(LS_TRY(args.number("--chunk", 0, 1, 1u << 20)));

  SessionOptions options = LS_TRY(session_options(args));
  if (options.n_ctx == 0) options.n_ctx = static_cast<std::uint32_t>(ids.size());
  if (asked_chunk != 0) options.max_entries = static_cast<std::uint32_t>(asked_chunk);
  Opened model = LS_TRY(open_model(args.file(), options));
  Session& session = *model.session;
  const std::size_t chunk = args.has("--steps") ? 1 : session.max_entries();

  std::map<std::uint32_t, std::vector<float>> rows;
  for (const std::uint32_t position : positions) rows[position];
  std::vector<Entry> entries;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    entries.clear();
    for (std::size_t i = begin; i < std::min(begin + chunk, ids.size()); ++i) {
      const auto position = static_cast<std::uint32_t>(i);
      entries.push_back({ids[i], position, rows.contains(position) ? Wants::logits : Wants::none});
    }
    LS_CHECK(session.begin_pass(entries));
    LS_CHECK(model.host->run_pass(session));
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const std::span<const float> row = session.logits(e);
      if (!row.empty()) rows[entries[e].pos].assign(row.begin(), row.end());
    }
  }
  std::vector<float> out;
  for (const std::uint32_t position : positions) out.insert(out.end(), rows[position].begin(), rows[position].end());
  LS_CHECK(write_file(*args.text("--out"), std::as_bytes(std::span(out))));
  if (args.has("--kv-out")) LS_CHECK(write_file(*args.text("--kv-out"), session.dump_kv()));
  return {};
}

}  // namespace layerstream::cli
