// Facts of an emulated device that programs ask for: those of the machine's file, where there is
// one. Pure.
//
// Limits are those of the compute capability, as CUDA's programming guide tabulates them. Textures
// have no size: there are none.
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
/// Of any device: what a launch may ask for at most.
inline constexpr int kSharedBytesPerBlockOptIn = 227 * 1024;
inline constexpr int kConstantBytes = 64 * 1024;
inline constexpr int kCacheBytes = 50 * 1024 * 1024;
inline constexpr std::array<int, 3> kBlockMax = {1024, 1024, 64};
inline constexpr std::array<int, 3> kGridMax = {2147483647, 65535, 65535};
inline constexpr int kPitchMax = 2147483647;
/// CUDA's own: lower numbers run first.
inline constexpr int kPriorityLeast = 0;
inline constexpr int kPriorityGreatest = -5;

/// The limits that depend on the compute capability.
struct CapabilityLimits {
  std::uint32_t capability;  ///< times 10; of it and all to the next row
  int threads_per_processor, blocks_per_processor;
  int shared_bytes_per_processor, shared_bytes_per_block_opt_in;
  int shared_bytes_reserved;  ///< of each block
};
/// \param capability  times 10
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
/// Reads both forms, and those without a function, in either case.
RINGLET_API std::optional<PciPlace> ParsePci(std::string_view address);

/// The end that an NVLink leads to.
enum class LinkEndKind : std::uint8_t { kGpu, kProcessor, kSwitch };
struct LinkEnd {
  LinkEndKind kind = LinkEndKind::kGpu;
  std::optional<PciPlace> at = {};  ///< empty: the driver does not show it
  bool operator==(const LinkEnd&) const = default;
};

/// Links to the processor of the same package.
struct ProcessorLinks {
  std::uint32_t count = 0, mb_per_s = 0;  ///< of one link
};

/// The NVLink domain of a device.
struct LinkDomain {
  std::array<unsigned char, 16> cluster = {};
  std::uint32_t clique = 0;
};

struct CudaDeviceFacts {
  std::string name;
  std::uint32_t capability = 90;  ///< times 10
  int processors = 132;
  PciPlace pci = {};
  std::uint32_t pci_id = 0;            ///< device << 16 | vendor, as NVML has it; 0: unknown
  std::uint32_t pci_subsystem_id = 0;  ///< likewise
  std::uint32_t pcie_generation = 0;   ///< 0: unknown
  std::uint32_t pcie_width = 0;        ///< lanes; 0: unknown
  std::uint64_t memory_bytes = 0;      ///< of the model; 0: unknown
  std::array<unsigned char, 16> uuid = {};
  std::optional<std::uint32_t> numa = {};  ///< the node that it is at
  std::vector<std::uint64_t> cpus = {};    ///< a mask of the CPUs of that node, the lowest first
  std::vector<LinkEnd> links = {};         ///< one for each NVLink that is connected
  std::uint32_t links_max = 0;             ///< NVLinks that the model has at all
  std::optional<ProcessorLinks> processor_links = {};
  std::optional<LinkDomain> domain = {};

  int capability_major() const { return static_cast<int>(capability / 10); }
  int capability_minor() const { return static_cast<int>(capability % 10); }
};

/// \param host  the number of the emulated host; devices of several are told apart by it
RINGLET_API std::array<unsigned char, 16> Uuid(std::uint32_t device, std::uint32_t host);
/// "GPU-..."
RINGLET_API std::string UuidText(const CudaDeviceFacts& device);

/// The value of a cudaDeviceAttr, whose numbers are also the driver's; empty where CUDA has no such
/// number. Features that only a GPU has are 0.
RINGLET_API std::optional<int> Attribute(int number, const CudaDeviceFacts& device);

}  // namespace ringlet::cuda
