// Numbers as NCCL's files have them.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringlet::topology {

/// NCCL's value of the text of an integer attribute: it reads decimal, hexadecimal (0x) and, if the
/// text starts with 0, octal; stops at the first strange character; and takes 0 if there is no
/// number at all.
struct NcclNumber {
  std::int64_t value = 0;  ///< at most 2^53 in magnitude
  bool whole = false;      ///< all of the text was the number
  bool octal = false;      ///< and would be another one in decimal
};
NcclNumber ParseNcclNumber(std::string_view text);

/// 1 to 16 hex digits, with or without 0x: `guid`, `host_hash`.
std::optional<std::uint64_t> ParseHex64(std::string_view text);

/// A decimal number of microseconds such as "1.5", in ns; digits below a ns are dropped. Empty for
/// anything else and for more than 4 s.
std::optional<std::uint32_t> ParseMicroseconds(std::string_view text);

}  // namespace ringlet::topology
