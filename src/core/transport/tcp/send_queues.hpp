// The sockets of a rank's TCP links, as others may look at them while the rank's thread uses them.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "base/wire/slow_send.hpp"
#include "os/net/send_queue.hpp"
#include "ringlet/types.hpp"

namespace ringlet::transport {

/// Whether what waits in `queue` travels so slowly that the network is at fault: at its rate it
/// takes longer than any queue of a network that keeps up, or nothing was acknowledged for a
/// second.
bool IsSlow(const os::SendQueue& queue);

/// Any thread. A look asks the kernel about each socket under a lock that Add and Remove take.
class SendQueues {
 public:
  void Add(Rank peer, int fd);
  /// Before `fd` is closed.
  void Remove(int fd);
  /// By peer, those that are slow. Cost: two system calls a socket
  std::vector<SlowSend> Slow() const;

 private:
  mutable std::mutex mutex_;
  std::map<int, Rank> peers_;  // by socket
};

}  // namespace ringlet::transport
