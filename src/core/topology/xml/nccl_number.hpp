// Parses numbers of NCCL's files.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringlet::topology {

/// NCCL's value of an integer attribute. NCCL reads decimal, hexadecimal (0x) and, after a leading
/// 0, octal. It stops at the first other character. Text without a number is 0.
struct NcclNumber {
  std::int64_t value = 0;  ///< at most 2^53 in magnitude
  bool whole = false;      ///< true if the number is the whole text
  bool octal = false;      ///< true if the text has another value in decimal
};
NcclNumber ParseNcclNumber(std::string_view text);

/// Parses 1 to 16 hex digits, with or without 0x: `guid`, `host_hash`.
std::optional<std::uint64_t> ParseHex64(std::string_view text);

/// Parses microseconds such as "1.5" into ns, rounded down. Null for other text, and above 4 s.
std::optional<std::uint32_t> ParseMicroseconds(std::string_view text);

}  // namespace ringlet::topology
