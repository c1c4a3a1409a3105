// A verdict on a set of hosts: findings by check, each with measured values, cost and cure.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::doctor {

enum class FindingVerdict : std::uint8_t { kOk, kNote, kWarning, kError };
std::string_view NameOf(FindingVerdict verdict);  ///< "ok", "note", "warning", "error"

struct HostFinding {
  FindingVerdict verdict = FindingVerdict::kNote;
  std::string host;    ///< or "a to b"; empty: all hosts
  std::string reason;  ///< with the measured numbers
  std::string cost = {};
  std::string cure = {};
  std::map<std::string, std::uint64_t> evidence = {};  ///< the same numbers, for programs
};

/// One check of all hosts.
struct CheckReport {
  std::string_view check;  ///< stable, for scripts: "path-mtu"
  std::string seen;        ///< measured values without a finding
  std::vector<HostFinding> findings = {};

  FindingVerdict worst() const;
};

FindingVerdict WorstOf(const std::vector<CheckReport>& checks);

/// "64 MiB", "1.5 GiB", "no limit".
std::string BytesText(std::uint64_t bytes);
/// "12.5 MB/s", "3.1 GB/s".
std::string RateText(std::uint64_t bytes_per_s);
/// "1 host", "3 hosts".
std::string HostsText(std::size_t hosts);

}  // namespace ringlet::doctor
