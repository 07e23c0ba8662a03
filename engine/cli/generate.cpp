// SPDX-License-Identifier: MIT
#include <cstdio>

#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/sampling_options.h"

namespace layerstream::cli {
namespace {

struct Answer {
  std::vector<TokenId> prompt_ids, ids;  // ids end with the end-of-turn token, if one was drawn
  std::string text;
  std::string_view finish_reason = "length";
  double prefill_seconds = 0, decode_seconds = 0;
  std::size_t decode_steps = 0;
};

Result<std::vector<TokenId>> prompt_ids(const Args& args, const Tokenizer& tokenizer) {
  if (args.has("--ids") == args.has("--prompt")) return fail(ErrorCode::bad_argument, "generate needs either --prompt TEXT or --ids FILE");
  if (args.has("--ids")) return read_ids(*args.text("--ids"));
  return tokenizer.encode(*args.text("--prompt"), {.add_special = true, .parse_special = true, .bos_once = true});
}

// Draws until the end of the turn, n_tokens, or a full context.
Result<void> decode(Opened& model, std::uint64_t n_tokens, bool ignore_eos, bool print, Answer& answer) {
  Session& session = *model.session;
  const Tokenizer& tokenizer = session.tokenizer();
  TextStream stream_of_text(tokenizer);
  stream_of_text.begin(session.at_text_start());
  const auto emit = [&](const std::string& text) {
    answer.text += text;
    if (print) std::fwrite(text.data(), 1, text.size(), stdout), std::fflush(stdout);
  };
  const double start = seconds_now();
  while (answer.ids.size() < n_tokens) {
    const TokenId token = LS_TRY(session.sample());
    answer.ids.push_back(token);
    if (!ignore_eos && tokenizer.is_end_of_generation(token)) {
      answer.finish_reason = "stop";
      break;
    }
    emit(stream_of_text.push(token));
    if (answer.ids.size() == n_tokens) break;
    if (session.n_past() == session.n_ctx()) {
      answer.finish_reason = "context";
      break;
    }
    const Entry entry{token, session.n_past(), Wants::logits};
    LS_CHECK(session.begin_pass({&entry, 1}));
    LS_CHECK(model.host->run_pass(session));
    ++answer.decode_steps;
  }
  emit(stream_of_text.finish());
  answer.decode_seconds = seconds_now() - start;
  return {};
}

double rate(std::size_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

void print_json(const Answer& answer, const Session& session) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, ids] : {std::pair{"prompt_ids", &answer.prompt_ids}, std::pair{"ids", &answer.ids}}) {
    json.key(name).begin_array();
    for (const TokenId id : *ids) json.value(id);
    json.end_array();
  }
  json.field("text", std::string_view(answer.text))
      .field("finish_reason", answer.finish_reason)
      .field("prefill_tokens_per_s", rate(answer.prompt_ids.size(), answer.prefill_seconds))
      .field("decode_tokens_per_s", rate(answer.decode_steps, answer.decode_seconds))
      .field("bytes_read", session.bytes_read());
  std::printf("%s\n", json.end_object().take().c_str());
}

}  // namespace

Result<void> generate(std::span<char* const> arguments) {
  constexpr std::string_view kFlags[] = {"--ignore-eos", "--json"};
  auto options_with_value = with_model_options({"--prompt", "--ids", "-n"});
  options_with_value.insert(options_with_value.end(), kSamplingOptions.begin(), kSamplingOptions.end());
  const Args args = LS_TRY(Args::parse(arguments, options_with_value, kFlags));
  const std::uint64_t n_tokens = LS_TRY(args.number("-n", 128, 0, 1u << 30));
  Opened model = LS_TRY(open_model(args.file(), LS_TRY(session_options(args))));
  LS_CHECK(model.session->set_sampler(LS_TRY(sampler_config(args, model.session->tokenizer()))));
  Answer answer;
  answer.prompt_ids = LS_TRY(prompt_ids(args, model.session->tokenizer()));
  if (answer.prompt_ids.empty()) return fail(ErrorCode::bad_argument, "the prompt has no tokens");
  const double start = seconds_now();
  LS_CHECK(prefill(model, answer.prompt_ids, 0));
  answer.prefill_seconds = seconds_now() - start;
  LS_CHECK(decode(model, n_tokens, args.has("--ignore-eos"), !args.has("--json"), answer));
  if (args.has("--json")) {
    print_json(answer, *model.session);
  } else {
    std::fputc('\n', stdout);
  }
  return {};
}

}  // namespace layerstream::cli
