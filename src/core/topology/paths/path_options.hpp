// The options that decide over paths besides the graph: NCCL's variables as a value, and what only
// the live machine knows.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::topology {

/// How far two nodes are apart; NCCL's numbers: lower is closer.
enum class PathType : std::uint8_t {
  kLoc = 0,   ///< the same device
  kNvl = 1,   ///< NVLink, direct or through NVSwitches
  kNvb = 2,   ///< NVLink through another GPU
  kC2c = 3,   ///< from a GPU to the processor of its package
  kPix = 4,   ///< at most one PCIe switch
  kPxb = 5,   ///< several PCIe switches
  kP2c = 6,   ///< GPU to NIC: through its package's processor, then PCIe
  kPxn = 7,   ///< GPU to NIC: through another GPU over NVLink
  kPhb = 8,   ///< through a processor
  kSys = 9,   ///< from processor to processor
  kNet = 10,  ///< only through the network
  kDis = 11,  ///< not at all
};
std::string_view NameOf(PathType type);  ///< "NVL"

/// Reads a name from LOC to SYS, or one of NCCL's old numbers: 0 LOC, 1 PIX, 2 PXB, 3 PHB, from 4
/// SYS.
/// Errors  kInvalidArgument  quotes the text and lists the names
Result<PathType> ParsePathType(std::string_view text);

/// How many NICs a GPU spreads its channels over.
struct NetPolicy {
  enum class Kind : std::uint8_t {
    kAuto,  ///< those near it, divided by the GPUs that share them
    kAll,   ///< all that are near it
    kMax,   ///< at most `max` of these
  };
  Kind kind = Kind::kAuto;
  std::uint32_t max = 0;
  bool operator==(const NetPolicy&) const = default;
};

/// Defaults are NCCL's.
struct PathOptions {
  std::optional<PathType> p2p_level = {};  ///< NCCL_P2P_LEVEL; NCCL_P2P_DISABLE=1 is LOC
  bool nvb = true;                         ///< NCCL_NVB_DISABLE
  bool shm = true;                         ///< NCCL_SHM_DISABLE
  bool net_intra = true;                   ///< NCCL_NET_DISABLE_INTRA
  bool pxn = true;                         ///< NCCL_PXN_DISABLE
  bool pxn_c2c = true;                     ///< NCCL_PXN_C2C
  std::optional<PathType> gdr_level = {};  ///< NCCL_NET_GDR_LEVEL
  std::optional<bool> gdr_read = {};       ///< NCCL_NET_GDR_READ
  bool gdr_c2c = true;                     ///< NCCL_NET_GDR_C2C
  bool gdr_split = false;                  ///< NCCL_NET_GDR_MLOPART
  /// NCCL_IGNORE_DISABLED_P2P: 0 an NVLink without peer access is an error, 1 it is not, 2 peer
  /// access is not asked for.
  std::uint32_t ignore_disabled_p2p = 0;
  NetPolicy net_policy = {};  ///< NCCL_NETDEVS_POLICY
  /// No variable: the best paths of the graph alone, whatever transports may use.
  bool as_wired = false;

  /// Whether the driver lets two GPUs of one host access each other; empty: it does.
  std::function<bool(Rank, Rank)> peer_access = {};
  /// Whether two ranks of one host see the same shared memory, which containers may not; empty: so.
  std::function<bool(Rank, Rank)> shared_memory = {};
};

/// Errors  kInvalidArgument  names the variable, its value and what it may be
Result<PathOptions> ReadPathOptions(const Settings& settings);

}  // namespace ringlet::topology
