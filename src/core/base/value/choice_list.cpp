#include "base/value/choice_list.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"

namespace ringlet {
namespace {

constexpr std::size_t kChoiceBytesShown = 60;  // of a bad word in a message

}  // namespace

Result<std::vector<ChoiceEntry>> ParseChoiceList(std::string_view text, std::string_view setting) {
  std::vector<ChoiceEntry> entries;
  if (Trim(text).empty()) return entries;
  for (const std::string_view part : Split(text, ';')) {
    ChoiceEntry entry{.subject = {}, .list = Trim(part), .all_but = false, .names = {}};
    const std::size_t colon = entry.list.find(':');
    if (colon != std::string_view::npos) {
      entry.subject = Trim(entry.list.substr(0, colon));
      entry.list = Trim(entry.list.substr(colon + 1));
      if (entry.subject.empty())
        return BadChoice(setting, part, "the name before the colon is missing");
    } else if (!entries.empty()) {
      return BadChoice(setting, entry.list, "only the first list may omit its function");
    }
    std::string_view names = entry.list;
    entry.all_but = names.starts_with('^');
    if (entry.all_but) names.remove_prefix(1);
    for (const std::string_view name : Split(names, ',')) entry.names.push_back(Trim(name));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Error BadChoice(std::string_view setting, std::string_view word, std::string_view why) {
  return {Code::kInvalidArgument, fmt::format("{} has {}, but {}", setting,
                                              Quoted(Printable(word, kChoiceBytesShown)), why)};
}

}  // namespace ringlet
