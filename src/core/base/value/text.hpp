// Small questions about text that several readers share. Bytes only: no locale is consulted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet {

/// A decimal (12), hexadecimal (0xc) or octal (014) number, all of `text`; empty for anything else
/// and for what exceeds 64 bits.
std::optional<std::uint64_t> ParseUnsigned(std::string_view text);

/// As ParseUnsigned, but decimal only (007 is 7), as the kernel writes numbers.
std::optional<std::uint64_t> ParseDecimal(std::string_view text);

/// The parts between separators, empty ones included; one empty part for an empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);

/// Without the spaces, tabs and newlines at both ends.
std::string_view Trim(std::string_view text);

/// Order of names in which numbers count as such: "host-2" is before "host-10".
bool IsNaturallyBefore(std::string_view a, std::string_view b);

/// Equal but for the case of ASCII letters.
bool EqualIgnoringCase(std::string_view a, std::string_view b);

/// How many letters must be inserted, removed, replaced or swapped with the next to make `a` into
/// `b` (optimal string alignment).
/// O(|a| |b|) time.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// `text` with each control character as \n, \t or \x1b and each backslash left alone, so that a
/// stranger's bytes cannot forge lines of a log or steer a terminal. Cut with "..." to at most
/// `bytes_max`.
std::string Printable(std::string_view text, std::size_t bytes_max);

/// `text` as it stands in an attribute or between tags of XML and SVG.
std::string EscapedXml(std::string_view text);

/// `text` between double quotes, with quotes, backslashes and control characters escaped as in
/// JSON.
std::string Quoted(std::string_view text);

}  // namespace ringlet
