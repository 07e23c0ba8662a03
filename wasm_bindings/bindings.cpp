// SPDX-License-Identifier: MIT
// Embind surface of the engine: small structs, numbers, pointer + length. No logic, no I/O. Its TypeScript mirror is
// web/src/engine/module-types.ts.
#include <emscripten/bind.h>
#include <emscripten/heap.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "build_info.h"
#include "numbers.h"
#include "sampler_options.h"
#include "session/session.h"

namespace {

namespace em = emscripten;
using namespace layerstream;
using namespace layerstream::bindings;

// Numbers cross as doubles: offsets stay exact up to 2^53.
struct Status {
  std::string code, message;
};
struct NumberResult {
  Status status;
  double value = 0;
};
struct TextResult {
  Status status;
  std::string text;
};
struct ArrayResult {
  Status status;
  double pointer = 0, count = 0;
};
struct Options {
  double n_ctx = 0, budget_bytes = -1;
  double kv_bits = 16;  // of a cached value: 32, 16 or 8
  bool full_attention = false, reader_needs_core = false;
  double n_threads = 1, unit_bytes = 0;
  std::string pre_tokenizer;
};
struct Read {
  bool valid = false;
  double id = 0, part = 0, offset = 0, bytes = 0, pointer = 0, stage = 0;
  bool urgent = false;
};
struct Run {
  Status status;
  double state = 0, stage = 0;
};
struct Memory {
  double fixed_bytes = 0, pinned_bytes = 0, slot_bytes = 0, kv_bytes = 0, activation_bytes = 0, sampler_bytes = 0, planned_bytes = 0,
         resident_weight_bytes = 0, peak_resident_weight_bytes = 0, total_weight_bytes = 0, bytes_read = 0, sweeps = 0;
};

std::uint64_t budget_of(double bytes) { return bytes < 0 ? stream::kBudgetUnlimited : to_uint(bytes, UINT64_MAX); }

Status status_of(const Error& error) { return {std::string(error_code_name(error.code)), error.message}; }

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status{} : status_of(result.error());
}

int live_engines = 0;

const Status kNotOpen{"bad_argument", "no model is open"};

// All of the wasm memory that was taken; what the plan adds to it comes behind.
std::uint64_t memory_taken() { return emscripten_get_heap_size(); }

SessionOptions session_options(const Options& options) {
  SessionOptions native;
  native.n_ctx = to_u32(options.n_ctx);
  native.budget_bytes = budget_of(options.budget_bytes);
  native.kv_type = options.kv_bits == 32 ? KvCacheType::f32 : options.kv_bits == 8 ? KvCacheType::q8 : KvCacheType::f16;
  native.attention = options.full_attention ? AttentionRule::full : AttentionRule::trained;
  native.n_threads = to_u32(options.n_threads);
  native.reader_needs_core = options.reader_needs_core;
  if (options.unit_bytes > 0) native.unit_bytes = to_uint(options.unit_bytes, UINT64_MAX);
  native.pre_tokenizer = options.pre_tokenizer;
  native.memory_taken = memory_taken;
  return native;
}

class Engine {
 public:
  Engine() { ++live_engines; }
  ~Engine() { --live_engines; }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  double allocate(double bytes) { return address(std::malloc(static_cast<std::size_t>(to_uint(bytes, SIZE_MAX)))); }
  void release(double pointer) { std::free(pointer_at<void>(pointer)); }

  NumberResult add_part(double index, double pointer, double bytes, double file_bytes) {
    if (index != static_cast<double>(parts_.size())) return {{"bad_argument", "parts must be added in order"}, 0};
    auto parsed = gguf::Header::parse({pointer_at<std::byte>(pointer), static_cast<std::size_t>(bytes)}, to_uint(file_bytes, UINT64_MAX));
    if (!parsed) return {status_of(parsed.error()), 0};
    if (const auto* more = std::get_if<gguf::NeedMore>(&*parsed)) return {{}, static_cast<double>(more->prefix_bytes)};
    parts_.push_back(std::move(std::get<gguf::Header>(*parsed)));
    return {};
  }

  NumberResult part_count() const {
    if (parts_.empty()) return {{"bad_argument", "no part was added"}, 0};
    const auto count = gguf::split_count(parts_.front());
    return {status_of(count), count ? *count : 0.0};
  }

  // What open would do, without its memory; may be asked again and again before it.
  TextResult plan(const Options& options) {
    if (auto joined = join_parts(); !joined) return {status_of(joined), ""};
    auto json = Session::plan_json(*file_, session_options(options));
    if (!json) return {status_of(json.error()), ""};
    return {{}, std::move(*json)};
  }

  // One product of a vector with about `bytes` of weights of the type, for the caller to time. The first call makes the memory.
  Status probe(const std::string& type, double bytes, double n_threads) {
    if (!probe_ || probe_type_ != type) {
      probe_.reset();
      auto made = model::KernelProbe::create(type, to_uint(bytes, UINT64_MAX), to_u32(n_threads));
      if (!made) return status_of(made.error());
      probe_ = std::move(*made);
      probe_type_ = type;
    }
    probe_->run();
    return {};
  }

  // A refusal leaves the parts there.
  Status open(const Options& options) {
    if (auto joined = join_parts(); !joined) return status_of(joined);
    auto session = Session::create(std::move(*file_), session_options(options));
    if (!session) return status_of(session.error());
    file_.reset();
    session_ = std::move(*session);
    text_.emplace(session_->tokenizer());
    return {};
  }

  TextResult describe(bool with_tensors) const {
    if (!session_) return {kNotOpen, ""};
    return {{}, session_->describe_json(with_tensors)};
  }

  Memory memory() const {
    if (!session_) return {};
    const MemoryUse use = session_->memory();
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    return {number(use.fixed_bytes), number(use.pinned_bytes), number(use.slot_bytes), number(use.kv_bytes), number(use.activation_bytes),
            number(use.sampler_bytes), number(session_->plan().total_bytes()), number(use.resident_weight_bytes),
            number(use.peak_resident_weight_bytes), number(use.total_weight_bytes), number(session_->bytes_read()), number(session_->sweeps())};
  }

  double n_ctx() const { return session_ ? session_->n_ctx() : 0; }
  double n_layers() const { return session_ ? session_->n_layers() : 0; }
  double vocab_size() const { return session_ ? static_cast<double>(session_->vocab_size()) : 0; }
  double max_entries() const { return session_ ? session_->max_entries() : 0; }
  double n_past() const { return session_ ? session_->n_past() : 0; }

  ArrayResult tokenize(const std::string& text, bool add_special, bool parse_special) {
    if (!session_) return {kNotOpen, 0, 0};
    ids_ = session_->tokenizer().encode(text, {.add_special = add_special, .parse_special = parse_special});
    return {{}, address(ids_.data()), static_cast<double>(ids_.size())};
  }

  TextResult detokenize(double pointer, double count, bool with_control) const {
    if (!session_) return {kNotOpen, ""};
    const auto* ids = pointer_at<TokenId>(pointer);
    return {{}, session_->tokenizer().decode({ids, ids + static_cast<std::size_t>(count)}, with_control)};
  }

  bool is_end_of_generation(double token) const { return session_ && session_->tokenizer().is_end_of_generation(static_cast<TokenId>(token)); }

  TextResult accept_token(double token) {
    if (!session_) return {kNotOpen, ""};
    if (!in_text_) text_->begin(session_->at_text_start());
    in_text_ = true;
    return {{}, text_->push(static_cast<TokenId>(token))};
  }
  TextResult finish_text() {
    if (!session_) return {kNotOpen, ""};
    in_text_ = false;
    return {{}, text_->finish()};
  }

  Status begin_pass(double pointer, double count, double wants) {
    if (!session_) return kNotOpen;
    const auto* ids = pointer_at<TokenId>(pointer);
    const std::size_t n = static_cast<std::size_t>(count);
    entries_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      const bool wanted = wants == 2 || wants == 4 || ((wants == 1 || wants == 3) && i + 1 == n);
      const Wants kind = wants >= 3 ? Wants::hidden : Wants::logits;
      entries_.push_back({ids[i], session_->n_past() + static_cast<std::uint32_t>(i), wanted ? kind : Wants::none});
    }
    return status_of(session_->begin_pass(entries_));
  }

  Run run(double max_work) {
    if (!session_) return {kNotOpen, 0, 0};
    const auto state = session_->run(max_work > 0 ? to_uint(max_work, UINT64_MAX) : UINT64_MAX);
    return {status_of(state), state ? static_cast<double>(*state) : 0.0, static_cast<double>(session_->stage())};
  }
  void cancel_pass() {
    if (session_) session_->cancel_pass();
  }

  Read take_read() {
    const auto read = session_ ? session_->take_read() : std::nullopt;
    if (!read) return {};
    return {true, static_cast<double>(read->id), static_cast<double>(read->part), static_cast<double>(read->offset),
            static_cast<double>(read->into.size()), address(read->into.data()), static_cast<double>(read->stage), read->urgent};
  }
  Status complete_read(double id) { return session_ ? status_of(session_->complete_read(to_u32(id))) : kNotOpen; }
  Status fail_read(double id) { return session_ ? status_of(session_->fail_read(to_u32(id))) : kNotOpen; }

  ArrayResult logits(double entry) const {
    if (!session_) return {kNotOpen, 0, 0};
    const std::span<const float> row = session_->logits(static_cast<std::size_t>(to_u32(entry)));
    return {{}, address(row.data()), static_cast<double>(row.size())};
  }

  ArrayResult hidden(double entry) const {
    if (!session_) return {kNotOpen, 0, 0};
    const std::span<const float> row = session_->hidden(static_cast<std::size_t>(to_u32(entry)));
    return {{}, address(row.data()), static_cast<double>(row.size())};
  }

  Status set_sampler(const SamplerOptions& options) {
    if (!session_) return kNotOpen;
    const auto config = sampler_config(options, session_->tokenizer());
    return config ? status_of(session_->set_sampler(*config)) : status_of(config.error());
  }
  NumberResult sample() {
    if (!session_) return {kNotOpen, 0};
    const auto token = session_->sample();
    return {status_of(token), token ? *token : 0.0};
  }
  ArrayResult logprobs(double n_top) {
    if (!session_) return {kNotOpen, 0, 0};
    const auto result = session_->logprobs(to_u32(n_top));
    if (!result) return {status_of(result.error()), 0, 0};
    logprobs_.assign({static_cast<double>(result->drawn.id), result->drawn.logprob});
    for (const TokenLogprob& token : result->top) logprobs_.insert(logprobs_.end(), {static_cast<double>(token.id), token.logprob});
    return {{}, address(logprobs_.data()), static_cast<double>(logprobs_.size())};
  }

  NumberResult truncate(double n_past) {
    if (!session_) return {kNotOpen, 0};
    const auto kept = session_->truncate(to_u32(n_past));
    return {status_of(kept), kept ? *kept : 0.0};
  }

  Status raise_budget(double bytes) { return session_ ? status_of(session_->raise_budget(budget_of(bytes))) : kNotOpen; }

  // int32 ids.
  ArrayResult history() const {
    if (!session_) return {kNotOpen, 0, 0};
    return {{}, address(session_->history().data()), static_cast<double>(session_->history().size())};
  }
  ArrayResult dump_kv_layer(double layer) {
    if (!session_) return {kNotOpen, 0, 0};
    kv_ = session_->dump_kv_layer(to_u32(layer));
    return {{}, address(kv_.data()), static_cast<double>(kv_.size())};
  }
  Status restore_kv_layer(double layer, double pointer, double bytes, double n_past) {
    if (!session_) return kNotOpen;
    return status_of(session_->restore_kv_layer(to_u32(layer), {pointer_at<std::byte>(pointer), static_cast<std::size_t>(bytes)}, to_u32(n_past)));
  }
  Status restore_history(double pointer, double count) {
    if (!session_) return kNotOpen;
    return status_of(session_->restore_history({pointer_at<TokenId>(pointer), static_cast<std::size_t>(count)}));
  }

  ArrayResult dump_kv() {
    if (!session_) return {kNotOpen, 0, 0};
    kv_ = session_->dump_kv();
    return {{}, address(kv_.data()), static_cast<double>(kv_.size())};
  }

 private:
  Result<void> join_parts() {
    if (file_) return {};
    if (parts_.empty()) return fail(ErrorCode::bad_argument, "no part was added");
    file_ = LS_TRY(gguf::ModelFile::create(std::exchange(parts_, {})));
    return {};
  }

  std::vector<gguf::Header> parts_;
  std::optional<gguf::ModelFile> file_;  // of all parts, until it is opened
  std::unique_ptr<Session> session_;
  std::unique_ptr<model::KernelProbe> probe_;
  std::string probe_type_;
  std::optional<TextStream> text_;
  bool in_text_ = false;
  // Results that JS copies out before the next call.
  std::vector<TokenId> ids_;
  std::vector<Entry> entries_;
  std::vector<double> logprobs_;  // pairs (id, logprob)
  std::vector<std::byte> kv_;
};

int live_engine_count() { return live_engines; }

std::string error_codes() {
  std::string names;
#define LAYERSTREAM_X(name, meaning) names += names.empty() ? #name : "," #name;
  LAYERSTREAM_ERROR_CODES(LAYERSTREAM_X)
#undef LAYERSTREAM_X
  return names;
}

}  // namespace

EMSCRIPTEN_BINDINGS(layerstream) {
  em::value_object<Status>("Status").field("code", &Status::code).field("message", &Status::message);
  em::value_object<NumberResult>("NumberResult").field("status", &NumberResult::status).field("value", &NumberResult::value);
  em::value_object<TextResult>("TextResult").field("status", &TextResult::status).field("text", &TextResult::text);
  em::value_object<ArrayResult>("ArrayResult")
      .field("status", &ArrayResult::status)
      .field("pointer", &ArrayResult::pointer)
      .field("count", &ArrayResult::count);
  em::value_object<Options>("NativeOptions")
      .field("nCtx", &Options::n_ctx)
      .field("budgetBytes", &Options::budget_bytes)
      .field("kvBits", &Options::kv_bits)
      .field("fullAttention", &Options::full_attention)
      .field("nThreads", &Options::n_threads)
      .field("spareCore", &Options::reader_needs_core)
      .field("unitBytes", &Options::unit_bytes)
      .field("preTokenizer", &Options::pre_tokenizer);
  em::value_object<Read>("NativeRead")
      .field("valid", &Read::valid)
      .field("id", &Read::id)
      .field("part", &Read::part)
      .field("offset", &Read::offset)
      .field("bytes", &Read::bytes)
      .field("pointer", &Read::pointer)
      .field("stage", &Read::stage)
      .field("urgent", &Read::urgent);
  em::value_object<Run>("NativeRun").field("status", &Run::status).field("state", &Run::state).field("stage", &Run::stage);
  em::value_object<Memory>("NativeMemory")
      .field("fixedBytes", &Memory::fixed_bytes)
      .field("pinnedBytes", &Memory::pinned_bytes)
      .field("slotBytes", &Memory::slot_bytes)
      .field("kvBytes", &Memory::kv_bytes)
      .field("activationBytes", &Memory::activation_bytes)
      .field("samplerBytes", &Memory::sampler_bytes)
      .field("plannedBytes", &Memory::planned_bytes)
      .field("residentWeightBytes", &Memory::resident_weight_bytes)
      .field("peakResidentWeightBytes", &Memory::peak_resident_weight_bytes)
      .field("totalWeightBytes", &Memory::total_weight_bytes)
      .field("bytesRead", &Memory::bytes_read)
      .field("sweeps", &Memory::sweeps);
  em::class_<Engine>("Engine")
      .constructor<>()
      .function("allocate", &Engine::allocate)
      .function("release", &Engine::release)
      .function("addPart", &Engine::add_part)
      .function("partCount", &Engine::part_count)
      .function("plan", &Engine::plan)
      .function("probe", &Engine::probe)
      .function("open", &Engine::open)
      .function("describe", &Engine::describe)
      .function("memory", &Engine::memory)
      .function("nCtx", &Engine::n_ctx)
      .function("nLayers", &Engine::n_layers)
      .function("vocabSize", &Engine::vocab_size)
      .function("maxEntries", &Engine::max_entries)
      .function("nPast", &Engine::n_past)
      .function("tokenize", &Engine::tokenize)
      .function("detokenize", &Engine::detokenize)
      .function("isEndOfGeneration", &Engine::is_end_of_generation)
      .function("acceptToken", &Engine::accept_token)
      .function("finishText", &Engine::finish_text)
      .function("beginPass", &Engine::begin_pass)
      .function("run", &Engine::run)
      .function("cancelPass", &Engine::cancel_pass)
      .function("takeRead", &Engine::take_read)
      .function("completeRead", &Engine::complete_read)
      .function("failRead", &Engine::fail_read)
      .function("logits", &Engine::logits)
      .function("hidden", &Engine::hidden)
      .function("setSampler", &Engine::set_sampler)
      .function("sample", &Engine::sample)
      .function("logprobs", &Engine::logprobs)
      .function("truncate", &Engine::truncate)
      .function("raiseBudget", &Engine::raise_budget)
      .function("history", &Engine::history)
      .function("dumpKvLayer", &Engine::dump_kv_layer)
      .function("restoreKvLayer", &Engine::restore_kv_layer)
      .function("restoreHistory", &Engine::restore_history)
      .function("dumpKv", &Engine::dump_kv);
  em::function("liveEngines", &live_engine_count);
  em::function("errorCodes", &error_codes);
  em::function("buildInfo", &build_info);
}
