// Names of hosts as users and launchers write them. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

inline constexpr std::size_t kDoctorHostsMax = 1024;

/// "a,b,node[01-03,7]": in their order, each once. `node:8` and `node:slots` lose what is behind
/// the colon, but an address of IPv6 does not.
/// Errors  kInvalidArgument  no name, one that is none (begins with -, has blanks), too many
Result<std::vector<std::string>> ParseHostList(std::string_view text);

/// Lines of a hostfile of mpirun, Slurm or Horovod: a name, and what follows it ("slots=8") is left
/// out; # begins a comment.
/// Errors  as ParseHostList
Result<std::vector<std::string>> ParseHostFile(std::string_view text);

}  // namespace ringlet::cli
