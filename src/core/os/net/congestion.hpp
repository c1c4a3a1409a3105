// How TCP of this machine finds out how fast it may send.
#pragma once
#include <string>
#include <string_view>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Whether this process may choose the congestion control `name`, such as "cubic". Tries it on a
/// socket that goes nowhere: a few microseconds.
/// Errors  kInvalidArgument  the kernel has none of that name, or does not permit it to this
///                           process; the sentence names those that may be chosen
///         kSystem           no descriptors left
Status CheckCongestionControl(const std::string& name);

/// Has the TCP socket use it from now on, in the direction in which it sends.
/// Errors  kInvalidArgument  as CheckCongestionControl
Status SetCongestionControl(const Fd& socket, const std::string& name);

/// The one that a socket uses; empty where the kernel does not tell.
std::string CongestionControlOf(const Fd& socket);

/// The kernel's list, blank between: all that it has loaded, and those for all users.
struct CongestionControls {
  std::string available, permitted;
};
/// Why `name` cannot be had, as a sentence. Pure. \param os_errno  of setsockopt
std::string WhyNotCongestion(std::string_view name, int os_errno, const CongestionControls& known);

}  // namespace ringlet::os
