// The parts of one host as a value. Contains facts without judgement. discovery creates it from a
// live machine or a captured file tree, topology/xml from NCCL's file. Ranks exchange it.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::topology {

/// The model of a processor.
struct CpuModel {
  std::string arch;          ///< "x86_64", "arm64", "ppc64"; empty: unknown
  std::string vendor;        ///< the processor's own word: "GenuineIntel", "AuthenticAMD", "0x41"
  std::uint32_t family = 0;  ///< x86: includes the extended family, as in /proc/cpuinfo
  std::uint32_t model = 0;   ///< x86: includes the extended model
  std::string name;          ///< for messages
  bool operator==(const CpuModel&) const = default;
};

/// The id of an unknown node: NCCL's numaid="-1".
inline constexpr std::uint32_t kUnknownNuma = ~std::uint32_t{0};

struct NumaNode {
  std::uint32_t id = 0;  ///< the kernel's number; may have gaps; may be kUnknownNuma
  CpuSet cpus;           ///< empty: memory without processors, or unknown
  std::uint64_t memory_bytes = 0;
  /// The kernel's relative distances to the nodes of the view in order. 10: itself. Empty: unknown.
  std::vector<std::uint32_t> distances = {};
  /// Set if it differs from HostView::cpu.
  std::optional<CpuModel> cpu = {};
  /// Set if it differs from HostView::identity: views from files, or fused views, may have several
  /// hosts.
  std::optional<std::uint64_t> host = {};
  bool operator==(const NumaNode&) const = default;
};

/// The kinds of parts in a view. NCCL's files have one element for each.
enum class PartKind : std::uint8_t {
  kSystem,   ///< the view itself
  kNuma,     ///< HostView::numa_nodes
  kPci,      ///< HostView::pci
  kGpu,      ///< HostView::gpus
  kNic,      ///< HostView::nics
  kNet,      ///< HostView::nets
  kGpuLink,  ///< entry `item` of gpus[index].links
  kC2c,      ///< entry `item` of gpus[index].c2c
  kPciLink,  ///< entry `item` of pci[index].peers
};

/// One part of a view.
struct Part {
  PartKind kind = PartKind::kSystem;
  std::uint32_t index = 0;
  std::uint32_t item = 0;  ///< for the last three kinds only
  auto operator<=>(const Part&) const = default;
};

/// A function of a PCI device: a switch (one device for both levels), or the function of a GPU or
/// NIC.
struct PciDevice {
  Part parent;  ///< kNuma, or a kPci with a lower index
  BusId bus;    ///< files may repeat one; a linter reports it
  std::optional<PciClass> device_class = {};
  PciIds ids = {};
  PcieSpeed link_speed = {};
  std::uint16_t link_width = 0;   ///< lanes; 0: unknown, and NCCL uses 16
  std::vector<BusId> peers = {};  ///< joined Broadcom switches below (`pcilink`)
  bool operator==(const PciDevice&) const = default;
};

enum class GpuLinkKind : std::uint8_t { kNvLink, kXgmi };

/// All parallel links of a GPU to one neighbour.
struct GpuLink {
  GpuLinkKind kind = GpuLinkKind::kNvLink;
  std::optional<BusId> target = {};  ///< empty: not visible, such as an NVSwitch from inside a VM
  std::uint32_t count = 0;           ///< number of links; 0 in some files
  std::optional<PciClass> target_class = {};
  bool operator==(const GpuLink&) const = default;
};

/// Links from a GPU to the processor of its own package.
struct C2cLink {
  std::uint32_t mb_per_s = 0;  ///< of one link, per direction
  std::uint32_t count = 0;
  bool operator==(const C2cLink&) const = default;
};

/// The NVLink domain of a GPU. GPUs with equal cluster and clique reach each other.
struct NvlinkFabric {
  std::array<std::uint64_t, 2> cluster = {};  ///< UUID, first half first; never all 0
  std::uint32_t clique = 0;
  auto operator<=>(const NvlinkFabric&) const = default;
};

/// A GPU as seen by one rank. One PCI function may have several.
struct Gpu {
  std::uint32_t pci = 0;                  ///< index into HostView::pci
  std::optional<std::uint32_t> dev = {};  ///< NVML's number, not CUDA's
  std::uint32_t compute_capability = 0;   ///< times 10 (`sm`): 90; 0: unknown
  std::optional<std::uint32_t> rank = {};
  std::optional<bool> gdr = {};                 ///< GPUDirect RDMA
  std::optional<std::uint32_t> mlopart = {};    ///< number of the half, for a GPU split in two
  std::string gcn;                              ///< RCCL: "gfx942"
  std::optional<std::uint32_t> rccl_arch = {};  ///< RCCL: attribute `arch`
  std::vector<GpuLink> links = {};
  std::vector<C2cLink> c2c = {};  ///< one entry in all known files
  std::optional<NvlinkFabric> fabric = {};
  bool operator==(const Gpu&) const = default;
};

/// A network device; its ports refer to it.
struct Nic {
  Part parent;  ///< kPci, or kNuma if the PCI function is unknown
  bool operator==(const Nic&) const = default;
};

/// The kind of an interface, as reported by the kernel or a driver.
enum class NetKind : std::uint8_t { kUnknown, kPhysical, kVirtual, kBond, kBridge, kVlan };

/// A network interface, or a port of an RDMA device. The last members are those of NCCL's `net`.
struct NetInterface {
  std::string name;
  std::optional<std::uint32_t> speed_mbit_per_s;
  std::optional<std::uint32_t> numa;      ///< id of the NUMA node of its PCI slot
  std::optional<std::uint32_t> nic = {};  ///< index into HostView::nics
  NetKind kind = NetKind::kUnknown;
  std::string rdma_device = {};           ///< "mlx5_0"; empty: not RDMA, or unknown
  std::vector<std::string> members = {};  ///< names of the interfaces under a virtual device
  std::optional<std::uint32_t> dev = {};  ///< number in the network plugin
  std::optional<std::uint32_t> latency_ns = {};
  std::optional<std::uint32_t> port = {};
  std::optional<std::uint64_t> guid = {};  ///< of the chip; ports with equal guids share it
  std::optional<std::uint32_t> max_connections = {};
  std::optional<bool> gdr = {};
  std::optional<bool> collective = {};  ///< in-network reduction
  std::optional<bool> net_api = {};     ///< usable as a network; NCCL's default: true
  std::optional<bool> gin_api = {};     ///< usable by kernels; NCCL's default: false
  std::optional<bool> rma_api = {};     ///< usable for one-sided access; NCCL's default: false
  std::optional<std::uint32_t> rail = {};
  std::optional<std::uint32_t> plane = {};
  bool operator==(const NetInterface&) const = default;
};

/// Unknown parts of a file. The view keeps them, so that writing loses no data.
struct UnknownAttribute {
  Part part;
  std::string name;
  std::string value;
  bool operator==(const UnknownAttribute&) const = default;
};
struct UnknownElement {
  Part parent;
  std::string xml;  ///< the element with its contents, without blanks between elements
  bool operator==(const UnknownElement&) const = default;
};

/// All vectors keep the order of the file or of detection, because NCCL's search depends on it.
struct HostView {
  std::string name;
  /// Equal for ranks that share a kernel and therefore can share memory. See HostIdentity.
  std::uint64_t identity = 0;
  CpuModel cpu;                      ///< of all nodes without their own
  std::vector<NumaNode> numa_nodes;  ///< at least one; ids are unique per host
  std::vector<NetInterface> nets;
  std::vector<PciDevice> pci = {};
  std::vector<Gpu> gpus = {};
  std::vector<Nic> nics = {};
  std::uint32_t version = 1;  ///< of the file; RCCL writes 2
  std::vector<UnknownAttribute> unknown_attributes = {};
  std::vector<UnknownElement> unknown_elements = {};
  bool operator==(const HostView&) const = default;

  static constexpr std::size_t kNumaNodesMax =
      4096;  // a kernel has at most 1024, a fused view more
  static constexpr std::size_t kNetsMax = 16'384;
  static constexpr std::size_t kPciMax = 65'535;
  static constexpr std::size_t kGpusMax = 16'384;
  static constexpr std::size_t kNicsMax = 16'384;
  static constexpr std::size_t kLinksMax = 1024;  // of one GPU or switch; NCCL allows 640 children
  static constexpr std::size_t kUnknownMax = 65'535;
  static constexpr std::size_t kDepthMax = 64;  // of PCI; the kernel itself allows 256 buses
  static constexpr std::size_t kNameBytesMax = 255;
  static constexpr std::size_t kUnknownBytesMax = std::size_t{64} << 10;
  static constexpr std::size_t kEncodedBytesMax = std::size_t{8} << 20;

  /// Checks the limits and orders above.
  /// Errors  kInvalidArgument  names the violated one
  Status Check() const;

  /// A hash of the facts behind a Graph. Equal for ranks of one host. Excludes memory, because its
  /// size changes while a virtual machine runs, and the processor's name.
  std::uint64_t digest() const;

  const CpuModel& ModelOf(const NumaNode& node) const { return node.cpu ? *node.cpu : cpu; }
  std::uint64_t HostOf(const NumaNode& node) const { return node.host.value_or(identity); }
  /// The index of the NUMA node above a part. Null for the system, and for a net without a NIC and
  /// without a known node.
  /// \pre Check() passed
  std::optional<std::uint32_t> NumaIndexOf(Part part) const;
};

/// A host's identity: from `host_id` (RINGLET_HOSTID), or if that is empty, from name and boot id,
/// as in NCCL. Never 0.
std::uint64_t HostIdentity(std::string_view host_name, std::string_view boot_id,
                           std::string_view host_id);

void Encode(Writer& out, const HostView& view);
/// Fails `in` if Check() fails.
HostView DecodeHostView(Reader& in);

}  // namespace ringlet::topology
