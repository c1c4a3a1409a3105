#include "tool/text/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kTypedBytesMax = 64;  // longer words are not typing errors
constexpr std::size_t kPrefixBytesMin = 3;

// Words that differ strongly from the names of their commands.
constexpr std::array kOtherWords = {
    std::pair<std::string_view, std::string_view>{"simulate", "predict"}};

/// Returns the subcommand that the parser entered below `command`; null if there is none.
const CLI::App* EnteredBelow(const CLI::App& command) {
  const std::vector<CLI::App*> entered = command.get_subcommands();
  return entered.empty() ? nullptr : entered.front();
}

bool HasCommands(const CLI::App& command) {
  return !command.get_subcommands([](const CLI::App*) { return true; }).empty();
}

std::string ExplainWord(const CLI::App& command, const std::string& word) {
  const std::string shown = Quoted(word.substr(0, kTypedBytesMax));
  if (word.size() > 1 && word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option {}{}", shown, DidYouMean(name, OptionNames(command)));
  }
  if (!HasCommands(command)) return fmt::format("{} is not expected here", shown);
  return fmt::format("unknown command {}{}", shown, DidYouMean(word, CommandNames(command)));
}

/// Returns the only long option that begins with a letter. All short options are equally near.
std::string OptionFor(char letter, const std::vector<std::string>& known) {
  const std::string begin = fmt::format("--{}", static_cast<char>(letter | 0x20));
  const auto begins = [&](const std::string& name) { return name.starts_with(begin); };
  const auto found = std::ranges::find_if(known, begins);
  return std::ranges::count_if(known, begins) == 1 ? *found : "";
}

}  // namespace

std::string Nearest(std::string_view typed, const std::vector<std::string>& known) {
  if (typed.empty() || typed.size() > kTypedBytesMax) return {};
  if (typed.size() == 2 && typed.front() == '-') return OptionFor(typed.back(), known);
  const std::size_t edits_max = std::clamp<std::size_t>(typed.size() / 3, 1, 3);
  for (const auto& [word, meant] : kOtherWords)
    if (typed == word && std::ranges::find(known, meant) != known.end()) return std::string(meant);
  std::string nearest;
  std::size_t fewest = edits_max + 1;
  for (const std::string& name : known) {
    const bool begins = typed.size() >= kPrefixBytesMin && name.starts_with(typed);
    const std::size_t edits = begins ? 1 : EditDistance(typed, name);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest;
}

std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(typed, known);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (one->get_group().empty()) continue;
    names.push_back(one->get_name());
    names.insert(names.end(), one->get_aliases().begin(), one->get_aliases().end());
  }
  return names;
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string EnteredPath(const CLI::App& tool) {
  std::string path;
  for (const CLI::App* one = EnteredBelow(tool); one != nullptr; one = EnteredBelow(*one))
    path += (path.empty() ? "" : " ") + one->get_name();
  return path;
}

std::optional<std::string> ExplainUnexpected(const CLI::App& tool) {
  for (const CLI::App* one = &tool; one != nullptr; one = EnteredBelow(*one)) {
    const std::vector<std::string> unexpected = one->remaining();
    if (!unexpected.empty()) return ExplainWord(*one, unexpected.front());
  }
  return std::nullopt;
}

}  // namespace ringlet::cli
