// What one host has, as a value: facts without judgement. discovery makes one of a live machine or
// a captured file tree; a text form makes one of a fixture; ranks send it to each other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "ringlet/status.hpp"
#include "topology/cpu_set.hpp"

namespace ringlet::topology {

/// What kind of processor; all of a host are alike.
struct CpuModel {
  std::string arch;          ///< "x86_64", "arm64", "ppc64"; empty: unknown
  std::string vendor;        ///< as the processor says: "GenuineIntel", "AuthenticAMD", "0x41"
  std::uint32_t family = 0;  ///< x86: with the extended family added, as /proc/cpuinfo has it
  std::uint32_t model = 0;   ///< x86: with the extended model
  std::string name;          ///< for people
  bool operator==(const CpuModel&) const = default;
};

struct NumaNode {
  std::uint32_t id = 0;  ///< the kernel's; not always consecutive
  CpuSet cpus;           ///< empty: memory without processors
  std::uint64_t memory_bytes = 0;
  /// The kernel's relative distances to each node of the host in order of id, 10 = itself. Empty:
  /// unknown.
  std::vector<std::uint32_t> distances;
  bool operator==(const NumaNode&) const = default;
};

struct NetInterface {
  std::string name;
  std::optional<std::uint32_t> speed_mbit_per_s;
  std::optional<std::uint32_t> numa;  ///< id of the node that its PCI slot belongs to
  bool operator==(const NetInterface&) const = default;
};

struct HostView {
  std::string name;
  /// Equal for ranks that share a kernel, and so can share memory. See HostIdentity.
  std::uint64_t identity = 0;
  CpuModel cpu;
  std::vector<NumaNode> numa_nodes;  ///< ascending ids, at least one
  std::vector<NetInterface> nets;    ///< ascending names
  bool operator==(const HostView&) const = default;

  static constexpr std::size_t kNumaNodesMax = 1024;  // CONFIG_NODES_SHIFT is 10 at most
  static constexpr std::size_t kNetsMax = 256;
  static constexpr std::size_t kNameBytesMax = 255;
  static constexpr std::size_t kEncodedBytesMax = std::size_t{8} << 20;

  /// Whether the bounds and orders above hold.
  /// Errors  kInvalidArgument  says what does not
  Status Check() const;

  /// Of all that a Graph is made from: equal for ranks of one host. Leaves out memory, whose size
  /// changes while a virtual machine runs, and the processor's name for people.
  std::uint64_t digest() const;
};

/// Names a host: by `host_id` (RINGLET_HOSTID) where it is not empty, else by name and boot id, as
/// NCCL does. Never 0.
std::uint64_t HostIdentity(std::string_view host_name, std::string_view boot_id,
                           std::string_view host_id);

void Encode(Writer& out, const HostView& view);
/// Fails `in` on anything that Check refuses.
HostView DecodeHostView(Reader& in);

}  // namespace ringlet::topology
