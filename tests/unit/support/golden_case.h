#pragma once
// SPDX-License-Identifier: MIT
// Reference cases (tests/golden/README.md): a tiny model, token ids, and the logits a trusted reference computes.

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "session/session_impl.h"
#include "support/json.h"
#include "support/run_tokens.h"

namespace layerstream::test {

struct GoldenCase {
  Bytes model;
  std::vector<TokenId> tokens;
  std::vector<std::int32_t> rows;  // positions whose logits are stored
  std::vector<float> reference;    // [rows, vocab_size]
  std::uint32_t n_ctx = 0;
};

[[nodiscard]] inline Bytes read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return bytes_of(std::string(std::istreambuf_iterator<char>(file), {}));
}

// From tests/golden/cases, else from ../shared/golden; nullopt where neither has it.
[[nodiscard]] inline std::optional<GoldenCase> read_golden(const std::string& name) {
  for (const std::string folder : {LAYERSTREAM_SOURCE_DIR "/tests/golden/cases/", LAYERSTREAM_SOURCE_DIR "/../shared/golden/"}) {
    const std::string at = folder + name + "/";
    const auto meta = Json::read_file(at + "meta.json");
    if (!meta) continue;
    GoldenCase golden{.model = read_bytes(at + "model.gguf"), .tokens = {}, .rows = meta->at("rows").ints(), .reference = {}, .n_ctx = static_cast<std::uint32_t>(meta->at("n_ctx").number())};
    std::ifstream tokens(at + "tokens.txt");
    golden.tokens.assign(std::istream_iterator<TokenId>(tokens), {});
    const Bytes raw = read_bytes(at + meta->at("compare_with").string());
    golden.reference.resize(raw.size() / sizeof(float));
    std::memcpy(golden.reference.data(), raw.data(), golden.reference.size() * sizeof(float));
    return golden;
  }
  return std::nullopt;
}

// Squared error over squared reference of all stored rows, one prefill pass with an f32 cache; infinite if the
// (adjusted) model gives no finite logits.
[[nodiscard]] inline Result<double> golden_nmse(const GoldenCase& golden, SessionImpl::Adjust adjust = nullptr) {
  MemoryHost host(golden.model);
  const auto session = LS_TRY(SessionImpl::open(LS_TRY(host.model_file()), {.n_ctx = golden.n_ctx, .kv_type = KvCacheType::f32}, adjust));
  const auto outcome = run_tokens(host, *session, golden.tokens, session->max_entries());
  if (!outcome) return outcome.error().code == ErrorCode::non_finite ? Result<double>(INFINITY) : std::unexpected(outcome.error());
  const std::size_t vocab = session->vocab_size();
  double error = 0, power = 0;
  for (std::size_t i = 0; i < golden.reference.size(); ++i) {
    const std::size_t position = static_cast<std::size_t>(golden.rows[i / vocab]);
    const double ours = std::bit_cast<float>(outcome->logits[position * vocab + i % vocab]);
    const double theirs = golden.reference[i];
    error += (ours - theirs) * (ours - theirs);
    power += theirs * theirs;
  }
  return error / power;
}

}  // namespace layerstream::test
