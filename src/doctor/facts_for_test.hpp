// A set of hosts without a finding.
#pragma once
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/finding.hpp"

namespace ringlet::doctor {

inline HostFacts HealthyHost(const std::string& name, int number) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const std::string address = "10.0.0." + std::to_string(number);
  HostFacts host{.host = name,
                 .identity = name,
                 .kernel = "6.1.0",
                 .libc = "2.36",
                 .machine = "x86_64",
                 .ringlet = "ringlet 0.1.0"};
  host.name = {.host_name = name, .addresses = {address}};
  host.interfaces = {{.name = "lo", .running = true, .mtu_bytes = 65'536, .why = "loopback"},
                     {.name = "eth0",
                      .running = true,
                      .hardware = true,
                      .mtu_bytes = 9000,
                      .mbit_per_s = 100'000,
                      .addresses = {address},
                      .place = 0,
                      .why = "up, with an address"}};
  host.endpoints = {address + ":40000"};
  host.shm = {.failure = "", .bytes = 8 * kGiB, .free_bytes = 7 * kGiB};
  host.cpus = {.online = 8, .usable = 8, .usable_mask = "11111111", .numa_nodes = 1};
  host.memory = {.total_bytes = 32 * kGiB, .available_bytes = 16 * kGiB};
  host.ports = {.first = 32'768, .last = 60'999, .used = 10};
  return host;
}

/// All pairs connect, at one rate.
inline SetFacts HealthySet(std::uint32_t hosts) {
  constexpr std::uint64_t kLatencyNs = 30'000, kRate = 1'000'000'000;
  SetFacts facts;
  for (std::uint32_t i = 0; i < hosts; ++i)
    facts.hosts.push_back(HealthyHost("node" + std::to_string(i), static_cast<int>(i) + 1));
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (std::uint32_t to = 0; to < hosts; ++to)
      if (from != to)
        facts.measured.push_back({.from = from,
                                  .to = to,
                                  .address = facts.hosts[to].endpoints.front(),
                                  .connect_ns = kLatencyNs,
                                  .latency_ns = kLatencyNs,
                                  .bytes_per_s = kRate,
                                  .mtu_bytes = 9000,
                                  .passed_bytes = 9000});
  facts.reached = facts.measured;
  return facts;
}

inline PairFacts& PairOf(SetFacts& facts, std::uint32_t from, std::uint32_t to) {
  for (PairFacts& pair : facts.measured)
    if (pair.from == from && pair.to == to) return pair;
  return facts.measured.front();
}

/// Returns "check verdict host: reason" of each finding.
inline std::vector<std::string> Lines(const std::vector<CheckReport>& checks) {
  std::vector<std::string> lines;
  for (const CheckReport& check : checks)
    for (const HostFinding& finding : check.findings)
      lines.push_back(std::string(check.check) + " " + std::string(NameOf(finding.verdict)) + " " +
                      finding.host + ": " + finding.reason);
  return lines;
}

}  // namespace ringlet::doctor
