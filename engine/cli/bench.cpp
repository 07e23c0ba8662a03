// SPDX-License-Identifier: MIT
// bench: prefill and decode rates. perplexity: a quality check over a text.
#include <sys/resource.h>

#include <cstdio>

#include "base/json_writer.h"
#include "base/math.h"
#include "cli/commands.h"
#include "cli/model_options.h"

namespace layerstream::cli {
namespace {

std::uint64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

// Ids that look like text to the caches: spread over the vocabulary, no control tokens.
std::vector<TokenId> some_ids(const Tokenizer& tokenizer, std::size_t n) {
  std::vector<TokenId> ids;
  std::uint64_t state = 1;
  while (ids.size() < n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const TokenId id = static_cast<TokenId>((state >> 33) % tokenizer.vocab_size());
    if (tokenizer.token_type(id) != TokenType::control || tokenizer.vocab_size() < 8) ids.push_back(id);
  }
  return ids;
}

}  // namespace

Result<void> bench(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--json"};
  const auto options_with_value = with_model_options({"-p", "-n"});
  const Args args = LS_TRY(Args::parse(arguments, options_with_value, kFlags));
  const std::size_t n_prompt = static_cast<std::size_t>(LS_TRY(args.number("-p", 128, 1, 1u << 20)));
  const std::size_t n_decode = static_cast<std::size_t>(LS_TRY(args.number("-n", 32, 0, 1u << 20)));
  SessionOptions options = LS_TRY(session_options(args));
  if (options.n_ctx == 0) options.n_ctx = static_cast<std::uint32_t>(n_prompt + n_decode + 1);
  Opened model = LS_TRY(open_model(args.file(), options));
  Session& session = *model.session;
  const std::vector<TokenId> ids = some_ids(session.tokenizer(), n_prompt + n_decode);

  LS_CHECK(prefill(model, std::span(ids).first(1), 0));  // loads what is pinned
  LS_CHECK(session.truncate(0));
  const std::uint64_t sweeps_before = session.sweeps(), bytes_before = session.bytes_read();
  double start = seconds_now();
  LS_CHECK(prefill(model, std::span(ids).first(n_prompt), 0));
  const double prefill_seconds = seconds_now() - start;
  const std::uint64_t sweeps = session.sweeps() - sweeps_before;
  start = seconds_now();
  for (std::size_t i = 0; i < n_decode; ++i) LS_CHECK(prefill(model, std::span(ids).subspan(n_prompt + i, 1), 0));
  const double decode_seconds = seconds_now() - start;

  const double prefill_rate = static_cast<double>(n_prompt) / prefill_seconds;
  const double decode_rate = n_decode == 0 ? 0 : static_cast<double>(n_decode) / decode_seconds;
  if (args.has("--json")) {
    JsonWriter json;
    json.begin_object()
        .field("prefill_tokens_per_s", prefill_rate)
        .field("decode_tokens_per_s", decode_rate)
        .field("bytes_read", session.bytes_read() - bytes_before)
        .field("sweeps", sweeps)
        .field("peak_bytes", peak_bytes())
        .field("plan_bytes", session.plan().total_bytes())
        .end_object();
    std::printf("%s\n", json.take().c_str());
  } else {
    std::printf("prefill %zu tokens: %.1f tok/s in %llu sweeps\ndecode %zu tokens: %.1f tok/s\nread %llu bytes, peak memory %llu bytes\n", n_prompt,
                prefill_rate, static_cast<unsigned long long>(sweeps), n_decode, decode_rate,
                static_cast<unsigned long long>(session.bytes_read() - bytes_before), static_cast<unsigned long long>(peak_bytes()));
  }
  return {};
}

namespace {

// -ln p(target) from one row of logits.
double surprise(std::span<const float> row, TokenId target) {
  double best = row[0];
  for (const float value : row) best = std::max(best, static_cast<double>(value));
  double sum = 0;
  for (const float value : row) sum += math::exp(static_cast<double>(value) - best);
  return math::log(sum) + best - static_cast<double>(row[static_cast<std::size_t>(target)]);
}

}  // namespace

// Windows of n_ctx tokens, each from an empty cache; the first half of a window is context only.
Result<void> perplexity(std::span<char* const> arguments) {
  const Args args = LS_TRY(Args::parse(arguments, kModelOptions, {}));
  Opened model = LS_TRY(open_model(args.file(), LS_TRY(session_options(args))));
  Session& session = *model.session;
  const std::vector<TokenId> ids = session.tokenizer().encode(LS_TRY(read_stdin()), {.add_special = true});
  const std::size_t window = session.n_ctx();
  double total = 0;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin + 1 < ids.size(); begin += window) {
    const std::size_t end = std::min(begin + window, ids.size());
    if (begin > 0 && end - begin < window) break;  // a short rest would be judged with less context
    LS_CHECK(session.truncate(0));
    const std::size_t first_judged = (end - begin) / 2;
    for (std::size_t at = begin; at < end;) {
      std::vector<Entry> entries;
      for (; at < end && entries.size() < session.max_entries(); ++at) {
        const std::size_t pos = at - begin;
        entries.push_back({ids[at], static_cast<std::uint32_t>(pos), pos + 1 >= first_judged && at + 1 < end ? Wants::logits : Wants::none});
      }
      LS_CHECK(session.begin_pass(entries));
      LS_CHECK(model.host->run_pass(session));
      for (std::size_t e = 0; e < entries.size(); ++e) {
        const auto row = session.logits(e);
        if (row.empty()) continue;
        total += surprise(row, ids[begin + entries[e].pos + 1]);
        ++count;
      }
    }
  }
  if (count == 0) return fail(ErrorCode::bad_argument, "the text is too short");
  std::printf("perplexity %.4f over %zu tokens\n", math::exp(total / static_cast<double>(count)), count);
  return {};
}

}  // namespace layerstream::cli
