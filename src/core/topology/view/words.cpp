#include "topology/view/words.hpp"

#include <charconv>

namespace ringlet::topology {
namespace {

/// Removes the escape after a backslash from the front of `rest`.
std::optional<char> TakeEscape(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == '"' || kind == '\\') return kind;
  unsigned value = 0;
  constexpr std::size_t kDigits = 4;
  if (kind != 'u' || rest.size() < kDigits) return std::nullopt;
  const char* const end = rest.data() + kDigits;
  const auto [at, error] = std::from_chars(rest.data(), end, value, 16);
  if (error != std::errc() || at != end || value > 0x7f) return std::nullopt;
  rest.remove_prefix(kDigits);
  return static_cast<char>(value);
}

/// Removes a quoted word from the front of `rest`. Its opening quote is already removed.
std::optional<std::string> TakeQuoted(std::string_view& rest) {
  std::string word;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '"') return word;
    if (c != '\\') {
      word += c;
      continue;
    }
    const std::optional<char> escaped = TakeEscape(rest);
    if (!escaped) return std::nullopt;
    word += *escaped;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> Words(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t first = line.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return words;
    line.remove_prefix(first);
    if (line.front() == '"') {
      line.remove_prefix(1);
      std::optional<std::string> word = TakeQuoted(line);
      if (!word) return std::nullopt;
      words.push_back(*std::move(word));
      if (!line.empty() && kSpace.find(line.front()) == std::string_view::npos) return std::nullopt;
    } else {
      const std::size_t end = std::min(line.find_first_of(kSpace), line.size());
      words.emplace_back(line.substr(0, end));
      line.remove_prefix(end);
    }
  }
}

}  // namespace ringlet::topology
