// Facts of an emulated device that programs ask for. Pure.
//
// The numbers are those of a device of compute capability 9.0, as CUDA's programming guide
// tabulates them; memory and processors are this computer's. Textures have no size: there are none.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringlet/export.hpp"

namespace ringlet::cuda {

inline constexpr int kDriverVersion = 13000;
inline constexpr const char* kDriverVersionText = "580.0.ringlet";
inline constexpr const char* kDeviceName = "Ringlet emulated device";
inline constexpr int kCapabilityMajor = 9;
inline constexpr int kCapabilityMinor = 0;
inline constexpr int kWarpSize = 32;
inline constexpr int kThreadsPerBlockMax = 1024;
inline constexpr int kThreadsPerProcessorMax = 2048;
inline constexpr int kBlocksPerProcessorMax = 32;
inline constexpr int kRegisters = 65536;
inline constexpr int kProcessors = 132;
inline constexpr int kSharedBytesPerBlock = 48 * 1024;
inline constexpr int kSharedBytesPerBlockOptIn = 227 * 1024;
inline constexpr int kSharedBytesPerProcessor = 228 * 1024;
inline constexpr int kSharedBytesReserved = 1024;
inline constexpr int kConstantBytes = 64 * 1024;
inline constexpr int kCacheBytes = 50 * 1024 * 1024;
inline constexpr std::array<int, 3> kBlockMax = {1024, 1024, 64};
inline constexpr std::array<int, 3> kGridMax = {2147483647, 65535, 65535};
inline constexpr int kPitchMax = 2147483647;
/// CUDA's own: lower numbers run first.
inline constexpr int kPriorityLeast = 0;
inline constexpr int kPriorityGreatest = -5;

/// No computer has this domain: the numbers of real ones begin at 0, virtual ones at 0x10000.
inline constexpr int kPciDomain = 0x5249;
/// \param device  the number among all devices, not the visible ones
RINGLET_API int PciBus(std::uint32_t device);
/// "5249:01:00.0"
RINGLET_API std::string PciText(std::uint32_t device);
/// The device with this address; CUDA and NVML write the domain with four and eight digits.
RINGLET_API std::optional<std::uint32_t> DeviceAtPci(std::string_view address,
                                                     std::uint32_t devices);
RINGLET_API std::array<unsigned char, 16> Uuid(std::uint32_t device);
/// "GPU-..."
RINGLET_API std::string UuidText(std::uint32_t device);

/// The value of a cudaDeviceAttr, whose numbers are also the driver's; empty where CUDA has no such
/// number. Features that only a GPU has are 0.
RINGLET_API std::optional<int> Attribute(int number, std::uint32_t device);

}  // namespace ringlet::cuda
