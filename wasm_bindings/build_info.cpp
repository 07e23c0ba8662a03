// SPDX-License-Identifier: MIT
#include "build_info.h"

namespace layerstream::bindings {

std::string build_info() {
  return std::string(LAYERSTREAM_RELAXED_SIMD ? "relaxed" : "simd") + (LAYERSTREAM_THREADS ? ",threads" : ",single");
}

}  // namespace layerstream::bindings
