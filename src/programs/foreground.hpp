// A program in the place of this process: its terminal, streams and signals, while this process
// stays and waits.
#pragma once
#include <string>
#include <vector>

#include "programs/child.hpp"

namespace ringlet::os {

/// Runs a program until it ends. It has the standard streams, the process group and the signal
/// actions of this process. Signals that others send to this process are passed on to it; those of
/// the terminal reach it anyway. When this process dies, the kernel kills it.
///
/// Before this process starts threads, as SignalQueue.
///
/// \param arguments    the program, found by this process's PATH, then its own
/// \param environment  all of it
/// Errors  kSystem  the program cannot be run (the sentence names it), or there are no processes
///                  or descriptors left
Result<ChildExit> RunInForeground(std::vector<std::string> arguments, const EnvMap& environment);

/// Makes this process the program, which keeps its process id. Returns only where that fails.
/// Errors  kSystem  the program cannot be run; the sentence names it
Error BecomeProgram(std::vector<std::string> arguments, const EnvMap& environment);

/// Ends this process as a program has ended: by the same signal, or with the same status. A signal
/// that does not end it becomes the status that a shell would give.
[[noreturn]] void EndLike(const ChildExit& ended);

}  // namespace ringlet::os
