// The network between hosts: one network card per host, and one path per ordered pair of hosts.
// Each path can be cut.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::sim {

using HostId = std::uint32_t;
inline constexpr HostId kNoHost = 0xffffffff;
inline constexpr Instant kForEver = Instant::max();

/// Bytes through the card of one host.
struct HostTraffic {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
};

class HostNetwork {
 public:
  /// \param mb_per_s  per card and direction; 0: unlimited
  explicit HostNetwork(std::uint64_t mb_per_s) : mb_per_s_(mb_per_s) {}

  /// Makes room for the host. The other hosts keep their state.
  void Add(HostId host);
  std::size_t hosts() const { return hosts_.size(); }

  /// Returns when a message of `bytes`, ready at `now`, has left its host, behind earlier ones.
  Instant Leave(HostId host, Instant now, std::size_t bytes);
  /// Returns when a message that reached the card at `now` is completely in its host's memory.
  Instant Enter(HostId host, Instant now, std::size_t bytes);

  /// Pulls the cable of a host for good. No host is notified.
  void Isolate(HostId host) { hosts_[host].silent = true; }
  /// Blocks traffic from one host to the other from `begin` on. The reverse path needs another cut.
  /// Bytes sent before `end` leave at `end`, as with TCP's retransmission.
  void Cut(HostId from, HostId to, Instant begin, Instant end);
  /// Returns the departure time of data sent at `now`; empty: never.
  std::optional<Instant> DepartureTime(HostId from, HostId to, Instant now) const;

  const HostTraffic& traffic(HostId host) const { return hosts_[host].traffic; }

 private:
  struct FabricHost {
    Instant sends_until{0}, receives_until{0};
    HostTraffic traffic;
    bool silent = false;
  };
  struct CutWay {
    HostId from, to;
    Instant begin, end;
  };
  Instant TimeOf(std::size_t bytes) const;

  std::uint64_t mb_per_s_;
  std::vector<FabricHost> hosts_;
  std::vector<CutWay> cuts_;
};

}  // namespace ringlet::sim
