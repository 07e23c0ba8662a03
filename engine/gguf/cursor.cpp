// SPDX-License-Identifier: MIT
// The error messages of cursor.h.

#include "gguf/cursor.h"

#include "gguf/message_text.h"

namespace layerstream::gguf {

std::unexpected<Stop> Cursor::stop_truncated(std::uint64_t bytes, std::string_view what) const {
  return stop(ErrorCode::truncated, join("the file ends inside its header: ", what, " at byte ", position_, " needs ",
                                         bytes, " bytes, found ", file_bytes_left()));
}

std::unexpected<Stop> Cursor::stop_too_long(std::string_view what) const {
  return stop(ErrorCode::bad_file, join("the header is longer than ", kMaxHeaderBytes, " bytes: ", what, " at byte ",
                                        position_, " goes beyond that"));
}

std::unexpected<Stop> Cursor::stop_long_string(std::uint64_t length, std::uint64_t max_bytes,
                                               std::string_view what) const {
  return stop(ErrorCode::bad_file,
              join(what, " at byte ", position_ - 8, " has ", length, " bytes, expected at most ", max_bytes));
}

}  // namespace layerstream::gguf
