// Topologies of hosts as values. Functions load, lint and check files in NCCL's format, and compute
// paths between devices and channels for ranks on GPUs. C++17 and later.
//
// The functions are in libringlet_topo.so.0. Link ringlet::topology of find_package(ringlet), or
// the module ringlet-topology of pkg-config. They need neither a GPU nor a communicator, and they
// read no environment variables. All are safe to call from several threads.
//
// docs/howto/check-a-topology-file.md has an example, and docs/reference/topology.md the format,
// the rules and their sources.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringlet/export.hpp"
#include "ringlet/finding.hpp"
#include "ringlet/status.hpp"

namespace ringlet::topology {

/// Returns one line: "FILE:3:7: error: system/cpu[0]: reason; cure [rule]".
RINGLET_API std::string TextOf(const Finding& finding);

/// An end of paths within a host.
struct Device {
  enum class Type : std::uint8_t {
    kGpu,
    kPort,       ///< a port of a NIC
    kProcessor,  ///< a NUMA node
  };
  Type type = Type::kGpu;
  std::string name;  ///< "GPU0", "mlx5_0", "NUMA0"; with several hosts "node1/GPU0"
  std::string bus;   ///< PCI address, such as "0000:1b:00.0"; empty: unknown, or a processor
};

/// The parts of a host and their links: processors, PCI switches, GPUs and NICs. A value that never
/// changes. Copies share their memory.
class RINGLET_API Topology {
 public:
  /// Reads a topology file in NCCL's format.
  /// Errors  kInvalidArgument  the file is missing, or is not a topology; the message has the place
  ///         kSystem           the file cannot be read
  ///         kUnsupported      the file is larger than 8 MiB
  static Result<Topology> Load(const std::string& path);
  /// Reads the text of such a file. \param name  the file's name for findings
  /// Errors  kInvalidArgument  the text is not a topology; the message has the place
  static Result<Topology> Parse(std::string_view text, std::string name);
  /// Makes a topology from words such as "2x(numa: 2x(switch: 2 gpu, 1 nic 400g))".
  /// Errors  kInvalidArgument  the words do not parse; the message has the column
  static Result<Topology> Describe(std::string_view words);
  /// Detects this host: /sys, /proc and, if it is present, NVIDIA's driver.
  /// Errors  kInvalidArgument, kSystem  /sys or /proc is not that of a Linux host
  /// Cost    about 20 system calls per GPU and NIC
  static Result<Topology> Detect();

  /// The name of the file, the words, or "this machine".
  const std::string& name() const;
  /// Facts that detection did not find, a sentence each. Empty for files.
  const std::vector<std::string>& missing() const;
  /// GPUs, ports and processors, in this order. A GPU that the file names only as a PCI function is
  /// not among them.
  /// Errors  kInvalidArgument  the topology describes an impossible machine
  ///         kUnsupported      it is too large for DevicePaths
  Result<std::vector<Device>> Devices() const;
  /// The text of a topology file in NCCL's format. Parse of this text gives an equal topology.
  std::string ToXml() const;

  struct Contents;
  const Contents& contents() const { return *contents_; }  ///< for the library itself

 private:
  explicit Topology(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}
  std::shared_ptr<const Contents> contents_;
};

/// Returns the mistakes of a text in the format of topology files, sorted by place. Unlike Parse,
/// it also has the mistakes of a text that is not a topology.
///
/// Cost  O(bytes log bytes); O(n^2) for the GPUs of one PCI function
RINGLET_API std::vector<Finding> Lint(std::string_view text, std::string_view name);
/// Returns the mistakes of a topology. For a file, these are the mistakes of its text.
RINGLET_API std::vector<Finding> Lint(const Topology& topology);

/// The operator's action upon a defect.
enum class Remedy : std::uint8_t {
  kNone,      ///< no action; for information
  kEditFile,  ///< correct the topology file; the machine may be well
  kRepair,    ///< repair the machine when it is free; jobs run, but slower
  kDrain,     ///< take the machine out of service
};

/// A defect of a host: a device that is missing, slower than its peers, or in a wrong place.
struct HostDefect {
  std::string rule;  ///< a stable name for scripts: "gpu-pcie"
  Severity severity = Severity::kError;
  Remedy remedy = Remedy::kNone;
  std::string where;  ///< PCI address, or a place in the file; empty: the whole host
  std::string name;   ///< "GPU3 (h100-sxm5)", "NIC mlx5_4"
  TextPosition at;    ///< in the file, if the topology has one
  std::string reason;
  std::string cure;
};

/// Compares the devices of a host with each other, with the known facts of their models and, if
/// `expected` is not null, with a reference host. Returns the defects, the worst ones first.
///
/// Devices of one model are peers. If peers differ in a single value, the majority is right. A host
/// without GPUs has defects only in comparison with `expected`, or if its file has mistakes.
///
/// Unlike `ringlet topo check`, this function does not plan channels to find the cost of a defect.
/// So a narrow link has severity kWarning even if plans prove that it costs no bandwidth.
///
/// Cost  O(parts * GPUs)
RINGLET_API std::vector<HostDefect> Check(const Topology& topology,
                                          const Topology* expected = nullptr);

struct PathRules {
  bool as_nccl = false;   ///< apply the rules of NCCL 2.30, including its faults
  bool as_wired = false;  ///< find the best paths, even if transports may not use them
};

/// A path between two devices.
struct DevicePath {
  /// "LOC" the same device, "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS" as in
  /// NCCL's log, "NET" only the network, "DIS" no path.
  std::string type;
  double gb_per_s = 0;     ///< of the narrowest link, per direction
  std::uint32_t hops = 0;  ///< number of links
};

/// One link of a path.
struct PathLink {
  std::string to;    ///< name of the part behind the link: "PCI(0000:18:00.0)", "NUMA0", "GPU1"
  std::string type;  ///< "PCI", "NVL", "C2C", "SYS", "NET", "LOC"
  double gb_per_s = 0;
};

/// The paths between all devices of a host. A value that never changes. Copies share their memory.
class RINGLET_API DevicePaths {
 public:
  /// Errors  kInvalidArgument  the topology describes an impossible machine
  ///         kUnsupported      the topology is too large, such as more than 65,535 parts
  /// Cost    O(devices * links)
  static Result<DevicePaths> Find(const Topology& topology, const PathRules& rules = {});

  /// \param from, to  a name of Device::name, a PCI address, or NCCL's name ("GPU/0-11000")
  /// Errors  kInvalidArgument  no device, or several devices, have the name; lists the names
  Result<DevicePath> Between(std::string_view from, std::string_view to) const;
  /// The links of a path in order. Empty if no path exists.
  /// Errors  kInvalidArgument  as Between
  Result<std::vector<PathLink>> Links(std::string_view from, std::string_view to) const;

 private:
  struct Contents;
  explicit DevicePaths(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}
  std::shared_ptr<const Contents> contents_;
};

struct ChannelRequest {
  std::uint32_t hosts = 1;         ///< equal hosts, 1 to 1,024
  std::uint32_t channels_max = 0;  ///< within a host; 0: the fewest with near the best bandwidth
  bool as_nccl = false;            ///< plan the channels of NCCL 2.30 instead of the best ones
};

/// A channel connects all ranks by a ring and by a tree.
struct RankChannel {
  std::vector<std::uint32_t> ring;  ///< each rank once; the last one sends to the first
  /// The parent of each rank in the tree. Null for the root.
  std::vector<std::optional<std::uint32_t>> parents;
  double ring_gb_per_s = 0, tree_gb_per_s = 0;  ///< per direction
};

/// The channels of a communicator with one rank on each GPU. Ranks are numbered host by host, by
/// the `rank` attributes of the file or, without them, in the order of the GPUs.
struct RankChannels {
  std::uint32_t ranks = 0;
  /// Number of channels that carry collectives over rings, and over trees: the first ones.
  std::uint32_t rings = 0, trees = 0;
  std::vector<RankChannel> channels;
  double ring_gb_per_s = 0;  ///< all rings of a rank together, per direction
  std::uint64_t digest = 0;  ///< equal for equal rings and trees; ranks of a job compare it
  std::string graph_file;    ///< the channels of a host in the format of NCCL_GRAPH_FILE; empty if
                             ///< the GPUs of a host cannot all reach each other
};

/// Plans the channels of a communicator, as the ranks of such hosts would.
/// Errors  kInvalidArgument  a field of `request` is out of range, the host lacks GPUs, or it is
///                           impossible
///         kUnsupported      more than 1,024 GPUs in a host, or it is too large for DevicePaths
/// Cost    limited by numbers of steps, not by a clock; a DGX H100 takes a few milliseconds
RINGLET_API Result<RankChannels> PlanChannels(const Topology& topology,
                                              const ChannelRequest& request = {});

}  // namespace ringlet::topology
