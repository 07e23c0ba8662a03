// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>

#include "model/family.h"
#include "session/session_impl.h"

namespace layerstream {
namespace {

constexpr std::uint32_t kDefaultContext = 4096;
// Entries that go through a block together: many enough for the kernels' best rate and few sweeps over streamed weights.
constexpr std::uint32_t kDefaultChunkEntries = 512;
// Entries of a pass over resident weights. While they arrive a longer prompt has more to compute than any line is slow, and
// a cancelled pass has to be computed again.
constexpr std::uint32_t kDefaultMaxEntries = 2048;
constexpr std::uint32_t kMaxContext = 1u << 30;
constexpr std::uint32_t kMaxThreads = 64;
// Reads are fastest from 1 MiB on.
constexpr std::uint64_t kSmallestUnitBytes = 1u << 20;
// Texts and ids that cross the border, the description, rope tables, the sampler's lists; and what grows with the context:
// the history and the ids of a prompt while it is cut into tokens.
constexpr std::uint64_t kSmallThingsBytes = 1u << 20;
constexpr std::uint64_t kSmallThingsBytesPerPosition = 64;
// Stack and thread-local memory of a worker.
constexpr std::uint64_t kThreadBytes = 384u << 10;

std::string text(std::uint64_t value) { return std::to_string(value); }

Result<std::uint32_t> choose_context(const SessionOptions& options, const model::ModelConfig& config) {
  if (options.n_ctx > kMaxContext) return fail(ErrorCode::bad_argument, "n_ctx is " + text(options.n_ctx) + ", at most " + text(kMaxContext) + " is possible");
  // Learned positions end where training ended; asking for more gives what there is (n_ctx() says so).
  if (config.learned_positions && options.n_ctx > config.n_ctx_train) return static_cast<std::uint32_t>(config.n_ctx_train);
  if (options.n_ctx != 0) return options.n_ctx;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(config.n_ctx_train, kDefaultContext));
}

// A windowed layer keeps what one chunk can see: the window before its first entry, and its entries.
std::vector<runtime::KvLayerShape> kv_shapes(const model::ModelConfig& config, kernels::KvType type, std::uint32_t n_ctx,
                                             std::uint32_t chunk_entries) {
  std::vector<runtime::KvLayerShape> shapes;
  for (const model::LayerConfig& layer : config.layers) {
    const std::uint64_t rows = layer.window == 0 ? n_ctx : std::min<std::uint64_t>(n_ctx, std::uint64_t{layer.window} + chunk_entries);
    shapes.push_back({layer.n_kv_heads, kernels::kv_row_bytes(type, config.head_dim), static_cast<std::size_t>(rows), layer.window});
  }
  return shapes;
}

kernels::KvType kernel_type(KvCacheType type) {
  switch (type) {
    case KvCacheType::f32: return kernels::KvType::f32;
    case KvCacheType::f16: return kernels::KvType::f16;
    case KvCacheType::q8: return kernels::KvType::q8;
  }
  return kernels::KvType::f16;
}

std::uint64_t header_bytes(const gguf::ModelFile& file) {
  std::uint64_t total = 0;
  for (const gguf::Header& part : file.parts()) total += part.header_bytes();
  return total;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(gguf::ModelFile&& file, const SessionOptions& options) {
  return LS_TRY(SessionImpl::open(std::move(file), options));
}

Result<std::string> Session::plan_json(const gguf::ModelFile& file, const SessionOptions& options) {
  return LS_TRY(SessionImpl::prepare(file, options, nullptr))->describe(file, false);
}

Result<std::unique_ptr<SessionImpl>> SessionImpl::open(gguf::ModelFile&& file, const SessionOptions& options, Adjust adjust) {
  std::unique_ptr<SessionImpl> session = LS_TRY(prepare(file, options, adjust));
  session->file_ = std::move(file);
  LS_CHECK(session->allocate());
  LS_CHECK(session->set_sampler(SamplerConfig{}));
  return session;
}

Result<std::unique_ptr<SessionImpl>> SessionImpl::prepare(const gguf::ModelFile& file, const SessionOptions& options, Adjust adjust) {
  const std::uint32_t n_threads = std::clamp(options.n_threads, 1u, kMaxThreads);
  std::unique_ptr<SessionImpl> session(new SessionImpl(n_threads));
  model::FamilyAndConfig found = LS_TRY(model::read_config(file));
  if (options.attention == AttentionRule::full) {
    for (model::LayerConfig& layer : found.config.layers) layer.window = 0;
    found.config.window_origin = "ignored as asked";
  }
  session->tokenizer_ = LS_TRY(Tokenizer::create(file.metadata(), {.pre_tokenizer = options.pre_tokenizer}));
  session->n_ctx_ = LS_TRY(choose_context(options, found.config));
  session->kv_type_ = kernel_type(options.kv_type);
  session->reader_needs_core_ = options.reader_needs_core;
  session->entry_limit_ = std::min(options.max_entries == 0 ? kDefaultMaxEntries : options.max_entries, session->n_ctx_);
  session->chunk_limit_ = std::min(options.chunk_entries == 0 ? kDefaultChunkEntries : options.chunk_entries, session->entry_limit_);
  // A budget that is too small for three slots of the size asked for may hold three smaller ones.
  for (std::uint64_t unit_bytes = std::max<std::uint64_t>(options.unit_bytes, 1);; unit_bytes /= 2) {
    session->model_.weights = LS_TRY(model::bind(file, *found.family, found.config, unit_bytes));
    session->model_.config = found.config;
    if (adjust != nullptr) adjust(session->model_);
    const auto planned = session->make_plan(file, options);
    if (planned) return session;
    if (planned.error().code != ErrorCode::budget_too_small || unit_bytes / 2 < kSmallestUnitBytes) return std::unexpected(planned.error());
  }
}

Result<void> SessionImpl::make_plan(const gguf::ModelFile& file, const SessionOptions& options) {
  // The tokenizer's tables are about as large as the header they come from.
  fixed_bytes_ = options.memory_taken != nullptr ? options.memory_taken() : model_.weights.fixed.size_bytes() + 2 * header_bytes(file);
  fixed_bytes_ += kSmallThingsBytes + kSmallThingsBytesPerPosition * n_ctx_ + kThreadBytes * (n_threads_ - 1);
  plan_ = LS_TRY(stream::make_plan(plan_input(options.budget_bytes)));
  return {};
}

stream::PlanInput SessionImpl::plan_input(std::uint64_t budget_bytes) const {
  const model::ModelConfig& config = model_.config;
  const model::BatchShape shape = model::batch_shape(config, model_.weights, n_ctx_, n_threads_);
  stream::PlanInput input;
  input.units = model_.weights.units;
  input.fixed_bytes = fixed_bytes_;
  input.kv_bytes = runtime::KvCache::bytes_needed(kv_shapes(config, kv_type_, n_ctx_, chunk_limit_));
  input.base_activation_bytes = shape.base_bytes(config.vocab_size);
  input.entry_bytes = shape.bytes_per_entry();
  input.chunk_entry_bytes = shape.bytes_per_chunk_entry();
  input.sampler_bytes = Sampler::memory_bytes(config.vocab_size);
  input.max_entries = entry_limit_;
  input.max_chunk_entries = chunk_limit_;
  input.conditional_share = config.n_experts == 0 ? 1.0 : static_cast<double>(config.n_experts_used) / static_cast<double>(config.n_experts);
  input.budget_bytes = budget_bytes;
  return input;
}

// The memory that the plan counts.
Result<void> SessionImpl::allocate() {
  const model::BatchShape shape = model::batch_shape(model_.config, model_.weights, n_ctx_, n_threads_);
  residency_ = LS_TRY(stream::Residency::create(model_.weights.units, plan_));
  kv_ = LS_TRY(runtime::KvCache::create(kv_shapes(model_.config, kv_type_, n_ctx_, plan_.chunk_entries)));
  batch_ = LS_TRY(model::Batch::create(shape, plan_.max_entries, plan_.chunk_entries, model_.config.vocab_size));
  history_.reserve(n_ctx_);
  pool_.emplace(n_threads_);
  script_.emplace(residency_, *pool_, batch_);
  return {};
}

Result<void> SessionImpl::raise_budget(std::uint64_t budget_bytes) {
  if (budget_bytes < plan_.total_bytes()) {
    return fail(ErrorCode::bad_argument, "the plan takes " + text(plan_.total_bytes()) + " bytes, more than a budget of " + text(budget_bytes));
  }
  stream::Plan raised = stream::raise_plan(plan_input(budget_bytes), plan_);
  LS_CHECK(residency_.pin_more(raised));
  plan_ = std::move(raised);
  return {};
}

std::vector<std::byte> SessionImpl::dump_kv_layer(std::size_t layer) const {
  if (layer >= n_layers()) return {};
  return kv_.dump_layer(layer, n_past_);
}

Result<void> SessionImpl::restore_kv_layer(std::size_t layer, std::span<const std::byte> kv, std::uint32_t n_past) {
  if (in_pass_ || n_past_ != 0) return fail(ErrorCode::bad_argument, "the cache is not empty");
  if (n_past > n_ctx_) return fail(ErrorCode::context_full, text(n_past) + " positions do not fit, the context holds " + text(n_ctx_));
  return kv_.restore_layer(layer, kv, n_past);
}

Result<void> SessionImpl::restore_history(std::span<const TokenId> history) {
  if (in_pass_ || n_past_ != 0 || history.size() > n_ctx_) return fail(ErrorCode::bad_argument, "the cache is not empty, or too short");
  history_.assign(history.begin(), history.end());
  n_past_ = written_ = static_cast<std::uint32_t>(history.size());
  note_first_text(history, 0);
  return {};
}

// Where the first of these tokens that is text stands; the first one is at position `from`.
void SessionImpl::note_first_text(std::span<const TokenId> tokens, std::uint32_t from) {
  const auto found = std::find_if(tokens.begin(), tokens.end(), [&](TokenId id) { return tokenizer_->token_type(id) != TokenType::control; });
  first_text_pos_ = found == tokens.end() ? UINT32_MAX : from + static_cast<std::uint32_t>(found - tokens.begin());
}

MemoryUse SessionImpl::memory() const {
  MemoryUse use;
  use.fixed_bytes = plan_.fixed_bytes;
  use.pinned_bytes = residency_.pinned_capacity_bytes();
  use.slot_bytes = residency_.slot_capacity_bytes();
  use.kv_bytes = kv_.size_bytes();
  use.activation_bytes = batch_.size_bytes();
  use.sampler_bytes = plan_.sampler_bytes;
  use.resident_weight_bytes = residency_.resident_bytes();
  use.peak_resident_weight_bytes = residency_.peak_resident_bytes();
  use.total_weight_bytes = plan_.weight_bytes;
  return use;
}

std::span<const float> SessionImpl::logits(std::size_t entry) const {
  if (in_pass_) return {};
  const auto it = std::find(batch_.wants.begin(), batch_.wants.end(), entry);
  if (it == batch_.wants.end()) return {};
  return {batch_.logits_row(static_cast<std::size_t>(it - batch_.wants.begin())), batch_.vocab_size()};
}

std::span<const float> SessionImpl::hidden(std::size_t entry) const {
  if (in_pass_) return {};
  const auto it = std::find(batch_.hidden_wants.begin(), batch_.hidden_wants.end(), entry);
  if (it == batch_.hidden_wants.end()) return {};
  return {batch_.hidden_row(static_cast<std::size_t>(it - batch_.hidden_wants.begin())), model_.config.model_dim};
}

Result<std::uint32_t> SessionImpl::truncate(std::uint32_t n_past) {
  if (in_pass_) return fail(ErrorCode::bad_argument, "a pass is running");
  if (n_past > n_past_) return fail(ErrorCode::bad_argument, "cannot truncate to " + text(n_past) + ": the cache holds " + text(n_past_) + " positions");
  if (n_past == 0 || !kv_.can_resume_at(n_past, written_)) {
    forget();
  } else {
    n_past_ = n_past;
    history_.resize(n_past);
  }
  return n_past_;
}

void SessionImpl::forget() {
  n_past_ = written_ = 0;
  history_.clear();
  kv_.clear();
}

Result<void> SessionImpl::set_sampler(const SamplerConfig& config) {
  sampler_.emplace(LS_TRY(Sampler::create(config, n_tokens())));
  return {};
}

void SessionImpl::set_profile(runtime::Profile* profile) {
  profile_ = profile;
  script_->set_profile(profile);
}

Result<TokenId> SessionImpl::sample() {
  if (batch_.tokens.empty()) return fail(ErrorCode::bad_argument, "no pass has been run");
  const std::span<const float> last = logits(batch_.tokens.size() - 1);
  if (last.empty()) return fail(ErrorCode::bad_argument, "the last entry of the last pass did not ask for logits");
  const runtime::Timed timed(profile_, runtime::Operation::sampling);
  drawn_ = LS_TRY(sampler_->sample(last, history_, mask_));
  return *drawn_;
}

Result<Logprobs> SessionImpl::logprobs(std::size_t n_top) {
  if (!drawn_) return fail(ErrorCode::bad_argument, "no token was drawn since the last pass");
  return sampler_->logprobs(logits(batch_.tokens.size() - 1), *drawn_, n_top);
}

}  // namespace layerstream
