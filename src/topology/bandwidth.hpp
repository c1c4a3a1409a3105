// How fast links are: an integer number of MB/s, and where each number comes from.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>

#include "topology/host_view.hpp"

namespace ringlet::topology {

/// 10^6 bytes a second, one direction. An integer, so that equal is equal on every machine.
struct Bandwidth {
  std::uint32_t mb_per_s = 0;
  auto operator<=>(const Bandwidth&) const = default;
};

/// What one core copies from memory to memory: the link of a host-memory rank to its NUMA node.
/// Source  memcpy on one core of an AMD EPYC (family 26), Linux 6.18 in a virtual machine, 2 cores,
///         November 2025: 17 GB/s. A model of one core, not of a node's memory channels.
inline constexpr Bandwidth kRankMemory{17'000};

/// Speed taken for a network interface that tells none.
/// Source  NCCL takes 10,000 Mbit/s where /sys/class/net/NAME/speed is unreadable or not positive.
inline constexpr std::uint32_t kUnknownNetSpeedMbitPerS = 10'000;

/// What one NUMA node reads from another over the interconnect of the sockets.
/// Source  NCCL's topology model, by vendor and model of the processor: Intel before Skylake server
///         6 GB/s, from model 0x55 10, from 0x8f 22, from 0xcf 40 (family 6); AMD 16; Zhaoxin 6,
///         from YongFeng (family 7, model 0x5b) 9; Arm 6; POWER 32; any other 5000, that is, no
///         limit.
Bandwidth SocketInterconnect(const CpuModel& cpu);

/// A network interface, from Mbit/s; at least 1 MB/s.
Bandwidth NetworkInterface(std::optional<std::uint32_t> speed_mbit_per_s);

}  // namespace ringlet::topology
