#pragma once
// SPDX-License-Identifier: MIT
// Runs token ids through a session and keeps everything that must not change a bit.

#include <cstring>

#include "support/memory_host.h"

namespace layerstream::test {

struct Outcome {
  std::vector<std::uint32_t> logits;  // bits of [n_tokens, vocab_size]
  std::vector<std::byte> kv;
  bool operator==(const Outcome&) const = default;
};

// Ids spread over the vocabulary.
[[nodiscard]] inline std::vector<TokenId> some_tokens(std::size_t n, std::size_t vocab_size, std::uint64_t seed = 7) {
  std::mt19937_64 random(seed);
  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < n; ++i) ids.push_back(static_cast<TokenId>(random() % vocab_size));
  return ids;
}

[[nodiscard]] inline Result<Outcome> run_tokens(MemoryHost& host, Session& session, std::span<const TokenId> ids, std::size_t chunk,
                                                std::uint64_t max_work = UINT64_MAX) {
  Outcome outcome;
  for (std::size_t begin = 0; begin < ids.size(); begin += chunk) {
    std::vector<Entry> entries;
    for (std::size_t i = begin; i < std::min(begin + chunk, ids.size()); ++i) {
      entries.push_back({ids[i], session.n_past() + static_cast<std::uint32_t>(entries.size()), Wants::logits});
    }
    LS_CHECK(session.begin_pass(entries));
    LS_CHECK(host.run(session, max_work));
    for (std::size_t e = 0; e < entries.size(); ++e) {
      for (const float value : session.logits(e)) outcome.logits.push_back(std::bit_cast<std::uint32_t>(value));
    }
  }
  outcome.kv = session.dump_kv();
  return outcome;
}

// Opens the file afresh and runs the ids.
[[nodiscard]] inline Result<Outcome> run_fresh(const Bytes& file, const SessionOptions& options, std::span<const TokenId> ids, std::size_t chunk,
                                               HostBehaviour behaviour = {}, std::uint64_t max_work = UINT64_MAX) {
  MemoryHost host(file, behaviour);
  const auto session = LS_TRY(host.open(options));
  auto outcome = run_tokens(host, *session, ids, chunk, max_work);
  host.behaviour().failure_rate = 0;
  host.settle(*session);
  return outcome;
}

}  // namespace layerstream::test
