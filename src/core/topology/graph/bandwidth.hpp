// The speed of links: an integer in MB/s, and the source of each number.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// 10^6 bytes per second in one direction. An integer, so that comparisons agree on every machine.
struct Bandwidth {
  std::uint32_t mb_per_s = 0;
  auto operator<=>(const Bandwidth&) const = default;
};

/// The bandwidth of a copy in memory by one core. The graph uses it for the link between a rank in
/// CPU memory and its NUMA node.
/// Source  memcpy on one core of an AMD EPYC (family 26), Linux 6.18 in a virtual machine, 2 cores,
///         November 2025: 17 GB/s. A model of one core, not of a node's memory channels.
inline constexpr Bandwidth kRankMemory{17'000};

/// Speed of a network interface that does not report one.
/// Source  NCCL uses 10,000 Mbit/s if /sys/class/net/NAME/speed is unreadable or not positive.
inline constexpr std::uint32_t kUnknownNetSpeedMbitPerS = 10'000;

/// The maximum rate of a port in a file: four ports of 1.6 Tbit/s, which NCCL may merge into one.
/// PCIe 7.0 with 16 lanes carries a third of it.
inline constexpr std::uint32_t kPortRateMaxMbitPerS = 6'400'000;

/// The bandwidth within a device, and where no limit is known: effectively unlimited.
/// Source  NCCL's 5000 GB/s within a device (LOC), and for unknown processors.
inline constexpr Bandwidth kLocalLink{5'000'000};

/// The bandwidth between the two halves of a split GPU.
/// Source  NCCL 2.30's 2618 GB/s.
inline constexpr Bandwidth kSplitGpuLink{2'618'000};

/// The interconnect of unknown processors: the slowest known one, so that plans do not rely on it.
inline constexpr Bandwidth kUnknownInterconnect{6'000};

/// The bandwidth of reads between NUMA nodes over the interconnect of the sockets.
/// Source  NCCL's topology model, by vendor and model of the processor: Intel before Skylake server
///         6 GB/s, from model 0x55 10, from 0x8f 22, from 0xcf 40 (family 6); AMD 16; Zhaoxin 6,
///         from YongFeng (family 7, model 0x5b) 9; Arm 6; POWER 32; any other 5000, that is, no
///         limit.
Bandwidth SocketInterconnect(const CpuModel& cpu);

/// Like SocketInterconnect(), but with values for processors that NCCL does not know: AMD's for
/// Hygon, because that design is AMD's, and kUnknownInterconnect for others.
Bandwidth KnownInterconnect(const CpuModel& cpu);

/// The bandwidth of a PCIe link, per direction.
/// \param lanes  0 means 16, as in NCCL
/// Source  NCCL's tables: in units of 100 Mbit/s a lane 15, 30, 60, 120, 240, 480 from generation 1
///         to 6, which leaves room for packet headers; the seventh doubles the sixth.
Bandwidth PcieLink(const PcieSpeed& speed, std::uint32_t lanes);
/// Reads the text as NCCL 2.30 does: text that is not in its dictionary means generation 3.
Bandwidth NcclPcieLink(const PcieSpeed& speed, std::uint32_t lanes);

/// The bandwidth of one NVLink, per direction, by the GPU's compute capability (times 10).
/// Source  NCCL 2.30's table: 60 18.0 GB/s, 70 20.0, 80 20.0, 86 12.0, 90 20.6, from 100 40.1; any
///         lower one 20.0.
Bandwidth NvLink(std::uint32_t compute_capability);

/// The bandwidth of one xGMI link, per direction, by the name of the GPU: "gfx942".
/// Source  RCCL's table: gfx90a 36 GB/s, gfx94. and gfx95. 48, any other 24.
Bandwidth XgmiLink(std::string_view gcn);

/// \param links  number of parallel links; the product is at most 4,294,967,295 MB/s
Bandwidth Times(Bandwidth one, std::uint64_t links);

/// The bandwidth of a network interface, at least 1 MB/s.
Bandwidth NetworkInterface(std::optional<std::uint32_t> speed_mbit_per_s);

}  // namespace ringlet::topology
