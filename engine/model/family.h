#pragma once
// SPDX-License-Identifier: MIT
// A family of decoders = one file in arch/ + one row in registry.cpp: how to read the config, which tensor plays which
// role. The dispatch seam is is_moe first (experts present: expert roles are asked for), then the table.

#include <span>
#include <string_view>

#include "base/error.h"
#include "gguf/model_file.h"
#include "model/config.h"
#include "model/keys.h"
#include "model/roles.h"

namespace layerstream::model {

struct Family {
  std::string_view name;
  // Values of general.architecture that mean this family.
  std::span<const std::string_view> architectures;
  // Fills what the common part (common_config.h) does not know: norm kind, rope, flags. Sees sizes and heads already filled.
  Result<void> (*read_config)(const Keys& keys, ModelConfig& config);
  std::span<const RoleSpec> model_roles;
  std::span<const RoleSpec> block_roles;
};

[[nodiscard]] std::span<const Family* const> all_families();
// unsupported_arch with the list of supported ones.
[[nodiscard]] Result<const Family*> find_family(std::string_view architecture);

// The whole config of a file: architecture, family, common keys, the family's own, checks.
struct FamilyAndConfig {
  const Family* family = nullptr;
  ModelConfig config;
};
[[nodiscard]] Result<FamilyAndConfig> read_config(const gguf::ModelFile& file);

}  // namespace layerstream::model
