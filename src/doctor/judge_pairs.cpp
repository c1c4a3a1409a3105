// Judges the connections between hosts.
//
// The rate of a host is that of its quickest pair. A slow host is slow with every partner, and a
// quick host is not blamed for a slow one. Hosts are then compared by median and spread.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "doctor/judge.hpp"

namespace ringlet::doctor {
namespace {

constexpr std::uint64_t kSlowPercent = 50;  // relative to the others' median
constexpr std::uint64_t kVerySlowPercent = 25;
constexpr std::uint64_t kSpreads = 5;  // median deviations; a larger distance is not noise
constexpr std::uint64_t kLateTimes = 3;
constexpr std::uint64_t kLateNs = 200'000;  // a smaller delay may be the scheduler's
constexpr double kMicrosecond = 1e3;

std::uint64_t MedianOf(std::vector<std::uint64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<long>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::uint64_t SpreadOf(const std::vector<std::uint64_t>& values, std::uint64_t median) {
  std::vector<std::uint64_t> deviations;
  for (const std::uint64_t value : values)
    deviations.push_back(value > median ? value - median : median - value);
  return MedianOf(std::move(deviations));
}

std::string PairName(const SetFacts& facts, const PairFacts& pair) {
  return fmt::format("{} to {}", facts.hosts[pair.from].host, facts.hosts[pair.to].host);
}

/// The best value of each host, by direction.
struct HostScores {
  std::map<std::uint32_t, std::uint64_t> rate_sent, rate_received, latency;
};

HostScores ScoresOf(const SetFacts& facts) {
  HostScores scores;
  const auto raise = [](auto& of, std::uint32_t host, std::uint64_t value) {
    auto& best = of[host];
    best = std::max(best, value);
  };
  for (const PairFacts& pair : facts.measured) {
    if (pair.bytes_per_s > 0) {
      raise(scores.rate_sent, pair.from, pair.bytes_per_s);
      raise(scores.rate_received, pair.to, pair.bytes_per_s);
    }
    if (pair.latency_ns == 0) continue;
    for (const std::uint32_t host : {pair.from, pair.to}) {
      auto& best = scores.latency[host];
      best = best == 0 ? pair.latency_ns : std::min(best, pair.latency_ns);
    }
  }
  return scores;
}

std::vector<std::uint64_t> ValuesOf(const std::map<std::uint32_t, std::uint64_t>& scores) {
  std::vector<std::uint64_t> values;
  for (const auto& [host, value] : scores) values.push_back(value);
  return values;
}

/// True if the rate deserves another measurement.
bool IsDoubtful(std::uint64_t rate, std::uint64_t median) {
  return rate * kPercent < median * kSlowPercent;
}
/// True if the rate is far behind, also in comparison with the spread of the others.
bool IsSlow(std::uint64_t rate, std::uint64_t median, std::uint64_t spread) {
  return IsDoubtful(rate, median) &&
         (median - rate > kSpreads * spread || rate * kPercent < median * kVerySlowPercent);
}
bool IsLate(std::uint64_t latency, std::uint64_t median, std::uint64_t spread) {
  return latency > kLateTimes * median && latency > median + kLateNs + kSpreads * spread;
}

/// A host slow as sender or receiver, with its score and the median.
struct SlowHost {
  std::uint32_t host = 0;
  std::uint64_t score = 0, median = 0;
};

constexpr std::size_t kComparable = 3;  // two hosts do not have a majority

enum class Strictness { kSure, kDoubtful };

std::vector<SlowHost> SlowHosts(const std::map<std::uint32_t, std::uint64_t>& scores,
                                Strictness strictness) {
  std::vector<SlowHost> slow;
  const std::vector<std::uint64_t> values = ValuesOf(scores);
  if (values.size() < kComparable) return slow;
  const std::uint64_t median = MedianOf(values), spread = SpreadOf(values, median);
  for (const auto& [host, value] : scores)
    if (strictness == Strictness::kSure ? IsSlow(value, median, spread) : IsDoubtful(value, median))
      slow.push_back({host, value, median});
  return slow;
}

/// True if the pair is slower than either end is with others.
bool IsSlowPair(const PairFacts& pair, const HostScores& scores) {
  if (pair.bytes_per_s == 0) return false;
  const std::uint64_t can =
      std::min(scores.rate_sent.at(pair.from), scores.rate_received.at(pair.to));
  return pair.bytes_per_s * kPercent < can * kSlowPercent;
}

/// Compares the two directions between two hosts.
const PairFacts* SlowDirection(const SetFacts& facts) {
  const PairFacts* slow = nullptr;
  if (facts.hosts.size() != 2) return slow;
  for (const PairFacts& pair : facts.measured)
    for (const PairFacts& back : facts.measured)
      if (pair.from == back.to && pair.to == back.from && pair.bytes_per_s > 0 &&
          pair.bytes_per_s * kPercent < back.bytes_per_s * kSlowPercent)
        slow = &pair;
  return slow;
}

/// Returns "10.0.0.2" for "10.0.0.2:40123", and "fd00::2" for "[fd00::2]:40123".
std::string_view IpOf(std::string_view address) {
  address = address.substr(0, address.rfind(':'));
  return address.starts_with('[') ? address.substr(1, address.size() - 2) : address;
}

CheckReport ReachOf(const SetFacts& facts) {
  CheckReport report{.check = "reach", .seen = {}};
  std::size_t connected = 0;
  for (const PairFacts& pair : facts.reached) {
    if (pair.reach == Contact::kConnected) {
      ++connected;
      continue;
    }
    std::string why, cure = "open TCP ports between the hosts (nft list ruleset, security groups)";
    switch (pair.reach) {
      case Contact::kRefused:
        why = "is refused although the port listens: a firewall rejects it";
        break;
      case Contact::kTimeout:
        why = "times out: a firewall drops its packets, or the route back is missing";
        break;
      case Contact::kUnreachable:
        why = fmt::format("fails for lack of a route ({})", pair.why);
        cure = fmt::format(
            "check the route (ip route get {}), or name an interface of a common network with {}",
            IpOf(pair.address), InterfaceVariableOf(facts.hosts[pair.from]));
        break;
      case Contact::kNoPort:
        why = "cannot start: no local port is free";
        cure = "see the ports check";
        break;
      case Contact::kConnected:
      case Contact::kStranger:
      case Contact::kFailed: why = fmt::format("failed: {}", pair.why); break;
    }
    report.findings.push_back({.verdict = FindingVerdict::kError,
                               .host = PairName(facts, pair),
                               .reason = fmt::format("a connection to {} {}", pair.address, why),
                               .cost = "ranks of these hosts cannot connect",
                               .cure = cure,
                               .evidence = {{"connect_ns", pair.connect_ns}}});
  }
  report.seen = facts.hosts.size() < 2
                    ? "one host: no connections"
                    : fmt::format("all {} connections succeeded, in both directions", connected);
  return report;
}

CheckReport PathMtu(const SetFacts& facts) {
  CheckReport report{.check = "path-mtu", .seen = "one host: no path"};
  std::uint32_t least = 0;
  for (const PairFacts& pair : facts.measured) {
    if (pair.reach != Contact::kConnected) continue;
    constexpr std::string_view kCost =
        "connections are slow, or hang as soon as they carry much data";
    constexpr std::string_view kCure =
        "set the interfaces to an MTU that passes, or correct the MTU of switches, bridges and "
        "tunnels; allow ICMP";
    const bool cut = pair.passed_bytes > 0 && pair.passed_bytes < pair.mtu_bytes;
    if (pair.passed_bytes > 0)
      least = least == 0 ? pair.passed_bytes : std::min(least, pair.passed_bytes);
    if (!cut && !pair.stalled) continue;
    const bool told = cut && pair.path_mtu_bytes > 0 && !pair.stalled;
    report.findings.push_back(
        {.verdict = pair.stalled ? FindingVerdict::kError
                    : told       ? FindingVerdict::kNote
                                 : FindingVerdict::kWarning,
         .host = PairName(facts, pair),
         .reason = cut ? fmt::format("packets of {} bytes pass, but packets of {} bytes, the MTU "
                                     "of the interface, do not{}",
                                     pair.passed_bytes, pair.mtu_bytes,
                                     told           ? "; routers report it"
                                     : pair.stalled ? "; a connection that carries much data stalls"
                                                    : "; no router reports it")
                       : "small messages pass, but a connection that carries much data stalls",
         .cost = told ? "one more packet per connection" : std::string(kCost),
         .cure = std::string(kCure),
         .evidence = {{"passed_bytes", pair.passed_bytes},
                      {"mtu_bytes", pair.mtu_bytes},
                      {"path_mtu_bytes", pair.path_mtu_bytes}}});
  }
  if (facts.hosts.size() > 1)
    report.seen = least > 0 ? fmt::format("packets of {} bytes pass", least)
                            : "TCP passes large messages; UDP packets are lost";
  return report;
}

void AddLatencies(const SetFacts& facts, CheckReport& report) {
  const auto scores = ScoresOf(facts).latency;
  if (scores.empty()) return;
  const std::vector<std::uint64_t> values = ValuesOf(scores);
  const std::uint64_t median = MedianOf(values), spread = SpreadOf(values, median);
  for (const auto& [host, value] : scores)
    if (values.size() >= kComparable && IsLate(value, median, spread))
      report.findings.push_back(
          {.verdict = FindingVerdict::kWarning,
           .host = facts.hosts[host].host,
           .reason = fmt::format(
               "the shortest round trip takes {:.0f} us; the median over the hosts is {:.0f} us",
               static_cast<double>(value) / kMicrosecond,
               static_cast<double>(median) / kMicrosecond),
           .cost = "each step of a small operation waits for this host",
           .cure = "check its route to the other hosts (tracepath), power saving and interrupt "
                   "moderation",
           .evidence = {{"latency_ns", value}, {"median_ns", median}, {"spread_ns", spread}}});
  report.seen += fmt::format("{}{:.0f} us", report.seen.empty() ? "" : ", ",
                             static_cast<double>(median) / kMicrosecond);
}

/// Returns ", by eth1" for a host with several interfaces.
std::string ByNic(const SetFacts& facts, const HostFacts& host) {
  const std::uint32_t nic = facts.measured.empty() ? 0 : facts.measured.front().nic;
  if (host.endpoints.size() < 2) return "";
  for (const InterfaceReport& one : host.interfaces)
    if (one.place == nic) return fmt::format(" by {}", one.name);
  return "";
}

void AddSlowHosts(const SetFacts& facts, const std::vector<SlowHost>& slow, std::string_view verb,
                  CheckReport& report) {
  for (const SlowHost& one : slow)
    report.findings.push_back(
        {.verdict = FindingVerdict::kWarning,
         .host = facts.hosts[one.host].host,
         .reason = fmt::format(
             "it {0} at most {2}{1}, with any partner; the median of the hosts is {3}", verb,
             ByNic(facts, facts.hosts[one.host]), RateText(one.score), RateText(one.median)),
         .cost = fmt::format("a ring through this host is {:.1f} times slower",
                             static_cast<double>(one.median) /
                                 static_cast<double>(std::max<std::uint64_t>(one.score, 1))),
         .cure = "check its NIC: ethtool (speed, errors), cable, switch port, other traffic; or "
                 "leave the host out",
         .evidence = {{"bytes_per_s", one.score}, {"median_bytes_per_s", one.median}}});
}

void AddSlowPair(const SetFacts& facts, const PairFacts& pair, std::uint64_t others,
                 CheckReport& report) {
  report.findings.push_back(
      {.verdict = FindingVerdict::kWarning,
       .host = PairName(facts, pair),
       .reason = facts.hosts.size() == 2
                     ? fmt::format("{} in this direction, {} in the other",
                                   RateText(pair.bytes_per_s), RateText(others))
                     : fmt::format("{}, although both hosts reach {} with others",
                                   RateText(pair.bytes_per_s), RateText(others)),
       .cost = "a ring over this link is as slow as the link",
       .cure = facts.hosts.size() == 2
                   ? "check the NICs of both hosts: ethtool (speed, errors), cable, switch port"
                   : "check the path between the two hosts: switches, routes, bonds",
       .evidence = {{"bytes_per_s", pair.bytes_per_s}, {"others_bytes_per_s", others}}});
}

bool IsOf(const std::vector<SlowHost>& slow, std::uint32_t host) {
  return std::ranges::count(slow, host, &SlowHost::host) > 0;
}

void AddRates(const SetFacts& facts, CheckReport& report) {
  const HostScores scores = ScoresOf(facts);
  if (scores.rate_sent.empty()) return;
  const std::vector<SlowHost> senders = SlowHosts(scores.rate_sent, Strictness::kSure);
  const std::vector<SlowHost> receivers = SlowHosts(scores.rate_received, Strictness::kSure);
  AddSlowHosts(facts, senders, "sends", report);
  AddSlowHosts(facts, receivers, "receives", report);
  if (const PairFacts* const slow = SlowDirection(facts))
    AddSlowPair(facts, *slow, scores.rate_sent.at(slow->to), report);
  for (const PairFacts& pair : facts.measured)
    if (facts.hosts.size() >= kComparable && IsSlowPair(pair, scores) &&
        !IsOf(senders, pair.from) && !IsOf(receivers, pair.to))
      AddSlowPair(facts, pair,
                  std::min(scores.rate_sent.at(pair.from), scores.rate_received.at(pair.to)),
                  report);
  report.seen += fmt::format("{}{}", report.seen.empty() ? "" : ", ",
                             RateText(MedianOf(ValuesOf(scores.rate_sent))));
}

/// Groups the measurements by NIC number, because only equal numbers are comparable.
std::vector<SetFacts> ByNics(const SetFacts& facts) {
  std::map<std::uint32_t, SetFacts> parts;
  for (const PairFacts& pair : facts.measured) {
    auto [part, is_new] = parts.try_emplace(pair.nic);
    if (is_new) part->second.hosts = facts.hosts;
    part->second.measured.push_back(pair);
  }
  std::vector<SetFacts> sorted;
  for (auto& [nic, part] : parts) sorted.push_back(std::move(part));
  return sorted;
}

CheckReport Rate(const SetFacts& facts) {
  CheckReport report{.check = "rate", .seen = {}};
  for (const SetFacts& part : ByNics(facts)) AddRates(part, report);
  report.seen = report.seen.empty()
                    ? "no pairs were measured"
                    : fmt::format("{} in each direction{}", report.seen,
                                  facts.hosts.size() > 2 ? ", measured on all hosts at once" : "");
  return report;
}

CheckReport Latency(const SetFacts& facts) {
  CheckReport report{.check = "latency", .seen = {}};
  for (const SetFacts& part : ByNics(facts)) AddLatencies(part, report);
  report.seen = report.seen.empty() ? "no pairs were measured"
                                    : fmt::format("{} per round trip", report.seen);
  return report;
}

void AddDoubtful(const SetFacts& facts, std::vector<PairFacts>& doubtful) {
  const HostScores scores = ScoresOf(facts);
  const auto senders = SlowHosts(scores.rate_sent, Strictness::kDoubtful),
             receivers = SlowHosts(scores.rate_received, Strictness::kDoubtful);
  const std::vector<std::uint64_t> latencies = ValuesOf(scores.latency);
  const std::uint64_t median = MedianOf(latencies);
  const PairFacts* const direction = SlowDirection(facts);
  for (const PairFacts& pair : facts.measured) {
    if (pair.reach != Contact::kConnected) continue;
    const bool slow = IsOf(senders, pair.from) || IsOf(receivers, pair.to) ||
                      IsSlowPair(pair, scores) || &pair == direction;
    const bool late = latencies.size() >= kComparable && pair.latency_ns > kLateTimes * median;
    const bool cut = pair.passed_bytes < pair.mtu_bytes && pair.path_mtu_bytes == 0;
    if (slow || late || pair.stalled || cut) doubtful.push_back(pair);
  }
}

}  // namespace

std::vector<CheckReport> JudgePairs(const SetFacts& facts) {
  if (facts.hosts.empty()) return {};
  return {ReachOf(facts), PathMtu(facts), Latency(facts), Rate(facts)};
}

std::vector<PairFacts> DoubtfulPairs(const SetFacts& facts) {
  std::vector<PairFacts> doubtful;
  for (const SetFacts& part : ByNics(facts)) AddDoubtful(part, doubtful);
  return doubtful;
}

PairFacts BetterOf(const PairFacts& a, const PairFacts& b) {
  if (a.reach != Contact::kConnected) return b;
  if (b.reach != Contact::kConnected) return a;
  PairFacts better = a;
  better.bytes_per_s = std::max(a.bytes_per_s, b.bytes_per_s);
  if (b.latency_ns > 0)
    better.latency_ns = a.latency_ns == 0 ? b.latency_ns : std::min(a.latency_ns, b.latency_ns);
  better.stalled = a.stalled && b.stalled;
  better.passed_bytes = std::max(a.passed_bytes, b.passed_bytes);
  better.path_mtu_bytes = std::max(a.path_mtu_bytes, b.path_mtu_bytes);
  return better;
}

std::vector<std::uint32_t> PartnersOf(std::uint32_t host, std::uint32_t hosts) {
  std::vector<std::uint32_t> partners;
  for (std::uint64_t shift = 1; shift < hosts; shift *= 2)
    partners.push_back(static_cast<std::uint32_t>((host + shift) % hosts));
  return partners;
}

std::vector<CheckReport> Judge(const SetFacts& facts) {
  std::vector<CheckReport> checks = JudgeDifferences(facts);
  for (auto&& part : {JudgePairs(facts), JudgeHosts(facts)})
    checks.insert(checks.end(), part.begin(), part.end());
  return checks;
}

}  // namespace ringlet::doctor
