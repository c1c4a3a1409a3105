#include "base/value/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

namespace ringlet {
namespace {

std::optional<std::uint64_t> ParseInBase(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value, base);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

}  // namespace

std::optional<std::uint64_t> ParseUnsigned(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return ParseInBase(text.substr(2), 16);
  if (text.size() > 1 && text.front() == '0') return ParseInBase(text.substr(1), 8);
  return ParseInBase(text, 10);
}

std::optional<std::uint64_t> ParseDecimal(std::string_view text) {
  return ParseInBase(text, 10);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool IsNaturallyBefore(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view text) {
    const std::size_t end = text.find_first_not_of("0123456789");
    return text.substr(0, end);
  };
  while (!a.empty() && !b.empty()) {
    const std::string_view left = digits(a), right = digits(b);
    if (left.empty() || right.empty()) {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1), b.remove_prefix(1);
      continue;
    }
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
    a.remove_prefix(left.size()), b.remove_prefix(right.size());
  }
  return a.empty() && !b.empty();
}

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, row);
  }
  return last.back();
}

std::string Printable(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kCut = "...";
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (IsControl(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
    if (out.size() > bytes_max) {
      out.resize(bytes_max - std::min(bytes_max, kCut.size()));
      out += kCut.substr(0, bytes_max);
      break;
    }
  }
  return out;
}

std::string EscapedXml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default:
        if (static_cast<unsigned char>(c) < ' ') {
          escaped += fmt::format("&#{};", static_cast<unsigned>(c));
        } else {
          escaped += c;
        }
    }
  }
  return escaped;
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (IsControl(c)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace ringlet
