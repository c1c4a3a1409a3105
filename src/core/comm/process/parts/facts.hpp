// The facts about a process and its host, and a reader of the host.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/settings/env_map.hpp"
#include "base/settings/settings.hpp"
#include "bootstrap/protocol.hpp"
#include "collective/select/tuning_table.hpp"
#include "discovery/scan.hpp"
#include "os/fs/file_tree.hpp"
#include "os/fs/log_sink.hpp"
#include "os/net/interface_filter.hpp"
#include "os/process/host.hpp"
#include "plan/search/given_graphs.hpp"
#include "transport/wireup/shared_listeners.hpp"

namespace ringlet::comm {

/// Facts that do not change while the process runs.
struct ProcessFacts {
  /// Reads the settings from `environment` and files, checks them, and identifies the host. Raises
  /// the limit of descriptors. Errors  kInvalidArgument  a setting; kSystem  no random source
  static Result<ProcessFacts> Read(const EnvMap& environment, const FileVariables& conf_files);
  /// Reads facts that do not change while the machine runs, so that the first operation need not.
  /// For use when a library is loaded. Processes that are forked later have the facts too. Cost a
  /// tenth of a millisecond.
  static void CacheHostFacts();

  Settings settings;
  os::Host host;
  os::FileTree files;
  std::uint64_t host_hash;     ///< equal on two ranks of the same host; see RINGLET_HOSTID
  std::uint64_t process_hash;  ///< equal on two ranks of a Process, which so can share pointers
  std::uint32_t usable_cores;  ///< number of cores that this process may run on
  collective::TuningTable measured_choices;  ///< the contents of RINGLET_TUNE_FILE
  plan::GraphText graphs;                    ///< the contents of RINGLET_GRAPH_FILE
  std::uint64_t descriptors_max;

  /// Returns true if waiting ranks may spin, as far as this is known before the other ranks are.
  bool MaySpin(std::uint32_t ranks) const;
  /// Returns how many unauthenticated callers one machine may hold: at most `wanted`, and few
  /// enough to leave descriptors for the others.
  std::size_t HalfOpenMax(std::size_t wanted) const;
  /// Returns os::NetNamespace of `listeners` of this process.
  std::uint64_t NetNamespaceOf(const transport::ListenerSet& listeners) const;
  /// Returns a function that knows the processes of this host. Valid as long as this lives.
  bootstrap::IsStopped is_stopped() const;
};

/// Reads the addresses and devices of the host. The ranks of a process share the results. Any
/// thread.
class HostReader {
 public:
  /// \param facts, logger  outlive this
  HostReader(const ProcessFacts& facts, os::Logger& logger) : facts_(facts), logger_(logger) {}

  /// Forming a communicator takes a few milliseconds and needs the addresses five times. A host's
  /// addresses may change in the life of a process.
  static constexpr std::chrono::seconds kInterfacesFresh{10};
  /// Returns this host's addresses, best first: those that other hosts can use, or all if none is
  /// usable. At most kInterfacesFresh old. Errors  kInvalidArgument  RINGLET_SOCKET_IFNAME excludes
  /// all
  /// \param alone  a rank without others needs no network: 127.0.0.1 if no interface exists
  Result<std::vector<os::UsableAddress>> ReachableInterfaces(bool alone = false);
  /// Returns the same without their names.
  Result<std::vector<Address>> ReachableAddresses(bool alone = false);

  /// Returns this host as it was at the first call of a rank of this process. \param devices
  /// include NICs and GPUs. Errors  as discovery::Scan, which is then retried
  Result<discovery::HostScan> Scan(bool devices);

 private:
  const ProcessFacts& facts_;
  os::Logger& logger_;
  std::mutex mutex_;                             // guards the next three
  std::optional<discovery::HostScan> scans_[2];  // without devices, and with them
  std::vector<os::UsableAddress> interfaces_;    // empty: not read yet
  Instant interfaces_read_at_{0};
};

}  // namespace ringlet::comm
