// Links between processes of one host, over a segment of either.
//
// Each side offers the other its segment, its eventfd and the number of the pipe that is the
// other's to write. The UNIX connection over which they did so stays open and silent: the kernel
// closes it when a process dies, however it dies, and that is how its peers learn of it.
#pragma once
#include <memory>
#include <string>

#include "base/wire/machine.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/link.hpp"
#include "transport/shm/segment.hpp"
#include "transport/arena/shared_buffers.hpp"

namespace ringlet::transport {

/// The message of a rank to one peer about its own segment.
struct ShmOffer {
  Bytes bytes;
  Descriptors descriptors;
};

/// Errors  kSystem  no descriptors left
Result<ShmOffer> MakeShmOffer(const Segment& own, std::uint32_t pipe, const os::Fd& event_fd);

struct ShmLinkParts {
  Rank peer{};
  std::string peer_name;         ///< for errors, such as "rank 3 on host a"
  std::shared_ptr<Segment> own;  ///< the peer writes into its pipe `pipe`
  std::uint32_t pipe = 0;
  View reply;               ///< the peer's ShmOffer::bytes; outside input, as are
  Descriptors descriptors;  ///< its descriptors
  os::Fd line;              ///< the UNIX connection to the peer
  bool prefault = false;
  std::shared_ptr<SharedBuffers> registered = {};  ///< see PipeLinkParts
  RtsSizes offers = {};
};

/// Errors  kProtocol  the offer is not one
///         kSystem    no descriptors or no address space left
Result<std::unique_ptr<Link>> MakeShmLink(ShmLinkParts parts, DoorbellWaiter& waiter);

}  // namespace ringlet::transport
