// All settings that a user can make through the environment, as one value.
//
// The defaults are here; names, bounds and help are in setting_table.hpp.
// docs/reference/settings.md and `ringlet env` are generated from both. RINGLET_X takes precedence
// over NCCL_X, and the environment over files. An empty value counts as unset.
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

/// Text that must never appear in output, logs or messages about differences.
struct SecretText {
  std::string text;
  bool operator==(const SecretText&) const = default;
};

/// The kind of links. The first two connect hosts, and NET names one of them. kAuto: the fastest
/// kind that a pair of ranks can use.
enum class LinkChoice : std::uint8_t { kTcp, kOfi, kShm, kInproc, kAuto };
/// Their names, in the same order. Each kind also has a row in transport/wireup/transports.hpp.
inline constexpr std::string_view kLinkNames = "tcp|ofi|shm|inproc|auto";
inline constexpr auto kLinkKinds = static_cast<std::size_t>(LinkChoice::kAuto);

/// The shape of the control network.
enum class BootstrapShape : std::uint8_t { kTree, kRing };

/// Selects the planned channels: the best for the hardware, or those that NCCL would use.
enum class PlanPolicy : std::uint8_t { kBest, kCompat };

/// How a rank waits for others of its host: it spins, yields its core, or sleeps at once.
enum class WaitChoice : std::uint8_t { kAuto, kSpin, kYield, kSleep };

/// The kinds of internet addresses to use.
enum class SocketFamily : std::uint8_t { kAny, kIpv4, kIpv6 };

struct Settings {
  std::chrono::milliseconds init_timeout{300'000};
  std::chrono::milliseconds timeout{1'800'000};
  std::chrono::milliseconds handshake_timeout{10'000};

  std::string comm_id;        ///< empty: not set
  SecretText secret;          ///< empty: not set
  bool encrypt = false;       ///< encrypt the control network
  std::string socket_ifname;  ///< empty: chosen automatically; see os::UsableAddresses
  SocketFamily socket_family = SocketFamily::kAny;
  LinkChoice net = LinkChoice::kTcp;   ///< kTcp or kOfi
  std::string ofi_provider;            ///< of libfabric; empty: its first choice
  std::uint64_t sockets_per_link = 1;  ///< connections of each TCP link, 1 to 16
  std::string tcp_congestion;          ///< of links; empty: the kernel's default
  std::string host_id;                 ///< empty: host name and boot id

  std::string machine;         ///< empty: ranks use CPU memory on the real machine
  std::string fault_file;      ///< empty: no fault file
  std::string fault;           ///< empty: no fault; comm::ParseFault parses it
  std::string slow;            ///< empty: no slow links; comm::ParseSlowLinks parses it
  std::string traffic_dir;     ///< empty: no file is written
  bool pace = false;           ///< collectives last as long as the model of times predicts
  std::string topo_file;       ///< empty: the machine is detected
  std::string topo_dump_file;  ///< empty: no file is written
  std::uint64_t topo_dump_file_rank = 0;  ///< the rank that writes it
  /// After `comm::ReadGraphFile`: the path and the digest of the content.
  std::string graph_file;                  ///< empty: channels are searched for
  std::string graph_dump_file;             ///< empty: no file is written
  std::uint64_t graph_dump_file_rank = 0;  ///< the rank that writes it
  // Settings for paths; topology::ReadPathOptions interprets them. An empty text means NCCL's rule.
  std::string p2p_level;     ///< the largest distance between GPUs that access each other
  bool p2p_disable = false;  ///< GPUs never access each other
  bool nvb_disable = false;  ///< NVLink through another GPU is not used
  bool shm_disable = false;  ///< ranks of a host do not share memory
  bool net_disable_intra = false;
  bool pxn_disable = false;  ///< a GPU does not use NICs near another GPU through that GPU
  bool pxn_c2c = true;
  std::string net_gdr_level;  ///< the largest distance between a GPU and its NIC for GPUDirect
  std::optional<std::uint32_t> net_gdr_read;
  bool net_gdr_c2c = true;
  bool net_gdr_mlopart = false;
  std::uint64_t ignore_disabled_p2p = 0;
  std::string netdevs_policy;
  // The ports for plans with GPUs; topology::ReadPortRules interprets these settings.
  std::string net_merge_level;   ///< empty: PORT
  std::string net_merge_policy;  ///< empty: ALL
  std::string net_force_merge;   ///< "a,b;c,d"
  std::string ib_hca;            ///< empty: all
  // The search for channels of such plans; see plan::ReadSearchOptions.
  std::uint64_t cross_nic = 2;
  std::uint64_t nvls_enable = 2;

  bool multi_rank_gpu = false;            ///< allows several ranks on one device
  std::uint64_t ignore_cpu_affinity = 0;  ///< 1: threads may leave the caller's CPUs

  BootstrapShape bootstrap = BootstrapShape::kTree;
  std::uint64_t tree_arity = 8;
  bool node_leader = true;
  std::chrono::milliseconds silence_max{60'000};
  std::string trace;  ///< empty: no trace
  LinkChoice links = LinkChoice::kAuto;
  std::uint64_t pipe_bytes = 262'144;
  WaitChoice wait = WaitChoice::kAuto;
  std::uint64_t numa_ranks = 0;  ///< number of consecutive ranks that share a node; 0: by their
                                 ///< nodes
  bool host_memory = true;       ///< collectives of one host use memory that all its ranks share

  PlanPolicy plan_policy = PlanPolicy::kBest;
  std::string algo;   ///< empty: the model chooses; plan::ParseTuningChoice parses it
  std::string proto;  ///< likewise
  /// After `comm::ReadTuning`: the path and the digest of the content, so that ranks with different
  /// contents disagree.
  std::string tune_file;
  std::string host_algo;  ///< empty: all; collective::ParseAlgorithmChoice parses it
  /// Bounds on channels, also under their older names; 0: no bound. See plan::ReadLimits.
  std::uint64_t min_nchannels = 0, max_nchannels = 0;
  std::uint64_t min_nrings = 0, max_nrings = 0;
  std::uint64_t min_ctas = 0, max_ctas = 0;

  /// NCCL's default is NONE. Ringlet's is WARN, because no failure may be silent.
  LogLevel debug = LogLevel::kWarn;
  SubsystemMask debug_subsystems;
  std::string debug_file;  ///< empty: standard output

  bool status = true;                       ///< processes answer `ringlet status`
  std::optional<std::uint32_t> ras_enable;  ///< empty: only if `ras_addr` is set
  std::string ras_addr;                     ///< empty: NCCL's port on 127.0.0.1
  std::string profiler_plugin;              ///< empty: no plug-in
  std::string tuner_plugin;                 ///< likewise
  std::string dump_dir;                     ///< empty: traces are written only on request
  std::string dump_signal;                  ///< empty: no signal
  std::string metrics_file;                 ///< empty: no file
  std::chrono::milliseconds metrics_interval{10'000};

  SecretText unique_id;  ///< contains the communicator's secret
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world_size;
  std::optional<std::uint32_t> local_rank;

  /// The variable that set each row of kSettings, such as "NCCL_DEBUG in /etc/nccl.conf", or "" for
  /// a default. Empty if no environment was parsed and all settings are defaults.
  std::vector<std::string> origins;
  /// Sentences for the log, such as an unknown variable with the nearest known name.
  std::vector<std::string> warnings;
  /// Less important sentences: NCCL's variables that have no effect here.
  std::vector<std::string> notes;
  /// The variables in these notes that change NCCL's plans: "NCCL_COLLNET_ENABLE".
  std::vector<std::string> plan_variables_unused;

  LogFilter log_filter() const { return {debug, debug_subsystems}; }
};

/// Reads every setting from `env`, or else from `files`. Pure: os::ReadEnvironment reads the
/// environment once, and os::ReadConfFiles the files. A value of an NCCL_X that NCCL would clamp or
/// ignore is a warning; the setting is then the number within bounds or the default.
/// Errors  kInvalidArgument  names the variable, its file, its value (never a secret's) and the
///                           allowed values.
Result<Settings> ParseSettings(const EnvMap& env, const FileVariables& files = {});

inline constexpr std::size_t kSettingTextBytesMax = 4096;

}  // namespace ringlet
