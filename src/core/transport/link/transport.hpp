// Transport: one way to link two ranks.
//
// Each transport has a folder with a subclass of Transport, and a row in kTransportRows
// (wireup/transports.hpp).
#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/value/address.hpp"
#include "base/value/bytes.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"
#include "os/fs/fd.hpp"
#include "transport/link/link.hpp"

namespace ringlet::transport {

/// Roster data of a rank. Both ranks of a pair must see the same, because each chooses alone.
struct Neighbour {
  Rank rank{};
  std::string host;  ///< its name, for errors
  std::uint64_t host_hash = 0;
  std::uint64_t network_namespace = 0;
  std::uint64_t process_hash = 0;  ///< unique over all hosts
  std::vector<Address> tcp;        ///< ListenerSet::tcp of that rank, best first
  std::size_t preferred = 0;       ///< ListenerSet::preferred of that rank
  std::uint32_t turn = 0;  ///< index on its host; ranks take the preferred addresses in turn
  Address unix_socket;     ///< ListenerSet::unix_socket of that rank
};

/// "rank 3 on host a".
inline std::string Named(const Neighbour& peer) {
  return fmt::format("rank {} on {}", Index(peer.rank), peer.host);
}

/// How to meet a peer, and this rank's offer to it.
struct LineOffer {
  Purpose purpose = Purpose::kData;
  std::vector<Address> addresses = {};  ///< addresses of the peer; empty for its TCP addresses
  Bytes offer = {};
  Descriptors descriptors = {};
};

/// A connection to a peer that this rank has met.
struct PeerConnection {
  Bytes offer;  ///< LineOffer::offer of the peer; authenticated but not checked
  Descriptors descriptors;
  Bytes unread;  ///< bytes for the link that the peer has already sent
  os::Fd socket;
};

/// Creates the links of one kind for one rank. Only the rank's thread uses it.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Reserves the resources for links to these peers. Called before Invite and Make.
  /// Errors  kUnsupported  the resources do not suffice
  virtual Status Expect(std::span<const Neighbour* const> peers) = 0;
  /// Returns the number of connections per link. 0 if the ranks meet within their process.
  virtual std::uint32_t lines() const { return 1; }
  /// Makes the offer for one connection to `peer`. Errors  kSystem  descriptors are exhausted
  virtual Result<LineOffer> Invite(const Neighbour& peer) = 0;
  /// Blocks until a peer that needs no connection has arrived. Errors  kTimeout, kAborted
  virtual Status Await(const Neighbour&, Instant, const std::stop_token&) { return Ok(); }
  /// Creates the link. Returns null if the peer needs no connection and has not arrived.
  /// \param met  lines() connections to the peer
  virtual Result<std::unique_ptr<Link>> Make(const Neighbour& peer,
                                             std::span<PeerConnection> met) = 0;
  /// Blocks until this rank can write to the peers of these links. Errors  kTimeout, kAborted
  virtual Status AwaitOpen(std::span<Link* const>, Instant, const std::stop_token&) { return Ok(); }
  /// Makes the peer fail if it still waits for this rank. Has no effect once the link exists.
  virtual void Withdraw(const Neighbour&) {}
};

}  // namespace ringlet::transport
