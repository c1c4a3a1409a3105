// Runs `ringlet topo ...` and keeps what it printed.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "frontends/cli/tool.hpp"

namespace ringlet::cli {

struct TopoRun {
  int status;
  std::string output, errors;
};

inline TopoRun RunTopo(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "topo");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunTool(arguments);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

/// A file below test/fixtures.
inline std::string Fixture(const std::string& path) {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  return source.parent_path().parent_path().parent_path().parent_path().parent_path() /
         "test/fixtures" / path;
}

}  // namespace ringlet::cli
