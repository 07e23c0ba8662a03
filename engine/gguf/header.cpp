// SPDX-License-Identifier: MIT
// The GGUF header parser. It reads the prefix once from the start, keeping views into it; only when the
// header is complete are its bytes copied and the views moved to the copy. So what an attempt costs is
// bounded by the bytes that are really there, whatever counts the file announces.

#include "gguf/header.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/checked.h"
#include "gguf/cursor.h"
#include "gguf/message_text.h"
#include "gguf/tensor_table.h"

namespace layerstream::gguf {

class HeaderParser {
 public:
  HeaderParser(std::span<const std::byte> prefix, std::uint64_t file_bytes)
      : prefix_(prefix), file_bytes_(file_bytes), cursor_(prefix, file_bytes) {}

  [[nodiscard]] Step<Header> run();

 private:
  [[nodiscard]] Step<void> read_preamble();
  [[nodiscard]] Step<void> check_version();
  [[nodiscard]] Step<void> check_counts();
  [[nodiscard]] Step<void> read_pair();
  [[nodiscard]] Step<Value> read_value();
  [[nodiscard]] Step<void> read_array(Value& value);
  [[nodiscard]] Step<void> check_bools(std::span<const std::byte> bytes) const;
  [[nodiscard]] Result<Header> finish();

  std::span<const std::byte> prefix_;
  std::uint64_t file_bytes_;
  Cursor cursor_;
  std::uint32_t version_ = 0;
  std::uint64_t n_tensors_ = 0;
  std::uint64_t n_pairs_ = 0;
  std::vector<Metadata::Pair> pairs_;  // views into the prefix
  std::vector<TensorInfo> tensors_;    // names are views into the prefix, offsets relative to the data
};

namespace {

constexpr std::uint32_t kLastValueType = static_cast<std::uint32_t>(ValueType::f64);
constexpr std::uint32_t kArrayType = static_cast<std::uint32_t>(ValueType::array);

// Adds where in the file's lists an error was met.
std::unexpected<Stop> in_item(Stop stopped, std::string_view list, std::uint64_t i, std::uint64_t count) {
  if (stopped.is_error()) {
    stopped.error.message += join(" (", list, " ", i + 1, " of ", count, ")");
  }
  return std::unexpected(std::move(stopped));
}

Result<std::uint64_t> read_alignment(const Metadata& metadata) {
  const Value* value = metadata.find("general.alignment");
  if (value == nullptr) return kDefaultAlignment;
  if (value->type != ValueType::u32) {
    return fail(ErrorCode::bad_value,
                join("metadata key 'general.alignment' is ", value_type_name(value->type), ", expected u32"));
  }
  const std::uint64_t alignment = LS_TRY(metadata.get_uint("general.alignment")).value_or(0);
  if (alignment < kMinAlignment || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return fail(ErrorCode::bad_value, join("metadata key 'general.alignment' is ", alignment,
                                           ", expected a power of two from ", kMinAlignment, " to ", kMaxAlignment));
  }
  return alignment;
}

}  // namespace

Step<void> HeaderParser::check_version() {
  if (version_ == 2 || version_ == 3) return {};
  std::string why = "expected 2 or 3";
  if (version_ == 1) why = "whose 32-bit counts are not read: convert the model again";
  if (version_ != 0 && (version_ & 0xffffu) == 0) {
    why = "so its byte order is big-endian, which is not read: convert the model again";
  }
  return stop(ErrorCode::unsupported_version, join("the GGUF version is ", version_, ", ", why));
}

// Counts that the rest of the file cannot hold are refused before anything is read by them.
Step<void> HeaderParser::check_counts() {
  if (n_tensors_ > kMaxTensors) {
    return stop(ErrorCode::bad_file,
                join("the header announces ", n_tensors_, " tensors, expected at most ", kMaxTensors));
  }
  if (n_pairs_ > kMaxPairs) {
    return stop(ErrorCode::bad_file,
                join("the header announces ", n_pairs_, " metadata pairs, expected at most ", kMaxPairs));
  }
  const std::uint64_t least_bytes = n_tensors_ * kMinTensorBytes + n_pairs_ * kMinPairBytes;
  if (least_bytes > cursor_.file_bytes_left()) {
    return stop(ErrorCode::truncated,
                join("the header announces ", n_tensors_, " tensors and ", n_pairs_, " metadata pairs, at least ",
                     least_bytes, " bytes, but the file ends ", cursor_.file_bytes_left(), " bytes after the counts"));
  }
  return {};
}

Step<void> HeaderParser::read_preamble() {
  const auto magic = LS_TRY(cursor_.take(4, "the magic"));
  const std::string_view text(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (text != "GGUF") {
    return stop(ErrorCode::bad_magic, join("the file begins with ", quoted(text), ", expected 'GGUF'"));
  }
  version_ = LS_TRY(cursor_.number<std::uint32_t>("the version"));
  LS_CHECK(check_version());
  n_tensors_ = LS_TRY(cursor_.number<std::uint64_t>("the tensor count"));
  n_pairs_ = LS_TRY(cursor_.number<std::uint64_t>("the pair count"));
  return check_counts();
}

// `bytes` were taken last.
Step<void> HeaderParser::check_bools(std::span<const std::byte> bytes) const {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] <= std::byte{1}) continue;
    return stop(ErrorCode::bad_value, join("the bool at byte ", cursor_.position() - bytes.size() + i, " is ",
                                           std::to_integer<unsigned>(bytes[i]), ", expected 0 or 1"));
  }
  return {};
}

Step<void> HeaderParser::read_array(Value& value) {
  const std::uint32_t type = LS_TRY(cursor_.number<std::uint32_t>("an element type"));
  if (type > kLastValueType || type == kArrayType) {
    return stop(ErrorCode::bad_file, join("the element type at byte ", cursor_.position() - 4, " is ", type,
                                          ", expected a number or string type"));
  }
  value.element_type = static_cast<ValueType>(type);
  value.count = LS_TRY(cursor_.number<std::uint64_t>("an array length"));
  if (value.count > kMaxArrayElements) {
    return stop(ErrorCode::bad_file, join("the array length at byte ", cursor_.position() - 8, " is ", value.count,
                                          ", expected at most ", kMaxArrayElements));
  }
  const std::uint64_t begin = cursor_.position();
  if (value.element_type == ValueType::string) {
    // The lengths alone must fit: refuses a huge count at once.
    const std::uint64_t least_bytes = value.count * sizeof(std::uint64_t);
    if (least_bytes > cursor_.file_bytes_left()) LS_CHECK(cursor_.take(least_bytes, "an array of strings"));
    for (std::uint64_t i = 0; i < value.count; ++i) LS_CHECK(cursor_.string(kMaxStringBytes, "a string of an array"));
  } else {
    LS_CHECK(cursor_.take(value.count * value_type_bytes(value.element_type), "an array"));
  }
  value.bytes = cursor_.since(begin);
  if (value.element_type == ValueType::boolean) return check_bools(value.bytes);
  return {};
}

Step<Value> HeaderParser::read_value() {
  const std::uint32_t type = LS_TRY(cursor_.number<std::uint32_t>("a value type"));
  if (type > kLastValueType) {
    return stop(ErrorCode::bad_file,
                join("the value type at byte ", cursor_.position() - 4, " is ", type, ", expected 0 to 12"));
  }
  Value value;
  value.type = static_cast<ValueType>(type);
  if (value.type == ValueType::array) {
    LS_CHECK(read_array(value));
    return value;
  }
  const std::uint64_t begin = cursor_.position();
  if (value.type == ValueType::string) {
    LS_CHECK(cursor_.string(kMaxStringBytes, "a string value"));
  } else {
    LS_CHECK(cursor_.take(value_type_bytes(value.type), "a number"));
  }
  value.bytes = cursor_.since(begin);
  if (value.type == ValueType::boolean) LS_CHECK(check_bools(value.bytes));
  return value;
}

Step<void> HeaderParser::read_pair() {
  const std::uint64_t at = cursor_.position();
  const std::string_view key = LS_TRY(cursor_.string(kMaxKeyBytes, "a metadata key"));
  if (key.empty()) return stop(ErrorCode::bad_file, join("the metadata key at byte ", at, " is empty"));
  auto value = read_value();
  if (!value) {
    Stop stopped = std::move(value).error();
    if (stopped.is_error()) stopped.error.message += ", in metadata key " + quoted(key);
    return std::unexpected(std::move(stopped));
  }
  pairs_.push_back({key, *value});
  return {};
}

Step<Header> HeaderParser::run() {
  LS_CHECK(read_preamble());
  for (std::uint64_t i = 0; i < n_pairs_; ++i) {
    if (auto done = read_pair(); !done) return in_item(std::move(done).error(), "pair", i, n_pairs_);
  }
  for (std::uint64_t i = 0; i < n_tensors_; ++i) {
    auto row = read_tensor_row(cursor_);
    if (!row) return in_item(std::move(row).error(), "tensor", i, n_tensors_);
    tensors_.push_back(*row);
  }
  auto header = finish();
  if (!header) return std::unexpected<Stop>(Stop{std::move(header).error(), 0});
  return std::move(*header);
}

// Owns the bytes, moves every view to them, and makes the checks that need the whole header.
Result<Header> HeaderParser::finish() {
  Header header;
  const std::span<const std::byte> bytes = cursor_.since(0);
  header.storage_.reset(new (std::nothrow) std::byte[bytes.size()]);
  if (header.storage_ == nullptr) {
    return fail(ErrorCode::out_of_memory, join("could not allocate ", bytes.size(), " bytes for the header"));
  }
  std::memcpy(header.storage_.get(), bytes.data(), bytes.size());
  const auto moved = [&](const std::byte* at) { return header.storage_.get() + (at - prefix_.data()); };
  const auto moved_text = [&](std::string_view text) {
    return std::string_view(reinterpret_cast<const char*>(moved(reinterpret_cast<const std::byte*>(text.data()))),
                            text.size());
  };

  for (Metadata::Pair& pair : pairs_) {
    pair.value.bytes = {moved(pair.value.bytes.data()), pair.value.bytes.size()};
    if (!header.metadata_.add(moved_text(pair.key), pair.value)) {
      return fail(ErrorCode::bad_file, join("metadata key ", quoted(pair.key), " is there twice"));
    }
  }
  for (TensorInfo& tensor : tensors_) tensor.name = moved_text(tensor.name);
  // Models demand the key; here it only must not be of another type.
  LS_CHECK(header.metadata_.get_string("general.architecture"));

  const std::uint64_t alignment = LS_TRY(read_alignment(header.metadata_));
  const std::uint64_t data_begin = *checked_align(bytes.size(), alignment);  // both are far below 2^63
  LS_CHECK(place_tensors(tensors_, {data_begin, alignment, file_bytes_}));
  header.version_ = version_;
  header.tensors_ = std::move(tensors_);
  header.header_bytes_ = bytes.size();
  header.data_offset_ = std::min(data_begin, file_bytes_);
  header.file_bytes_ = file_bytes_;
  return header;
}

Result<std::variant<Header, NeedMore>> Header::parse(std::span<const std::byte> prefix, std::uint64_t file_bytes) {
  if (prefix.size() > file_bytes) {
    return fail(ErrorCode::bad_argument, join("the prefix has ", prefix.size(), " bytes, the file only ", file_bytes));
  }
  auto header = HeaderParser(prefix, file_bytes).run();
  if (header) return std::variant<Header, NeedMore>(std::move(*header));
  Stop& stopped = header.error();
  if (stopped.is_error()) return std::unexpected(std::move(stopped.error));
  const std::uint64_t grown = std::max({stopped.need_bytes, std::uint64_t{prefix.size()} * 2, kFirstReadBytes});
  // need_bytes is within both limits (Cursor::take), so this never asks for less than it.
  return std::variant<Header, NeedMore>(NeedMore{std::min({grown, file_bytes, kMaxHeaderBytes})});
}

}  // namespace layerstream::gguf
