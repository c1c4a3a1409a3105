// NCCL's configuration files as values: variables that count where the environment has none.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/env_map.hpp"

namespace ringlet {

/// A variable that a file sets.
struct FileVariable {
  std::string value;
  std::string path;  ///< of the file
  bool operator==(const FileVariable&) const = default;
};

/// The variables that configuration files set. os::ReadConfFiles makes one.
struct FileVariables {
  std::map<std::string, FileVariable, std::less<>> values = {};
  std::vector<std::string> warnings = {};  ///< sentences: a file that cannot be read, a bad line

  /// Takes in the lines `NAME=value` of the file at `path`, as NCCL reads them: a line that begins
  /// with # is a comment, everything behind the first = is the value, a name that was set before
  /// stays as it is. A line that sets nothing, and one of more than kConfLineBytesMax, is a warning
  /// that names file and line.
  void Add(std::string_view text, std::string_view path);
};

/// Names the file to be read in place of ~/.nccl.conf.
inline constexpr std::string_view kConfFileVariable = "NCCL_CONF_FILE";

/// NCCL cuts longer lines; here they are refused.
inline constexpr std::size_t kConfLineBytesMax = 4095;

}  // namespace ringlet
