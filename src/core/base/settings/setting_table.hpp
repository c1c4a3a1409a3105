// The registry of settings: each row names a member of Settings and its allowed values.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/settings/settings.hpp"

namespace ringlet {

/// The member that a setting fills. Its type determines how its text is parsed.
using SettingField =
    std::variant<bool Settings::*, std::chrono::milliseconds Settings::*, std::uint64_t Settings::*,
                 std::optional<std::uint32_t> Settings::*, std::string Settings::*,
                 SecretText Settings::*, SubsystemMask Settings::*, LogLevel Settings::*,
                 LinkChoice Settings::*, BootstrapShape Settings::*, PlanPolicy Settings::*,
                 SocketFamily Settings::*, WaitChoice Settings::*>;

/// The subject of a setting, in the order of the reference page.
enum class SettingScope : std::uint8_t {
  kBootstrap,    ///< how ranks find each other
  kLinks,        ///< how they are connected
  kCollectives,  ///< how they compute
  kPlan,         ///< the machine, and the channels over it
  kDevices,      ///< plans for GPUs: the tool's output for machines with GPUs
  kLog,
  kLaunch,  ///< set by `ringlet run`
};
inline constexpr std::size_t kSettingScopes = 7;

/// "bootstrap", "links", ...
std::string_view Name(SettingScope scope);

struct SettingSpec {
  std::string_view name;  ///< without RINGLET_
  SettingScope scope;
  SettingField field;
  std::string_view help;       ///< one sentence, no newline
  std::uint64_t min = 0;       ///< of numbers; milliseconds if the member is a time
  std::uint64_t max = 0;       ///< inclusive
  std::string_view unit = {};  ///< of the text: "s", "bytes"
  /// "a|b|c" in the order of the enumerators. For texts, NUMBER is a number from min to max.
  std::string_view choices = {};
  bool has_nccl_alias = false;  ///< NCCL_<name> is read too
  bool power_of_two = false;
  bool must_agree = false;  ///< equal on all ranks of a communicator
};

inline constexpr std::uint64_t kWeekMs = 7ull * 24 * 3600 * 1000;
inline constexpr std::uint64_t kRanksMax = std::uint64_t{1}
                                           << 24;  // the simulator's million, with room to spare

inline constexpr std::uint64_t kChannelSettingMax = 64;  // NCCL's MAXCHANNELS

// Distances between two devices. A number is NCCL's older notation.
inline constexpr std::string_view kPathLevels = "LOC|NVL|NVB|C2C|PIX|PXB|P2C|PXN|PHB|SYS|NUMBER";
inline constexpr std::uint64_t kLevelsMax = 1'000'000;

inline constexpr std::array kSettings = {
    SettingSpec{.name = "INIT_TIMEOUT",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::init_timeout,
                .help = "Time limit to form a communicator. After it, the call fails and names the "
                        "missing ranks.",
                .min = 100,
                .max = kWeekMs,
                .unit = "s"},
    SettingSpec{.name = "HANDSHAKE_TIMEOUT",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::handshake_timeout,
                .help = "Time limit for a new connection to prove that it knows the secret.",
                .min = 100,
                .max = 600'000,
                .unit = "s"},
    SettingSpec{.name = "COMM_ID",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::comm_id,
                .help = "Fixed address of rank 0 as host:port. It replaces the unique id that "
                        "every rank must receive.",
                .has_nccl_alias = true},
    SettingSpec{.name = "SECRET",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::secret,
                .help = "Shared secret of the ranks that form communicators through COMM_ID. It is "
                        "never shown.",
                .has_nccl_alias = false},
    SettingSpec{.name = "ENCRYPT",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::encrypt,
                .help = "1: encrypts the control network, which is always authenticated. Data of "
                        "collectives is never encrypted.",
                .must_agree = true},
    SettingSpec{.name = "SOCKET_IFNAME",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::socket_ifname,
                .help = "Network interfaces to use: a comma list of name prefixes. = in front "
                        "makes them exact names, ^ excludes them.",
                .has_nccl_alias = true},
    SettingSpec{.name = "SOCKET_FAMILY",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::socket_family,
                .help = "Family of the internet addresses to use.",
                .choices = "any|AF_INET|AF_INET6",
                .has_nccl_alias = true},
    SettingSpec{.name = "HOSTID",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::host_id,
                .help = "Identity of this host, in place of its name and boot id. Ranks with the "
                        "same identity share memory.",
                .has_nccl_alias = true},
    SettingSpec{.name = "IGNORE_CPU_AFFINITY",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::ignore_cpu_affinity,
                .help = "1: the library places its threads near their device or NUMA node, even "
                        "outside the CPUs allowed to the caller.",
                .min = 0,
                .max = 1,
                .has_nccl_alias = true},
    SettingSpec{.name = "BOOTSTRAP",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::bootstrap,
                .help = "Shape of the control network.",
                .choices = "tree|ring",
                .must_agree = true},
    SettingSpec{.name = "TREE_ARITY",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::tree_arity,
                .help = "Children of each member in the control tree.",
                .min = 2,
                .max = 256,
                .must_agree = true},
    SettingSpec{.name = "NODE_LEADER",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::node_leader,
                .help = "1: one rank of each host, the node leader, checks in at the root for all "
                        "ranks of the host.",
                .must_agree = true},
    SettingSpec{
        .name = "HEARTBEAT_TIMEOUT",
        .scope = SettingScope::kBootstrap,
        .field = &Settings::silence_max,
        .help = "Longest silence of a rank on the control network. After it, the rank counts as "
                "lost. Ranks send heartbeats every quarter of this time. 0 disables detection.",
        .min = 0,
        .max = kWeekMs,
        .unit = "s",
        .must_agree = true},
    SettingSpec{.name = "TRACE",
                .scope = SettingScope::kBootstrap,
                .field = &Settings::trace,
                .help = "File in which rank 0 records when each rank reached each phase of forming "
                        "the communicator, for ui.perfetto.dev or chrome://tracing.",
                .must_agree = true},
    SettingSpec{.name = "NET",
                .scope = SettingScope::kLinks,
                .field = &Settings::net,
                .help = "Transport of the links between hosts: tcp, or ofi, which uses libfabric.",
                .choices = "tcp|ofi",
                .must_agree = true},
    SettingSpec{.name = "OFI_PROVIDER",
                .scope = SettingScope::kLinks,
                .field = &Settings::ofi_provider,
                .help = "Provider of libfabric, such as efa or tcp;ofi_rxm. Unset: the first "
                        "provider that libfabric lists for the interface in use.",
                .must_agree = true},
    SettingSpec{.name = "SOCKETS_PER_LINK",
                .scope = SettingScope::kLinks,
                .field = &Settings::sockets_per_link,
                .help = "Number of connections per link between hosts, distributed over the "
                        "addresses that both hosts may use. Raise it for hosts with several NICs "
                        "of one speed, and for networks that limit the rate of one connection.",
                .min = 1,
                .max = 16,
                .must_agree = true},
    SettingSpec{.name = "TCP_CONGESTION",
                .scope = SettingScope::kLinks,
                .field = &Settings::tcp_congestion,
                .help = "Congestion control of the links between hosts, such as cubic or bbr. The "
                        "kernel must have loaded and permit it. Unset: the kernel's default."},
    SettingSpec{.name = "SHM_DISABLE",
                .scope = SettingScope::kLinks,
                .field = &Settings::shm_disable,
                .help = "1: ranks of one host do not share memory. They are linked like ranks of "
                        "different hosts.",
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "LINKS",
                .scope = SettingScope::kLinks,
                .field = &Settings::links,
                .help = "Transport of the links between ranks. auto: the fastest transport that a "
                        "pair of ranks can use.",
                .choices = kLinkNames,
                .must_agree = true},
    SettingSpec{.name = "PIPE_BYTES",
                .scope = SettingScope::kLinks,
                .field = &Settings::pipe_bytes,
                .help = "Capacity of one memory link, per direction. 262144 becomes 2 MiB among up "
                        "to 4 ranks of a host, and 1 MiB among up to 8.",
                .min = 4096,
                .max = 64u << 20,
                .unit = "bytes",
                .power_of_two = true,
                .must_agree = true},
    SettingSpec{.name = "TIMEOUT",
                .scope = SettingScope::kCollectives,
                .field = &Settings::timeout,
                .help = "Time limit for one operation. After it, the operation fails and names the "
                        "missing ranks.",
                .min = 100,
                .max = kWeekMs,
                .unit = "s"},
    SettingSpec{.name = "NUMA_RANKS",
                .scope = SettingScope::kCollectives,
                .field = &Settings::numa_ranks,
                .help = "Groups of ranks that reduce among themselves first, in reductions of more "
                        "than 6 KiB within one host. 0: the ranks of each NUMA node; k: each k "
                        "consecutive ranks; 1: no groups.",
                .min = 0,
                .max = 64,
                .must_agree = true},
    SettingSpec{
        .name = "HOST_ALGO",
        .scope = SettingScope::kCollectives,
        .field = &Settings::host_algo,
        .help = "Algorithms that collectives over host memory may use, in the syntax of ALGO, such "
                "as broadcast:binomial. An error lists the names that exist. A choice that leaves "
                "an operation without an algorithm has no effect on it, and the log reports it.",
        .must_agree = true},
    SettingSpec{
        .name = "TUNE_FILE",
        .scope = SettingScope::kCollectives,
        .field = &Settings::tune_file,
        .help =
            "File of measured choices of algorithms, written by `ringlet bench --tune`. They take "
            "precedence over the choices of the model. Its content must be the same on all ranks.",
        .must_agree = true},
    SettingSpec{.name = "HOST_MEMORY",
                .scope = SettingScope::kCollectives,
                .field = &Settings::host_memory,
                .help = "1: collectives among ranks of one host use memory that all of them share, "
                        "if LINKS is auto. 0: they use links.",
                .must_agree = true},
    SettingSpec{.name = "WAIT",
                .scope = SettingScope::kCollectives,
                .field = &Settings::wait,
                .help = "Strategy of a rank that waits for others of its host: spin polls before "
                        "it yields its core, yield yields at once, sleep does neither. auto is "
                        "spin if each rank can have a core of its own, else yield.",
                .choices = "auto|spin|yield|sleep"},
    SettingSpec{.name = "MACHINE",
                .scope = SettingScope::kPlan,
                .field = &Settings::machine,
                .help = "Topology file of the machine to emulate. Ranks of this process act as its "
                        "GPUs: Ringlet plans communicators on them like NCCL, and runs collectives "
                        "on the planned channels. ringlet emulate sets it."},
    SettingSpec{
        .name = "FAULT",
        .scope = SettingScope::kCollectives,
        .field = &Settings::fault,
        .help =
            "RANK@OPERATION:NUMBER, such as 3@all_reduce:10: kills the process of that rank (its "
            "RINGLET_RANK, else its rank in the communicator) when it begins its NUMBER-th "
            "operation of that name on one communicator. It serves tests of the surviving ranks."},
    SettingSpec{.name = "FAULT_FILE",
                .scope = SettingScope::kCollectives,
                .field = &Settings::fault_file,
                .help = "File that the process of FAULT creates before it is killed. `ringlet "
                        "emulate --kill` detects the fault by this file."},
    SettingSpec{
        .name = "SLOW",
        .scope = SettingScope::kPlan,
        .field = &Settings::slow,
        .help = "link=NAME:FRACTION, such as link=NET2:0.1, or several separated by semicolons: "
                "limits links of a MACHINE to this fraction of their rate. Its plan ignores the "
                "limit. Reports list the names of links. NAME,NAME gives both ends of a link; "
                "@HOSTID after the name selects one host. ringlet emulate --slow sets it.",
        .must_agree = true},
    SettingSpec{
        .name = "TRAFFIC_DIR",
        .scope = SettingScope::kPlan,
        .field = &Settings::traffic_dir,
        .help =
            "Folder for traffic reports of a MACHINE: each rank of each communicator writes at its "
            "end the bytes that it moved over each link. ringlet emulate --report sets it."},
    SettingSpec{
        .name = "PACE",
        .scope = SettingScope::kPlan,
        .field = &Settings::pace,
        .help = "1: collectives on rings and trees of a MACHINE last at least as long as NCCL's "
                "model of times predicts, so that programs measure the bandwidth of the machine."},
    SettingSpec{.name = "TOPO_FILE",
                .scope = SettingScope::kPlan,
                .field = &Settings::topo_file,
                .help = "Topology file of this host in NCCL's XML. Ringlet detects hardware that "
                        "the file omits.",
                .has_nccl_alias = true},
    SettingSpec{.name = "TOPO_DUMP_FILE",
                .scope = SettingScope::kPlan,
                .field = &Settings::topo_dump_file,
                .help = "File in which one rank records the topology of its host, in NCCL's XML.",
                .has_nccl_alias = true},
    SettingSpec{.name = "TOPO_DUMP_FILE_RANK",
                .scope = SettingScope::kPlan,
                .field = &Settings::topo_dump_file_rank,
                .help = "The rank that writes TOPO_DUMP_FILE.",
                .min = 0,
                .max = kRanksMax - 1,
                .has_nccl_alias = true},
    SettingSpec{.name = "GRAPH_FILE",
                .scope = SettingScope::kPlan,
                .field = &Settings::graph_file,
                .help = "File in NCCL's XML with the channels of a host, in place of a search for "
                        "channels. Its content must be the same on all ranks.",
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "GRAPH_DUMP_FILE",
                .scope = SettingScope::kPlan,
                .field = &Settings::graph_dump_file,
                .help = "File in which one rank records the channels of its host, in NCCL's XML.",
                .has_nccl_alias = true},
    SettingSpec{.name = "GRAPH_DUMP_FILE_RANK",
                .scope = SettingScope::kPlan,
                .field = &Settings::graph_dump_file_rank,
                .help = "The rank that writes GRAPH_DUMP_FILE.",
                .min = 0,
                .max = kRanksMax - 1,
                .has_nccl_alias = true},
    SettingSpec{.name = "MULTI_RANK_GPU_ENABLE",
                .scope = SettingScope::kPlan,
                .field = &Settings::multi_rank_gpu,
                .help = "1: several ranks of a communicator may name the same device.",
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "PLAN_POLICY",
                .scope = SettingScope::kPlan,
                .field = &Settings::plan_policy,
                .help = "Channels to plan: the best that the machine has (best), or no more than "
                        "NCCL's rules give (compat).",
                .choices = "best|compat",
                .must_agree = true},
    SettingSpec{.name = "MIN_NCHANNELS",
                .scope = SettingScope::kPlan,
                .field = &Settings::min_nchannels,
                .help = "Minimum number of channels. 0: no minimum.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "MAX_NCHANNELS",
                .scope = SettingScope::kPlan,
                .field = &Settings::max_nchannels,
                .help = "Maximum number of channels. 0: no maximum.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "MIN_NRINGS",
                .scope = SettingScope::kPlan,
                .field = &Settings::min_nrings,
                .help = "Another name of MIN_NCHANNELS. The higher value counts.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "MAX_NRINGS",
                .scope = SettingScope::kPlan,
                .field = &Settings::max_nrings,
                .help = "Another name of MAX_NCHANNELS. The lower value counts.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "MIN_CTAS",
                .scope = SettingScope::kPlan,
                .field = &Settings::min_ctas,
                .help = "Another name of MIN_NCHANNELS. The higher value counts.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "MAX_CTAS",
                .scope = SettingScope::kPlan,
                .field = &Settings::max_ctas,
                .help = "Another name of MAX_NCHANNELS. The lower value counts.",
                .min = 0,
                .max = kChannelSettingMax,
                .has_nccl_alias = true,
                .must_agree = true},
    SettingSpec{.name = "P2P_LEVEL",
                .scope = SettingScope::kDevices,
                .field = &Settings::p2p_level,
                .help = "Maximum distance between two GPUs that access each other: LOC, NVL, NVB, "
                        "C2C, PIX, PXB, P2C, PXN, PHB or SYS.",
                .max = kLevelsMax,
                .choices = kPathLevels,
                .has_nccl_alias = true},
    SettingSpec{.name = "P2P_DISABLE",
                .scope = SettingScope::kDevices,
                .field = &Settings::p2p_disable,
                .help = "1: GPUs never access each other, as with P2P_LEVEL=LOC.",
                .has_nccl_alias = true},
    SettingSpec{.name = "NVB_DISABLE",
                .scope = SettingScope::kDevices,
                .field = &Settings::nvb_disable,
                .help = "1: NVLink through another GPU is not used.",
                .has_nccl_alias = true},
    SettingSpec{.name = "NET_DISABLE_INTRA",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_disable_intra,
                .help = "1: GPUs of one host never reach each other through NICs.",
                .has_nccl_alias = true},
    SettingSpec{.name = "PXN_DISABLE",
                .scope = SettingScope::kDevices,
                .field = &Settings::pxn_disable,
                .help = "1: a GPU does not reach a NIC through another GPU near that NIC.",
                .has_nccl_alias = true},
    SettingSpec{.name = "PXN_C2C",
                .scope = SettingScope::kDevices,
                .field = &Settings::pxn_c2c,
                .help = "1: the other GPU of PXN_DISABLE may reach the NIC through the processor "
                        "of its package.",
                .has_nccl_alias = true},
    SettingSpec{.name = "NET_GDR_LEVEL",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_gdr_level,
                .help = "Maximum distance between a GPU and a NIC for GPUDirect RDMA, in the "
                        "levels of P2P_LEVEL.",
                .max = kLevelsMax,
                .choices = kPathLevels,
                .has_nccl_alias = true},
    SettingSpec{.name = "NET_GDR_READ",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_gdr_read,
                .help = "1: sending uses GPUDirect RDMA, like receiving. Unset: only from compute "
                        "capability 8.0, or with NVLink.",
                .min = 0,
                .max = 1,
                .has_nccl_alias = true},
    SettingSpec{.name = "NET_GDR_C2C",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_gdr_c2c,
                .help = "1: GPUDirect RDMA may use paths through the processor of the package.",
                .has_nccl_alias = true},
    SettingSpec{.name = "NET_GDR_MLOPART",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_gdr_mlopart,
                .help = "1: the halves of a split GPU use GPUDirect RDMA.",
                .has_nccl_alias = true},
    SettingSpec{.name = "IGNORE_DISABLED_P2P",
                .scope = SettingScope::kDevices,
                .field = &Settings::ignore_disabled_p2p,
                .help = "Treatment of an NVLink between GPUs without peer access in the driver. 0: "
                        "an error; 1: the link is not used; 2: the link is used anyway.",
                .min = 0,
                .max = 2,
                .has_nccl_alias = true},
    SettingSpec{.name = "NETDEVS_POLICY",
                .scope = SettingScope::kDevices,
                .field = &Settings::netdevs_policy,
                .help = "Number of NICs that a GPU uses: AUTO, ALL, or MAX: and a number.",
                .min = 1,
                .max = 16'384,
                .choices = "AUTO|ALL|MAX:NUMBER",
                .has_nccl_alias = true},
    SettingSpec{
        .name = "NET_MERGE_LEVEL",
        .scope = SettingScope::kDevices,
        .field = &Settings::net_merge_level,
        .help = "Maximum distance between ports that are merged into one: LOC (no merging), PORT "
                "(ports of one device, the default), PIX, PXB, P2C, PXN, PHB or SYS.",
        .choices = "LOC|PORT|PIX|PXB|P2C|PXN|PHB|SYS",
        .has_nccl_alias = true},
    SettingSpec{
        .name = "NET_MERGE_POLICY",
        .scope = SettingScope::kDevices,
        .field = &Settings::net_merge_policy,
        .help = "ALL: merges all ports that are near enough. RAIL: merges only ports of one rail.",
        .choices = "ALL|RAIL",
        .has_nccl_alias = true},
    SettingSpec{.name = "NET_FORCE_MERGE",
                .scope = SettingScope::kDevices,
                .field = &Settings::net_force_merge,
                .help = "Ports to merge at any distance: a comma list of names per group, with ; "
                        "between groups.",
                .has_nccl_alias = true},
    SettingSpec{
        .name = "IB_HCA",
        .scope = SettingScope::kDevices,
        .field = &Settings::ib_hca,
        .help = "RDMA ports to use: a comma list of name prefixes. A suffix :port selects one port "
                "of the device. = in front makes them exact names, ^ excludes them.",
        .has_nccl_alias = true},
    SettingSpec{.name = "CROSS_NIC",
                .scope = SettingScope::kDevices,
                .field = &Settings::cross_nic,
                .help = "Permission for rings to enter and leave a host by different NICs. 0: "
                        "never; 1: always; 2: where it helps.",
                .min = 0,
                .max = 2,
                .has_nccl_alias = true},
    SettingSpec{.name = "NVLS_ENABLE",
                .scope = SettingScope::kDevices,
                .field = &Settings::nvls_enable,
                .help = "0: plans do not use reductions in the NVSwitch. 1 or 2: plans use them if "
                        "the machine has them.",
                .min = 0,
                .max = 2,
                .has_nccl_alias = true},
    SettingSpec{.name = "ALGO",
                .scope = SettingScope::kDevices,
                .field = &Settings::algo,
                .help = "Algorithms that may be used: a comma list. ^ in front excludes them, "
                        "function:list applies to one function, and ; separates lists.",
                .has_nccl_alias = true},
    SettingSpec{.name = "PROTO",
                .scope = SettingScope::kDevices,
                .field = &Settings::proto,
                .help = "Protocols that may be used, in the syntax of ALGO: LL, LL128, Simple.",
                .has_nccl_alias = true},
    SettingSpec{
        .name = "DEBUG",
        .scope = SettingScope::kLog,
        .field = &Settings::debug,
        .help = "Level of the log. It contains lines of this level and of the levels before it.",
        .choices = "NONE|VERSION|WARN|INFO|ABORT|TRACE",
        .has_nccl_alias = true},
    SettingSpec{.name = "DEBUG_SUBSYS",
                .scope = SettingScope::kLog,
                .field = &Settings::debug_subsystems,
                .help = "Subsystems that log: a comma list. ^ in front selects all except these. "
                        "Warnings do not depend on it.",
                .has_nccl_alias = true},
    SettingSpec{
        .name = "DEBUG_FILE",
        .scope = SettingScope::kLog,
        .field = &Settings::debug_file,
        .help =
            "File for the log in place of standard output. %h is the host name, %p the process id.",
        .has_nccl_alias = true},
    SettingSpec{.name = "STATUS",
                .scope = SettingScope::kLog,
                .field = &Settings::status,
                .help = "1: the process answers ringlet status on a socket that only its own user "
                        "and root can use."},
    SettingSpec{.name = "RAS_ENABLE",
                .scope = SettingScope::kLog,
                .field = &Settings::ras_enable,
                .help = "1: the process answers ncclras, ringlet ras and other clients of NCCL's "
                        "RAS while it has a communicator. Any user of the host may query it. "
                        "Unset: only if RAS_ADDR is set; NCCL's own default is 1.",
                .min = 0,
                .max = 1,
                .has_nccl_alias = true},
    SettingSpec{.name = "RAS_ADDR",
                .scope = SettingScope::kLog,
                .field = &Settings::ras_addr,
                .help =
                    "Loopback address for RAS clients, as host:port. Default with RAS_ENABLE=1: "
                    "127.0.0.1:28028. All processes of one user listen at it together.",
                .has_nccl_alias = true},
    SettingSpec{.name = "DUMP_DIR",
                .scope = SettingScope::kLog,
                .field = &Settings::dump_dir,
                .help = "Folder for ringlet trace: each rank of a failed communicator writes its "
                        "last 2048 operations there."},
    SettingSpec{.name = "DUMP_SIGNAL",
                .scope = SettingScope::kLog,
                .field = &Settings::dump_signal,
                .help = "Signal on which each rank of the process writes its last operations into "
                        "DUMP_DIR: HUP, QUIT, USR1 or USR2. Unset: signals have their usual "
                        "effect."},
    SettingSpec{.name = "PROFILER_PLUGIN",
                .scope = SettingScope::kLog,
                .field = &Settings::profiler_plugin,
                .help = "Profiler plug-in for NCCL, version 5 or 6, that receives events of "
                        "operations: a path, or NAME of libnccl-profiler-NAME.so. Unset: none; "
                        "NCCL itself then looks for libnccl-profiler.so.",
                .has_nccl_alias = true},
    SettingSpec{
        .name = "TUNER_PLUGIN",
        .scope = SettingScope::kLog,
        .field = &Settings::tuner_plugin,
        .help = "Tuner plug-in for NCCL, version 5 or 6, that chooses algorithm, protocol and "
                "channels of collectives over links and on an emulated machine: a path, or NAME of "
                "libnccl-tuner-NAME.so. Unset: none; NCCL itself then looks for libnccl-tuner.so.",
        .has_nccl_alias = true},
    SettingSpec{.name = "METRICS_FILE",
                .scope = SettingScope::kLog,
                .field = &Settings::metrics_file,
                .help = "File for the counters of the process, in Prometheus' text format. %h is "
                        "the host name, %p the process id."},
    SettingSpec{.name = "METRICS_INTERVAL",
                .scope = SettingScope::kLog,
                .field = &Settings::metrics_interval,
                .help = "Interval at which METRICS_FILE is written.",
                .min = 100,
                .max = kWeekMs,
                .unit = "s"},
    SettingSpec{.name = "UNIQUE_ID",
                .scope = SettingScope::kLaunch,
                .field = &Settings::unique_id,
                .help = "Unique id of a communicator in text form, set by `ringlet run`. The first "
                        "communicator of all WORLD_SIZE ranks uses it if they pass the first id "
                        "that ncclGetUniqueId returned in a process. Without WORLD_SIZE, the first "
                        "call of ncclGetUniqueId in each process returns it. COMM_ID overrides it. "
                        "It contains the secret and is never shown."},
    SettingSpec{.name = "RANK",
                .scope = SettingScope::kLaunch,
                .field = &Settings::rank,
                .help = "Rank of this process, set by `ringlet run`.",
                .min = 0,
                .max = kRanksMax - 1},
    SettingSpec{.name = "WORLD_SIZE",
                .scope = SettingScope::kLaunch,
                .field = &Settings::world_size,
                .help = "Number of ranks, set by `ringlet run`.",
                .min = 1,
                .max = kRanksMax},
    SettingSpec{.name = "LOCAL_RANK",
                .scope = SettingScope::kLaunch,
                .field = &Settings::local_rank,
                .help = "Number of this rank on its host, set by `ringlet run`.",
                .min = 0,
                .max = kRanksMax - 1},
};

/// "seconds from 0.1 to 600", "one of tree, ring": for error messages and the reference page.
std::string AllowedText(const SettingSpec& spec);

/// The value of `spec` in `settings`, spelled as in the environment. "(set)" for a secret, empty if
/// unset.
std::string ValueText(const Settings& settings, const SettingSpec& spec);

/// "default", "RINGLET_DEBUG" or "NCCL_DEBUG in /etc/nccl.conf".
std::string OriginText(const Settings& settings, const SettingSpec& spec);

/// The variable that set a setting, for messages: "NCCL_GRAPH_FILE in /etc/nccl.conf".
/// "RINGLET_GRAPH_FILE" if no variable set it.
/// \param name  "GRAPH_FILE", a name of kSettings
std::string VariableOf(const Settings& settings, std::string_view name);

/// Returns true if that variable belongs to NCCL.
bool IsSetByNccl(const Settings& settings, std::string_view name);

}  // namespace ringlet
