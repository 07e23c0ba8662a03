// SPDX-License-Identifier: MIT
#include "session/dry_breakers.h"

#include <algorithm>
#include <map>
#include <optional>

namespace layerstream {
namespace {

constexpr std::size_t kMaxTextBytes = 64;

// Bytes of every token, control tokens too: `<|im_end|>` may be a breaker.
std::vector<std::string> all_token_bytes(const Tokenizer& tokenizer) {
  std::vector<std::string> bytes;
  bytes.reserve(tokenizer.vocab_size());
  for (std::size_t id = 0; id < tokenizer.vocab_size(); ++id) bytes.push_back(tokenizer.token_bytes(static_cast<TokenId>(id), true));
  return bytes;
}

// The tokens that are a stretch of one of the texts, by their bytes; of equal ones the lowest id.
std::map<std::string_view, TokenId> stretches_of(std::span<const std::string> texts, std::span<const std::string> tokens) {
  std::map<std::string_view, TokenId> found;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const auto contains_it = [&](const std::string& text) { return text.find(tokens[id]) != std::string::npos; };
    if (!tokens[id].empty() && tokens[id].size() <= kMaxTextBytes && std::ranges::any_of(texts, contains_it)) found.try_emplace(tokens[id], static_cast<TokenId>(id));
  }
  return found;
}

// The longest token first, again and again; nothing if that leads nowhere.
std::optional<std::vector<TokenId>> spell(std::string_view rest, const std::map<std::string_view, TokenId>& stretches) {
  std::vector<TokenId> ids;
  while (!rest.empty()) {
    std::size_t length = rest.size();
    while (length > 0 && !stretches.contains(rest.substr(0, length))) --length;
    if (length == 0) return std::nullopt;
    ids.push_back(stretches.at(rest.substr(0, length)));
    rest.remove_prefix(length);
  }
  return ids;
}

}  // namespace

Result<std::vector<std::vector<TokenId>>> find_breakers(const Tokenizer& tokenizer, std::span<const std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty() && text.size() <= kMaxTextBytes) continue;
    return fail(ErrorCode::bad_argument, "a DRY breaker has " + std::to_string(text.size()) + " bytes, expected 1 to " + std::to_string(kMaxTextBytes));
  }
  const std::vector<std::string> tokens = all_token_bytes(tokenizer);
  const auto stretches = stretches_of(texts, tokens);
  std::vector<std::vector<TokenId>> breakers;
  for (const std::string_view text : texts) {
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      const std::string_view token = tokens[id];
      const auto head = static_cast<TokenId>(id);
      if (token.find(text) != std::string_view::npos) {
        breakers.push_back({head});
        continue;
      }
      for (std::size_t shared = 1; shared < text.size() && shared <= token.size(); ++shared) {
        if (!token.ends_with(text.substr(0, shared))) continue;
        auto tail = spell(text.substr(shared), stretches);
        if (!tail) continue;
        tail->insert(tail->begin(), head);
        breakers.push_back(std::move(*tail));
      }
    }
  }
  return breakers;
}

}  // namespace layerstream
