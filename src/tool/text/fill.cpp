#include "tool/text/fill.hpp"

#include <algorithm>

namespace ringlet::cli {
namespace {

/// Returns the number of columns: the bytes that begin a character.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

/// Returns the end of the first word of `text`. Blanks within a link do not end it.
std::size_t WordEnd(std::string_view text) {
  const std::size_t blank = std::min(text.find_first_of(" \n"), text.size());
  const std::size_t open = text.find('[');
  if (open >= blank) return blank;
  const std::size_t middle = text.find("](", open);
  const std::size_t other = text.find('[', open + 1);  // starts another link instead
  if (middle == std::string_view::npos || other < middle) return blank;
  const std::size_t close = text.find(')', middle);
  if (close == std::string_view::npos || close < blank) return blank;
  return std::min(text.find_first_of(" \n", close), text.size());
}

}  // namespace

std::string Filled(std::string_view text, std::size_t columns, std::string_view indent) {
  std::string filled;
  std::size_t column = 0;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    if (text.empty()) return filled.empty() ? filled : filled + "\n";
    const std::string_view word = text.substr(0, WordEnd(text));
    const bool begins = filled.empty();
    const std::size_t width = Width(word);
    if (!begins && column + 1 + width > columns) {
      filled += "\n";
      filled += indent;
      column = indent.size();
    } else if (!begins) {
      filled += ' ';
      ++column;
    }
    filled += word;
    column += width;
    text.remove_prefix(word.size());
  }
}

}  // namespace ringlet::cli
