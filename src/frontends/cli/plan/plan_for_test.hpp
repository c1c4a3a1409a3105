// Runs commands of the tool that show plans, and keeps what they printed.
#pragma once
#include "frontends/cli/topo/topo_for_test.hpp"

namespace ringlet::cli {

inline TopoRun RunPlan(const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = RunTool(arguments);
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

}  // namespace ringlet::cli
