#pragma once
// SPDX-License-Identifier: MIT
// The only door into the engine. A session is one opened model: config, plan, KV cache, tokenizer, sampler.
// It does no I/O: it says which bytes it wants and where they go (take_read), the host brings them and says so
// (complete_read). A pass is one sweep over all blocks for a batch of entries:
//
//   session.begin_pass(entries);
//   for (;;) {
//     start_reads();                        // while (auto read = session.take_read()) host.start(*read);
//     RunState state = *session.run();      // computes whatever is resident; reads go on meanwhile
//     if (state == RunState::done) break;
//     start_reads();                        // what the pass just found missing, urgent ones first
//     if (state == RunState::needs_reads) host.wait_for_one_and_complete(session);
//   }
//   session.logits(i);
//
// Not thread-safe: one thread calls it. The destination of a read stays valid until complete_read or fail_read,
// whatever else happens; destroy a session only when no read is in flight.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "gguf/model_file.h"
#include "model/kernel_probe.h"
#include "runtime/profile.h"
#include "sampler/sampler.h"
#include "stream/plan.h"
#include "tokenizer/tokenizer.h"

namespace layerstream {

// q8: int8 with a scale per 32 values, 9/16 of f16's bytes; keys and values are rounded, so answers can differ.
enum class KvCacheType { f32, f16, q8 };
enum class AttentionRule {
  trained,  // windows as the model was trained
  full,     // windows ignored
};

struct SessionOptions {
  std::uint32_t n_ctx = 0;  // positions to allocate; 0: the file's context length, at most 4096
  std::uint64_t budget_bytes = stream::kBudgetUnlimited;  // or stream::kBudgetMinimum
  KvCacheType kv_type = KvCacheType::f16;
  AttentionRule attention = AttentionRule::trained;
  std::uint32_t n_threads = 1;
  // Reads go on meanwhile in a thread of the host, for which the n_threads leave no core: a pass that mostly waits for
  // weights does with one less.
  bool reader_needs_core = false;
  // 0: as many as the plan finds room for. A pass over weights that are all resident goes through each block in chunks, at
  // most 2048 entries in all; over streamed ones it is one chunk.
  std::uint32_t max_entries = 0;    // entries per pass
  std::uint32_t chunk_entries = 0;  // entries per chunk, at most 512 unless asked for
  std::uint64_t unit_bytes = 4u << 20;    // size a slice of rows aims at
  std::string pre_tokenizer = {};         // instead of the file's tokenizer.ggml.pre; empty: the file's
  // Memory the program has taken so far; asked right before planning, when header and tokenizer are there. The plan counts it
  // as fixed. nullptr: header, tokenizer and fixed tensors are estimated.
  std::uint64_t (*memory_taken)() = nullptr;
};

enum class Wants : std::uint8_t {
  none,
  logits,
  hidden,  // the final hidden state: what the output projection would be applied to
};

struct Entry {
  TokenId token = 0;
  std::uint32_t pos = 0;  // absolute; a pass continues exactly at n_past()
  Wants wants = Wants::none;
};

struct ReadRequest {
  std::uint32_t id = 0;
  std::uint32_t part = 0;     // file of a split model
  std::uint64_t offset = 0;   // absolute in that file
  std::span<std::byte> into;  // exactly this many bytes
  std::uint32_t stage = 0;    // 0 = embed, 1 .. n_layers = blocks, n_layers + 1 = head
  bool urgent = false;        // the pass waits for it; false: prefetch
};

enum class RunState {
  done,         // the pass is complete, logits are there
  needs_reads,  // nothing more can be computed before a read completes
  paused,       // max_work was reached; call run() again
};

struct MemoryUse {
  std::uint64_t fixed_bytes = 0;         // norms, biases, tables, tokenizer, header
  std::uint64_t pinned_bytes = 0;        // memory of pinned units
  std::uint64_t slot_bytes = 0;          // memory of all slots
  std::uint64_t kv_bytes = 0;
  std::uint64_t activation_bytes = 0;    // residual stream, scratch, logits
  std::uint64_t sampler_bytes = 0;       // as planned
  std::uint64_t resident_weight_bytes = 0;       // weight bytes that are in memory now
  std::uint64_t peak_resident_weight_bytes = 0;  // the most that ever were
  std::uint64_t total_weight_bytes = 0;          // all weights of the model
  [[nodiscard]] std::uint64_t total_bytes() const {
    return fixed_bytes + pinned_bytes + slot_bytes + kv_bytes + activation_bytes + sampler_bytes;
  }
};

class Session {
 public:
  // Takes the file, unless it fails.
  [[nodiscard]] static Result<std::unique_ptr<Session>> create(gguf::ModelFile&& file, const SessionOptions& options);
  // What create() would open, as describe_json tells it, without the memory of the plan. The same refusals.
  [[nodiscard]] static Result<std::string> plan_json(const gguf::ModelFile& file, const SessionOptions& options);
  virtual ~Session() = default;

  // --- what was opened
  [[nodiscard]] virtual const Tokenizer& tokenizer() const = 0;
  [[nodiscard]] virtual const stream::Plan& plan() const = 0;
  [[nodiscard]] virtual std::uint32_t n_ctx() const = 0;
  [[nodiscard]] virtual std::uint32_t n_layers() const = 0;
  [[nodiscard]] virtual std::size_t vocab_size() const = 0;  // rows of the output projection
  [[nodiscard]] virtual std::uint32_t max_entries() const = 0;  // per pass
  [[nodiscard]] virtual MemoryUse memory() const = 0;
  // One JSON object: architecture, config, roles, per-layer window and rope, tokenizer, chat template, plan
  // (docs/formats/inspect.md).
  [[nodiscard]] virtual std::string describe_json(bool with_tensors) const = 0;

  // Pins more under a larger budget, at once. bad_argument while reads are in flight, or for a budget below what plan() needs:
  // memory that was taken is not given back.
  [[nodiscard]] virtual Result<void> raise_budget(std::uint64_t budget_bytes) = 0;

  // --- the pass
  // context_full if the entries do not fit n_ctx; bad_argument for ids outside the vocabulary, positions that do not
  // continue at n_past(), more than max_entries(), or an unfinished pass.
  [[nodiscard]] virtual Result<void> begin_pass(std::span<const Entry> entries) = 0;
  // Computes until done, a missing unit, or about max_work multiply-adds. An error ends the pass as cancel_pass does.
  [[nodiscard]] virtual Result<RunState> run(std::uint64_t max_work = UINT64_MAX) = 0;
  // Drops an unfinished pass; n_past() is what it was before it, or 0 where a windowed layer has written over what the next
  // pass would see (as with truncate).
  virtual void cancel_pass() = 0;
  // The stage the pass is at, for progress. 0 .. n_layers + 1.
  [[nodiscard]] virtual std::uint32_t stage() const = 0;

  // The next read worth starting, or nothing (everything wanted is resident, in flight, or has no free slot).
  [[nodiscard]] virtual std::optional<ReadRequest> take_read() = 0;
  [[nodiscard]] virtual Result<void> complete_read(std::uint32_t id) = 0;
  // The read did not happen; it will be offered again. The host decides whether to cancel the pass.
  [[nodiscard]] virtual Result<void> fail_read(std::uint32_t id) = 0;

  // [vocab_size] of an entry of the last finished pass that wanted logits; empty if it did not.
  [[nodiscard]] virtual std::span<const float> logits(std::size_t entry) const = 0;
  // [model_dim] after the final norm, of an entry of the last finished pass that wanted it; empty if it did not.
  [[nodiscard]] virtual std::span<const float> hidden(std::size_t entry) const = 0;

  // --- the cache
  [[nodiscard]] virtual std::uint32_t n_past() const = 0;
  // Forgets positions >= n_past and returns how many are kept: n_past, or 0 where a windowed layer no longer holds what a
  // pass there would see (then the host runs all ids again). bad_argument beyond the current n_past or during a pass.
  [[nodiscard]] virtual Result<std::uint32_t> truncate(std::uint32_t n_past) = 0;
  // The cache in logical order for hash comparison: per layer K then V, ascending position,
  // rows of [n_kv_heads * head_dim] in the cache's own type; the last min(n_past, window) rows.
  [[nodiscard]] virtual std::vector<std::byte> dump_kv() const = 0;
  // The tokens in the cache, [n_past].
  [[nodiscard]] virtual std::span<const TokenId> history() const = 0;
  // To another session of the same model and cache type, whose cache is empty: each layer of dump_kv() (bytes of a layer that
  // is not there: none) to restore_kv_layer(), then history() to restore_history(), with which the positions count.
  [[nodiscard]] virtual std::vector<std::byte> dump_kv_layer(std::size_t layer) const = 0;
  [[nodiscard]] virtual Result<void> restore_kv_layer(std::size_t layer, std::span<const std::byte> kv, std::uint32_t n_past) = 0;
  [[nodiscard]] virtual Result<void> restore_history(std::span<const TokenId> history) = 0;

  // Nothing but control tokens (or nothing) is in the cache: an answer would begin the text (TextStream::begin).
  [[nodiscard]] virtual bool at_text_start() const = 0;

  // --- generation
  // Also begins an answer: the random sequence and Mirostat's state start anew. Ids in the config are those of tokens;
  // penalties and DRY look at the tokens in the cache, prompt and answer alike.
  [[nodiscard]] virtual Result<void> set_sampler(const SamplerConfig& config) = 0;
  // Asked at every sample() from now on; not owned, null takes it away.
  virtual void set_mask(LogitMask* mask) = 0;
  // Draws from the logits of the last entry of the last pass.
  [[nodiscard]] virtual Result<TokenId> sample() = 0;
  // Of the token drawn last and of the n_top most probable ones; bad_argument unless sample() drew since the last pass.
  [[nodiscard]] virtual Result<Logprobs> logprobs(std::size_t n_top) = 0;

  // Adds up where the time of passes and draws goes, from now on; not owned, null takes it away. Its `now` must be set.
  virtual void set_profile(runtime::Profile* profile) = 0;

  [[nodiscard]] virtual std::uint64_t bytes_read() const = 0;  // by completed reads, since creation
  [[nodiscard]] virtual std::uint64_t sweeps() const = 0;      // finished passes
};

}  // namespace layerstream
