// SPDX-License-Identifier: MIT
// Embind surface of the engine: small structs, numbers, pointer + length. No logic, no I/O. Its TypeScript mirror is
// web/src/engine/module-types.ts.
#include <emscripten/bind.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "session/dry_breakers.h"
#include "session/session.h"

namespace {

namespace em = emscripten;
using namespace layerstream;

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
  bool kv_f32 = false, full_attention = false;
  double n_threads = 1, max_entries = 0, unit_bytes = 0;
};
struct SamplerOptions {
  double temperature = 0, dynatemp_range = 0, dynatemp_exponent = 0, top_k = 0, top_p = 0, min_p = 0, typical_p = 0, top_n_sigma = 0,
         xtc_probability = 0, xtc_threshold = 0, dry_multiplier = 0, dry_base = 0, dry_allowed_length = 0, dry_last_n = 0,
         repeat_penalty = 0, frequency_penalty = 0, presence_penalty = 0, repeat_last_n = 0, mirostat = 0, mirostat_tau = 0,
         mirostat_eta = 0, seed = 0;
  std::string samplers, dry_breakers;  // names with ';' between them; texts with a NUL after each
  double ids_pointer = 0, n_biases = 0, n_banned = 0;  // float64: n_biases pairs (id, addend), then n_banned ids
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
  double fixed_bytes = 0, pinned_bytes = 0, slot_bytes = 0, kv_bytes = 0, activation_bytes = 0, resident_weight_bytes = 0,
         peak_resident_weight_bytes = 0, total_weight_bytes = 0, bytes_read = 0, sweeps = 0;
};

Status status_of(const Error& error) { return {std::string(error_code_name(error.code)), error.message}; }

template <typename T>
Status status_of(const Result<T>& result) {
  return result ? Status{} : status_of(result.error());
}

double address(const void* pointer) { return static_cast<double>(reinterpret_cast<std::uintptr_t>(pointer)); }

template <typename T>
T* pointer_at(double value) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(value));
}

// JS numbers to unsigned integers; anything that is none becomes 0.
std::uint64_t to_uint(double value, std::uint64_t high) {
  if (!(value > 0)) return 0;
  return value >= static_cast<double>(high) ? high : static_cast<std::uint64_t>(value);
}
std::uint32_t to_u32(double value) { return static_cast<std::uint32_t>(to_uint(value, UINT32_MAX)); }

// JS numbers to signed integers; what is too small, or none, becomes the lowest.
std::int32_t to_i32(double value) {
  if (!(value > INT32_MIN)) return INT32_MIN;
  return value >= INT32_MAX ? INT32_MAX : static_cast<std::int32_t>(value);
}

SamplerConfig plain_settings(const SamplerOptions& options) {
  const auto real = [](double value) { return static_cast<float>(value); };
  SamplerConfig config;
  config.temperature = real(options.temperature);
  config.dynatemp_range = real(options.dynatemp_range);
  config.dynatemp_exponent = real(options.dynatemp_exponent);
  config.top_k = to_i32(options.top_k);
  config.top_p = real(options.top_p);
  config.min_p = real(options.min_p);
  config.typical_p = real(options.typical_p);
  config.top_n_sigma = real(options.top_n_sigma);
  config.xtc_probability = real(options.xtc_probability);
  config.xtc_threshold = real(options.xtc_threshold);
  config.dry_multiplier = real(options.dry_multiplier);
  config.dry_base = real(options.dry_base);
  config.dry_allowed_length = to_i32(options.dry_allowed_length);
  config.dry_last_n = to_i32(options.dry_last_n);
  config.repeat_penalty = real(options.repeat_penalty);
  config.frequency_penalty = real(options.frequency_penalty);
  config.presence_penalty = real(options.presence_penalty);
  config.repeat_last_n = to_i32(options.repeat_last_n);
  config.mirostat = to_i32(options.mirostat);
  config.mirostat_tau = real(options.mirostat_tau);
  config.mirostat_eta = real(options.mirostat_eta);
  config.seed = to_uint(options.seed, UINT64_MAX);
  return config;
}

Result<SamplerConfig> sampler_config(const SamplerOptions& options, const Tokenizer& tokenizer) {
  SamplerConfig config = plain_settings(options);
  config.samplers = LS_TRY(parse_samplers(options.samplers));
  const auto* ids = pointer_at<double>(options.ids_pointer);
  for (double i = 0; i < options.n_biases; ++i, ids += 2) config.logit_bias.push_back({to_i32(ids[0]), static_cast<float>(ids[1])});
  for (double i = 0; i < options.n_banned; ++i) config.banned.push_back(to_i32(*ids++));
  if (config.dry_multiplier > 0) {
    std::vector<std::string> texts;
    for (std::size_t begin = 0, end; (end = options.dry_breakers.find('\0', begin)) != std::string::npos; begin = end + 1) {
      texts.push_back(options.dry_breakers.substr(begin, end - begin));
    }
    config.dry_breakers = LS_TRY(find_breakers(tokenizer, texts));
  }
  return config;
}

int live_engines = 0;

const Status kNotOpen{"bad_argument", "no model is open"};

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

  Status open(const Options& options) {
    if (parts_.empty()) return {"bad_argument", "no part was added"};
    auto file = gguf::ModelFile::create(std::move(parts_));
    parts_.clear();
    if (!file) return status_of(file.error());
    SessionOptions native;
    native.n_ctx = to_u32(options.n_ctx);
    native.budget_bytes = options.budget_bytes < 0 ? stream::kBudgetUnlimited : to_uint(options.budget_bytes, UINT64_MAX);
    native.kv_type = options.kv_f32 ? KvCacheType::f32 : KvCacheType::f16;
    native.attention = options.full_attention ? AttentionRule::full : AttentionRule::trained;
    native.n_threads = to_u32(options.n_threads);
    native.max_entries = to_u32(options.max_entries);
    if (options.unit_bytes > 0) native.unit_bytes = to_uint(options.unit_bytes, UINT64_MAX);
    auto session = Session::create(std::move(*file), native);
    if (!session) return status_of(session.error());
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
            number(use.resident_weight_bytes), number(use.peak_resident_weight_bytes), number(use.total_weight_bytes),
            number(session_->bytes_read()), number(session_->sweeps())};
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
      const bool wanted = wants == 2 || (wants == 1 && i + 1 == n);
      entries_.push_back({ids[i], session_->n_past() + static_cast<std::uint32_t>(i), wanted ? Wants::logits : Wants::none});
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

  ArrayResult dump_kv() {
    if (!session_) return {kNotOpen, 0, 0};
    kv_ = session_->dump_kv();
    return {{}, address(kv_.data()), static_cast<double>(kv_.size())};
  }

 private:
  std::vector<gguf::Header> parts_;
  std::unique_ptr<Session> session_;
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

std::string build_info() {
  return std::string(LAYERSTREAM_RELAXED ? "relaxed" : "simd") + (LAYERSTREAM_THREADS ? ",threads" : ",single");
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
      .field("kvF32", &Options::kv_f32)
      .field("fullAttention", &Options::full_attention)
      .field("nThreads", &Options::n_threads)
      .field("maxEntries", &Options::max_entries)
      .field("unitBytes", &Options::unit_bytes);
  em::value_object<SamplerOptions>("NativeSampler")
      .field("temperature", &SamplerOptions::temperature)
      .field("dynatempRange", &SamplerOptions::dynatemp_range)
      .field("dynatempExponent", &SamplerOptions::dynatemp_exponent)
      .field("topK", &SamplerOptions::top_k)
      .field("topP", &SamplerOptions::top_p)
      .field("minP", &SamplerOptions::min_p)
      .field("typicalP", &SamplerOptions::typical_p)
      .field("topNSigma", &SamplerOptions::top_n_sigma)
      .field("xtcProbability", &SamplerOptions::xtc_probability)
      .field("xtcThreshold", &SamplerOptions::xtc_threshold)
      .field("dryMultiplier", &SamplerOptions::dry_multiplier)
      .field("dryBase", &SamplerOptions::dry_base)
      .field("dryAllowedLength", &SamplerOptions::dry_allowed_length)
      .field("dryLastN", &SamplerOptions::dry_last_n)
      .field("repeatPenalty", &SamplerOptions::repeat_penalty)
      .field("frequencyPenalty", &SamplerOptions::frequency_penalty)
      .field("presencePenalty", &SamplerOptions::presence_penalty)
      .field("repeatLastN", &SamplerOptions::repeat_last_n)
      .field("mirostat", &SamplerOptions::mirostat)
      .field("mirostatTau", &SamplerOptions::mirostat_tau)
      .field("mirostatEta", &SamplerOptions::mirostat_eta)
      .field("seed", &SamplerOptions::seed)
      .field("samplers", &SamplerOptions::samplers)
      .field("dryBreakers", &SamplerOptions::dry_breakers)
      .field("idsPointer", &SamplerOptions::ids_pointer)
      .field("nBiases", &SamplerOptions::n_biases)
      .field("nBanned", &SamplerOptions::n_banned);
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
      .function("setSampler", &Engine::set_sampler)
      .function("sample", &Engine::sample)
      .function("logprobs", &Engine::logprobs)
      .function("truncate", &Engine::truncate)
      .function("dumpKv", &Engine::dump_kv);
  em::function("liveEngines", &live_engine_count);
  em::function("errorCodes", &error_codes);
  em::function("buildInfo", &build_info);
}
