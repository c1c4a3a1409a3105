// Everything that a user can set through the environment, as one value.
//
// The defaults stand here, names, bounds and help in setting_table.hpp. docs/reference/settings.md
// and `ringlet env` are made from both. RINGLET_X wins over NCCL_X, the environment over files, and
// an empty value counts as unset.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "base/settings/conf_file.hpp"
#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

/// Text that is never printed, logged or compared aloud.
struct SecretText {
  std::string text;
  bool operator==(const SecretText&) const = default;
};

/// How ranks are linked. The first two leave a host: NET names one of them. kAuto: the fastest kind
/// that a pair of ranks can use.
enum class LinkChoice : std::uint8_t { kTcp, kOfi, kShm, kInproc, kAuto };
inline constexpr std::size_t kLinkKinds = 4;

/// The shape of the control network.
enum class BootstrapShape : std::uint8_t { kTree, kRing };

/// Which channels are planned: the best that the hardware has, or those that NCCL would take.
enum class PlanPolicy : std::uint8_t { kBest, kCompat };

/// How a rank waits for others of its host: looks, gives up its core, or sleeps at once.
enum class WaitChoice : std::uint8_t { kAuto, kSpin, kYield, kSleep };

/// Which internet addresses are used.
enum class SocketFamily : std::uint8_t { kAny, kIpv4, kIpv6 };

struct Settings {
  std::chrono::milliseconds init_timeout{300'000};
  std::chrono::milliseconds timeout{1'800'000};
  std::chrono::milliseconds handshake_timeout{10'000};

  std::string comm_id;        ///< empty: none
  SecretText secret;          ///< empty: none
  bool encrypt = false;       ///< the control network
  std::string socket_ifname;  ///< empty: chosen; see os::UsableAddresses
  SocketFamily socket_family = SocketFamily::kAny;
  LinkChoice net = LinkChoice::kTcp;   ///< kTcp or kOfi
  std::string ofi_provider;            ///< of libfabric; empty: its first choice
  std::uint64_t sockets_per_link = 1;  ///< connections of each TCP link, 1 to 16
  std::string tcp_congestion;          ///< of links; empty: what the kernel gives
  std::string host_id;                 ///< empty: host name and boot id

  std::string machine;         ///< empty: ranks are in CPU memory, on the machine that is here
  std::string fault_file;      ///< empty: none is made
  std::string fault;           ///< empty: none; comm::ParseFault reads it
  std::string slow;            ///< empty: none; comm::ParseSlowLinks reads it
  std::string traffic_dir;     ///< empty: nothing is written
  bool pace = false;           ///< collectives last as long as the model of times predicts
  std::string topo_file;       ///< empty: the machine is looked at
  std::string topo_dump_file;  ///< empty: nothing is written
  std::uint64_t topo_dump_file_rank = 0;  ///< the rank that writes it
  /// Once a process has read it with `comm::ReadGraphFile`: its path and the digest of its content.
  std::string graph_file;                  ///< empty: channels are searched for
  std::string graph_dump_file;             ///< empty: nothing is written
  std::uint64_t graph_dump_file_rank = 0;  ///< the rank that writes it
  // The settings that decide over paths; topology::ReadPathOptions makes sense of them. Texts:
  // empty is NCCL's rule.
  std::string p2p_level;     ///< how far apart GPUs may be and still access each other
  bool p2p_disable = false;  ///< they never do
  bool nvb_disable = false;  ///< NVLink through another GPU is not used
  bool shm_disable = false;  ///< ranks of a host do not share memory
  bool net_disable_intra = false;
  bool pxn_disable = false;  ///< NICs near another GPU are not used through it
  bool pxn_c2c = true;
  std::string net_gdr_level;  ///< how far from its NIC a GPU may be for GPUDirect
  std::optional<std::uint32_t> net_gdr_read;
  bool net_gdr_c2c = true;
  bool net_gdr_mlopart = false;
  std::uint64_t ignore_disabled_p2p = 0;
  std::string netdevs_policy;
  // Which ports plans for GPUs use; topology::ReadPortRules makes sense of them.
  std::string net_merge_level;   ///< empty: PORT
  std::string net_merge_policy;  ///< empty: ALL
  std::string net_force_merge;   ///< "a,b;c,d"
  std::string ib_hca;            ///< empty: all
  // How their channels are searched for; plan::ReadSearchOptions.
  std::uint64_t cross_nic = 2;
  std::uint64_t nvls_enable = 2;

  bool multi_rank_gpu = false;            ///< several ranks on one device are wanted
  std::uint64_t ignore_cpu_affinity = 0;  ///< 1: threads may leave the CPUs that the caller has

  BootstrapShape bootstrap = BootstrapShape::kTree;
  std::uint64_t tree_arity = 8;
  bool node_leader = true;
  std::chrono::milliseconds silence_max{60'000};
  std::string trace;  ///< empty: none
  LinkChoice links = LinkChoice::kAuto;
  std::uint64_t pipe_bytes = 262'144;
  WaitChoice wait = WaitChoice::kAuto;
  std::uint64_t numa_ranks = 0;  ///< how many in a row share a node; 0: by their nodes
  bool host_memory = true;  ///< collectives of one host go through memory that all its ranks share

  PlanPolicy plan_policy = PlanPolicy::kBest;
  std::string algo;   ///< empty: chosen by the model; plan::ParseTuningChoice reads it
  std::string proto;  ///< the same
  /// Once a process has read it with `comm::ReadTuning`: its path and the digest of its content, so
  /// that ranks with other contents disagree.
  std::string tune_file;
  std::string host_algo;  ///< empty: all; collective::ParseAlgorithmChoice reads it
  /// Bounds on channels, and the names that they had before; 0: none. See plan::ReadLimits.
  std::uint64_t min_nchannels = 0, max_nchannels = 0;
  std::uint64_t min_nrings = 0, max_nrings = 0;
  std::uint64_t min_ctas = 0, max_ctas = 0;

  /// NCCL's default is NONE. Ours is WARN, because nothing may go wrong silently.
  LogLevel debug = LogLevel::kWarn;
  SubsystemMask debug_subsystems;
  std::string debug_file;  ///< empty: standard output

  bool status = true;                       ///< processes answer `ringlet status`
  std::optional<std::uint32_t> ras_enable;  ///< empty: only where there is a `ras_addr`
  std::string ras_addr;                     ///< empty: NCCL's port on 127.0.0.1
  std::string profiler_plugin;              ///< empty: none
  std::string tuner_plugin;                 ///< likewise
  std::string dump_dir;                     ///< empty: traces are written only on request
  std::string dump_signal;                  ///< empty: none
  std::string metrics_file;                 ///< empty: none
  std::chrono::milliseconds metrics_interval{10'000};

  SecretText unique_id;  ///< contains the communicator's secret
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::optional<std::uint32_t> local_rank;

  /// For each row of kSettings the variable that set it, such as "NCCL_DEBUG in /etc/nccl.conf",
  /// or "" for a default; empty when nothing was parsed: all are defaults.
  std::vector<std::string> origins;
  /// Sentences for the log, such as an unknown variable with the nearest known name.
  std::vector<std::string> warnings;
  /// The same of less weight: NCCL's variables that have no effect here.
  std::vector<std::string> notes;
  /// Those of these variables that change NCCL's plans: "NCCL_COLLNET_ENABLE".
  std::vector<std::string> plan_variables_unused;

  LogFilter log_filter() const { return {debug, debug_subsystems}; }
};

/// Reads every setting out of `env` and, for names that it does not have, out of `files`. Pure: the
/// environment is read once, by os::ReadEnvironment, and files by os::ReadConfFiles.
/// A value of an NCCL_X that NCCL would clamp or ignore is a warning: the number within bounds or
/// the default is used. Errors  kInvalidArgument  names the variable, the file that it stands in,
/// its value (never a
///                           secret's) and what is allowed.
Result<Settings> ParseSettings(const EnvMap& env, const FileVariables& files = {});

inline constexpr std::size_t kSettingTextBytesMax = 4096;

}  // namespace ringlet
