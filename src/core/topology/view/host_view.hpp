// The parts of one host, as a value: facts without judgement. discovery makes one of a live machine
// or a captured file tree; topology/xml makes one of NCCL's file; ranks send it to each other.
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

/// The kind of processor.
struct CpuModel {
  std::string arch;          ///< "x86_64", "arm64", "ppc64"; empty: unknown
  std::string vendor;        ///< as the processor says: "GenuineIntel", "AuthenticAMD", "0x41"
  std::uint32_t family = 0;  ///< x86: with the extended family added, as /proc/cpuinfo has it
  std::uint32_t model = 0;   ///< x86: with the extended model
  std::string name;          ///< for people
  bool operator==(const CpuModel&) const = default;
};

/// The id that stands for an unknown node: NCCL's numaid="-1".
inline constexpr std::uint32_t kUnknownNuma = ~std::uint32_t{0};

struct NumaNode {
  std::uint32_t id = 0;  ///< the kernel's; not always consecutive; may be kUnknownNuma
  CpuSet cpus;           ///< empty: memory without processors, or unknown
  std::uint64_t memory_bytes = 0;
  /// The kernel's relative distances to each node of the view in order, 10 = itself. Empty:
  /// unknown.
  std::vector<std::uint32_t> distances = {};
  /// Set if it differs from HostView::cpu.
  std::optional<CpuModel> cpu = {};
  /// Set if it differs from HostView::identity: a view that was read from a file, or fused of many,
  /// may hold several hosts.
  std::optional<std::uint64_t> host = {};
  bool operator==(const NumaNode&) const = default;
};

/// The parts of a view. NCCL's files have one element for each.
enum class PartKind : std::uint8_t {
  kSystem,   ///< the view itself
  kNuma,     ///< HostView::numa_nodes
  kPci,      ///< HostView::pci
  kGpu,      ///< HostView::gpus
  kNic,      ///< HostView::nics
  kNet,      ///< HostView::nets
  kGpuLink,  ///< Gpu::links of gpus[index], at `item`
  kC2c,      ///< Gpu::c2c of gpus[index], at `item`
  kPciLink,  ///< PciDevice::peers of pci[index], at `item`
};

/// One of them.
struct Part {
  PartKind kind = PartKind::kSystem;
  std::uint32_t index = 0;
  std::uint32_t item = 0;  ///< only of the last three kinds
  auto operator<=>(const Part&) const = default;
};

/// A function of a PCI device: a switch (both of its levels are one device), or what a GPU or a NIC
/// sits on.
struct PciDevice {
  Part parent;  ///< kNuma, or kPci that comes earlier in HostView::pci
  BusId bus;    ///< files may repeat one; a linter says so
  std::optional<PciClass> device_class = {};
  PciIds ids = {};
  PcieSpeed link_speed = {};
  std::uint16_t link_width = 0;   ///< lanes; 0: unknown, NCCL takes 16
  std::vector<BusId> peers = {};  ///< Broadcom switches that it is joined with below (`pcilink`)
  bool operator==(const PciDevice&) const = default;
};

enum class GpuLinkKind : std::uint8_t { kNvLink, kXgmi };

/// All parallel links of a GPU to one neighbour.
struct GpuLink {
  GpuLinkKind kind = GpuLinkKind::kNvLink;
  std::optional<BusId> target = {};  ///< empty: not visible, as NVSwitches are from inside a VM
  std::uint32_t count = 0;           ///< links; a file may say 0
  std::optional<PciClass> target_class = {};
  bool operator==(const GpuLink&) const = default;
};

/// Links of a GPU to the processor of its own package.
struct C2cLink {
  std::uint32_t mb_per_s = 0;  ///< of one link, each way
  std::uint32_t count = 0;
  bool operator==(const C2cLink&) const = default;
};

/// The NVLink domain that a GPU has joined. GPUs with equal cluster and clique reach each other.
struct Fabric {
  std::array<std::uint64_t, 2> cluster = {};  ///< UUID, first half first; never all 0
  std::uint32_t clique = 0;
  auto operator<=>(const Fabric&) const = default;
};

/// A GPU as one rank sees it: several may sit on one PCI function.
struct Gpu {
  std::uint32_t pci = 0;                  ///< index into HostView::pci
  std::optional<std::uint32_t> dev = {};  ///< NVML's number, not CUDA's
  std::uint32_t compute_capability = 0;   ///< times 10 (`sm`): 90; 0: unknown
  std::optional<std::uint32_t> rank = {};
  std::optional<bool> gdr = {};                 ///< GPUDirect RDMA
  std::optional<std::uint32_t> mlopart = {};    ///< which half of a GPU that is split in two
  std::string gcn;                              ///< RCCL: "gfx942"
  std::optional<std::uint32_t> rccl_arch = {};  ///< RCCL: attribute `arch`
  std::vector<GpuLink> links = {};
  std::vector<C2cLink> c2c = {};  ///< one, in all files that we know
  std::optional<Fabric> fabric = {};
  bool operator==(const Gpu&) const = default;
};

/// The ports of one device.
struct Nic {
  Part parent;  ///< kPci, or kNuma where no PCI function is known
  bool operator==(const Nic&) const = default;
};

/// The kind of an interface, as the kernel or a driver says.
enum class NetKind : std::uint8_t { kUnknown, kPhysical, kVirtual, kBond, kBridge, kVlan };

/// A network interface, or a port of an RDMA device. The last members are those of NCCL's `net`.
struct NetInterface {
  std::string name;
  std::optional<std::uint32_t> speed_mbit_per_s;
  std::optional<std::uint32_t> numa;      ///< id of the node that its PCI slot belongs to
  std::optional<std::uint32_t> nic = {};  ///< index into HostView::nics
  NetKind kind = NetKind::kUnknown;
  std::string rdma_device = {};           ///< "mlx5_0"; empty: none, or unknown
  std::vector<std::string> members = {};  ///< names of those that a virtual device is made of
  std::optional<std::uint32_t> dev = {};  ///< number in the network plugin
  std::optional<std::uint32_t> latency_ns = {};
  std::optional<std::uint32_t> port = {};
  std::optional<std::uint64_t> guid = {};  ///< of the chip: ports with equal ones share it
  std::optional<std::uint32_t> max_connections = {};
  std::optional<bool> gdr = {};
  std::optional<bool> collective = {};  ///< in-network reduction
  std::optional<bool> net_api = {};     ///< usable as a network; NCCL takes yes
  std::optional<bool> gin_api = {};     ///< usable by kernels; NCCL takes no
  std::optional<bool> rma_api = {};     ///< usable for one-sided access; NCCL takes no
  std::optional<std::uint32_t> rail = {};
  std::optional<std::uint32_t> plane = {};
  bool operator==(const NetInterface&) const = default;
};

/// The texts of a file that have no word in Ringlet: kept, so that writing loses nothing.
struct UnknownAttribute {
  Part part;
  std::string name;
  std::string value;
  bool operator==(const UnknownAttribute&) const = default;
};
struct UnknownElement {
  Part parent;
  std::string xml;  ///< the element and all within, without blanks between elements
  bool operator==(const UnknownElement&) const = default;
};

/// All vectors are in the order of the file or of detection: NCCL's search depends on it.
struct HostView {
  std::string name;
  /// Equal for ranks that share a kernel, and so can share memory. See HostIdentity.
  std::uint64_t identity = 0;
  CpuModel cpu;                      ///< of all nodes that say nothing else
  std::vector<NumaNode> numa_nodes;  ///< at least one; no id twice in one host
  std::vector<NetInterface> nets;
  std::vector<PciDevice> pci = {};
  std::vector<Gpu> gpus = {};
  std::vector<Nic> nics = {};
  std::uint32_t version = 1;  ///< of the file; RCCL writes 2
  std::vector<UnknownAttribute> unknown_attributes = {};
  std::vector<UnknownElement> unknown_elements = {};
  bool operator==(const HostView&) const = default;

  static constexpr std::size_t kNumaNodesMax =
      4096;  // a kernel has at most 1024; a fused view more
  static constexpr std::size_t kNetsMax = 16'384;
  static constexpr std::size_t kPciMax = 65'535;
  static constexpr std::size_t kGpusMax = 16'384;
  static constexpr std::size_t kNicsMax = 16'384;
  static constexpr std::size_t kLinksMax = 1024;  // of one GPU or switch; NCCL has 640 children
  static constexpr std::size_t kUnknownMax = 65'535;
  static constexpr std::size_t kDepthMax = 64;  // of PCI: the kernel itself allows 256 buses
  static constexpr std::size_t kNameBytesMax = 255;
  static constexpr std::size_t kUnknownBytesMax = std::size_t{64} << 10;
  static constexpr std::size_t kEncodedBytesMax = std::size_t{8} << 20;

  /// Whether the bounds and orders above hold.
  /// Errors  kInvalidArgument  says what does not
  Status Check() const;

  /// Of all that a Graph is made from: equal for ranks of one host. Leaves out memory, whose size
  /// changes while a virtual machine runs, and the processor's name for people.
  std::uint64_t digest() const;

  const CpuModel& ModelOf(const NumaNode& node) const { return node.cpu ? *node.cpu : cpu; }
  std::uint64_t HostOf(const NumaNode& node) const { return node.host.value_or(identity); }
  /// Index of the NUMA node above a part; nothing for the system, and for a net that has no NIC and
  /// no known node. \pre Check() has passed.
  std::optional<std::uint32_t> NumaIndexOf(Part part) const;
};

/// Names a host: by `host_id` (RINGLET_HOSTID) where it is not empty, else by name and boot id, as
/// NCCL does. Never 0.
std::uint64_t HostIdentity(std::string_view host_name, std::string_view boot_id,
                           std::string_view host_id);

void Encode(Writer& out, const HostView& view);
/// Fails `in` on anything that Check refuses.
HostView DecodeHostView(Reader& in);

}  // namespace ringlet::topology
