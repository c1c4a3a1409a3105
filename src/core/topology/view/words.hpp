// The words of one line of a text form: bare words and "quoted ones".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::topology {

/// Splits at spaces. A word in double quotes may hold spaces, and escapes as base/value/text.hpp's
/// Quoted writes them (\" \\ \u00XX). Empty when a quote is not closed or an escape is unknown.
std::optional<std::vector<std::string>> Words(std::string_view line);

}  // namespace ringlet::topology
