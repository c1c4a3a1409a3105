// Formats the traffic of an emulated machine for people and as JSON. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tool/traffic/traffic_report.hpp"

namespace ringlet::cli {

/// Totals of all links of a kind, such as "NVL".
struct KindTraffic {
  std::uint32_t links = 0;
  std::uint64_t measured_bytes = 0, planned_bytes = 0;
  double busiest_us = 0;
};
std::map<std::string, KindTraffic> TotalsByKind(const TrafficReport& report);

/// Formats bytes with three digits and powers of 1000: "411 MB", "12.3 kB", "7 B".
std::string BytesText(std::uint64_t bytes);

/// Keys: docs/reference/emulate-report.md.
nlohmann::ordered_json ToJson(const TrafficReport& report);

/// Returns the busiest links, at most `links_max` of them, then calls and findings.
std::string ToText(const TrafficReport& report, std::size_t links_max);

}  // namespace ringlet::cli
