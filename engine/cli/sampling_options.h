#pragma once
// SPDX-License-Identifier: MIT
// The options that say how tokens are drawn; named as llama.cpp names them.

#include <array>
#include <string_view>

#include "cli/args.h"
#include "session/session.h"

namespace layerstream::cli {

inline constexpr std::array<std::string_view, 25> kSamplingOptions = {
    "--temp",           "--dynatemp-range",   "--dynatemp-exp",       "--top-k",               "--top-p",
    "--min-p",          "--typical",          "--top-n-sigma",        "--xtc-probability",     "--xtc-threshold",
    "--dry-multiplier", "--dry-base",         "--dry-allowed-length", "--dry-penalty-last-n",  "--dry-sequence-breaker",
    "--repeat-penalty", "--repeat-last-n",    "--frequency-penalty",  "--presence-penalty",    "--mirostat",
    "--mirostat-ent",   "--mirostat-lr",      "--logit-bias",         "--samplers",            "--seed"};

// Everything off and greedy, but for what the arguments say.
[[nodiscard]] Result<SamplerConfig> sampler_config(const Args& args, const Tokenizer& tokenizer);

}  // namespace layerstream::cli
