#include "topology/graph/bandwidth.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace ringlet::topology {
namespace {

Bandwidth Intel(const CpuModel& cpu) {
  constexpr std::uint32_t kFamily = 6, kEmerald = 0xcf, kSapphire = 0x8f, kSkylake = 0x55;
  if (cpu.family != kFamily) return {6'000};
  if (cpu.model >= kEmerald) return {40'000};
  if (cpu.model >= kSapphire) return {22'000};
  return {cpu.model >= kSkylake ? 10'000u : 6'000u};
}

Bandwidth Zhaoxin(const CpuModel& cpu) {
  constexpr std::uint32_t kFamily = 7, kYongFeng = 0x5b;
  return {cpu.family == kFamily && cpu.model == kYongFeng ? 9'000u : 6'000u};
}

/// The bandwidth of lanes with a speed in NCCL's unit, 100 Mbit/s, which is 12.5 MB/s.
Bandwidth OfLanes(std::uint32_t lane_speed, std::uint32_t lanes) {
  constexpr std::uint32_t kLanesTaken = 16;
  const std::uint64_t units = std::uint64_t{lane_speed} * (lanes == 0 ? kLanesTaken : lanes);
  return {static_cast<std::uint32_t>(std::max<std::uint64_t>(units * 25 / 2, 1))};
}

constexpr std::uint32_t kThirdGeneration = 60;  // used for unknown speeds

}  // namespace

Bandwidth KnownInterconnect(const CpuModel& cpu) {
  constexpr Bandwidth kAmd{16'000};
  if (cpu.vendor == "HygonGenuine") return kAmd;
  const Bandwidth known = SocketInterconnect(cpu);
  return known == kLocalLink ? kUnknownInterconnect : known;
}

Bandwidth PcieLink(const PcieSpeed& speed, std::uint32_t lanes) {
  constexpr std::array<std::uint32_t, 8> kLaneSpeeds = {
      kThirdGeneration, 15, 30, 60, 120, 240, 480, 960};
  return OfLanes(kLaneSpeeds[std::min<std::size_t>(speed.generation, 7)], lanes);
}

Bandwidth NcclPcieLink(const PcieSpeed& speed, std::uint32_t lanes) {
  return OfLanes(NcclLaneSpeed(speed.text).value_or(kThirdGeneration), lanes);
}

Bandwidth NvLink(std::uint32_t compute_capability) {
  if (compute_capability >= 100) return {40'100};
  if (compute_capability >= 90) return {20'600};
  if (compute_capability == 86) return {12'000};
  if (compute_capability >= 60 && compute_capability < 70) return {18'000};
  return {20'000};
}

Bandwidth XgmiLink(std::string_view gcn) {
  if (gcn.starts_with("gfx90a")) return {36'000};
  if (gcn.starts_with("gfx94") || gcn.starts_with("gfx95")) return {48'000};
  return {24'000};
}

Bandwidth Times(Bandwidth one, std::uint64_t links) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (one.mb_per_s != 0 && links > kMax / one.mb_per_s) return {static_cast<std::uint32_t>(kMax)};
  return {static_cast<std::uint32_t>(one.mb_per_s * links)};
}

Bandwidth SocketInterconnect(const CpuModel& cpu) {
  if (cpu.arch == "arm64") return {6'000};
  if (cpu.arch == "ppc64") return {32'000};
  if (cpu.vendor == "GenuineIntel") return Intel(cpu);
  if (cpu.vendor == "AuthenticAMD") return {16'000};
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "Shanghai") return Zhaoxin(cpu);
  return kLocalLink;
}

Bandwidth NetworkInterface(std::optional<std::uint32_t> speed_mbit_per_s) {
  constexpr std::uint32_t kBitsPerByte = 8;
  const std::uint32_t mb_per_s = speed_mbit_per_s.value_or(kUnknownNetSpeedMbitPerS) / kBitsPerByte;
  return {std::max(mb_per_s, 1u)};
}

}  // namespace ringlet::topology
