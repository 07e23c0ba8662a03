#pragma once
// SPDX-License-Identifier: MIT
// The session behind session.h: joins model, residency, cache, tokenizer and sampler, and steps a pass through its stages.

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "model/block.h"
#include "model/model.h"
#include "model/script.h"
#include "runtime/kv_cache.h"
#include "runtime/thread_pool.h"
#include "session/row_reads.h"
#include "session/session.h"
#include "stream/residency.h"

namespace layerstream {

class SessionImpl final : public Session {
 public:
  // `adjust` changes the model between binding and planning. For the test that breaks features on purpose to see that
  // the golden cases notice; nothing else passes it.
  using Adjust = void (*)(model::Model& model);
  [[nodiscard]] static Result<std::unique_ptr<SessionImpl>> open(gguf::ModelFile&& file, const SessionOptions& options, Adjust adjust = nullptr);
  // Everything but the memory of the plan.
  [[nodiscard]] static Result<std::unique_ptr<SessionImpl>> prepare(const gguf::ModelFile& file, const SessionOptions& options, Adjust adjust);
  [[nodiscard]] std::string describe(const gguf::ModelFile& file, bool with_tensors) const;

  const Tokenizer& tokenizer() const override { return *tokenizer_; }
  const stream::Plan& plan() const override { return plan_; }
  std::uint32_t n_ctx() const override { return n_ctx_; }
  std::uint32_t n_layers() const override { return static_cast<std::uint32_t>(model_.config.n_layers); }
  std::size_t vocab_size() const override { return model_.config.vocab_size; }
  std::uint32_t max_entries() const override { return plan_.max_entries; }
  MemoryUse memory() const override;
  std::string describe_json(bool with_tensors) const override { return describe(file_, with_tensors); }
  Result<void> raise_budget(std::uint64_t budget_bytes) override;

  Result<void> begin_pass(std::span<const Entry> entries) override;
  Result<RunState> run(std::uint64_t max_work) override;
  void cancel_pass() override;
  std::uint32_t stage() const override { return stage_; }
  std::optional<ReadRequest> take_read() override;
  Result<void> complete_read(std::uint32_t id) override;
  Result<void> fail_read(std::uint32_t id) override;
  std::span<const float> logits(std::size_t entry) const override;
  std::span<const float> hidden(std::size_t entry) const override;

  std::uint32_t n_past() const override { return n_past_; }
  Result<std::uint32_t> truncate(std::uint32_t n_past) override;
  bool at_text_start() const override { return n_past_ <= first_text_pos_; }
  std::vector<std::byte> dump_kv() const override { return kv_.dump(n_past_); }
  std::span<const TokenId> history() const override { return history_; }
  std::vector<std::byte> dump_kv_layer(std::size_t layer) const override;
  Result<void> restore_kv_layer(std::size_t layer, std::span<const std::byte> kv, std::uint32_t n_past) override;
  Result<void> restore_history(std::span<const TokenId> history) override;

  Result<void> set_sampler(const SamplerConfig& config) override;
  void set_mask(LogitMask* mask) override { mask_ = mask; }
  Result<TokenId> sample() override;
  Result<Logprobs> logprobs(std::size_t n_top) override;

  void set_profile(runtime::Profile* profile) override;

  std::uint64_t bytes_read() const override { return bytes_read_; }
  std::uint64_t sweeps() const override { return sweeps_; }

 private:
  explicit SessionImpl(std::uint32_t n_threads) : n_threads_(n_threads) {}
  [[nodiscard]] std::uint32_t threads_for(std::size_t n_entries) const;

  [[nodiscard]] Result<void> make_plan(const gguf::ModelFile& file, const SessionOptions& options);
  [[nodiscard]] stream::PlanInput plan_input(std::uint64_t budget_bytes) const;
  [[nodiscard]] Result<void> allocate();
  void note_first_text(std::span<const TokenId> tokens, std::uint32_t from);
  [[nodiscard]] Result<void> check_entries(std::span<const Entry> entries) const;
  [[nodiscard]] Result<RunState> run_stages(std::uint64_t max_work);
  [[nodiscard]] Result<bool> ready_to_embed();
  void run_stage();
  void next_stage();
  void drop_entries();
  void forget();
  [[nodiscard]] Result<void> finish_pass();
  void want_rows(std::size_t entry);
  [[nodiscard]] const std::byte* resident_embedding_row(TokenId token) const;
  // Rows of the output projection that are tokens; the others are padding.
  [[nodiscard]] std::size_t n_tokens() const { return std::min(tokenizer_->vocab_size(), model_.config.vocab_size); }

  gguf::ModelFile file_;
  std::unique_ptr<Tokenizer> tokenizer_;
  std::optional<Sampler> sampler_;
  LogitMask* mask_ = nullptr;
  runtime::Profile* profile_ = nullptr;
  std::optional<TokenId> drawn_;  // by sample(), since the last pass
  model::Model model_;
  stream::Plan plan_;
  std::uint64_t fixed_bytes_ = 0;
  std::uint32_t entry_limit_ = 1, chunk_limit_ = 1;  // that the plan was made with
  stream::Residency residency_;
  runtime::KvCache kv_;
  kernels::KvType kv_type_ = kernels::KvType::f16;
  model::Batch batch_;
  std::uint32_t n_threads_ = 1;
  bool reader_needs_core_ = false;
  std::optional<runtime::ThreadPool> pool_;
  std::optional<model::Script> script_;
  RowReads rows_;

  std::uint32_t n_ctx_ = 0;
  std::uint32_t n_past_ = 0;
  std::vector<TokenId> history_;  // [n_past_], the tokens in the cache
  std::uint32_t written_ = 0;  // positions below this were written to the cache at some time since it was empty
  std::uint32_t first_text_pos_ = UINT32_MAX;  // of the first token that is not a control token
  bool in_pass_ = false;
  bool ropes_ready_ = false;
  std::uint32_t stage_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t sweeps_ = 0;
};

}  // namespace layerstream
