#pragma once
// SPDX-License-Identifier: MIT
// Which of the four modules this is.

#include <string>

namespace layerstream::bindings {

[[nodiscard]] std::string build_info();  // "relaxed,threads"

}  // namespace layerstream::bindings
