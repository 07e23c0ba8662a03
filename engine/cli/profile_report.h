#pragma once
// SPDX-License-Identifier: MIT
// What a profile says about a phase of a bench: a table, or a JSON array.

#include "base/json_writer.h"
#include "session/session.h"

namespace layerstream::cli {

// `seconds`: the whole phase; what no operation accounts for is the last row, "other".
void print_profile(std::string_view phase, const runtime::Profile& profile, double seconds);
void write_profile(JsonWriter& json, const runtime::Profile& profile, double seconds);

}  // namespace layerstream::cli
