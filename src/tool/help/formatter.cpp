#include "tool/help/formatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tool/help/description.hpp"
#include "tool/text/fill.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kTextColumn = 30;
constexpr std::size_t kTextColumnsMin = 20;  // if the terminal is too narrow for two columns
constexpr std::size_t kValuesBytesMax = 24;  // longer lists of values are in the text

std::string ValuesOf(const OptionDescription& option) {
  return fmt::format("{{{}}}", fmt::join(option.values, ","));
}

bool HasShortValues(const OptionDescription& option) {
  return !option.values.empty() && ValuesOf(option).size() <= kValuesBytesMax;
}

/// Returns "SIZE", "{ring,tree}" or "WORD".
std::string ValueName(const OptionDescription& option) {
  if (!option.takes_value) return "";
  if (HasShortValues(option)) return ValuesOf(option);
  return option.values.empty() ? option.type : "WORD";
}

// Sorts the names. CLI11 keeps options in the order of their addresses, which differs in each run.
std::string NamesOf(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* one : options) names.insert(one->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string TextOf(const CLI::Option& option, const OptionDescription& one) {
  std::vector<std::string> remarks;
  if (!one.values.empty() && !HasShortValues(one))
    remarks.push_back(fmt::format("one of {}", fmt::join(one.values, ", ")));
  if (!one.range.empty()) remarks.push_back(one.range);
  if (!one.fallback.empty()) remarks.push_back("default: " + one.fallback);
  if (one.required) remarks.emplace_back("required");
  if (!option.get_needs().empty()) remarks.push_back("with " + NamesOf(option.get_needs()));
  if (!option.get_excludes().empty())
    remarks.push_back("not with " + NamesOf(option.get_excludes()));
  if (remarks.empty()) return one.help;
  return fmt::format("{} ({})", one.help, fmt::join(remarks, "; "));
}

}  // namespace

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  const OptionDescription one = DescribeOption(*option);
  std::string name = is_positional ? one.argument : fmt::format("{}", fmt::join(one.names, ","));
  const std::string value = ValueName(one);
  if (!is_positional && !value.empty()) name += " " + value;
  if (one.repeated && is_positional) name += "...";
  return Entry(name, TextOf(*option, one));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return Entry(command->get_display_name(true), command->get_description());
}

std::string HelpFormatter::Entry(const std::string& name, const std::string& text) const {
  const std::string indent(kTextColumn, ' ');
  const std::size_t columns = std::max(columns_, kTextColumn + kTextColumnsMin) - kTextColumn;
  std::string entry = "  " + name;
  if (text.empty()) return entry + "\n";
  if (entry.size() + 1 >= kTextColumn)
    entry += "\n" + indent;
  else
    entry.resize(kTextColumn, ' ');
  for (const char byte : Filled(text, columns))
    entry += byte == '\n' ? "\n" + indent : std::string(1, byte);
  entry.resize(entry.size() - kTextColumn);
  return entry;
}

std::size_t HelpColumns() {
  const std::size_t columns = ColumnsOf(stdout);
  return columns == 0 ? kPageColumns : std::min(columns, kPageColumns);
}

}  // namespace ringlet::cli
