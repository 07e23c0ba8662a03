// SPDX-License-Identifier: MIT
// bench: prefill and decode rates. perplexity: a quality check over a text.
#include <sys/resource.h>

#include <cstdio>

#include "base/json_writer.h"
#include "base/math.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/profile_report.h"
#include "cli/sampling_options.h"

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

// One part of a bench, and where its time went.
struct Phase {
  std::size_t n_tokens = 0;
  double seconds = 0;
  runtime::Profile profile{.now = seconds_now};
  [[nodiscard]] double rate() const { return n_tokens == 0 ? 0 : static_cast<double>(n_tokens) / seconds; }
};

void watch(Opened& model, runtime::Profile* profile) {
  model.session->set_profile(profile);
  model.host->set_profile(profile);
}

// With a profile the prompt also comes from its text.
Result<Phase> run_prefill(Opened& model, std::span<const TokenId> ids, bool with_profile) {
  const Tokenizer& tokenizer = model.session->tokenizer();
  const std::string text = tokenizer.decode({ids.begin(), ids.end()}, false);
  Phase phase{.n_tokens = ids.size()};
  if (with_profile) watch(model, &phase.profile);
  const double start = seconds_now();
  if (with_profile) {
    const runtime::Timed timed(&phase.profile, runtime::Operation::tokenizer);
    (void)tokenizer.encode(text, {});
  }
  LS_CHECK(prefill(model, ids, 0));
  phase.seconds = seconds_now() - start;
  watch(model, nullptr);
  return phase;
}

// One pass per token. With a profile each is also drawn and turned into text.
Result<Phase> run_decode(Opened& model, std::span<const TokenId> ids, bool with_profile) {
  TextStream text(model.session->tokenizer());
  Phase phase{.n_tokens = ids.size()};
  if (with_profile) watch(model, &phase.profile);
  const double start = seconds_now();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    LS_CHECK(prefill(model, ids.subspan(i, 1), 0));
    if (!with_profile) continue;
    const TokenId token = LS_TRY(model.session->sample());
    const runtime::Timed timed(&phase.profile, runtime::Operation::tokenizer);
    (void)text.push(token);
  }
  phase.seconds = seconds_now() - start;
  watch(model, nullptr);
  return phase;
}

void print_bench_json(const Session& session, const Phase& prefill, const Phase& decode, std::uint64_t sweeps, std::uint64_t bytes_read, bool with_profile) {
  JsonWriter json;
  json.begin_object()
      .field("prefill_tokens_per_s", prefill.rate())
      .field("decode_tokens_per_s", decode.rate())
      .field("bytes_read", bytes_read)
      .field("sweeps", sweeps)
      .field("peak_bytes", peak_bytes())
      .field("plan_bytes", session.plan().total_bytes());
  if (with_profile) {
    json.key("profile").begin_object();
    write_profile(json.key("prefill"), prefill.profile, prefill.seconds);
    write_profile(json.key("decode"), decode.profile, decode.seconds);
    json.end_object();
  }
  std::printf("%s\n", json.end_object().take().c_str());
}

}  // namespace

Result<void> bench(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--json", "--profile"};
  auto options_with_value = with_model_options({"-p", "-n"});
  options_with_value.insert(options_with_value.end(), kSamplingOptions.begin(), kSamplingOptions.end());
  const Args args = LS_TRY(Args::parse(arguments, options_with_value, kFlags));
  const std::size_t n_prompt = static_cast<std::size_t>(LS_TRY(args.number("-p", 128, 1, 1u << 20)));
  const std::size_t n_decode = static_cast<std::size_t>(LS_TRY(args.number("-n", 32, 0, 1u << 20)));
  const bool with_profile = args.has("--profile");
  SessionOptions options = LS_TRY(session_options(args));
  if (options.n_ctx == 0) options.n_ctx = static_cast<std::uint32_t>(n_prompt + n_decode + 1);
  Opened model = LS_TRY(open_model(args.file(), options));
  Session& session = *model.session;
  LS_CHECK(session.set_sampler(LS_TRY(sampler_config(args, session.tokenizer()))));
  const std::vector<TokenId> ids = some_ids(session.tokenizer(), n_prompt + n_decode);

  LS_CHECK(prefill(model, std::span(ids).first(1), 0));  // loads what is pinned
  LS_CHECK(session.truncate(0));
  const std::uint64_t sweeps_before = session.sweeps(), bytes_before = session.bytes_read();
  const Phase prefilled = LS_TRY(run_prefill(model, std::span(ids).first(n_prompt), with_profile));
  const std::uint64_t sweeps = session.sweeps() - sweeps_before;
  const Phase decoded = LS_TRY(run_decode(model, std::span(ids).subspan(n_prompt), with_profile));
  const std::uint64_t bytes_read = session.bytes_read() - bytes_before;

  if (args.has("--json")) {
    print_bench_json(session, prefilled, decoded, sweeps, bytes_read, with_profile);
    return {};
  }
  std::printf("prefill %zu tokens: %.1f tok/s in %llu sweeps\ndecode %zu tokens: %.1f tok/s\nread %llu bytes, peak memory %llu bytes\n", n_prompt,
              prefilled.rate(), static_cast<unsigned long long>(sweeps), n_decode, decoded.rate(), static_cast<unsigned long long>(bytes_read),
              static_cast<unsigned long long>(peak_bytes()));
  if (with_profile) {
    print_profile("prefill", prefilled.profile, prefilled.seconds);
    print_profile("decode", decoded.profile, decoded.seconds);
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
