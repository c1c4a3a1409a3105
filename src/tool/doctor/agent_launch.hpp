// The commands that become agents: this program itself here, or by ssh on another host.
#pragma once
#include <string>
#include <string_view>

#include "programs/child.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

struct RemoteOptions {
  std::string ssh = "ssh";  ///< a program and its options: takes a host and a command for its shell
  std::string tool;         ///< the path of `ringlet` there; where it is none, PATH has it
  std::uint32_t connect_timeout_s = 10;
};

/// Of an agent on this host.
os::Command LocalAgent(const EnvMap& environment);

/// Errors  kInvalidArgument  `ssh` names no program, or the path has a quote
Result<os::Command> RemoteAgent(std::string_view host, const RemoteOptions& options,
                                const EnvMap& environment);

/// The file of this program.
std::string OwnPath();

}  // namespace ringlet::cli
