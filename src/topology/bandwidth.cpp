#include "topology/bandwidth.hpp"

#include <algorithm>

namespace ringlet::topology {
namespace {

constexpr Bandwidth kUnlimited{5'000'000};

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

}  // namespace

Bandwidth SocketInterconnect(const CpuModel& cpu) {
  if (cpu.arch == "arm64") return {6'000};
  if (cpu.arch == "ppc64") return {32'000};
  if (cpu.vendor == "GenuineIntel") return Intel(cpu);
  if (cpu.vendor == "AuthenticAMD") return {16'000};
  if (cpu.vendor == "CentaurHauls" || cpu.vendor == "Shanghai") return Zhaoxin(cpu);
  return kUnlimited;
}

Bandwidth NetworkInterface(std::optional<std::uint32_t> speed_mbit_per_s) {
  constexpr std::uint32_t kBitsPerByte = 8;
  const std::uint32_t mb_per_s = speed_mbit_per_s.value_or(kUnknownNetSpeedMbitPerS) / kBitsPerByte;
  return {std::max(mb_per_s, 1u)};
}

}  // namespace ringlet::topology
