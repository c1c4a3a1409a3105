// The main function of these tests. A bench starts the program that it is part of again, once a
// rank: here that is the tests, which are then the tool.
#include <gmock/gmock.h>

#include <string_view>

#include "frontends/cli/tool.hpp"

int main(int argument_count, char** arguments) {
  if (argument_count > 1 && arguments[1] == std::string_view("bench"))
    return ringlet::cli::RunTool({arguments + 1, arguments + argument_count});
  testing::InitGoogleMock(&argument_count, arguments);
  return RUN_ALL_TESTS();
}
