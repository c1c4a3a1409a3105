// Derives findings from facts. Pure. docs/howto/check-hosts-before-a-job.md has the rules, and the
// tests cover their borders.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/finding.hpp"

namespace ringlet::doctor {

inline constexpr std::uint32_t kPercent = 100;

/// Returns all checks in order, including those without findings.
std::vector<CheckReport> Judge(const SetFacts& facts);

/// Checks each host by itself: shm, memory, limits, peer-memory, huge-pages, cpus, ports, topology.
std::vector<CheckReport> JudgeHosts(const SetFacts& facts);
/// Compares hosts: hosts, interfaces, names, software, settings, clock.
std::vector<CheckReport> JudgeDifferences(const SetFacts& facts);
/// Judges measurements between hosts: reach, path-mtu, latency, rate.
std::vector<CheckReport> JudgePairs(const SetFacts& facts);

/// Returns the variable for the interfaces of a host, for cures: the one that sets them there, or
/// RINGLET_SOCKET_IFNAME.
std::string InterfaceVariableOf(const HostFacts& host);

/// Returns the pairs with results much slower than others. They deserve a second measurement.
std::vector<PairFacts> DoubtfulPairs(const SetFacts& facts);
/// Returns the better of two measurements of one pair, because noise only slows a pair down.
PairFacts BetterOf(const PairFacts& a, const PairFacts& b);

/// Returns the receivers of `host`, by round. In each round every host sends to one and receives
/// from one. \return  ceil(log2 hosts) of them; empty for one host
std::vector<std::uint32_t> PartnersOf(std::uint32_t host, std::uint32_t hosts);

}  // namespace ringlet::doctor
