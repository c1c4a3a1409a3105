#include "tool/text/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

// Offsets of the columns in the table of `ringlet bench`; see CallText and PlacementText.
constexpr std::size_t kAfterSize = 12, kAfterCall = 52, kAfterOutOfPlace = 85, kAfterInPlace = 118;

std::string NarrowedLine(std::string line, std::size_t columns, bool in_place) {
  const auto drop = [&](std::size_t begin, std::size_t end) {
    if (line.size() > begin) line.erase(begin, end - begin);
  };
  constexpr std::size_t kFull = 135;
  if (columns >= kFull) return line;
  if (columns < kFull - (kAfterCall - kAfterSize))
    in_place ? drop(kAfterCall, kAfterOutOfPlace) : drop(kAfterOutOfPlace, kAfterInPlace);
  drop(kAfterSize, kAfterCall);
  return line;
}

bool IsContinuation(char byte) {  // byte of a UTF-8 character after the first
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

std::string FittedLine(std::string_view line, std::size_t columns) {
  std::size_t shown = 0, cut = line.size();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (IsContinuation(line[i])) continue;
    if (++shown == columns) cut = i;
    if (shown > columns) return std::string(line.substr(0, cut)) + "\u2026";
  }
  return std::string(line);
}

template <typename Change>
std::string EachLine(std::string_view text, const Change& change) {
  std::string changed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    changed += change(text.substr(0, end));
    if (end < text.size()) changed += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return changed;
}

}  // namespace

bool WantsColors(const EnvMap& environment) {
  const auto no_color = environment.find("NO_COLOR");
  if (no_color != environment.end() && !no_color->second.empty()) return false;
  const auto term = environment.find("TERM");
  return term == environment.end() || term->second != "dumb";
}

bool HasColors(std::FILE* stream) {
  return ::isatty(::fileno(stream)) != 0 && WantsColors(os::ReadEnvironment());
}

std::string Highlighted(std::string_view text, bool colors) {
  return colors ? fmt::format("\x1b[1;31m{}\x1b[0m", text) : std::string(text);
}

std::size_t ColumnsOf(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string Fitted(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  return EachLine(text, [&](std::string_view line) { return FittedLine(line, columns); });
}

void PrintFitted(std::string_view text) {
  fmt::print("{}", Fitted(text, ColumnsOf(stdout)));
}

std::string NarrowedRows(std::string_view rows, std::size_t columns, bool in_place) {
  if (columns == 0) return std::string(rows);
  return EachLine(rows, [&](std::string_view line) {
    return NarrowedLine(std::string(line), columns, in_place);
  });
}

std::string NarrowedHead(std::string_view head, std::size_t columns, bool in_place) {
  constexpr std::string_view kBegin = "\n#\n";
  const std::size_t begin = head.find(kBegin);
  if (columns == 0 || begin == std::string_view::npos) return std::string(head);
  const std::size_t table = begin + kBegin.size();
  return Fitted(head.substr(0, table), columns) +
         NarrowedRows(head.substr(table), columns, in_place);
}

}  // namespace ringlet::cli
