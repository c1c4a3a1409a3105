// How TCP of this machine finds out how fast it may send.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "os/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// What links are to use: `wanted`, such as "cubic". Where that is empty, the kernel's default,
/// which is given as the empty text; but cubic or else reno where that is bbr and this process may
/// choose them (docs/decisions/0043). Tries it on a socket that goes nowhere: a few microseconds.
/// Errors  kInvalidArgument  the kernel has none of that name, or does not permit it to this
///                           process; the sentence names those that may be chosen
///         kSystem           no descriptors left
Result<std::string> LinkCongestionControl(const std::string& wanted);

/// Has the TCP socket use it from now on, in the direction in which it sends.
/// Errors  kInvalidArgument  as LinkCongestionControl
Status SetCongestionControl(const Fd& socket, const std::string& name);

/// The one that a socket uses; empty where the kernel does not tell.
std::string CongestionControlOf(const Fd& socket);

/// The same, by what the kernel says. Pure. \param may_choose  tries a name
Result<std::string> PickCongestion(const std::string& wanted, std::string_view kernels_own,
                                   const std::function<Status(const std::string&)>& may_choose);

/// What the kernel lists, blank between: all that it has loaded, and those for everybody.
struct CongestionControls {
  std::string available, permitted;
};
/// Why `name` cannot be had, as a sentence. Pure. \param os_errno  of setsockopt
std::string WhyNotCongestion(std::string_view name, int os_errno, const CongestionControls& known);

}  // namespace ringlet::os
