// Links between processes of one host, over a segment of either.
//
// Each side offers the other its segment, its eventfd and the number of the pipe that is the
// other's to write. The UNIX connection over which they did so stays open and silent: the kernel
// closes it when a process dies, however it dies, and that is how its peers learn of it.
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

/// Returns why the ranks cannot be linked through memory; empty if they can.
std::string ShmObstacle(const Neighbour& self, const Neighbour& peer);

struct ShmTransportParts {
  Rank self{};
  std::shared_ptr<RankBell> bell;
  std::shared_ptr<Segment> segment;  ///< of this rank; null: it has room for no link
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
  std::map<Rank, std::uint32_t> pipes_;  // which pipe of the segment is the peer's
  std::uint32_t pipes_taken_ = 0;
};

}  // namespace ringlet::transport
