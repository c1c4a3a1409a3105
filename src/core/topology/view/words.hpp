// Splits a line of text into bare words and "quoted ones".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::topology {

/// Splits at spaces. A word in double quotes may contain spaces, and the escapes of Quoted() in
/// base/value/text.hpp (\" \\ \u00XX). Null if a quote is not closed or an escape is unknown.
std::optional<std::vector<std::string>> Words(std::string_view line);

}  // namespace ringlet::topology
