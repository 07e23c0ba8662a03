#pragma once
// SPDX-License-Identifier: MIT
// A host for tests: model bytes in memory, reads that complete at once, late, out of order, or not at all.

#include <cstring>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "gguf/model_file.h"
#include "session/session.h"
#include "support/gguf_writer.h"

namespace layerstream::test {

struct HostBehaviour {
  std::size_t max_in_flight = 1;
  bool reorder = false;
  double failure_rate = 0.0;  // share of reads that fail
  std::uint64_t seed = 1;
};

class MemoryHost {
 public:
  explicit MemoryHost(std::vector<Bytes> parts, HostBehaviour behaviour = {}) : parts_(std::move(parts)), behaviour_(behaviour), random_(behaviour.seed) {}
  explicit MemoryHost(Bytes file, HostBehaviour behaviour = {}) : MemoryHost(std::vector<Bytes>{std::move(file)}, behaviour) {}

  [[nodiscard]] Result<std::unique_ptr<Session>> open(const SessionOptions& options) const {
    return Session::create(LS_TRY(model_file()), options);
  }

  [[nodiscard]] Result<gguf::ModelFile> model_file() const {
    std::vector<gguf::Header> headers;
    for (const Bytes& part : parts_) {
      auto parsed = LS_TRY(gguf::Header::parse(part, part.size()));
      if (!std::holds_alternative<gguf::Header>(parsed)) return fail(ErrorCode::internal, "the header is not complete");
      headers.push_back(std::move(std::get<gguf::Header>(parsed)));
    }
    return gguf::ModelFile::create(std::move(headers));
  }

  // Runs the pass that was begun. io_failed when a read fails; then reads may be left in flight (see settle).
  [[nodiscard]] Result<void> run(Session& session, std::uint64_t max_work = UINT64_MAX) {
    for (;;) {
      start(session);
      const RunState state = LS_TRY(session.run(max_work));
      if (state == RunState::done) return {};
      ++waits_;
      if (state == RunState::paused) continue;
      start(session);
      LS_CHECK(finish_one(session));
    }
  }

  void start(Session& session) {
    while (in_flight_.size() < behaviour_.max_in_flight) {
      const auto read = session.take_read();
      if (!read) return;
      in_flight_.push_back(*read);
    }
  }

  [[nodiscard]] Result<void> finish_one(Session& session) {
    if (in_flight_.empty()) return fail(ErrorCode::internal, "the session waits, but wants no read");
    const std::size_t index = behaviour_.reorder ? random_() % in_flight_.size() : 0;
    const ReadRequest read = in_flight_[index];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(index));
    if (static_cast<double>(random_() % 1000) < behaviour_.failure_rate * 1000) {
      LS_CHECK(session.fail_read(read.id));
      return fail(ErrorCode::io_failed, "made to fail");
    }
    const Bytes& part = parts_.at(read.part);
    if (read.offset + read.into.size() > part.size()) return fail(ErrorCode::internal, "a read beyond the file");
    std::memcpy(read.into.data(), part.data() + read.offset, read.into.size());
    bytes_ += read.into.size();
    return session.complete_read(read.id);
  }

  // Finishes what is in flight after a cancelled pass.
  void settle(Session& session) {
    while (!in_flight_.empty()) (void)finish_one(session);
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t waits() const { return waits_; }
  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
  HostBehaviour& behaviour() { return behaviour_; }

 private:
  std::vector<Bytes> parts_;
  HostBehaviour behaviour_;
  std::mt19937_64 random_;
  std::deque<ReadRequest> in_flight_;
  std::uint64_t bytes_ = 0;
  std::size_t waits_ = 0;
};

}  // namespace layerstream::test
