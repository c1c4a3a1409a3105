#include "base/settings/conf_file.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::size_t kNameBytesShown = 100;

}  // namespace

void FileVariables::Add(std::string_view text, std::string_view path) {
  std::size_t number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (Trim(line).empty() || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    const auto warn = [&](std::string_view why) {
      warnings.push_back(fmt::format("{}:{} is ignored: {}", path, number, why));
    };
    if (line.size() > kConfLineBytesMax) {
      warn(fmt::format("the line has {} bytes, and the limit is {}", line.size(),
                       kConfLineBytesMax));
    } else if (equals == std::string_view::npos || equals == 0) {
      warn(fmt::format("{} does not set a variable; write NAME=value",
                       Quoted(Printable(line, kNameBytesShown))));
    } else if (const std::string_view name = line.substr(0, equals); name != Trim(name)) {
      warn(fmt::format(
          "blanks beside the name are part of it, and no variable is called {}; write "
          "{}=value",
          Quoted(Printable(name, kNameBytesShown)), Printable(Trim(name), kNameBytesShown)));
    } else {
      values.try_emplace(std::string(line.substr(0, equals)),
                         FileVariable{std::string(line.substr(equals + 1)), std::string(path)});
    }
  }
}

}  // namespace ringlet
