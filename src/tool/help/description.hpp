// The commands of the tool and their options as values, for completion, the reference page and the
// manual pages. The values are read from the parser, so they match it.
#pragma once
#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

struct OptionDescription {
  std::vector<std::string> names;  ///< with dashes; empty: a positional argument
  std::string argument;            ///< name of a positional argument: "FILE"
  std::string help;
  std::string type = {};      ///< type of the value: "SIZE", "FILE"; empty if values are enumerated
  std::string range = {};     ///< "1 to 4096"; empty: any value
  std::string fallback = {};  ///< default value; empty: no default
  bool takes_value = false;
  bool takes_file = false;
  bool required = false;
  bool repeated = false;                 ///< takes several values
  std::vector<std::string> values = {};  ///< enumerated values
  bool operator==(const OptionDescription&) const = default;
};

struct CommandDescription {
  std::string path;  ///< " bench all_reduce": each word follows a space; "" is the tool
  std::string help;
  std::vector<std::string> aliases;  ///< aliases of the last word
  std::vector<OptionDescription> options;
  std::vector<std::string> examples;
  std::string remarks;  ///< the footer of the help after the examples
  std::vector<CommandDescription> commands;
};

OptionDescription DescribeOption(const CLI::Option& option);

/// Describes the help of `tool` and of each command. Omits hidden options.
CommandDescription Describe(const CLI::App& tool);

/// Visits `command` and all commands below it, in the order of the help.
void Walk(const CommandDescription& command,
          const std::function<void(const CommandDescription&)>& visit);

/// Returns true if a program with its own arguments follows the options.
bool AcceptsProgram(const CommandDescription& command);

/// Returns a name such as "ringlet bench all_reduce".
std::string FullName(const CommandDescription& command);
/// Returns a word such as "all_reduce".
std::string LastWord(const CommandDescription& command);

/// The options of one command, without --help and without those of an earlier command.
struct OwnOptions {
  const CommandDescription* like = nullptr;  ///< has most of the options; null: all are own
  std::vector<const OptionDescription*> own;
  std::vector<std::string> lacking;  ///< names of options of `like` that this command does not have
};
/// Returns the own options of the command at `index` below `parent`, so that none is listed twice.
OwnOptions OwnOptionsOf(const CommandDescription& parent, std::size_t index);

/// Returns all options as own options.
OwnOptions AllOptionsOf(const CommandDescription& command);

/// Returns a sentence about the options of `like` that this command lacks; "" if `like` is null.
std::string SharedText(const OwnOptions& options);

/// Returns a synopsis such as "ringlet topo show [OPTIONS] [FILE]".
std::string SynopsisOf(const CommandDescription& command);
/// Returns "SIZE", "UINT, 1 to 64" or "tree, ring"; "FILE..." for several; "" for flags.
std::string ValueText(const OptionDescription& option);

/// A type of option values.
struct ValueType {
  std::string_view name;     ///< "SIZE"
  std::string_view meaning;  ///< meaning with units
  std::string_view example;
};
/// Returns the types of all options.
std::vector<ValueType> ValueTypes();

}  // namespace ringlet::cli
