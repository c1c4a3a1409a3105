// What a library owes the program in whose process it runs a thread.
#pragma once

namespace ringlet::os {

/// For a thread of ours, first thing: signals go to the program's own threads, and the thread has a
/// name in ps and gdb (at most 15 characters are kept).
void BecomeServiceThread(const char* name);

}  // namespace ringlet::os
