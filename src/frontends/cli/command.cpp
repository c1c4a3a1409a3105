#include "frontends/cli/command.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ringlet::cli {

int Fail(std::string_view command, const Error& error) {
  Tell(command, error.message);
  return error.code == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

void Tell(std::string_view command, std::string_view text) {
  fmt::print(stderr, "ringlet {}: {}\n", command, text);
}

}  // namespace ringlet::cli
