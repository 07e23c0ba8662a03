// SPDX-License-Identifier: MIT
#include "cli/model_options.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace layerstream::cli {

std::vector<std::string_view> with_model_options(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> all(kModelOptions.begin(), kModelOptions.end());
  all.insert(all.end(), own);
  return all;
}

// The host ends first: prefetched reads may still be writing into the session's slots.
Opened::~Opened() { host.reset(); }

Result<SessionOptions> session_options(const Args& args) {
  SessionOptions options;
  options.n_ctx = static_cast<std::uint32_t>(LS_TRY(args.number("--ctx", 0, 1, 1u << 30)));
  options.n_threads = static_cast<std::uint32_t>(LS_TRY(args.number("--threads", 1, 1, 64)));
  options.unit_bytes = LS_TRY(args.number("--unit-bytes", options.unit_bytes, 1, std::uint64_t{1} << 40));
  if (args.text("--budget") == "min") {
    options.budget_bytes = stream::kBudgetMinimum;
  } else {
    options.budget_bytes = LS_TRY(args.number("--budget", stream::kBudgetUnlimited, 1, UINT64_MAX));
  }
  const std::string kv = args.text("--kv").value_or("f16");
  if (kv != "f32" && kv != "f16" && kv != "q8") return fail(ErrorCode::bad_argument, "--kv is \"" + kv + "\", expected f32, f16 or q8");
  options.kv_type = kv == "f32" ? KvCacheType::f32 : kv == "q8" ? KvCacheType::q8 : KvCacheType::f16;
  const std::string attention = args.text("--attention").value_or("trained");
  if (attention != "trained" && attention != "full") return fail(ErrorCode::bad_argument, "--attention is \"" + attention + "\", expected trained or full");
  options.pre_tokenizer = args.text("--pre").value_or("");
  options.attention = attention == "full" ? AttentionRule::full : AttentionRule::trained;
  return options;
}

Result<Opened> open_model(const std::string& path, const SessionOptions& options) {
  Opened opened;
  opened.host = std::make_unique<FileHost>();
  opened.session = LS_TRY(Session::create(LS_TRY(opened.host->open(path)), options));
  return opened;
}

Result<void> prefill(Opened& model, std::span<const TokenId> ids, std::uint32_t chunk) {
  Session& session = *model.session;
  if (ids.size() > session.n_ctx() - session.n_past()) {
    return fail(ErrorCode::context_full, std::to_string(ids.size()) + " tokens do not fit: the context holds " + std::to_string(session.n_ctx()) + ", " +
                                             std::to_string(session.n_past()) + " are in use");
  }
  const std::size_t limit = chunk == 0 ? session.max_entries() : std::min(chunk, session.max_entries());
  std::vector<Entry> entries;
  for (std::size_t begin = 0; begin < ids.size(); begin += limit) {
    entries.clear();
    for (std::size_t i = begin; i < std::min(begin + limit, ids.size()); ++i) {
      const std::uint32_t pos = session.n_past() + static_cast<std::uint32_t>(i - begin);
      entries.push_back({ids[i], pos, i + 1 == ids.size() ? Wants::logits : Wants::none});
    }
    LS_CHECK(session.begin_pass(entries));
    LS_CHECK(model.host->run_pass(session));
  }
  return {};
}

namespace {

Result<std::string> read_all(std::FILE* file, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  if (std::ferror(file)) return fail(ErrorCode::io_failed, name + ": could not be read");
  return text;
}

}  // namespace

Result<std::string> read_stdin() { return read_all(stdin, "standard input"); }

Result<std::vector<TokenId>> parse_ids(std::string_view text) {
  std::vector<TokenId> ids;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    while (at != end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) ++at;
    if (at == end) return ids;
    TokenId id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    const bool ends = next == end || *next == ' ' || *next == '\n' || *next == '\t' || *next == '\r';
    if (error != std::errc{} || !ends) return fail(ErrorCode::bad_argument, "\"" + std::string(at, std::min<std::size_t>(20, static_cast<std::size_t>(end - at))) + "\" is not a token id");
    ids.push_back(id);
    at = next;
  }
}

Result<std::vector<TokenId>> read_ids(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(ErrorCode::io_failed, path + ": " + std::strerror(errno));
  auto text = read_all(file, path);
  std::fclose(file);
  return parse_ids(LS_TRY(std::move(text)));
}

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return fail(ErrorCode::io_failed, path + ": " + std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) return fail(ErrorCode::io_failed, path + ": could not be written");
  return {};
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace layerstream::cli
