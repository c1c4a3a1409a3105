// SendQueues: the sockets of a rank's TCP links, for other threads to inspect at any time.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "base/wire/slow_send.hpp"
#include "os/net/send_queue.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// Returns true if `queue` drains so slowly that the network is at fault. At its rate it takes
/// longer to drain than any queue of a network that keeps up, or the peer has acknowledged nothing
/// for a second.
bool IsSlow(const os::SendQueue& queue);

/// Callable from any thread. Slow() queries the kernel under the lock that Add and Remove take.
class SendQueues {
 public:
  void Add(Rank peer, int fd);
  /// Call before closing `fd`.
  void Remove(int fd);
  /// Returns the slow sockets, summed up by peer. Cost: two system calls per socket
  std::vector<SlowSend> Slow() const;

 private:
  mutable std::mutex mutex_;
  std::map<int, Rank> peers_;  // by socket
};

}  // namespace ringlet::transport
