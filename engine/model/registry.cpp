// SPDX-License-Identifier: MIT
// The table of families: one row each.
#include <array>
#include <string>

#include "model/arch/families.h"
#include "model/common_config.h"
#include "model/family.h"

namespace layerstream::model {
namespace {

constexpr std::array<const Family*, 8> kFamilies = {
    &arch::kLlama, &arch::kQwen2, &arch::kQwen3, &arch::kGemma2, &arch::kGemma3, &arch::kPhi3, &arch::kPhi2, &arch::kGpt2,
};

}  // namespace

std::span<const Family* const> all_families() { return kFamilies; }

Result<const Family*> find_family(std::string_view architecture) {
  std::string known;
  for (const Family* family : kFamilies) {
    for (const std::string_view name : family->architectures) {
      if (name == architecture) return family;
      known += known.empty() ? "" : ", ";
      known += name;
    }
  }
  return fail(ErrorCode::unsupported_arch, "architecture \"" + std::string(architecture) + "\" is not implemented; supported: " + known);
}

Result<FamilyAndConfig> read_config(const gguf::ModelFile& file) {
  const gguf::Metadata& metadata = file.metadata();
  const auto architecture = LS_TRY(metadata.get_string("general.architecture"));
  if (!architecture) return fail(ErrorCode::missing_key, "the metadata has no key general.architecture");
  FamilyAndConfig out;
  out.family = LS_TRY(find_family(*architecture));
  out.config.architecture = *architecture;
  out.config.family = out.family->name;
  out.config.name = LS_TRY(metadata.get_string("general.name")).value_or("");
  const Keys keys(metadata, *architecture);
  LS_CHECK(read_sizes(keys, out.config));
  const gguf::TensorInfo* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) return fail(ErrorCode::missing_tensor, "the file has no tensor token_embd.weight");
  if (embedding->dims[1] == 0 || embedding->dims[1] > (1u << 24)) {
    return fail(ErrorCode::shape_mismatch, "token_embd.weight has " + std::to_string(embedding->dims[1]) + " rows, expected 1 to 16777216");
  }
  out.config.vocab_size = static_cast<std::size_t>(embedding->dims[1]);
  LS_CHECK(out.family->read_config(keys, out.config));
  LS_CHECK(check_config(out.config));
  return out;
}

}  // namespace layerstream::model
