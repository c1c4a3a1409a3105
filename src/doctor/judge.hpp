// From facts to findings. Pure: docs/howto/check-hosts-before-a-job.md has the rules, the tests
// have their borders.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "doctor/facts.hpp"
#include "doctor/finding.hpp"

namespace ringlet::doctor {

inline constexpr std::uint32_t kPercent = 100;

/// All checks in their order, those without findings as well.
std::vector<CheckReport> Judge(const SetFacts& facts);

/// Of each host by itself: shm, memory, limits, peer-memory, huge-pages, cpus, ports, topology.
std::vector<CheckReport> JudgeHosts(const SetFacts& facts);
/// Of hosts beside each other: hosts, interfaces, names, software, settings, clock.
std::vector<CheckReport> JudgeDifferences(const SetFacts& facts);
/// Of what they saw of each other: reach, path-mtu, latency, rate.
std::vector<CheckReport> JudgePairs(const SetFacts& facts);

/// The variable that names the interfaces of a host, for cures: the one that sets them there, or
/// RINGLET_SOCKET_IFNAME.
std::string InterfaceVariableOf(const HostFacts& host);

/// The pairs whose measurement is worth another one before it is believed: much slower than others.
std::vector<PairFacts> DoubtfulPairs(const SetFacts& facts);
/// The better of two measurements of one pair: noise makes nothing quicker.
PairFacts BetterOf(const PairFacts& a, const PairFacts& b);

/// The pairs to measure: the hosts to which `host` sends, by round. In each round every host sends
/// to one and receives from one. \return  ceil(log2 hosts) of them; none for one host
std::vector<std::uint32_t> PartnersOf(std::uint32_t host, std::uint32_t hosts);

}  // namespace ringlet::doctor
