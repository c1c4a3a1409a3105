// The main function of these tests. A bench restarts its own program once per rank, and a doctor
// once per host. Here that program is the test binary, which then acts as the tool.
#include <gmock/gmock.h>

#include <string_view>

#include "tool/tool.hpp"

int main(int argument_count, char** arguments) {
  const std::string_view command = argument_count > 1 ? arguments[1] : "";
  if (command == "bench" || command == "doctor")
    return ringlet::cli::RunTool({arguments + 1, arguments + argument_count});
  testing::InitGoogleMock(&argument_count, arguments);
  return RUN_ALL_TESTS();
}
