// The options for paths: NCCL's variables as values, and facts that only a live machine provides.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::topology {

/// The distance of two nodes. The numbers are NCCL's. Lower is closer.
enum class PathType : std::uint8_t {
  kLoc = 0,   ///< the same device
  kNvl = 1,   ///< NVLink, direct or through NVSwitches
  kNvb = 2,   ///< NVLink through another GPU
  kC2c = 3,   ///< from a GPU to the processor of its package
  kPix = 4,   ///< at most one PCIe switch
  kPxb = 5,   ///< several PCIe switches
  kP2c = 6,   ///< GPU to NIC: through its package's processor, then PCIe
  kPxn = 7,   ///< GPU to NIC: over NVLink through another GPU
  kPhb = 8,   ///< through a processor
  kSys = 9,   ///< from processor to processor
  kNet = 10,  ///< through the network only
  kDis = 11,  ///< no path
};
std::string_view NameOf(PathType type);  ///< "NVL"

/// Parses a name from LOC to SYS, or one of NCCL's old numbers: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and
/// above SYS.
/// Errors  kInvalidArgument  quotes the text and lists the names
Result<PathType> ParsePathType(std::string_view text);

/// The number of NICs over which a GPU spreads its channels.
struct NetPolicy {
  enum class Kind : std::uint8_t {
    kAuto,  ///< the near NICs, divided by the GPUs that share them
    kAll,   ///< all near NICs
    kMax,   ///< at most `max` near NICs
  };
  Kind kind = Kind::kAuto;
  std::uint32_t max = 0;
  bool operator==(const NetPolicy&) const = default;
};

/// The defaults are NCCL's.
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
  /// NCCL_IGNORE_DISABLED_P2P for NVLinks without peer access. 0: an error; 1: no error; 2: no
  /// check of peer access.
  std::uint32_t ignore_disabled_p2p = 0;
  NetPolicy net_policy = {};  ///< NCCL_NETDEVS_POLICY
  /// Not a variable. True: use the best paths of the graph, whatever transports can use.
  bool as_wired = false;

  /// Returns true if the driver grants access between two GPUs of one host. Empty: always granted.
  std::function<bool(Rank, Rank)> peer_access = {};
  /// Returns true if two ranks of one host share memory. Containers may not. Empty: always true.
  std::function<bool(Rank, Rank)> shared_memory = {};
};

/// Errors  kInvalidArgument  contains the variable, its value and the allowed values
Result<PathOptions> ReadPathOptions(const Settings& settings);

}  // namespace ringlet::topology
