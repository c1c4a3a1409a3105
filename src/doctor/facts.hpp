// Facts of a host before a job, and of its connections to others: one struct a probe.
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

/// Of limits: there is none.
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

struct InterfaceReport {
  std::string name;
  bool running = false;
  bool hardware = false;  ///< a device is behind it: its speed is one that was negotiated
  std::uint32_t mtu_bytes = 0;
  std::optional<std::uint32_t> mbit_per_s = {};
  std::vector<std::string> addresses = {};
  /// Its place in the order in which addresses are tried, from 0; nothing: it is not used.
  std::optional<std::uint32_t> place = {};
  std::string why = {};  ///< it is used, or not
};

struct NameReport {
  std::string host_name;
  std::vector<std::string> addresses = {};  ///< that the name resolves to
  bool loopback = false;                    ///< all of them are
  std::string failure = {};                 ///< of the resolver
};

struct ShmReport {
  std::string failure = {};  ///< why nothing can be written; empty: it can
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;
};

struct LimitReport {
  std::uint64_t locked_bytes = kUnlimited;
  std::uint64_t descriptors = kUnlimited;  ///< the hard limit, to which Ringlet raises its own
  std::uint64_t processes = kUnlimited;    ///< of this user
  std::uint64_t tasks = kUnlimited;        ///< of the control group
  std::uint64_t tasks_used = 0;
};

struct PeerMemoryReport {
  bool permitted = true;
  std::string why = {};  ///< it is not: the error
  std::optional<std::uint32_t> ptrace_scope = {};
};

struct HugePageReport {
  std::uint64_t total = 0, free = 0, bytes_each = 0;
  std::string transparent = {};  ///< "madvise"
};

struct CpuReport {
  std::uint32_t online = 0;
  std::uint32_t usable = 0;  ///< by the affinity of the process, or of all ranks of the host
  /// The same by CPU from 0 on: "1101". Of 4,096 at most.
  std::string usable_mask = {};
  std::uint32_t numa_nodes = 0;
  std::optional<std::uint32_t> quota_percent = {};  ///< of one core; of the control group
};

struct MemoryReport {
  std::uint64_t total_bytes = 0, available_bytes = 0;
  std::uint64_t limit_bytes = kUnlimited;  ///< of the control group
  std::uint64_t used_bytes = 0;            ///< of that limit
};

struct PortReport {
  std::uint32_t first = 0, last = 0;  ///< that the kernel gives to sockets
  std::uint32_t used = 0;             ///< of these, by sockets of this network namespace
  std::string failure = {};           ///< why no socket could listen at one; empty: it could
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
  std::string host;      ///< as it was asked for, or its host name
  std::string identity;  ///< equal for processes of one host, or container
  std::string kernel, libc, machine, ringlet;
  NameReport name = {};
  std::vector<InterfaceReport> interfaces = {};
  std::vector<std::string> endpoints = {};  ///< at which it answers probes: "10.0.0.2:40123"
  ShmReport shm = {};
  LimitReport limits = {};
  PeerMemoryReport peer_memory = {};
  HugePageReport huge_pages = {};
  CpuReport cpus = {};
  MemoryReport memory = {};
  PortReport ports = {};
  std::map<std::string, SettingReport> settings = {};
  std::string settings_failure = {};  ///< why they are invalid
  bool rdma = false;
  std::uint32_t gpus = 0;
  std::vector<MachineDefect> defects = {};
  std::uint32_t ranks = 0;  ///< of the job on this host; 0: not known
  /// Its clock less that of the host that asks, and how far off that may be.
  std::int64_t clock_ahead_ns = 0;
  std::uint64_t clock_uncertainty_ns = 0;
};

/// One line. Strings may hold any bytes; what is no UTF-8 is replaced.
std::string ToJson(const HostFacts& facts);
/// From another host: lengths, counts and ranges are checked.
/// Errors  kProtocol  says what is wrong
Result<HostFacts> ParseHostFacts(std::string_view text);

/// How a connection to another host went.
enum class Contact : std::uint8_t {
  kConnected,
  kRefused,      ///< nothing listens, or a firewall rejects
  kTimeout,      ///< no answer
  kUnreachable,  ///< no route
  kNoPort,       ///< this host has no port left for it
  kStranger,     ///< something else answers there
  kFailed,       ///< `why` has the error
};
std::string_view NameOf(Contact reach);  ///< "connected", "refused", ...

/// One host's view of an address of another one. Numbers are 0 where a probe was not made or has
/// failed.
struct PairFacts {
  std::uint32_t from = 0, to = 0;  ///< hosts by index
  std::uint32_t nic = 0;           ///< of `to`, by the order of its endpoints
  std::string address = {};        ///< of it, with its port
  Contact reach = Contact::kConnected;
  std::string why = {};
  std::uint64_t connect_ns = 0;
  std::uint64_t latency_ns = 0;  ///< of the quickest round trip of a small message
  std::uint64_t bytes_per_s = 0;
  bool stalled = false;         ///< small messages arrived, many bytes did not
  std::uint32_t mtu_bytes = 0;  ///< of the interface by which it goes
  /// The largest packet that arrived; 0 with `mtu_bytes`: not even small ones did, as where a
  /// firewall lets no UDP pass.
  std::uint32_t passed_bytes = 0;
  std::uint32_t path_mtu_bytes = 0;  ///< that routers told; 0: none did
};

std::string ToJson(const std::vector<PairFacts>& pairs);
/// \param hosts  indices are below it. Errors  kProtocol
Result<std::vector<PairFacts>> ParsePairs(std::string_view text, std::uint32_t hosts);

/// All that the judgement needs.
struct SetFacts {
  std::vector<HostFacts> hosts = {};
  struct Silent {
    std::string host, why;
  };
  std::vector<Silent> silent = {};  ///< hosts that gave no facts
  std::vector<PairFacts> reached = {};
  std::vector<PairFacts> measured = {};
};

}  // namespace ringlet::doctor
