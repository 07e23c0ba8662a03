// SPDX-License-Identifier: MIT
// See tensor_table.h. Sizes are checked 64-bit products: a wrapped size is the classic way to make a
// small allocation pass for a large tensor.

#include "gguf/tensor_table.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/checked.h"
#include "gguf/message_text.h"

namespace layerstream::gguf {

namespace {

std::string tensor_text(const TensorInfo& tensor) {
  return join("tensor ", quoted(tensor.name), " ", dims_text(tensor.dims, tensor.n_dims), " ",
              type_info(tensor.type).name);
}

// Numbers that formats had once; files with them are older than what is read now.
bool is_removed_type(std::uint32_t number) {
  return number == 4 || number == 5 || (number >= 31 && number <= 33) || (number >= 36 && number <= 38);
}

Step<std::string_view> read_name(Cursor& cursor) {
  const std::uint64_t at = cursor.position();
  const std::string_view name = LS_TRY(cursor.string(kMaxTensorNameBytes, "a tensor name"));
  if (name.empty()) return stop(ErrorCode::bad_file, join("the tensor name at byte ", at, " is empty"));
  if (name.find('\0') != std::string_view::npos) {
    return stop(ErrorCode::bad_file, join("the tensor name ", quoted(name), " at byte ", at, " holds a zero byte"));
  }
  return name;
}

Step<void> read_dims(Cursor& cursor, TensorInfo& tensor) {
  const std::uint64_t at = cursor.position();
  tensor.n_dims = LS_TRY(cursor.number<std::uint32_t>("a dimension count"));
  if (tensor.n_dims > kMaxDims) {
    return stop(ErrorCode::bad_file, join("tensor ", quoted(tensor.name), " has ", tensor.n_dims, " dimensions (byte ",
                                          at, "), expected at most ", kMaxDims));
  }
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    const std::uint64_t dim_at = cursor.position();
    tensor.dims[i] = LS_TRY(cursor.number<std::uint64_t>("a tensor dimension"));
    if (tensor.dims[i] > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return stop(ErrorCode::bad_file, join("tensor ", quoted(tensor.name), ": dimension ", i, " (byte ", dim_at,
                                            ") is ", tensor.dims[i], ", expected less than 2^63"));
    }
  }
  return {};
}

Step<void> read_type(Cursor& cursor, TensorInfo& tensor) {
  const std::uint64_t at = cursor.position();
  const std::uint32_t number = LS_TRY(cursor.number<std::uint32_t>("a tensor type"));
  const TypeInfo* info = find_type_info(number);
  if (info == nullptr) {
    const std::string_view why =
        is_removed_type(number) ? "which was removed from the format: convert the model again" : "which is not known";
    return stop(ErrorCode::unsupported_quant,
                join("tensor ", quoted(tensor.name), " has type ", number, " (byte ", at, "), ", why));
  }
  tensor.type = info->type;
  return {};
}

// Bytes of all values; nullopt if that, or the number of values, has more than 64 bits. A dimension of 0 counts
// as 1 for the overflow, so that the answer does not depend on the order of the dimensions.
std::optional<std::uint64_t> tensor_bytes(const TensorInfo& tensor) {
  std::uint64_t elements = 1;
  bool empty = false;
  for (const std::uint64_t dim : tensor.dims) {
    const auto product = checked_mul(elements, dim == 0 ? 1 : dim);
    if (!product) return std::nullopt;
    elements = *product;
    empty = empty || dim == 0;
  }
  const TypeInfo& info = type_info(tensor.type);
  const auto bytes = checked_mul(elements / info.block_elements, info.block_bytes);
  return empty && bytes ? 0 : bytes;
}

Result<void> place_tensor(TensorInfo& tensor, const DataArea& area) {
  if (tensor.offset % area.alignment != 0) {
    return fail(ErrorCode::bad_file, join(tensor_text(tensor), " has data offset ", tensor.offset,
                                          ", expected a multiple of ", area.alignment));
  }
  const auto begin = checked_add(area.begin, tensor.offset);
  const auto end = begin ? checked_add(*begin, tensor.bytes) : std::nullopt;
  if (!end) {
    return fail(ErrorCode::bad_file, join(tensor_text(tensor), " at data offset ", tensor.offset, " with ",
                                          tensor.bytes, " bytes ends beyond 2^64"));
  }
  // A tensor without bytes may stand where the data would begin, even if the file ends before the padding.
  const std::uint64_t limit = tensor.bytes == 0 ? std::max(area.begin, area.file_bytes) : area.file_bytes;
  if (*end > limit) {
    return fail(ErrorCode::truncated, join(tensor_text(tensor), " lies in bytes ", *begin, " to ", *end,
                                           ", but the file has ", area.file_bytes, " bytes"));
  }
  tensor.offset = *begin;
  return {};
}

Result<void> check_names(const std::vector<TensorInfo>& tensors, std::vector<std::size_t>& order) {
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(tensors[i].name, i); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (tensors[order[k - 1]].name != tensors[order[k]].name) continue;
    return fail(ErrorCode::bad_file, join("tensors ", order[k - 1], " and ", order[k], " have the same name ",
                                          quoted(tensors[order[k]].name)));
  }
  return {};
}

Result<void> check_overlaps(const std::vector<TensorInfo>& tensors, std::vector<std::size_t>& order) {
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(tensors[i].offset, i); });
  const TensorInfo* last = nullptr;  // the last tensor with bytes
  for (const std::size_t i : order) {
    const TensorInfo& tensor = tensors[i];
    if (tensor.bytes == 0) continue;
    if (last != nullptr && last->offset + last->bytes > tensor.offset) {
      return fail(ErrorCode::bad_file,
                  join(tensor_text(*last), " in bytes ", last->offset, " to ", last->offset + last->bytes, " overlaps ",
                       tensor_text(tensor), " at byte ", tensor.offset));
    }
    last = &tensor;
  }
  return {};
}

}  // namespace

Step<TensorInfo> read_tensor_row(Cursor& cursor) {
  TensorInfo tensor;
  tensor.name = LS_TRY(read_name(cursor));
  LS_CHECK(read_dims(cursor, tensor));
  LS_CHECK(read_type(cursor, tensor));
  tensor.offset = LS_TRY(cursor.number<std::uint64_t>("a tensor offset"));

  const TypeInfo& info = type_info(tensor.type);
  if (tensor.dims[0] % info.block_elements != 0) {
    return stop(ErrorCode::bad_file, join(tensor_text(tensor), " has rows of ", tensor.dims[0],
                                          " values, expected a multiple of ", info.block_elements));
  }
  const auto bytes = tensor_bytes(tensor);
  if (!bytes) return stop(ErrorCode::bad_file, join(tensor_text(tensor), " has more than 2^64 values or bytes"));
  tensor.bytes = *bytes;
  return tensor;
}

Result<void> place_tensors(std::vector<TensorInfo>& tensors, const DataArea& area) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  LS_CHECK(check_names(tensors, order));
  for (TensorInfo& tensor : tensors) LS_CHECK(place_tensor(tensor, area));
  return check_overlaps(tensors, order);
}

}  // namespace layerstream::gguf
