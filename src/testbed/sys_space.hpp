// A /sys of its own (Linux mount namespace) for this process and all that it starts.
#pragma once
#include "ringlet/status.hpp"
#include "testbed/sys_tree.hpp"

namespace ringlet::testbed {

/// Makes a mount namespace whose /sys has the entries of `tree` and, where these let them, the
/// computer's own; and whose /proc/cpuinfo is kSysCpuInfo, if it has that. Nothing of it has a name
/// outside, so that it is gone when the last process in it is. A user who is not root gets a user
/// namespace, too, in which programs cannot become another user (sudo).
///
/// Before this process has threads. After an error /sys is as it was.
/// Errors  kUnsupported  this process may not, or the kernel cannot: says what it takes
///         kSystem       a file of it cannot be made
Status EnterSysSpace(const SysTree& tree);

/// Makes the mounts of this process's mount namespace its own: no other namespace sees new ones.
/// Errors  kSystem
Status KeepMountsHere();

}  // namespace ringlet::testbed
