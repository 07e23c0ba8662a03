#pragma once
// SPDX-License-Identifier: MIT
// The native host: opens the parts of a model and brings bytes to a session with positional reads on a thread of its own,
// so that reading and computing overlap.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "gguf/model_file.h"
#include "session/session.h"

namespace layerstream::cli {

class FileHost {
 public:
  FileHost() = default;
  FileHost(const FileHost&) = delete;
  FileHost& operator=(const FileHost&) = delete;
  // Ends the reader; reads in flight are finished first.
  ~FileHost();

  // Opens the file, and all other parts if it is the first of a split model. io_failed names the path.
  [[nodiscard]] Result<gguf::ModelFile> open(const std::string& path);

  // Runs the pass that was begun to its end. On an error the pass is cancelled and no read is left in flight.
  [[nodiscard]] Result<void> run_pass(Session& session);

  // Adds up the time passes wait for reads, from now on; not owned, null takes it away.
  void set_profile(runtime::Profile* profile) { profile_ = profile; }

 private:
  struct Done {
    std::uint32_t id = 0;
    bool ok = false;
  };

  [[nodiscard]] Result<gguf::Header> open_part(const std::string& path);
  void serve();
  void start_reads(Session& session);
  [[nodiscard]] Result<void> finish_one(Session& session);
  void drain(Session& session);

  std::vector<int> files_;
  std::vector<std::string> paths_;
  std::thread reader_;
  std::mutex mutex_;
  std::condition_variable wake_reader_, wake_host_;
  std::deque<ReadRequest> queue_;
  std::deque<Done> done_;
  bool stop_ = false;
  runtime::Profile* profile_ = nullptr;
  std::size_t in_flight_ = 0;  // taken from the session, not yet completed
};

}  // namespace layerstream::cli
