#pragma once
// SPDX-License-Identifier: MIT
// The caps a GGUF header must keep to, beside being no longer than its file. They bound the memory one header
// can cost (well below a gigabyte, also in a 32-bit address space) and are far above real files:
// the largest vocabularies have 262 208 tokens and 515 000 merges in 8 to 16 MiB of header.

#include <cstdint>

namespace layerstream::gguf {

inline constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{128} << 20;
inline constexpr std::uint64_t kMaxPairs = 1u << 17;          // files with 32 768 pairs exist as tests
inline constexpr std::uint64_t kMaxTensors = 1u << 17;        // Mixtral 8x7B with one tensor per expert: 995
inline constexpr std::uint64_t kMaxKeyBytes = 65535;          // GGUF specification
inline constexpr std::uint64_t kMaxStringBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMaxArrayElements = 1u << 22;  // getters widen elements to 8 or 16 bytes
inline constexpr std::uint64_t kMaxTensorNameBytes = 63;      // ggml keeps 64 with the closing NUL
inline constexpr std::uint32_t kMaxDims = 4;
inline constexpr std::uint64_t kDefaultAlignment = 32;
inline constexpr std::uint64_t kMinAlignment = 8;
inline constexpr std::uint64_t kMaxAlignment = 1u << 20;
inline constexpr std::uint64_t kMaxParts = 65535;             // split.count is a u16 where it is written

// Smallest first read that Header::parse asks for: most headers without a vocabulary fit, one request on a network.
inline constexpr std::uint64_t kFirstReadBytes = 64u << 10;

// magic, version, tensor count, pair count
inline constexpr std::uint64_t kPreambleBytes = 4 + 4 + 8 + 8;
// key length, one key byte, type, one byte of value
inline constexpr std::uint64_t kMinPairBytes = 8 + 1 + 4 + 1;
// name length, one name byte, dimension count, type, offset
inline constexpr std::uint64_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;

}  // namespace layerstream::gguf
