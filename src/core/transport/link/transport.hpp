// A transport: one way to link two ranks.
//
// Each transport has a folder with a class like Transport, and a row of kTransportRows
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

/// The roster's data of a rank. Both sides of a pair must see the same, for they choose alone.
struct Neighbour {
  Rank rank{};
  std::string host;  ///< its name, for errors
  std::uint64_t host_hash = 0;
  std::uint64_t network_namespace = 0;
  std::uint64_t process_hash = 0;  ///< unique over all hosts
  std::vector<Address> tcp;        ///< ListenerSet::tcp of that rank, best first
  std::size_t preferred = 0;       ///< ListenerSet::preferred of that rank
  std::uint32_t turn = 0;          ///< its place on its host: ranks take the preferred ones in turn
  Address unix_socket;             ///< ListenerSet::unix_socket of that rank
};

/// "rank 3 on host a".
inline std::string Named(const Neighbour& peer) {
  return fmt::format("rank {} on {}", Index(peer.rank), peer.host);
}

/// The way to meet a peer, and the offer that this rank makes it then.
struct LineOffer {
  Purpose purpose = Purpose::kData;
  std::vector<Address> addresses = {};  ///< where the peer is called; empty: at its TCP addresses
  Bytes offer = {};
  Descriptors descriptors = {};
};

/// A connection over which a peer was met.
struct PeerConnection {
  Bytes offer;  ///< the peer's LineOffer::offer; authenticated but not checked
  Descriptors descriptors;
  Bytes unread;  ///< bytes that the peer already sent for the link
  os::Fd socket;
};

/// Makes the links of one kind for one rank. Only the thread of the rank uses it.
class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Reserves what the links to these peers need. Called before Invite and Make.
  /// Errors  kUnsupported  there is no room for them
  virtual Status Expect(std::span<const Neighbour* const> peers) = 0;
  /// The number of connections that a link takes; 0: the ranks meet within their process.
  virtual std::uint32_t lines() const { return 1; }
  /// Makes the offer for one connection to `peer`. Errors  kSystem  no descriptors left
  virtual Result<LineOffer> Invite(const Neighbour& peer) = 0;
  /// Blocks until a peer that is met without a connection has come. Errors  kTimeout, kAborted
  virtual Status Await(const Neighbour&, Instant, const std::stop_token&) { return Ok(); }
  /// Makes the link; null if the peer is met without a connection and has not come.
  /// \param met  lines() connections to the peer
  virtual Result<std::unique_ptr<Link>> Make(const Neighbour& peer,
                                             std::span<PeerConnection> met) = 0;
  /// Blocks until the peers can be written to. \param links  of this kind. Errors  kTimeout,
  /// kAborted
  virtual Status AwaitOpen(std::span<Link* const>, Instant, const std::stop_token&) { return Ok(); }
  /// Makes the peer fail if it still waits for this rank. Does nothing once the link is made.
  virtual void Withdraw(const Neighbour&) {}
};

}  // namespace ringlet::transport
