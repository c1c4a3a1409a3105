// The table of transports. To add a transport, write a folder with a subclass of Transport, add its
// enumerator and name to LinkChoice and kLinkNames, and add a row here at the same position.
#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/settings/settings.hpp"
#include "transport/inproc/inproc.hpp"
#include "transport/link/transport.hpp"
#include "transport/ofi/ofi_link.hpp"
#include "transport/shm/shm_link.hpp"
#include "transport/tcp/tcp_link.hpp"
#include "transport/wireup/connect.hpp"

namespace ringlet::transport {

/// Arguments for a row to create the transport of a rank.
struct TransportParts {
  const ConnectRequest& request;
  const ConnectTools& tools;
  const std::shared_ptr<RankBell>& bell;
  const Links::Reserve& reserve;
};

struct TransportRow {
  std::string_view name;
  bool within_host = false;  ///< kAuto prefers these to network transports
  /// Data passes through memory that both ranks share. If not, the kernel copies it twice.
  bool shares_memory = false;
  /// Returns why two ranks cannot be linked so. Empty if they can. Pure; equal on both ranks.
  std::string (*obstacle)(const Neighbour& self, const Neighbour& peer);
  Result<std::unique_ptr<Transport>> (*make)(const TransportParts& parts);
};

template <typename Kind, typename Parts>
std::unique_ptr<Transport> Owned(Parts parts) {
  return std::make_unique<Kind>(std::move(parts));
}

/// The lower rank dials the higher rank, so the higher rank needs an address.
inline std::string TcpObstacle(const Neighbour& self, const Neighbour& peer) {
  const Neighbour& called = self.rank < peer.rank ? peer : self;
  return called.tcp.empty() ? Named(called) + " has no TCP address" : "";
}

/// Indexed by LinkChoice, without kAuto.
inline constexpr std::array<TransportRow, kLinkKinds> kTransportRows = {{
    {.name = "tcp",
     .obstacle = TcpObstacle,
     .make = [](const TransportParts& parts) -> Result<std::unique_ptr<Transport>> {
       const ConnectOptions& options = parts.request.options;
       return Owned<TcpTransport>(TcpTransportParts{.bell = parts.bell,
                                                    .options = options.tcp,
                                                    .strands = options.strands,
                                                    .congestion = options.congestion,
                                                    .send_queues = parts.reserve.send_queues});
     }},
    {.name = "ofi",
     .obstacle = TcpObstacle,
     .make = [](const TransportParts& parts) -> Result<std::unique_ptr<Transport>> {
       const ConnectOptions& options = parts.request.options;
       return ofi::OfiTransport::Open({.self = parts.request.self,
                                       .bell = parts.bell,
                                       .provider = options.ofi_provider,
                                       .options = options.ofi,
                                       .tcp = options.tcp,
                                       .seed = parts.request.nonce_seed});
     }},
    {.name = "shm",
     .within_host = true,
     .shares_memory = true,
     .obstacle = ShmObstacle,
     .make = [](const TransportParts& parts) -> Result<std::unique_ptr<Transport>> {
       return Owned<ShmTransport>(ShmTransportParts{.self = parts.request.self.rank,
                                                    .bell = parts.bell,
                                                    .segment = parts.reserve.segment,
                                                    .prefault = parts.request.options.prefault,
                                                    .rts = parts.reserve.rts});
     }},
    {.name = "inproc",
     .within_host = true,
     .shares_memory = true,
     .obstacle = InprocObstacle,
     .make = [](const TransportParts& parts) -> Result<std::unique_ptr<Transport>> {
       return Owned<InprocTransport>(
           InprocTransportParts{.self = parts.request.self.rank,
                                .magic = parts.request.credentials.magic,
                                .exchange = parts.tools.inproc,
                                .bell = parts.bell,
                                .pipe_bytes = parts.request.options.pipe_bytes,
                                .rts = parts.reserve.rts});
     }},
}};

/// Returns true if each kind of LinkChoice has a row with its name, at its position.
constexpr bool RowsFitNames() {
  std::string_view names = kLinkNames;
  for (const TransportRow& row : kTransportRows) {
    if (!names.starts_with(row.name)) return false;
    names.remove_prefix(row.name.size());
    if (!names.starts_with('|')) return false;
    names.remove_prefix(1);
  }
  return names == "auto";
}
static_assert(RowsFitNames());

/// Returns true if ranks of one host share memory with this choice of the setting LINKS.
constexpr bool SharesMemory(LinkChoice links) {
  return links == LinkChoice::kAuto ||
         kTransportRows[static_cast<std::size_t>(links)].shares_memory;
}

}  // namespace ringlet::transport
