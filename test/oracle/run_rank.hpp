// Runs a program's ranks: those of one process.
#pragma once
#include "page.hpp"
#include "program.hpp"

namespace oracle {

/// The exit status of a rank's process.
enum ExitCode { kExitPassed = 0, kExitFailed = 3, kExitRefused = 4 };

/// Runs all ranks of `process`, each of its threads on a thread of its own.
///
/// \param may_refuse  an error of the library ends the program without being a failure
/// \return an ExitCode. The error is on the page.
int RunProcess(const Program& program, int process, bool may_refuse, Page& page);

/// Forms a communicator of two ranks in this process, uses it and ends it: for ranks forked
/// afterwards. Throws Refusal or Failure.
void UseLibrary();

}  // namespace oracle
