#pragma once
// SPDX-License-Identifier: MIT
// Work to time a device by, before a model is there: the product that a decode step spends its time in. Measures nothing
// itself; the host has the clock.

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.h"

namespace layerstream::model {

class KernelProbe {
 public:
  // About `bytes` of weights of the type (a name of base/dtype.h), in rows of 4096. bad_argument for other types.
  [[nodiscard]] static Result<std::unique_ptr<KernelProbe>> create(std::string_view type_name, std::uint64_t bytes, std::uint32_t n_threads);
  virtual ~KernelProbe() = default;

  virtual void run() = 0;
  [[nodiscard]] virtual std::uint64_t weight_bytes() const = 0;
};

}  // namespace layerstream::model
