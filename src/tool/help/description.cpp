#include "tool/help/description.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "tool/help/examples.hpp"
#include "tool/text/value_types.hpp"

namespace ringlet::cli {
namespace {

/// Returns the text between `begin` and `end`; empty if one of them is missing.
std::string_view Between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t from = text.find(begin);
  if (from == std::string_view::npos) return {};
  const std::size_t to = text.find(end, from + begin.size());
  if (to == std::string_view::npos) return {};
  return text.substr(from + begin.size(), to - from - begin.size());
}

// CLI11 appends the text of checks to the type: "UINT:INT in [1 - 64]", "TEXT:{tree,ring}".
void DescribeType(const CLI::Option& option, OptionDescription& one) {
  const std::string type = option.get_type_name();
  for (const std::string_view value : Split(Between(type, "{", "}"), ','))
    if (!value.empty()) one.values.emplace_back(value);
  if (one.values.empty()) one.type = type.substr(0, type.find(':'));
  one.range = Between(type, "[", "]");
  if (const std::size_t dash = one.range.find(" - "); dash != std::string::npos)
    one.range.replace(dash, 3, " to ");
  one.takes_file = one.type == kFileType || one.type == kFolderType;
}

}  // namespace

OptionDescription DescribeOption(const CLI::Option& option) {
  OptionDescription one{.names = {}, .argument = "", .help = option.get_description()};
  for (const std::string& name : option.get_snames()) one.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) one.names.push_back("--" + name);
  if (one.names.empty()) one.argument = option.get_name(true);
  one.takes_value = option.get_items_expected_max() > 0;
  one.required = option.get_required();
  one.repeated = option.get_items_expected_max() > 1;
  if (!one.takes_value) return one;
  one.fallback = option.get_default_str();
  if (one.fallback.starts_with('[') && one.fallback.ends_with(']'))  // default of a list
    one.fallback = one.fallback.substr(1, one.fallback.size() - 2);
  DescribeType(option, one);
  return one;
}

namespace {

/// Removes the text that AddExamples inserted.
std::string WithoutExamples(std::string footer, const std::vector<std::string>& examples) {
  if (examples.empty()) return footer;
  const std::size_t end = footer.find("\n\n");
  return end == std::string::npos ? "" : footer.substr(end + 2);
}

CommandDescription CommandFrom(const CLI::App& command, const std::string& path) {
  CommandDescription one{.path = path,
                         .help = command.get_description(),
                         .aliases = command.get_aliases(),
                         .options = {},
                         .examples = ExamplesOf(Trim(path)),
                         .remarks = {},
                         .commands = {}};
  one.remarks = WithoutExamples(command.get_footer(), one.examples);
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty()) one.options.push_back(DescribeOption(*option));
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!below->get_group().empty())
      one.commands.push_back(CommandFrom(*below, path + " " + below->get_name()));
  return one;
}

std::size_t SharedBy(const CommandDescription& one, const CommandDescription& other) {
  return static_cast<std::size_t>(std::ranges::count_if(one.options, [&](const auto& option) {
    return std::ranges::count(other.options, option) > 0;
  }));
}

/// Returns true for --help, which each command has.
bool IsHelp(const OptionDescription& option) {
  return std::ranges::count(option.names, "--help") > 0;
}

std::string NameOf(const OptionDescription& option) {
  return option.names.empty() ? option.argument : option.names.back();
}

}  // namespace

CommandDescription Describe(const CLI::App& tool) {
  return CommandFrom(tool, "");
}

void Walk(const CommandDescription& command,
          const std::function<void(const CommandDescription&)>& visit) {
  visit(command);
  for (const CommandDescription& below : command.commands) Walk(below, visit);
}

bool AcceptsProgram(const CommandDescription& command) {
  return command.path == " run" || command.path == " emulate";
}

std::string FullName(const CommandDescription& command) {
  return "ringlet" + command.path;
}

std::string LastWord(const CommandDescription& command) {
  return command.path.substr(command.path.rfind(' ') + 1);
}

OwnOptions OwnOptionsOf(const CommandDescription& parent, std::size_t index) {
  // Fewer shared options are shorter to list than to refer to.
  constexpr std::size_t kSharedMin = 8;
  const CommandDescription& command = parent.commands.at(index);
  OwnOptions result;
  for (std::size_t i = 0; i < index && result.like == nullptr; ++i)
    if (SharedBy(command, parent.commands[i]) >= kSharedMin) result.like = &parent.commands[i];
  for (const OptionDescription& option : command.options)
    if (!IsHelp(option) &&
        (result.like == nullptr || std::ranges::count(result.like->options, option) == 0))
      result.own.push_back(&option);
  if (result.like == nullptr) return result;
  for (const OptionDescription& option : result.like->options)
    if (std::ranges::count(command.options, option) == 0) result.lacking.push_back(NameOf(option));
  return result;
}

OwnOptions AllOptionsOf(const CommandDescription& command) {
  OwnOptions all;
  for (const OptionDescription& option : command.options)
    if (!IsHelp(option)) all.own.push_back(&option);
  return all;
}

std::string SharedText(const OwnOptions& options) {
  if (options.like == nullptr) return "";
  std::string text = fmt::format("Takes the options of `{}`", FullName(*options.like));
  if (!options.lacking.empty())
    text += fmt::format(" without {}", fmt::join(options.lacking, ", "));
  return text + (options.own.empty() ? "." : "; and:");
}

std::string SynopsisOf(const CommandDescription& command) {
  std::string text = FullName(command);
  std::string arguments;
  bool options = false;
  for (const OptionDescription& option : command.options) {
    if (!option.names.empty()) {
      options = true;
      continue;
    }
    const std::string word = option.argument + (option.repeated ? "..." : "");
    arguments += option.required ? " " + word : fmt::format(" [{}]", word);
  }
  if (options) text += " [OPTIONS]";
  text += arguments;
  if (AcceptsProgram(command)) return text + " [--] PROGRAM [ARGUMENTS...]";
  return command.commands.empty() ? text : text + " COMMAND";
}

std::string ValueText(const OptionDescription& option) {
  if (!option.takes_value) return "";
  if (!option.values.empty()) return fmt::format("{}", fmt::join(option.values, ", "));
  std::string text = option.type + (option.repeated && option.names.empty() ? "..." : "");
  return option.range.empty() ? text : text + ", " + option.range;
}

std::vector<ValueType> ValueTypes() {
  return {
      {kSizeType, "bytes; K, M, G or KiB, MiB, GiB are powers of 1024, kB, MB, GB of 1000",
       "8, 64K, 1MiB, 1GB"},
      {kTimeType, "a time in ns, us, ms, s or min; 0 needs no unit", "100us, 1.5ms, 2s"},
      {kRateType, "a bandwidth in Mb/s, Gb/s (bits), MB/s or GB/s (bytes); 0 is unlimited",
       "10Gb/s, 1250MB/s"},
      {"UINT", "a whole number", "4"},
      {kNumbersType, "whole numbers, separated by commas", "8,64,512"},
      {kSecondsType, "seconds", "0.5"},
      {kFileType, "a path; - is standard input or output where the description allows it",
       "topology.xml"},
      {kFolderType, "a folder", "/mnt/other/machine"},
      {kMachineType, "a machine in words; brackets repeat and nest",
       "2x(numa: 2x(switch: 2 gpu, 1 nic))"},
      {kPartType, "a part of a machine: a GPU by rank, a port, a bus address, a NUMA node",
       "GPU0, mlx5_0, 0000:11:00.0, NUMA0"},
      {kChangeType, "a change of a machine: a part and its new setting",
       "GPU3 pcie=gen5x16, NICs rate=400Gb/s, remove mlx5_1"},
      {"TEXT", "words, in quotes where there are spaces", "h100"},
  };
}

}  // namespace ringlet::cli
