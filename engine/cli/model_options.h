#pragma once
// SPDX-License-Identifier: MIT
// The options all model-running commands share, and an opened model with its host.

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/args.h"
#include "cli/file_host.h"
#include "session/session.h"

namespace layerstream::cli {

inline constexpr std::array<std::string_view, 7> kModelOptions = {"--ctx", "--threads", "--budget", "--kv", "--attention", "--unit-bytes", "--pre"};

// kModelOptions and the command's own.
[[nodiscard]] std::vector<std::string_view> with_model_options(std::initializer_list<std::string_view> own);

struct Opened {
  std::unique_ptr<FileHost> host;
  std::unique_ptr<Session> session;
  ~Opened();
  Opened() = default;
  Opened(Opened&&) = default;
  Opened& operator=(Opened&&) = default;
};

[[nodiscard]] Result<SessionOptions> session_options(const Args& args);
[[nodiscard]] Result<Opened> open_model(const std::string& path, const SessionOptions& options);

// Runs ids as passes of at most `chunk` entries (0: as many as the plan takes), logits of the last entry of the last one.
[[nodiscard]] Result<void> prefill(Opened& model, std::span<const TokenId> ids, std::uint32_t chunk);

// Whole standard input; whole file; ids separated by white space.
[[nodiscard]] Result<std::string> read_stdin();
[[nodiscard]] Result<std::vector<TokenId>> read_ids(const std::string& path);
[[nodiscard]] Result<std::vector<TokenId>> parse_ids(std::string_view text);
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::byte> bytes);

[[nodiscard]] double seconds_now();

}  // namespace layerstream::cli
