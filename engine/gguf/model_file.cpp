// SPDX-License-Identifier: MIT
// Joins the parts of a split model. Parts come from a user or a server, so they may be missing, renamed,
// of another model or there twice; each of that is an error that names the part (numbered from 1, as in file names).

#include "gguf/model_file.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "gguf/limits.h"
#include "gguf/message_text.h"

namespace layerstream::gguf {

namespace {

std::string part_text(std::size_t part, std::size_t count) {
  return "part " + std::to_string(part + 1) + " of " + std::to_string(count);
}

Result<std::uint64_t> required_uint(const Header& header, std::string_view key, const std::string& where) {
  const auto value = LS_TRY(header.metadata().get_uint(key));
  if (!value) return fail(ErrorCode::missing_key, join(where, " has no metadata key ", quoted(key)));
  return *value;
}

// Part `part` says the same about the split as the first one.
Result<void> check_part(const std::vector<Header>& parts, std::size_t part, std::uint64_t all_tensors) {
  const std::string where = part_text(part, parts.size());
  const std::uint64_t count = LS_TRY(required_uint(parts[part], "split.count", where));
  if (count != parts.size()) {
    return fail(ErrorCode::bad_file, join(where, " says split.count = ", count, ", the first part ", parts.size()));
  }
  const std::uint64_t number = LS_TRY(required_uint(parts[part], "split.no", where));
  if (number != part) {
    return fail(ErrorCode::bad_file, join(where, " says split.no = ", number, ", expected ", part));
  }
  const auto announced = LS_TRY(parts[part].metadata().get_uint("split.tensors.count"));
  if (announced && *announced != all_tensors) {
    return fail(ErrorCode::bad_file, join(where, " says split.tensors.count = ", *announced, ", but all parts hold ",
                                          all_tensors, " tensors"));
  }
  const auto first_arch = LS_TRY(parts.front().metadata().get_string("general.architecture"));
  const auto arch = LS_TRY(parts[part].metadata().get_string("general.architecture"));
  if (arch && first_arch && *arch != *first_arch) {
    return fail(ErrorCode::bad_file,
                join(where, " has architecture ", quoted(*arch), ", the first part ", quoted(*first_arch)));
  }
  return {};
}

Result<void> check_parts(const std::vector<Header>& parts) {
  if (parts.empty()) return fail(ErrorCode::bad_argument, "a model needs at least one part");
  const std::uint32_t count = LS_TRY(split_count(parts.front()));
  const bool is_split = parts.front().metadata().has("split.count");
  if (parts.size() != count) {
    std::string which;
    const auto number = LS_TRY(parts.front().metadata().get_uint("split.no"));
    if (is_split && number && *number != 0) {
      which = join("; the first of them is not the model's first part (split.no = ", *number, ")");
    }
    return fail(ErrorCode::bad_argument,
                join("the model has ", count, " part(s), but ", parts.size(), " were given", which));
  }
  if (!is_split) return {};
  std::uint64_t all_tensors = 0;
  for (const Header& part : parts) all_tensors += part.tensors().size();
  for (std::size_t part = 0; part < parts.size(); ++part) LS_CHECK(check_part(parts, part, all_tensors));
  return {};
}

// "-00012-of-00345.gguf": where it begins in the name, and its two numbers.
struct PartSuffix {
  std::size_t begin = 0;
  std::uint32_t number = 0;
  std::uint32_t count = 0;
};

constexpr std::size_t kDigits = 5;

std::optional<std::uint32_t> five_digits(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);  // of unsigned: takes no sign
  if (text.size() != kDigits || error != std::errc{} || stopped != end) return std::nullopt;
  return value;
}

std::optional<PartSuffix> find_suffix(std::string_view name) {
  constexpr std::string_view kOf = "-of-";
  constexpr std::string_view kEnd = ".gguf";
  constexpr std::size_t kLength = 1 + kDigits + kOf.size() + kDigits + kEnd.size();
  if (name.size() < kLength) return std::nullopt;
  PartSuffix suffix;
  suffix.begin = name.size() - kLength;
  const std::string_view text = name.substr(suffix.begin);
  if (text.front() != '-' || text.substr(1 + kDigits, kOf.size()) != kOf || !text.ends_with(kEnd)) return std::nullopt;
  const auto number = five_digits(text.substr(1, kDigits));
  const auto count = five_digits(text.substr(1 + kDigits + kOf.size(), kDigits));
  if (!number || !count) return std::nullopt;
  suffix.number = *number;
  suffix.count = *count;
  return suffix;
}

std::string padded(std::uint32_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits > digits.size() ? kDigits - digits.size() : 0, '0') + digits;
}

}  // namespace

Result<ModelFile> ModelFile::create(std::vector<Header> parts) {
  LS_CHECK(check_parts(parts));
  ModelFile file;
  file.parts_ = std::move(parts);
  for (std::size_t part = 0; part < file.parts_.size(); ++part) {
    for (TensorInfo tensor : file.parts_[part].tensors()) {
      tensor.part = static_cast<std::uint32_t>(part);
      file.tensors_.push_back(tensor);
    }
  }
  file.by_name_.resize(file.tensors_.size());
  for (std::size_t i = 0; i < file.by_name_.size(); ++i) file.by_name_[i] = i;
  std::ranges::sort(file.by_name_, {}, [&](std::size_t i) { return std::pair(file.tensors_[i].name, i); });
  for (std::size_t k = 1; k < file.by_name_.size(); ++k) {
    const TensorInfo& a = file.tensors_[file.by_name_[k - 1]];
    const TensorInfo& b = file.tensors_[file.by_name_[k]];
    if (a.name != b.name) continue;
    return fail(ErrorCode::bad_file, join("tensor ", quoted(a.name), " is in ", part_text(a.part, file.parts_.size()),
                                          " and in ", part_text(b.part, file.parts_.size())));
  }
  return file;
}

const TensorInfo* ModelFile::find_tensor(std::string_view name) const {
  const auto at = std::ranges::lower_bound(by_name_, name, {}, [&](std::size_t i) { return tensors_[i].name; });
  if (at == by_name_.end() || tensors_[*at].name != name) return nullptr;
  return &tensors_[*at];
}

Result<std::uint32_t> split_count(const Header& first) {
  const auto count = LS_TRY(first.metadata().get_uint("split.count"));
  if (!count) return 1;
  if (*count == 0 || *count > kMaxParts) {
    return fail(ErrorCode::bad_value, join("metadata key 'split.count' is ", *count, ", expected 1 to ", kMaxParts));
  }
  return static_cast<std::uint32_t>(*count);
}

Result<std::string> split_part_name(std::string_view first_name, std::uint32_t part_number, std::uint32_t count) {
  const auto suffix = find_suffix(first_name);
  if (!suffix || suffix->number != 1 || suffix->count != count) {
    return fail(ErrorCode::bad_argument,
                join("the file name ", quoted(first_name),
                     " is not that of a first part, expected it to end in '-00001-of-", padded(count), ".gguf'"));
  }
  if (part_number < 1 || part_number > count) {
    return fail(ErrorCode::bad_argument, join("part ", part_number, " was asked for, expected 1 to ", count));
  }
  return std::string(first_name.substr(0, suffix->begin)) + "-" + padded(part_number) + "-of-" + padded(count) +
         ".gguf";
}

}  // namespace layerstream::gguf
