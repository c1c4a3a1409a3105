// NCCL's configuration files as values: variables that apply if the environment does not set them.
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

/// The variables set by configuration files. os::ReadConfFiles makes one.
struct FileVariables {
  std::map<std::string, FileVariable, std::less<>> values = {};
  std::vector<std::string> warnings = {};  ///< sentences: an unreadable file, a bad line

  /// Adds the lines `NAME=value` of the file at `path`, as NCCL reads them: # begins a comment
  /// line, the value is everything after the first =, and the first value of a name counts. A line
  /// that sets no variable, or exceeds kConfLineBytesMax, adds a warning that names file and line.
  void Add(std::string_view text, std::string_view path);
};

/// The variable with the path of a file to read instead of ~/.nccl.conf.
inline constexpr std::string_view kConfFileVariable = "NCCL_CONF_FILE";

/// NCCL truncates longer lines. Ringlet refuses them.
inline constexpr std::size_t kConfLineBytesMax = 4095;

}  // namespace ringlet
