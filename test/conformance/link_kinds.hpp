// The kinds of Link under test, and two ranks joined by one.
#pragma once
#include <iterator>
#include <ostream>
#include <vector>

#include "transport/ofi/libfabric.hpp"
#include "transport/wireup/ranks_for_test.hpp"
#include "transport/wireup/transports.hpp"

namespace ringlet::transport {

struct LinkKind {
  const char* name;
  LinkChoice choice;
  std::size_t pipe_bytes = kPipeBytesDefault;
  std::size_t socket_buffer_bytes = 0;
  std::size_t receive_buffer_bytes = 256 * 1024;
  std::chrono::microseconds spin{0};
  ofi::LinkOptions ofi = {};
  std::uint32_t strands = 1;

  ConnectOptions Options() const {
    ConnectOptions options;
    options.choice = choice;
    options.pipe_bytes = pipe_bytes;
    options.tcp.socket_buffer_bytes = socket_buffer_bytes;
    options.tcp.receive_buffer_bytes = receive_buffer_bytes;
    options.waiter.spin = spin;
    options.ofi = ofi;
    options.strands = strands;
    return options;
  }
  bool Tiny() const {
    return pipe_bytes < kPipeBytesDefault || socket_buffer_bytes != 0 || ofi.buffer_bytes < 1024;
  }
};

inline void PrintTo(const LinkKind& kind, std::ostream* out) {
  *out << kind.name;
}

/// Each transport with its default options.
inline std::vector<LinkKind> PlainLinkKinds() {
  std::vector<LinkKind> kinds;
  for (const TransportRow& row : kTransportRows)
    kinds.push_back({.name = row.name.data(), .choice = static_cast<LinkChoice>(kinds.size())});
  return kinds;
}

inline constexpr LinkKind kUnusualLinkKinds[] = {
    {.name = "inproc_tiny", .choice = LinkChoice::kInproc, .pipe_bytes = 64},
    {.name = "shm_tiny", .choice = LinkChoice::kShm, .pipe_bytes = 64},
    {.name = "shm_spin", .choice = LinkChoice::kShm, .spin = std::chrono::microseconds(50)},
    {.name = "tcp_tiny",
     .choice = LinkChoice::kTcp,
     .socket_buffer_bytes = 16384,
     .receive_buffer_bytes = 64},
    {.name = "tcp_spin", .choice = LinkChoice::kTcp, .spin = std::chrono::microseconds(50)},
    {.name = "tcp_striped", .choice = LinkChoice::kTcp, .strands = 3},
    {.name = "ofi_tiny", .choice = LinkChoice::kOfi, .ofi = {.buffers = 2, .buffer_bytes = 64}},
    {.name = "ofi_spin", .choice = LinkChoice::kOfi, .spin = std::chrono::microseconds(50)},
};

inline std::vector<LinkKind> AllLinkKinds() {
  std::vector<LinkKind> kinds = PlainLinkKinds();
  kinds.insert(kinds.end(), std::begin(kUnusualLinkKinds), std::end(kUnusualLinkKinds));
  return kinds;
}

/// Returns the reason why links of `kind` are impossible here; empty if they are possible.
inline std::string WhyNot(const LinkKind& kind) {
  if (kind.choice != LinkChoice::kOfi) return "";
  const auto fabric = ofi::OpenLibfabric({.source = Address::Ipv4(127, 0, 0, 1, 0)});
  return fabric.ok() ? "" : fabric.error().message;
}

/// Returns two ranks for `kind`: of one process for inproc, else of separate ones.
inline std::vector<TestRank> TwoRanks(const LinkKind& kind) {
  std::vector<TestRank> ranks;
  ranks.emplace_back(0u);
  ranks.emplace_back(1u);
  if (kind.choice == LinkChoice::kInproc)
    ranks[1].neighbour.process_hash = ranks[0].neighbour.process_hash;
  return ranks;
}

/// Upper bound on a test's waits; reached only by a hang.
inline constexpr auto kTimeout = std::chrono::seconds(30);

/// Waits on `waiter` until `done()`. Returns false after a timeout.
template <typename Done>
bool WaitUntil(Waiter& waiter, Done done) {
  const Instant until = os::Now() + kTimeout;
  for (;;) {
    const auto ticket = waiter.Prepare();
    if (done()) return true;
    const Instant left = until - os::Now();
    if (left <= Instant(0)) return false;
    waiter.Wait(ticket, left);
    // A rank without a wake-up checks for the first time after its timeout.
    if (os::Now() >= until) return false;
  }
}

}  // namespace ringlet::transport
