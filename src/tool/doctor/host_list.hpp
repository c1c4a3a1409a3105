// Parses host names in the formats of users and launchers. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

inline constexpr std::size_t kDoctorHostsMax = 1024;

/// Parses a list such as "a,b,node[01-03,7]". Keeps the order and removes duplicates. Drops a
/// suffix after a colon, as in `node:8` and `node:slots`, but keeps IPv6 addresses.
/// Errors  kInvalidArgument  the list is empty or too long, or a name begins with - or has blanks
Result<std::vector<std::string>> ParseHostList(std::string_view text);

/// Parses a hostfile of mpirun, Slurm or Horovod. A line has a name and may have more words
/// ("slots=8"), which are ignored. A comment begins with #.
/// Errors  as ParseHostList
Result<std::vector<std::string>> ParseHostFile(std::string_view text);

}  // namespace ringlet::cli
