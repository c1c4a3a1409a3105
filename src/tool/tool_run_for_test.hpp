// Runs the tool, or one of its actions, and keeps its output.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tool/text/command.hpp"
#include "tool/tool.hpp"

namespace ringlet::cli {

struct ToolRun {
  int status;
  std::string output, errors;
};

inline ToolRun Captured(const Action& action) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = action();
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

/// \param arguments  the arguments after "ringlet"
inline ToolRun RunCommand(const std::vector<std::string>& arguments) {
  return Captured([&] { return RunTool(arguments); });
}

/// Runs `arguments` after a command such as "topo" or "bench init".
inline ToolRun RunCommand(std::vector<std::string> command,
                          const std::vector<std::string>& arguments) {
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunCommand(command);
}

/// Returns the path of a file below the root of the source tree.
inline std::string SourceFile(const std::string& path) {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  return source.parent_path().parent_path().parent_path() / path;
}

/// Returns the path of a file below test/fixtures.
inline std::string Fixture(const std::string& path) {
  return SourceFile("test/fixtures/" + path);
}

}  // namespace ringlet::cli
