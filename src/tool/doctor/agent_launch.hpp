// The commands that start agents: this program itself on this host, or through ssh on another host.
#pragma once
#include <string>
#include <string_view>

#include "programs/child.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

struct RemoteOptions {
  std::string ssh = "ssh";  ///< a program with options; receives a host and a command for its shell
  std::string tool;         ///< the path of `ringlet` on that host; else it is searched in PATH
  std::uint32_t connect_timeout_s = 10;
};

/// Returns the command that starts an agent on this host.
os::Command LocalAgent(const EnvMap& environment);

/// Errors  kInvalidArgument  `ssh` does not name a program, or the path has a quote
Result<os::Command> RemoteAgent(std::string_view host, const RemoteOptions& options,
                                const EnvMap& environment);

/// Returns the path of this program.
std::string OwnPath();

}  // namespace ringlet::cli
