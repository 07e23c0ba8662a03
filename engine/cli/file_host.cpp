// SPDX-License-Identifier: MIT
#include "cli/file_host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace layerstream::cli {
namespace {

// Enough to keep the disk busy while one is computed with; more would only hold slots longer.
constexpr std::size_t kMaxInFlight = 4;
constexpr std::uint64_t kFirstPrefix = 1u << 20;

bool read_fully(int file, std::uint64_t offset, std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t n = ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

FileHost::~FileHost() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_reader_.notify_one();
  if (reader_.joinable()) reader_.join();
  for (const int file : files_) ::close(file);
}

Result<gguf::Header> FileHost::open_part(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(ErrorCode::io_failed, path + ": " + std::strerror(errno));
  files_.push_back(file);
  paths_.push_back(path);
  struct stat info{};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return fail(ErrorCode::io_failed, path + ": not a regular file");
  const std::uint64_t file_bytes = static_cast<std::uint64_t>(info.st_size);
  std::uint64_t prefix_bytes = std::min(file_bytes, kFirstPrefix);
  for (;;) {
    std::vector<std::byte> prefix(static_cast<std::size_t>(prefix_bytes));
    if (!read_fully(file, 0, prefix)) return fail(ErrorCode::io_failed, path + ": could not be read");
    auto parsed = LS_TRY(gguf::Header::parse(prefix, file_bytes));
    if (auto* header = std::get_if<gguf::Header>(&parsed)) return std::move(*header);
    prefix_bytes = std::min(std::get<gguf::NeedMore>(parsed).prefix_bytes, file_bytes);
  }
}

Result<gguf::ModelFile> FileHost::open(const std::string& path) {
  std::vector<gguf::Header> parts;
  parts.push_back(LS_TRY(open_part(path)));
  const std::uint32_t count = LS_TRY(gguf::split_count(parts.front()));
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  for (std::uint32_t number = 2; number <= count; ++number) {
    parts.push_back(LS_TRY(open_part(folder + LS_TRY(gguf::split_part_name(path.substr(folder.size()), number, count)))));
  }
  reader_ = std::thread([this] { serve(); });
  return gguf::ModelFile::create(std::move(parts));
}

void FileHost::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_reader_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const ReadRequest read = queue_.front();
    queue_.pop_front();
    lock.unlock();
    const bool ok = read.part < files_.size() && read_fully(files_[read.part], read.offset, read.into);
    lock.lock();
    done_.push_back({read.id, ok});
    wake_host_.notify_one();
  }
}

void FileHost::start_reads(Session& session) {
  while (in_flight_ < kMaxInFlight) {
    const auto read = session.take_read();
    if (!read) return;
    {
      const std::lock_guard lock(mutex_);
      // What the pass waits for goes before what was only prefetched.
      read->urgent ? queue_.push_front(*read) : queue_.push_back(*read);
    }
    ++in_flight_;
    wake_reader_.notify_one();
  }
}

// Waits for one read and hands it to the session.
Result<void> FileHost::finish_one(Session& session) {
  if (in_flight_ == 0) return fail(ErrorCode::internal, "the pass waits for a read that nobody started");
  Done done;
  {
    std::unique_lock lock(mutex_);
    wake_host_.wait(lock, [this] { return !done_.empty(); });
    done = done_.front();
    done_.pop_front();
  }
  --in_flight_;
  if (done.ok) return session.complete_read(done.id);
  LS_CHECK(session.fail_read(done.id));
  return fail(ErrorCode::io_failed, paths_.front() + ": a read failed or came back short");
}

void FileHost::drain(Session& session) {
  session.cancel_pass();
  while (in_flight_ > 0) {
    if (auto finished = finish_one(session); !finished && in_flight_ == 0) return;
  }
}

Result<void> FileHost::run_pass(Session& session) {
  for (;;) {
    start_reads(session);
    auto state = session.run();
    if (state && *state == RunState::done) return {};
    if (state) {
      start_reads(session);  // what the pass just found missing, and slots it gave back
      const runtime::Timed timed(profile_, runtime::Operation::waiting);
      if (auto finished = finish_one(session); !finished) state = std::unexpected(finished.error());
    }
    if (!state) {
      drain(session);
      return std::unexpected(state.error());
    }
  }
}

}  // namespace layerstream::cli
