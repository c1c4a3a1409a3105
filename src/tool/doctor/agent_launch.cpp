#include "tool/doctor/agent_launch.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/value/text.hpp"

namespace ringlet::cli {

std::string OwnPath() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "ringlet" : path.string();
}

os::Command LocalAgent(const EnvMap& environment) {
  return {.arguments = {OwnPath(), "doctor", "--agent"}, .environment = environment};
}

Result<os::Command> RemoteAgent(std::string_view host, const RemoteOptions& options,
                                const EnvMap& environment) {
  os::Command command{.arguments = {}, .environment = environment};
  for (const std::string_view word : Split(options.ssh, ' '))
    if (!word.empty()) command.arguments.emplace_back(word);
  if (command.arguments.empty())
    return Error{Code::kInvalidArgument, "--ssh does not name a program"};
  if (options.tool.find('\'') != std::string::npos)
    return Error{Code::kInvalidArgument,
                 fmt::format("--tool {} contains a quote", Quoted(options.tool))};
  const std::string& program = command.arguments.front();
  // A prompt for a password would block, because the user cannot see it.
  if (program.substr(program.rfind('/') + 1) == "ssh")
    for (const std::string& option :
         {std::string("BatchMode=yes"), fmt::format("ConnectTimeout={}", options.connect_timeout_s),
          std::string("ServerAliveInterval=15")}) {
      command.arguments.emplace_back("-o");
      command.arguments.push_back(option);
    }
  command.arguments.emplace_back(host);
  command.arguments.push_back(
      fmt::format("exec sh -c 'if test -x \"$0\"; then exec \"$0\" doctor --agent; fi; "
                  "exec ringlet doctor --agent' '{}'",
                  options.tool));
  return command;
}

}  // namespace ringlet::cli
