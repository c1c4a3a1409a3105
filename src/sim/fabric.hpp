// The network between hosts: a network card in each, and a way from each to each that may be cut.
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

/// The bytes that have passed the card of one host.
struct HostTraffic {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
};

class Fabric {
 public:
  /// \param mb_per_s  of each card, in each direction; 0: unlimited
  explicit Fabric(std::uint64_t mb_per_s) : mb_per_s_(mb_per_s) {}

  /// Makes room for the host; the others keep what they have.
  void Add(HostId host);
  std::size_t hosts() const { return hosts_.size(); }

  /// When a message of `bytes`, ready at `now`, has left its host: after all that was ready before.
  Instant Leave(HostId host, Instant now, std::size_t bytes);
  /// When a message that has reached the card at `now` is in its host's memory, whole.
  Instant Enter(HostId host, Instant now, std::size_t bytes);

  /// Pulls the cable of a host: for ever, and no host is told.
  void Silence(HostId host) { hosts_[host].silent = true; }
  /// Nothing gets from one host to the other from `begin` on; the other way is another cut. Bytes
  /// sent before `end` set out at `end`, as TCP's retransmission would have it.
  void Cut(HostId from, HostId to, Instant begin, Instant end);
  /// When something sent at `now` sets out; empty: never.
  std::optional<Instant> SetsOut(HostId from, HostId to, Instant now) const;

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
