// Full memory barriers on the threads of other processes. A thread that is about to sleep makes one
// for all of them, so that frequent writers need none of their own.
//
// Source  membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED, Linux 4.16.
#pragma once

namespace ringlet::os {

/// Makes the threads of this process take part in the fences of others. Any thread, any number of
/// times. Returns false if the kernel lacks the call or a sandbox forbids it.
/// Cost  the first call, in a process with several threads, 5 to 20 ms of sleep: the kernel waits
/// until each core has changed threads
bool JoinRemoteFences();
/// Returns true if a call of JoinRemoteFences has returned true. Any thread.
bool HasJoinedRemoteFences();

/// Makes a full memory barrier on every running thread of every joined process, and on this one.
/// Takes microseconds. Returns false if it did nothing.
bool RemoteFence();

}  // namespace ringlet::os
