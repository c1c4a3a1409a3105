// Text functions that several parsers share. They work on bytes and ignore the locale.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet {

/// A decimal (12), hexadecimal (0xc) or octal (014) number that spans all of `text`. Empty for
/// other text and beyond 64 bits.
std::optional<std::uint64_t> ParseUnsigned(std::string_view text);

/// Like ParseUnsigned, but decimal only (007 is 7), as the kernel writes numbers.
std::optional<std::uint64_t> ParseDecimal(std::string_view text);

/// The parts between separators, including empty ones. One empty part for an empty text.
std::vector<std::string_view> Split(std::string_view text, char separator);

/// Removes spaces, tabs and newlines at both ends.
std::string_view Trim(std::string_view text);

/// Orders names by the numbers in them: "host-2" is before "host-10".
bool IsNaturallyBefore(std::string_view a, std::string_view b);

/// Compares text without regard to the case of ASCII letters.
bool EqualIgnoringCase(std::string_view a, std::string_view b);

/// The number of letters to insert, remove, replace or swap with the next to turn `a` into `b`
/// (optimal string alignment). O(|a| |b|) time.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// `text` with each control character as \n, \t or \x1b. Backslashes stay unchanged. A stranger's
/// bytes cannot forge lines of a log or steer a terminal. Cut with "..." to at most `bytes_max`.
std::string Printable(std::string_view text, std::size_t bytes_max);

/// `text` escaped for an attribute or between tags of XML and SVG.
std::string EscapedXml(std::string_view text);

/// `text` in double quotes, with quotes, backslashes and control characters escaped as in JSON.
std::string Quoted(std::string_view text);

}  // namespace ringlet
