// The congestion control of TCP on this machine.
#pragma once
#include <string>
#include <string_view>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Checks that this process may choose the congestion control `name`, such as "cubic". Tries it on
/// an unconnected socket: a few microseconds.
/// Errors  kInvalidArgument  the kernel lacks it, or does not permit it to this process; the
///                           message lists the permitted ones
///         kSystem           no descriptors left
Status CheckCongestionControl(const std::string& name);

/// Makes the TCP socket use it from now on, for the data that it sends.
/// Errors  kInvalidArgument  as CheckCongestionControl
Status SetCongestionControl(const Fd& socket, const std::string& name);

/// The congestion control of a socket. Empty if the kernel does not report it.
std::string CongestionControlOf(const Fd& socket);

/// The kernel's lists, separated by blanks: all loaded ones, and those permitted to all users.
struct CongestionControls {
  std::string available, permitted;
};
/// The reason why `name` cannot be chosen, as a sentence. Pure. \param os_errno  of setsockopt
std::string WhyNotCongestion(std::string_view name, int os_errno, const CongestionControls& known);

}  // namespace ringlet::os
