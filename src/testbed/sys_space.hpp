// A private /sys (Linux mount namespace) for this process and its children.
#pragma once
#include "ringlet/status.hpp"
#include "testbed/sys_tree.hpp"

namespace ringlet::testbed {

/// Creates a mount namespace with a /sys of the entries of `tree`. The computer's own entries stay
/// if `tree` admits them. /proc/cpuinfo is kSysCpuInfo, if `tree` has it. The namespace has no name
/// outside, so it ends with the last process in it. A user other than root also gets a user
/// namespace, in which programs cannot become another user (sudo).
///
/// Call it before this process has threads. After an error /sys is unchanged.
/// Errors  kUnsupported  the process lacks rights, or the kernel lacks support; the message has the
///                       requirement
///         kSystem       a file of it cannot be created
Status EnterSysSpace(const SysTree& tree);

/// Makes the mounts of this process's mount namespace private: other namespaces do not see new
/// ones.
/// Errors  kSystem
Status MakeMountsPrivate();

}  // namespace ringlet::testbed
