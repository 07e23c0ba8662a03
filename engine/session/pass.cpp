// SPDX-License-Identifier: MIT
// A pass: embed, blocks, head, and the reads it waits for.
#include <algorithm>
#include <cstring>
#include <string>

#include "session/session_impl.h"

namespace layerstream {
namespace {

std::string text(std::uint64_t value) { return std::to_string(value); }

// Read ids say whose read it is, so that completion needs no table.
enum class ReadKind : std::uint32_t { unit = 0, fixed = 1, row = 2 };
constexpr std::uint32_t kKindShift = 28;
constexpr std::uint32_t kIndexMask = (1u << kKindShift) - 1;

constexpr std::uint32_t read_id(ReadKind kind, std::size_t index) {
  return static_cast<std::uint32_t>(kind) << kKindShift | static_cast<std::uint32_t>(index);
}

bool all_finite(std::span<const float> values) {
  // x - x is 0 for finite x and NaN otherwise; NaN survives the sum.
  float sum = 0;
  for (const float value : values) sum += value - value;
  return sum == 0;
}

}  // namespace

Result<void> SessionImpl::check_entries(std::span<const Entry> entries) const {
  if (in_pass_) return fail(ErrorCode::bad_argument, "a pass is running");
  if (rows_.any_in_flight()) return fail(ErrorCode::bad_argument, "reads of a cancelled pass are still in flight");
  if (entries.empty()) return fail(ErrorCode::bad_argument, "a pass needs at least one entry");
  if (entries.size() > plan_.max_entries) {
    return fail(ErrorCode::bad_argument, text(entries.size()) + " entries in a pass, the plan has room for " + text(plan_.max_entries));
  }
  if (entries.size() > n_ctx_ - n_past_) {
    return fail(ErrorCode::context_full, text(n_past_) + " positions are in use and " + text(entries.size()) + " more are asked for; the context holds " + text(n_ctx_));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    if (entry.token < 0 || static_cast<std::size_t>(entry.token) >= model_.config.vocab_size) {
      return fail(ErrorCode::bad_argument, "token id " + std::to_string(entry.token) + " is outside the vocabulary of " + text(model_.config.vocab_size));
    }
    if (entry.pos != n_past_ + i) {
      return fail(ErrorCode::bad_argument, "entry " + text(i) + " is at position " + text(entry.pos) + ", expected " + text(n_past_ + i));
    }
  }
  return {};
}

// With few entries a thread computes no faster than weights are copied in, so where a good part of them is streamed a core
// for the reader is worth more than one for computing (measured: equal with 30 % streamed on two cores).
std::uint32_t SessionImpl::threads_for(std::size_t n_entries) const {
  constexpr std::size_t kFewEntries = 4;
  const bool streams_much = plan_.read_bytes_per_token > plan_.weight_bytes / 4;
  return reader_needs_core_ && streams_much && n_entries <= kFewEntries ? n_threads_ - 1 : n_threads_;
}

Result<void> SessionImpl::begin_pass(std::span<const Entry> entries) {
  LS_CHECK(check_entries(entries));
  batch_.tokens.clear();
  batch_.all_positions.clear();
  batch_.wants.clear();
  batch_.hidden_wants.clear();
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    batch_.tokens.push_back(entries[i].token);
    batch_.all_positions.push_back(entries[i].pos);
    if (entries[i].wants == Wants::logits) batch_.wants.push_back(i);
    if (entries[i].wants == Wants::hidden) batch_.hidden_wants.push_back(i);
  }
  if (auto reserved = batch_.reserve_logits(batch_.wants.size()); !reserved) {
    drop_entries();
    return reserved;
  }
  batch_.first_chunk();
  in_pass_ = true;
  pool_->use(threads_for(entries.size()));
  drawn_.reset();
  stage_ = 0;
  script_->new_stage();
  written_ = std::max(written_, n_past_ + static_cast<std::uint32_t>(entries.size()));
  if (first_text_pos_ >= n_past_) note_first_text(batch_.tokens, n_past_);
  rows_.clear();
  for (std::size_t e = 0; e < entries.size(); ++e) want_rows(e);
  return {};
}

// A row that lies in a resident copy (tied output) is taken from there, others are read.
const std::byte* SessionImpl::resident_embedding_row(TokenId token) const {
  const model::Matrix& output = model_.weights.output;
  if (!model_.weights.output_is_tied) return nullptr;
  const std::size_t row = static_cast<std::size_t>(token);
  const std::size_t unit = row / output.rows_per_unit;
  const std::byte* data = residency_.data(output.first_unit + static_cast<stream::UnitId>(unit) * output.unit_stride);
  return data == nullptr ? nullptr : data + (row % output.rows_per_unit) * output.row_bytes;
}

void SessionImpl::want_rows(std::size_t entry) {
  const model::RowTable& tokens = model_.weights.token_embd;
  const model::RowTable& positions = model_.weights.position_embd;
  std::byte* row = batch_.all_rows + entry * batch_.shape.row_bytes;
  const TokenId token = batch_.tokens[entry];
  if (const std::byte* resident = resident_embedding_row(token)) {
    std::memcpy(row, resident, tokens.row_bytes);
  } else {
    rows_.add({tokens.part, tokens.offset + static_cast<std::uint64_t>(token) * tokens.row_bytes, {row, tokens.row_bytes}});
  }
  if (positions) {
    rows_.add({positions.part, positions.offset + std::uint64_t{batch_.all_positions[entry]} * positions.row_bytes, {row + tokens.row_bytes, positions.row_bytes}});
  }
}

Result<bool> SessionImpl::ready_to_embed() {
  if (!model_.weights.fixed.all_there() || !rows_.all_there()) return false;
  if (!ropes_ready_) LS_CHECK(model::finish_ropes(n_ctx_, model_));
  ropes_ready_ = true;
  return true;
}

void SessionImpl::run_stage() {
  const model::PassContext pass{model_, batch_, kv_, kv_type_};
  if (stage_ == 0) {
    model::embed(*script_, pass);
  } else if (stage_ <= n_layers()) {
    model::forward_block(*script_, pass, stage_ - 1);
  } else {
    model::head(*script_, pass);
  }
}

Result<RunState> SessionImpl::run_stages(std::uint64_t max_work) {
  if (stage_ == 0 && !LS_TRY(ready_to_embed())) return RunState::needs_reads;
  while (stage_ <= n_layers() + 1) {
    script_->replay(max_work);
    run_stage();
    // A pause after the last line of a stage replays nothing but skips; cheap, and the code stays simple.
    if (script_->halt() == model::Halt::needs_weights) return RunState::needs_reads;
    if (script_->halt() == model::Halt::paused) return RunState::paused;
    max_work = script_->work_left();
    next_stage();
  }
  LS_CHECK(finish_pass());
  return RunState::done;
}

// Or the same stage for the next chunk of entries; the head takes all of them at once.
void SessionImpl::next_stage() {
  script_->new_stage();
  if (stage_ > n_layers() || !batch_.next_chunk()) ++stage_;
}

Result<RunState> SessionImpl::run(std::uint64_t max_work) {
  if (!in_pass_) return fail(ErrorCode::bad_argument, "no pass was begun");
  auto state = run_stages(std::max<std::uint64_t>(max_work, 1));
  if (!state) cancel_pass();
  return state;
}

Result<void> SessionImpl::finish_pass() {
  const runtime::Timed timed(profile_, runtime::Operation::logits);
  for (std::size_t i = 0; i < batch_.wants.size(); ++i) {
    if (!all_finite({batch_.logits_row(i), batch_.vocab_size()})) {
      return fail(ErrorCode::non_finite, "the logits at position " + text(batch_.all_positions[batch_.wants[i]]) + " are not finite numbers");
    }
  }
  for (std::size_t i = 0; i < batch_.hidden_wants.size(); ++i) {
    if (!all_finite({batch_.hidden_row(i), model_.config.model_dim})) {
      return fail(ErrorCode::non_finite, "the hidden state at position " + text(batch_.all_positions[batch_.hidden_wants[i]]) + " is not of finite numbers");
    }
  }
  in_pass_ = false;
  n_past_ += static_cast<std::uint32_t>(batch_.tokens.size());
  history_.insert(history_.end(), batch_.tokens.begin(), batch_.tokens.end());
  ++sweeps_;
  residency_.clear_wants();
  residency_.set_cursor(0);
  return {};
}

void SessionImpl::cancel_pass() {
  if (!in_pass_) return;
  in_pass_ = false;
  drop_entries();
  rows_.abandon();
  residency_.clear_wants();
  residency_.set_cursor(0);
  // The rows of windowed layers go round: those that the next pass would see may have been written over.
  if (!kv_.can_resume_at(n_past_, written_)) forget();
}

void SessionImpl::drop_entries() {
  batch_.tokens.clear();
  batch_.wants.clear();
  batch_.hidden_wants.clear();
}

std::optional<ReadRequest> SessionImpl::take_read() {
  model::FixedTensors& fixed = model_.weights.fixed;
  if (const auto index = fixed.next_read()) {
    const auto& item = fixed.items()[*index];
    return ReadRequest{read_id(ReadKind::fixed, *index), item.part, item.offset, fixed.destination(*index), 0, in_pass_};
  }
  if (const auto index = rows_.next_read()) {
    const RowReads::Row& row = rows_.row(*index);
    return ReadRequest{read_id(ReadKind::row, *index), row.part, row.offset, row.into, 0, true};
  }
  if (const auto read = residency_.next_read()) {
    const stream::Unit& unit = residency_.units()[read->unit];
    return ReadRequest{read_id(ReadKind::unit, read->unit), unit.part, unit.offset, read->into, unit.stage, read->urgent};
  }
  return std::nullopt;
}

Result<void> SessionImpl::complete_read(std::uint32_t id) {
  const std::size_t index = id & kIndexMask;
  switch (static_cast<ReadKind>(id >> kKindShift)) {
    case ReadKind::unit:
      LS_CHECK(residency_.complete(static_cast<stream::UnitId>(index)));
      bytes_read_ += residency_.units()[index].bytes;
      return {};
    case ReadKind::fixed:
      if (!model_.weights.fixed.in_flight(index)) break;
      model_.weights.fixed.complete(index);
      bytes_read_ += model_.weights.fixed.destination(index).size();
      return {};
    case ReadKind::row:
      if (!rows_.in_flight(index)) break;
      rows_.complete(index);
      bytes_read_ += rows_.row(index).into.size();
      return {};
  }
  return fail(ErrorCode::bad_argument, "read " + text(id) + " is not in flight");
}

Result<void> SessionImpl::fail_read(std::uint32_t id) {
  const std::size_t index = id & kIndexMask;
  switch (static_cast<ReadKind>(id >> kKindShift)) {
    case ReadKind::unit:
      return residency_.fail_read(static_cast<stream::UnitId>(index));
    case ReadKind::fixed:
      if (!model_.weights.fixed.in_flight(index)) break;
      model_.weights.fixed.fail_read(index);
      return {};
    case ReadKind::row:
      if (!rows_.in_flight(index)) break;
      rows_.fail_read(index);
      if (!in_pass_) rows_.abandon();
      return {};
  }
  return fail(ErrorCode::bad_argument, "read " + text(id) + " is not in flight");
}

}  // namespace layerstream
