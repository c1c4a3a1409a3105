// The data that a rank sends at check-in. The others need it to place and reach the rank.
#pragma once
#include <optional>
#include <vector>

#include "base/value/address.hpp"
#include "base/value/bytes.hpp"
#include "base/wire/handshake.hpp"
#include "ringlet/status.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/pci.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::comm {

struct PeerInfo {
  std::uint64_t host_hash = 0;              ///< equal on ranks of one host
  std::uint64_t process_hash = 0;           ///< equal on threads of one process
  std::uint64_t network_namespace = 0;      ///< ranks that share it reach each other's UNIX sockets
  std::uint64_t host_shape_digest = 0;      ///< of topology::ShapeOf the rank's host
  std::uint64_t settings_digest = 0;        ///< of the settings that must agree
  std::uint32_t device = 0;                 ///< as the caller numbers it
  bool names_device = false;                ///< the caller chose it: no other rank may have it
  std::optional<topology::BusId> gpu = {};  ///< that device, if the host is known to have it
  std::optional<std::uint8_t> half = {};    ///< of a split GPU; only with `gpu`
  bool knows_devices = true;                ///< else the shape lacks NICs and GPUs
  std::uint32_t numa = 0;                   ///< NUMA node of the rank's memory
  topology::CpuSet cpus = {};               ///< CPUs on which the rank may run; empty: unknown
  std::vector<Address> tcp;                 ///< addresses that accept its TCP links, best first
  std::size_t preferred = 0;                ///< NicChoice::preferred of these
  Address unix_socket;                      ///< address for the exchange of its shared memory
  /// Nonce of its ProcessProof. Set if it expects all ranks on its host with shared memory.
  std::optional<Secret> nonce = {};
  std::optional<transport::ArenaPlace> arena = {};  ///< made by it for all ranks in that case

  bool operator==(const PeerInfo&) const = default;
};

/// Maximum number of addresses. Omits further ones, to stay below bootstrap's kPeerInfoBytesMax.
inline constexpr std::size_t kPeerInfoAddressesMax = 16;
/// Maximum number of CPU ranges. Omits further ones, because the rank then knows enough cores.
inline constexpr std::size_t kPeerInfoCpuRangesMax = 128;
Bytes Encode(const PeerInfo& peer_info);
/// Errors  kProtocol  not a peer info.
Result<PeerInfo> DecodePeerInfo(View bytes);

}  // namespace ringlet::comm
