#include "doctor/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "doctor/facts.hpp"

namespace ringlet::doctor {

std::string_view NameOf(FindingVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "note", "warning", "error"};
  return kNames[static_cast<std::size_t>(verdict)];
}

FindingVerdict CheckReport::worst() const {
  FindingVerdict worst = FindingVerdict::kOk;
  for (const HostFinding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

FindingVerdict WorstOf(const std::vector<CheckReport>& checks) {
  FindingVerdict worst = FindingVerdict::kOk;
  for (const CheckReport& check : checks) worst = std::max(worst, check.worst());
  return worst;
}

std::string BytesText(std::uint64_t bytes) {
  if (bytes == kUnlimited) return "no limit";
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= kStep && unit + 1 < kUnits.size()) {
    number /= kStep;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", number, unit == 0 || number >= 10 ? 0 : 1, kUnits[unit]);
}

std::string RateText(std::uint64_t bytes_per_s) {
  constexpr double kMega = 1e6, kGiga = 1e9;
  const auto rate = static_cast<double>(bytes_per_s);
  return rate >= kGiga ? fmt::format("{:.1f} GB/s", rate / kGiga)
                       : fmt::format("{:.1f} MB/s", rate / kMega);
}

std::string HostsText(std::size_t hosts) {
  return hosts == 1 ? "1 host" : fmt::format("{} hosts", hosts);
}

}  // namespace ringlet::doctor
