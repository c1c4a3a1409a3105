#include "comm/establish/renumber.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "bootstrap/protocol.hpp"

namespace ringlet::comm {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Takes a number off the front.
std::optional<std::uint32_t> TakeNumber(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Takes "3" or "3-7" off the front. Returns empty if `text` does not begin with a rank's number.
std::vector<std::uint32_t> TakeRange(std::string_view& text,
                                     const std::vector<std::uint32_t>& numbers) {
  std::string_view rest = text;
  const auto first = TakeNumber(rest);
  if (!first || *first >= numbers.size()) return {};
  std::uint32_t last = *first;
  if (std::string_view behind = rest; behind.starts_with('-')) {
    behind.remove_prefix(1);
    const auto end = TakeNumber(behind);
    if (end && *end >= *first && *end < numbers.size()) {
      last = *end;
      rest = behind;
    }
  }
  text = rest;
  return {numbers.begin() + *first, numbers.begin() + last + 1};
}

// Takes a list of ranges off the front.
std::vector<std::uint32_t> TakeList(std::string_view& text,
                                    const std::vector<std::uint32_t>& numbers) {
  constexpr std::string_view kSeparators[] = {", ", ",", " and "};
  std::vector<std::uint32_t> all = TakeRange(text, numbers);
  for (bool more = !all.empty(); std::exchange(more, false);)
    for (const std::string_view separator : kSeparators) {
      if (more || !text.starts_with(separator)) continue;
      std::string_view behind = text.substr(separator.size());
      const std::vector<std::uint32_t> range = TakeRange(behind, numbers);
      more = !range.empty();
      if (more) text = behind;
      all.insert(all.end(), range.begin(), range.end());
    }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::string Renumbered(std::string_view text, const std::vector<std::uint32_t>& numbers) {
  std::string out;
  while (!text.empty()) {
    const bool starts_word = out.empty() || !IsLetter(out.back());
    const bool list = text.starts_with("ranks ");
    if (!starts_word || (!list && !text.starts_with("rank "))) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::size_t word = list ? 6 : 5;
    out += text.substr(0, word);
    text.remove_prefix(word);
    out += bootstrap::RangesText(list ? TakeList(text, numbers) : TakeRange(text, numbers));
  }
  return out;
}

}  // namespace ringlet::comm
