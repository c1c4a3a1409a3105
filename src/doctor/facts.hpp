// Facts of a host and of its connections to others, before a job: one struct per probe.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::doctor {

/// An absent limit.
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

struct InterfaceReport {
  std::string name;
  bool running = false;
  bool hardware = false;  ///< backed by a device, so its speed was negotiated
  std::uint32_t mtu_bytes = 0;
  std::optional<std::uint32_t> mbit_per_s = {};
  std::vector<std::string> addresses = {};
  /// Rank among the addresses to try, from 0; empty if it is not used.
  std::optional<std::uint32_t> place = {};
  std::string why = {};  ///< reason for its use or exclusion
};

struct NameReport {
  std::string host_name;
  std::vector<std::string> addresses = {};  ///< addresses that the name resolves to
  bool loopback = false;                    ///< true if all of them are loopback
  std::string failure = {};                 ///< error of the resolver
};

struct ShmReport {
  std::string failure = {};  ///< reason why it is not writable; empty: writable
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;
};

struct LimitReport {
  std::uint64_t locked_bytes = kUnlimited;
  std::uint64_t descriptors = kUnlimited;  ///< the hard limit; Ringlet raises its soft limit to it
  std::uint64_t processes = kUnlimited;    ///< for this user
  std::uint64_t tasks = kUnlimited;        ///< for the control group
  std::uint64_t tasks_used = 0;
};

struct PeerMemoryReport {
  bool permitted = true;
  std::string why = {};  ///< the error, if it is not permitted
  std::optional<std::uint32_t> ptrace_scope = {};
};

struct HugePageReport {
  std::uint64_t total = 0, free = 0, bytes_each = 0;
  std::string transparent = {};  ///< "madvise"
};

struct CpuReport {
  std::uint32_t online = 0;
  std::uint32_t usable = 0;  ///< by the affinity of the process, or of all ranks of the host
  /// The usable CPUs from 0 on: "1101". At most 4,096 CPUs.
  std::string usable_mask = {};
  std::uint32_t numa_nodes = 0;
  std::optional<std::uint32_t> quota_percent = {};  ///< of one core; for the control group
};

struct MemoryReport {
  std::uint64_t total_bytes = 0, available_bytes = 0;
  std::uint64_t limit_bytes = kUnlimited;  ///< for the control group
  std::uint64_t used_bytes = 0;            ///< part of that limit in use
};

struct PortReport {
  std::uint32_t first = 0, last = 0;  ///< the kernel's range for sockets
  std::uint32_t used = 0;             ///< ports of the range in use in this network namespace
  std::string failure = {};           ///< reason why no socket could listen; empty: one could
};

struct SettingReport {
  std::string value;
  bool must_agree = false;
  std::string from = {};  ///< the variable that sets it, "NCCL_X in /etc/nccl.conf"; "": unknown
};

/// A finding of `ringlet topo check`.
struct MachineDefect {
  std::string rule, severity, where, reason, cure;
};

struct HostFacts {
  std::string host;      ///< name from the command line, or host name
  std::string identity;  ///< equal for processes of one host, or container
  std::string kernel, libc, machine, ringlet;
  NameReport name = {};
  std::vector<InterfaceReport> interfaces = {};
  std::vector<std::string> endpoints = {};  ///< its addresses for probes: "10.0.0.2:40123"
  ShmReport shm = {};
  LimitReport limits = {};
  PeerMemoryReport peer_memory = {};
  HugePageReport huge_pages = {};
  CpuReport cpus = {};
  MemoryReport memory = {};
  PortReport ports = {};
  std::map<std::string, SettingReport> settings = {};
  std::string settings_failure = {};  ///< reason why they are invalid
  bool rdma = false;
  std::uint32_t gpus = 0;
  std::vector<MachineDefect> defects = {};
  std::uint32_t ranks = 0;  ///< number of the job's ranks on this host; 0: unknown
  /// Its clock minus that of the querying host, and the bound on the error.
  std::int64_t clock_ahead_ns = 0;
  std::uint64_t clock_uncertainty_ns = 0;
};

/// Returns one line. Strings may hold any bytes; invalid UTF-8 is replaced.
std::string ToJson(const HostFacts& facts);
/// Parses text from another host. Checks lengths, counts and ranges.
/// Errors  kProtocol  with the reason
Result<HostFacts> ParseHostFacts(std::string_view text);

/// Outcome of a connection to another host.
enum class Contact : std::uint8_t {
  kConnected,
  kRefused,      ///< no process listens, or a firewall rejects
  kTimeout,      ///< no answer
  kUnreachable,  ///< no route
  kNoPort,       ///< this host lacks a free port for it
  kStranger,     ///< another program answers there
  kFailed,       ///< `why` has the error
};
std::string_view NameOf(Contact reach);  ///< "connected", "refused", ...

/// A host's view of an address of another one. Numbers are 0 if a probe was not made or has failed.
struct PairFacts {
  std::uint32_t from = 0, to = 0;  ///< host indices
  std::uint32_t nic = 0;           ///< of `to`, in the order of its endpoints
  std::string address = {};        ///< its address, with the port
  Contact reach = Contact::kConnected;
  std::string why = {};
  std::uint64_t connect_ns = 0;
  std::uint64_t latency_ns = 0;  ///< the quickest round trip of a small message
  std::uint64_t bytes_per_s = 0;
  bool stalled = false;         ///< small messages arrived, but a large transfer did not
  std::uint32_t mtu_bytes = 0;  ///< MTU of the outgoing interface
  /// The largest packet that arrived. 0 with `mtu_bytes`: small ones did not arrive either, as
  /// behind a firewall that blocks UDP.
  std::uint32_t passed_bytes = 0;
  std::uint32_t path_mtu_bytes = 0;  ///< reported by routers; 0: no report
};

std::string ToJson(const std::vector<PairFacts>& pairs);
/// \param hosts  upper bound of the indices. Errors  kProtocol
Result<std::vector<PairFacts>> ParsePairs(std::string_view text, std::uint32_t hosts);

/// The input of the judgement.
struct SetFacts {
  std::vector<HostFacts> hosts = {};
  struct SilentHost {
    std::string host, why;
  };
  std::vector<SilentHost> silent = {};  ///< hosts without facts
  std::vector<PairFacts> reached = {};
  std::vector<PairFacts> measured = {};
};

}  // namespace ringlet::doctor
