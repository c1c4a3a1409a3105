#include "tool/text/command.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "tool/text/terminal.hpp"

namespace ringlet::cli {

int Fail(std::string_view command, const Error& error) {
  const std::string begin = fmt::format("ringlet {}:", command);
  fmt::print(stderr, "{} {}\n", Highlighted(begin, HasColors(stderr)), error.message);
  return error.code == Code::kInvalidArgument ? kExitUsage : kExitFailed;
}

int ExitStatusOf(std::string_view command, const Status& done) {
  return done.ok() ? kExitDone : Fail(command, done.error());
}

void PrintNote(std::string_view command, std::string_view text) {
  fmt::print(stderr, "ringlet {}: {}\n", command, text);
}

EnvMap WithLogOnErrors(EnvMap environment) {
  const auto is_set = [&](const char* name) {
    const auto found = environment.find(name);
    return found != environment.end() && !found->second.empty();
  };
  if (!is_set("RINGLET_DEBUG_FILE") && !is_set("NCCL_DEBUG_FILE"))
    environment["RINGLET_DEBUG_FILE"] = "/dev/stderr";
  return environment;
}

}  // namespace ringlet::cli
