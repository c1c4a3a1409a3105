#include "topo/lint/lint_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/xml/xml_text.hpp"

namespace ringlet::topology {
namespace {

/// The first byte outside of UTF-8 characters, and the number of such bytes.
struct OddBytes {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Returns the length of the character at the begin of `text`, or 0 if it is invalid.
std::size_t Utf8Length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  // An overlong form, a surrogate, or beyond the last character.
  const bool is_odd = (lead == 0xe0 && at(1) < 0xa0) || (lead == 0xed && at(1) > 0x9f) ||
                      (lead == 0xf0 && at(1) < 0x90) || (lead == 0xf4 && at(1) > 0x8f);
  return is_odd ? 0 : length;
}

OddBytes FindOddBytes(std::string_view text) {
  OddBytes odd;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = Utf8Length(text.substr(i));
    if (length == 0 && odd.count++ == 0) odd.first = i;
    i += std::max<std::size_t>(length, 1);
  }
  return odd;
}

}  // namespace

std::vector<Finding> LintBytes(std::string_view text, std::string_view file) {
  const OddBytes odd = FindOddBytes(text);
  if (odd.count == 0) return {};
  return {{.severity = Severity::kWarning,
           .rule = "invalid-utf8",
           .file = std::string(file),
           .at = LineIndex(text).At(odd.first),
           .path = "",
           .reason = fmt::format("byte 0x{:02x} is not valid UTF-8{}",
                                 static_cast<unsigned char>(text[odd.first]),
                                 odd.count > 1 ? fmt::format("; {} such bytes", odd.count) : ""),
           .cure = "save the file as UTF-8; editors, JSON and XML parsers reject the byte"}};
}

}  // namespace ringlet::topology
