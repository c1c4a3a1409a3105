// Facts of an emulated device that programs query; from the machine's file, if any. Pure.
//
// Limits depend on the compute capability, as CUDA's programming guide tabulates them. Texture
// sizes are 0, because textures are not supported.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/export.hpp"

namespace ringlet::cuda {

inline constexpr int kDriverVersion = 13000;
inline constexpr const char* kDriverVersionText = "580.0.ringlet";
inline constexpr int kWarpSize = 32;
inline constexpr int kThreadsPerBlockMax = 1024;
inline constexpr int kRegisters = 65536;
inline constexpr int kSharedBytesPerBlock = 48 * 1024;
/// Maximum that a launch may request on any device.
inline constexpr int kSharedBytesPerBlockOptIn = 227 * 1024;
inline constexpr int kConstantBytes = 64 * 1024;
inline constexpr int kCacheBytes = 50 * 1024 * 1024;
inline constexpr std::array<int, 3> kBlockMax = {1024, 1024, 64};
inline constexpr std::array<int, 3> kGridMax = {2147483647, 65535, 65535};
inline constexpr int kPitchMax = 2147483647;
/// As in CUDA, lower numbers run first.
inline constexpr int kPriorityLeast = 0;
inline constexpr int kPriorityGreatest = -5;

/// Limits that depend on the compute capability.
struct CapabilityLimits {
  std::uint32_t capability;  ///< multiplied by 10; valid up to the next row
  int threads_per_processor, blocks_per_processor;
  int shared_bytes_per_processor, shared_bytes_per_block_opt_in;
  int shared_bytes_reserved;  ///< per block
};
/// \param capability  multiplied by 10
/// Source  the table "Technical Specifications per Compute Capability" of CUDA's programming guide
RINGLET_API const CapabilityLimits& LimitsOf(std::uint32_t capability);

/// The address of a PCI function.
struct PciPlace {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0, device = 0, function = 0;
  auto operator<=>(const PciPlace&) const = default;
};
/// "0000:0f:00.0"
RINGLET_API std::string PciText(const PciPlace& place);
/// NVML's form: "00000000:0F:00.0"
RINGLET_API std::string LongPciText(const PciPlace& place);
/// Accepts both forms, upper and lower case, and addresses without a function.
RINGLET_API std::optional<PciPlace> ParsePci(std::string_view address);

/// The kind of device at the other end of an NVLink.
enum class LinkEndKind : std::uint8_t { kGpu, kProcessor, kSwitch };
struct LinkEnd {
  LinkEndKind kind = LinkEndKind::kGpu;
  std::optional<PciPlace> at = {};  ///< empty: the driver hides it
  bool operator==(const LinkEnd&) const = default;
};

/// Links to the processor of the same package.
struct ProcessorLinks {
  std::uint32_t count = 0, mb_per_s = 0;  ///< per link
};

/// The NVLink domain of a device.
struct LinkDomain {
  std::array<unsigned char, 16> cluster = {};
  std::uint32_t clique = 0;
};

struct CudaDeviceFacts {
  std::string name;
  std::uint32_t capability = 90;  ///< multiplied by 10
  int processors = 132;
  PciPlace pci = {};
  std::uint32_t pci_id = 0;            ///< device << 16 | vendor, as in NVML; 0: unknown
  std::uint32_t pci_subsystem_id = 0;  ///< as pci_id
  std::uint32_t pcie_generation = 0;   ///< 0: unknown
  std::uint32_t pcie_width = 0;        ///< lanes; 0: unknown
  std::uint64_t memory_bytes = 0;      ///< of the model; 0: unknown
  std::array<unsigned char, 16> uuid = {};
  std::optional<std::uint32_t> numa = {};  ///< its NUMA node
  std::vector<std::uint64_t> cpus = {};    ///< a mask of that node's CPUs, lowest first
  std::vector<LinkEnd> links = {};         ///< one per connected NVLink
  std::uint32_t links_max = 0;             ///< number of NVLinks of the model
  std::optional<ProcessorLinks> processor_links = {};
  std::optional<LinkDomain> domain = {};

  int capability_major() const { return static_cast<int>(capability / 10); }
  int capability_minor() const { return static_cast<int>(capability % 10); }
};

/// \param host  number of the emulated host; distinguishes equal devices of several hosts
RINGLET_API std::array<unsigned char, 16> Uuid(std::uint32_t device, std::uint32_t host);
/// "GPU-..."
RINGLET_API std::string UuidText(const CudaDeviceFacts& device);

/// Returns the value of a cudaDeviceAttr, which has the same number in the driver; empty for an
/// unknown number. Features that only a GPU has are 0.
RINGLET_API std::optional<int> Attribute(int number, const CudaDeviceFacts& device);

}  // namespace ringlet::cuda
