// Links between processes of one host, over the segments of both.
//
// Each side offers its segment, its eventfd and the number of the pipe that the peer writes to. The
// UNIX connection that carried the offers stays open and silent. The kernel closes it when a
// process dies for any reason, which is how the peer learns of the death.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "base/wire/machine.hpp"
#include "transport/arena/shared_buffers.hpp"
#include "transport/link/doorbell_waiter.hpp"
#include "transport/link/link.hpp"
#include "transport/link/transport.hpp"
#include "transport/shm/segment.hpp"

namespace ringlet::transport {

/// A rank's offer of its own segment to one peer.
struct ShmOffer {
  Bytes bytes;
  Descriptors descriptors;
};

/// Errors  kSystem  descriptors are exhausted
Result<ShmOffer> MakeShmOffer(const Segment& own, std::uint32_t pipe, const os::Fd& event_fd);

struct ShmLinkParts {
  Rank peer{};
  std::string peer_name;         ///< for errors, such as "rank 3 on host a"
  std::shared_ptr<Segment> own;  ///< the peer writes to its pipe `pipe`
  std::uint32_t pipe = 0;
  View reply;               ///< ShmOffer::bytes of the peer; outside input
  Descriptors descriptors;  ///< ShmOffer::descriptors of the peer; outside input
  os::Fd line;              ///< the UNIX connection to the peer
  bool prefault = false;
  std::shared_ptr<SharedBuffers> registered = {};  ///< see PipeLinkParts
  RtsSizes offers = {};
};

/// Errors  kProtocol  the offer does not parse
///         kSystem    descriptors or address space are exhausted
Result<std::unique_ptr<Link>> MakeShmLink(ShmLinkParts parts, DoorbellWaiter& waiter);

/// Returns why the ranks cannot be linked through memory. Empty if they can.
std::string ShmObstacle(const Neighbour& self, const Neighbour& peer);

struct ShmTransportParts {
  Rank self{};
  std::shared_ptr<RankBell> bell;
  std::shared_ptr<Segment> segment;  ///< of this rank; null if it lacks room for links
  bool prefault = false;
  std::shared_ptr<const RtsParts> rts;
};

class ShmTransport final : public Transport {
 public:
  explicit ShmTransport(ShmTransportParts parts) : parts_(std::move(parts)) {}

  Status Expect(std::span<const Neighbour* const> peers) override;
  Result<LineOffer> Invite(const Neighbour& peer) override;
  Result<std::unique_ptr<Link>> Make(const Neighbour& peer, std::span<PeerConnection> met) override;

 private:
  const ShmTransportParts parts_;
  std::map<Rank, std::uint32_t> pipes_;  // pipe in `segment` for each peer
  std::uint32_t pipes_taken_ = 0;
};

}  // namespace ringlet::transport
