// Formats counts: "1 rank", "2 ranks".
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace ringlet::cli {

/// \param many  the plural if it is not `one` with an s
inline std::string Counted(std::uint64_t count, std::string_view one, std::string_view many = "") {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace ringlet::cli
