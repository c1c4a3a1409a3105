// The commands of the tool with their options, as values: what completion, the reference page and
// the manual pages are made from. It is read from the parser, so that it holds what the parser
// takes.
#pragma once
#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

struct OptionDescription {
  std::vector<std::string> names;  ///< with dashes; none: an argument without a name
  std::string argument;            ///< of one without a name: "FILE"
  std::string help;
  std::string type = {};      ///< of its value: "SIZE", "FILE"; empty where values are enumerated
  std::string range = {};     ///< "1 to 4096"; empty: any
  std::string fallback = {};  ///< the value where none is given; empty: none
  bool takes_value = false;
  bool takes_file = false;
  bool required = false;
  bool repeated = false;                 ///< several values
  std::vector<std::string> values = {};  ///< where they are enumerated
  bool operator==(const OptionDescription&) const = default;
};

struct CommandDescription {
  std::string path;  ///< " bench all_reduce": each word after a space; "" is the tool
  std::string help;
  std::vector<std::string> aliases;  ///< of its last word
  std::vector<OptionDescription> options;
  std::vector<std::string> examples;
  std::string remarks;  ///< the further end of its help
  std::vector<CommandDescription> commands;
};

OptionDescription DescribeOption(const CLI::Option& option);

/// The contents of the help of `tool` and of each command. Hidden options are left out.
CommandDescription Describe(const CLI::App& tool);

/// `command` and then all below it, in the order of the help.
void Walk(const CommandDescription& command,
          const std::function<void(const CommandDescription&)>& visit);

/// Whether a program with arguments of its own follows the options.
bool TakesProgram(const CommandDescription& command);

/// "ringlet bench all_reduce".
std::string FullName(const CommandDescription& command);
/// "all_reduce".
std::string LastWord(const CommandDescription& command);

/// The options of one command, without --help and those that a command before it has as well.
struct OwnOptions {
  const CommandDescription* like = nullptr;  ///< has most of them; null: all are own
  std::vector<const OptionDescription*> own;
  std::vector<std::string> lacking;  ///< names of options that `like` has and this one has not
};
/// Of the command at `index` below `parent`. Options are said once where commands share them.
OwnOptions OwnOptionsOf(const CommandDescription& parent, std::size_t index);

/// All options, as those that a command does not share.
OwnOptions AllOptionsOf(const CommandDescription& command);

/// A sentence about what `like` has and this command has not; "" where there is no `like`.
std::string SharedText(const OwnOptions& options);

/// "ringlet topo show [OPTIONS] [FILE]".
std::string SynopsisOf(const CommandDescription& command);
/// "SIZE", "UINT, 1 to 64", "tree, ring"; several: "FILE...". "" of flags.
std::string ValueText(const OptionDescription& option);

/// A type of value that options have.
struct ValueType {
  std::string_view name;     ///< "SIZE"
  std::string_view meaning;  ///< with its units
  std::string_view example;
};
/// Those of all options.
std::vector<ValueType> ValueTypes();

}  // namespace ringlet::cli
