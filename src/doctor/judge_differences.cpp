// Compares hosts with each other.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/value/text.hpp"
#include "doctor/judge.hpp"

namespace ringlet::doctor {
namespace {

constexpr std::size_t kValueShownMax = 120;
constexpr std::size_t kHostsShownMax = 4;
constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSkewNoted = 100 * kMillisecond;
constexpr std::int64_t kSkewWarned = 1000 * kMillisecond;

/// "a, b, c and 5 more".
std::string Listed(const std::vector<std::string>& hosts) {
  const std::size_t shown = std::min(hosts.size(), kHostsShownMax);
  std::string text =
      fmt::format("{}", fmt::join(hosts.begin(), hosts.begin() + static_cast<long>(shown), ", "));
  if (shown < hosts.size()) text += fmt::format(" and {} more", hosts.size() - shown);
  return text;
}

/// Values, and the hosts that have them.
using HostsByValue = std::map<std::string, std::vector<std::string>>;

template <class Value>
HostsByValue CampsOf(const SetFacts& facts, const Value& value) {
  HostsByValue camps;
  for (const HostFacts& host : facts.hosts) camps[value(host)].push_back(host.host);
  return camps;
}

/// Returns the value of most hosts.
const HostsByValue::value_type& Largest(const HostsByValue& camps) {
  return *std::ranges::max_element(camps, {}, [](const auto& camp) { return camp.second.size(); });
}

struct Difference {
  std::string_view title;  ///< "Linux"
  FindingVerdict verdict = FindingVerdict::kNote;
  std::string_view cost = {}, cure = {};
};

/// Adds a finding for each minority value.
void AddDifferences(const HostsByValue& camps, const Difference& difference,
                    std::vector<HostFinding>& findings) {
  if (camps.size() < 2) return;
  const auto& usual = Largest(camps);
  for (const auto& [value, hosts] : camps) {
    if (value == usual.first) continue;
    findings.push_back(
        {.verdict = difference.verdict,
         .host = Listed(hosts),
         .reason = fmt::format(
             "{} {}; {} on {}", difference.title,
             value.empty() ? "is not set" : Printable(value, kValueShownMax),
             usual.first.empty() ? "it is not set" : Printable(usual.first, kValueShownMax),
             usual.second.size() > kHostsShownMax ? HostsText(usual.second.size())
                                                  : Listed(usual.second)),
         .cost = std::string(difference.cost),
         .cure = std::string(difference.cure),
         .evidence = {{"hosts", hosts.size()}, {"others", usual.second.size()}}});
  }
}

CheckReport Hosts(const SetFacts& facts) {
  CheckReport report{.check = "hosts", .seen = HostsText(facts.hosts.size()) + " answered"};
  for (const SetFacts::SilentHost& silent : facts.silent)
    report.findings.push_back(
        {.verdict = FindingVerdict::kError,
         .host = silent.host,
         .reason = silent.why,
         .cost = "a job with this host does not start",
         .cure = silent.host.starts_with("rank ")
                     ? "read the output of that rank; check that its host can connect to rank 0"
                     : "try the connection by hand: ssh " + silent.host +
                           " ringlet doctor; or leave the host out",
         .evidence = {}});
  return report;
}

const InterfaceReport* FirstUsed(const HostFacts& host) {
  const InterfaceReport* first = nullptr;
  for (const InterfaceReport& one : host.interfaces)
    if (one.place && (first == nullptr || *one.place < *first->place)) first = &one;
  return first;
}

bool IsLoopback(const InterfaceReport& interface) {
  return std::ranges::all_of(interface.addresses, [](const std::string& address) {
    return address.starts_with("127.") || address == "::1";
  });
}

CheckReport Interfaces(const SetFacts& facts) {
  CheckReport report{.check = "interfaces", .seen = {}};
  std::string seen;
  for (const HostFacts& host : facts.hosts) {
    const InterfaceReport* const first = FirstUsed(host);
    if ((first == nullptr || IsLoopback(*first)) && facts.hosts.size() > 1)
      report.findings.push_back(
          {.verdict = FindingVerdict::kError,
           .host = host.host,
           .reason = "no interface reaches other hosts",
           .cost = "ranks of other hosts cannot connect",
           .cure = "bring an interface up, or name one with " + InterfaceVariableOf(host),
           .evidence = {}});
    if (&host != &facts.hosts.front() || first == nullptr) continue;
    seen = fmt::format("{} {}: {}", first->name,
                       first->addresses.empty() ? "" : first->addresses.front(), first->why);
  }
  const HostsByValue speeds = CampsOf(facts, [](const HostFacts& host) -> std::string {
    const InterfaceReport* const first = FirstUsed(host);
    if (first == nullptr || !first->hardware || !first->mbit_per_s) return "";
    return fmt::format("{} Mbit/s", *first->mbit_per_s);
  });
  if (!speeds.contains(""))
    AddDifferences(speeds,
                   {.title = "the first interface has",
                    .verdict = FindingVerdict::kWarning,
                    .cost = "a ring is as slow as its slowest NIC",
                    .cure = "check the cable, the switch port and the output of ethtool"},
                   report.findings);
  report.seen = seen.empty() ? "no interface to other hosts" : seen;
  return report;
}

CheckReport Mtu(const SetFacts& facts) {
  CheckReport report{.check = "mtu", .seen = {}};
  const HostsByValue camps = CampsOf(facts, [](const HostFacts& host) -> std::string {
    const InterfaceReport* const first = FirstUsed(host);
    return first == nullptr ? "" : std::to_string(first->mtu_bytes);
  });
  report.seen = fmt::format("{} bytes", Largest(camps).first.empty() ? "0" : Largest(camps).first);
  if (!camps.contains(""))
    AddDifferences(camps,
                   {.title = "the MTU of the first interface is",
                    .verdict = FindingVerdict::kWarning,
                    .cost = "large packets are lost or cut: connections hang or are slow",
                    .cure = "set one MTU on all hosts and switches: ip link set dev NAME mtu N"},
                   report.findings);
  return report;
}

CheckReport Names(const SetFacts& facts) {
  CheckReport report{.check = "names", .seen = "each host name resolves to an address of the host"};
  if (facts.hosts.size() < 2) {
    report.seen = "one host: its name does not matter";
    return report;
  }
  for (const HostFacts& host : facts.hosts) {
    const NameReport& name = host.name;
    if (name.loopback)
      report.findings.push_back(
          {.verdict = FindingVerdict::kWarning,
           .host = host.host,
           .reason = fmt::format("its name {} resolves to loopback, {}", name.host_name,
                                 fmt::join(name.addresses, ", ")),
           .cost = "Gloo, torchrun and MPI advertise this address, so ranks of other hosts connect "
                   "to themselves; Ringlet advertises the addresses of interfaces",
           .cure = fmt::format(
               "map {} to its network address in /etc/hosts or DNS, or set GLOO_SOCKET_IFNAME",
               name.host_name),
           .evidence = {{"addresses", name.addresses.size()}}});
    else if (name.addresses.empty())
      report.findings.push_back(
          {.verdict = FindingVerdict::kNote,
           .host = host.host,
           .reason = fmt::format("its name {} does not resolve: {}", name.host_name, name.failure),
           .cost = "Gloo and MPI may need it; Ringlet does not",
           .cure = "add the name to /etc/hosts or DNS",
           .evidence = {}});
  }
  return report;
}

CheckReport Software(const SetFacts& facts) {
  const HostFacts& first = facts.hosts.front();
  CheckReport report{.check = "software",
                     .seen = fmt::format("{}, Linux {}, glibc {}, {}", first.ringlet, first.kernel,
                                         first.libc, first.machine)};
  AddDifferences(CampsOf(facts, [](const HostFacts& host) { return host.ringlet; }),
                 {.title = "ringlet",
                  .verdict = FindingVerdict::kError,
                  .cost = "ranks of different versions may refuse each other",
                  .cure = "install one version on all hosts"},
                 report.findings);
  AddDifferences(CampsOf(facts, [](const HostFacts& host) { return host.machine; }),
                 {.title = "the processor is",
                  .verdict = FindingVerdict::kWarning,
                  .cost = "programs of one architecture do not run on the other",
                  .cure = "use hosts of one architecture only"},
                 report.findings);
  AddDifferences(CampsOf(facts, [](const HostFacts& host) { return host.kernel; }),
                 {.title = "Linux",
                  .verdict = FindingVerdict::kNote,
                  .cost = "no known cost",
                  .cure = "boot the same kernel on all hosts if their speed differs"},
                 report.findings);
  AddDifferences(CampsOf(facts, [](const HostFacts& host) { return host.libc; }),
                 {.title = "glibc",
                  .verdict = FindingVerdict::kNote,
                  .cost = "a program built for the newer one does not start on the older",
                  .cure = "use one image for all hosts"},
                 report.findings);
  return report;
}

/// Returns true for settings that differ between hosts by nature.
bool MayDiffer(std::string_view name) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return ends("_IFNAME") || ends("_HOSTID") || ends("_FILE") || ends("_DIR") || ends("_HCA") ||
         name.find("_DEBUG") != std::string_view::npos;
}

void AddSetting(const SetFacts& facts, const std::string& name, bool must_agree,
                std::vector<HostFinding>& findings) {
  const HostsByValue camps = CampsOf(facts, [&](const HostFacts& host) -> std::string {
    const auto found = host.settings.find(name);
    return found == host.settings.end() ? "" : found->second.value;
  });
  const FindingVerdict verdict = must_agree        ? FindingVerdict::kError
                                 : MayDiffer(name) ? FindingVerdict::kNote
                                                   : FindingVerdict::kWarning;
  AddDifferences(
      camps,
      {.title = name,
       .verdict = verdict,
       .cost = must_agree ? "ranks refuse to form a communicator" : "ranks may behave differently",
       .cure =
           "set the same value on all hosts, in the environment of the job or in /etc/nccl.conf"},
      findings);
}

CheckReport SettingsOf(const SetFacts& facts) {
  CheckReport report{.check = "settings", .seen = {}};
  std::map<std::string, bool> names;
  for (const HostFacts& host : facts.hosts) {
    for (const auto& [name, setting] : host.settings) names[name] |= setting.must_agree;
    if (!host.settings_failure.empty())
      report.findings.push_back({.verdict = FindingVerdict::kError,
                                 .host = host.host,
                                 .reason = host.settings_failure,
                                 .cost = "communicators do not form on this host",
                                 .cure = "ringlet env shows every setting",
                                 .evidence = {}});
  }
  for (const auto& [name, must_agree] : names) AddSetting(facts, name, must_agree, report.findings);
  report.seen = names.empty() ? "no setting is set"
                              : fmt::format("{} settings, equal on all hosts", names.size());
  return report;
}

CheckReport Clock(const SetFacts& facts) {
  CheckReport report{.check = "clock", .seen = "one host: nothing to compare"};
  if (facts.hosts.size() < 2) return report;
  std::vector<std::int64_t> ahead;
  for (const HostFacts& host : facts.hosts) ahead.push_back(host.clock_ahead_ns);
  std::ranges::sort(ahead);
  const std::int64_t median = ahead[(ahead.size() - 1) / 2];
  std::int64_t most = 0;
  for (const HostFacts& host : facts.hosts) {
    const std::int64_t off = std::abs(host.clock_ahead_ns - median);
    const std::int64_t sure =
        std::max<std::int64_t>(off - static_cast<std::int64_t>(host.clock_uncertainty_ns), 0);
    most = std::max(most, sure);
    if (sure < kSkewNoted) continue;
    report.findings.push_back(
        {.verdict = sure < kSkewWarned ? FindingVerdict::kNote : FindingVerdict::kWarning,
         .host = host.host,
         .reason =
             fmt::format("its clock is {} ms {} the others, to within {} ms", off / kMillisecond,
                         host.clock_ahead_ns > median ? "ahead of" : "behind",
                         static_cast<std::int64_t>(host.clock_uncertainty_ns) / kMillisecond),
         .cost = "log lines and traces of several hosts appear in the wrong order; servers may "
                 "refuse tickets and certificates",
         .cure = "run chrony or another NTP client on each host",
         .evidence = {{"off_ns", static_cast<std::uint64_t>(off)},
                      {"uncertainty_ns", host.clock_uncertainty_ns}}});
  }
  report.seen = fmt::format("within {} ms of each other", most / kMillisecond + 1);
  return report;
}

}  // namespace

std::string InterfaceVariableOf(const HostFacts& host) {
  const std::string own = "RINGLET_SOCKET_IFNAME";
  const auto set = host.settings.find(own);
  return set == host.settings.end() || set->second.from.empty() ? own : set->second.from;
}

std::vector<CheckReport> JudgeDifferences(const SetFacts& facts) {
  if (facts.hosts.empty()) return {Hosts(facts)};
  return {Hosts(facts),    Interfaces(facts), Mtu(facts),  Names(facts),
          Software(facts), SettingsOf(facts), Clock(facts)};
}

}  // namespace ringlet::doctor
