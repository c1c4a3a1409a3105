// How fast links are: an integer number of MB/s, and where each number comes from.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// 10^6 bytes a second, one direction. An integer, so that equal is equal on every machine.
struct Bandwidth {
  std::uint32_t mb_per_s = 0;
  auto operator<=>(const Bandwidth&) const = default;
};

/// The copy bandwidth of one core from memory to memory: the link of a host-memory rank to its NUMA
/// node.
/// Source  memcpy on one core of an AMD EPYC (family 26), Linux 6.18 in a virtual machine, 2 cores,
///         November 2025: 17 GB/s. A model of one core, not of a node's memory channels.
inline constexpr Bandwidth kRankMemory{17'000};

/// Speed taken for a network interface that tells none.
/// Source  NCCL takes 10,000 Mbit/s where /sys/class/net/NAME/speed is unreadable or not positive.
inline constexpr std::uint32_t kUnknownNetSpeedMbitPerS = 10'000;

/// The highest rate of a port that a file may state: four ports of 1.6 Tbit/s, which NCCL may have
/// merged into one. PCIe 7.0 with 16 lanes carries a third of it.
inline constexpr std::uint32_t kPortRateMaxMbitPerS = 6'400'000;

/// Within a device, and where nothing is known to limit: as good as no limit.
/// Source  NCCL's 5000 GB/s for what lies within a device (LOC), and for unknown processors.
inline constexpr Bandwidth kLocalLink{5'000'000};

/// Between the two halves of a split GPU.
/// Source  NCCL 2.30's 2618 GB/s.
inline constexpr Bandwidth kSplitGpuLink{2'618'000};

/// Taken for the interconnect of processors that no table has: the slowest one known, so that no
/// plan relies on it.
inline constexpr Bandwidth kUnknownInterconnect{6'000};

/// The bandwidth with which one NUMA node reads from another over the interconnect of the sockets.
/// Source  NCCL's topology model, by vendor and model of the processor: Intel before Skylake server
///         6 GB/s, from model 0x55 10, from 0x8f 22, from 0xcf 40 (family 6); AMD 16; Zhaoxin 6,
///         from YongFeng (family 7, model 0x5b) 9; Arm 6; POWER 32; any other 5000, that is, no
///         limit.
Bandwidth SocketInterconnect(const CpuModel& cpu);

/// As above, but for processors that NCCL does not know: Hygon's, which are AMD's design, as AMD's;
/// any other kUnknownInterconnect.
Bandwidth KnownInterconnect(const CpuModel& cpu);

/// A PCIe link, each way.
/// \param lanes  0: 16, as NCCL takes it
/// Source  NCCL's tables: in units of 100 Mbit/s a lane 15, 30, 60, 120, 240, 480 from generation 1
///         to 6, which leaves room for packet heads; the seventh doubles the sixth.
Bandwidth PcieLink(const PcieSpeed& speed, std::uint32_t lanes);
/// As NCCL 2.30 reads the text: what is not in its dictionary is generation 3.
Bandwidth NcclPcieLink(const PcieSpeed& speed, std::uint32_t lanes);

/// One NVLink, each way, by the compute capability (times 10) of the GPU.
/// Source  NCCL 2.30's table: 60 18.0 GB/s, 70 20.0, 80 20.0, 86 12.0, 90 20.6, from 100 40.1; any
///         lower one 20.0.
Bandwidth NvLink(std::uint32_t compute_capability);

/// One xGMI link, each way, by the name of the GPU: "gfx942".
/// Source  RCCL's table: gfx90a 36 GB/s, gfx94. and gfx95. 48, any other 24.
Bandwidth XgmiLink(std::string_view gcn);

/// \param links  parallel ones; the product is cut at 4,294,967,295 MB/s.
Bandwidth Times(Bandwidth one, std::uint64_t links);

/// A network interface, from Mbit/s; at least 1 MB/s.
Bandwidth NetworkInterface(std::optional<std::uint32_t> speed_mbit_per_s);

}  // namespace ringlet::topology
