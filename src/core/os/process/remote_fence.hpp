// Full memory barriers where other processes run, so that those who make news often need none of
// their own: who is about to sleep makes one for all of them.
//
// Source  membarrier(2), MEMBARRIER_CMD_GLOBAL_EXPEDITED, Linux 4.16.
#pragma once

namespace ringlet::os {

/// From its return on the threads of this process take part in the fences of others. Any thread,
/// any number of times. False: the kernel has no such thing, or a sandbox forbids it.
/// Cost  the first call, in a process with several threads, 5 to 20 ms of sleep: the kernel waits
///       until each core has changed threads
bool JoinRemoteFences();
/// Whether a call of it has returned true. Any thread.
bool HasJoinedRemoteFences();

/// A full memory barrier on every thread that runs now, of every process that has joined, and on
/// this one. Microseconds. False: nothing was done.
bool RemoteFence();

}  // namespace ringlet::os
