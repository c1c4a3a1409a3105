// Runs a program in the place of this process, with its terminal, streams and signals. This process
// stays and waits.
#pragma once
#include <string>
#include <vector>

#include "programs/child.hpp"

namespace ringlet::os {

/// Runs a program until it ends. It has the standard streams, the process group and the signal
/// actions of this process. This process forwards the signals that others send to it; the
/// terminal's signals reach the program anyway. When this process dies, the kernel kills the
/// program.
///
/// Call it before this process starts threads, as SignalQueue.
///
/// \param arguments    the program, found by this process's PATH, then its own
/// \param environment  complete
/// Errors  kSystem  the program cannot run (the message names it), or processes or descriptors are
///                  exhausted
Result<ChildExit> RunInForeground(std::vector<std::string> arguments, const EnvMap& environment);

/// Replaces this process by the program, under the same process id. Returns only on failure.
/// Errors  kSystem  the program cannot run; the message names it
Error BecomeProgram(std::vector<std::string> arguments, const EnvMap& environment);

/// Ends this process in the way of a program: by the same signal, or with the same status. For a
/// signal that does not end it, the exit status is the shell's.
[[noreturn]] void ExitLike(const ChildExit& ended);

}  // namespace ringlet::os
