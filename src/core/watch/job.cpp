#include "watch/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet::watch {
namespace {

constexpr std::size_t kRowsMax = 128;

struct KnownRanks {
  std::uint32_t ranks = 0;
  std::map<std::uint32_t, RankState> own, told, heard;  // in order of precedence
};

std::string StateText(const RankState& state) {
  if (!state.failure.empty()) return "failed";
  if (state.reach != RankState::Reach::kHere) return std::string(Name(state.reach));
  if (state.forming) return "forming";
  return state.inside ? "inside" : "outside";
}

std::string RowText(const RankState& state) {
  const std::string operation = state.forming ? state.phase
                                : !state.last ? "no operation yet"
                                              : ToText(*state.last);
  std::string row =
      fmt::format("{:>6} {:<24} {:<9} {:<8} {:>8} {:>8}  {}", state.rank,
                  state.host.empty() ? "?" : fmt::format("{}:{}", state.host, state.pid),
                  state.process.empty() ? "?" : state.process, StateText(state),
                  state.since ? DurationText(*state.since) : "?",
                  state.waits_for ? fmt::format("rank {}", *state.waits_for) : "-", operation);
  return row + "\n";
}

using ProcessKey = std::pair<std::string, std::uint32_t>;

/// A rank inside an operation.
struct InsideRank {
  std::string communicator;
  const RankState* state = nullptr;
};

/// The operation of each process with exactly one rank inside one.
std::map<ProcessKey, InsideRank> InsideRanksOf(const std::vector<JobStatus>& jobs) {
  std::map<ProcessKey, InsideRank> inside;
  std::set<ProcessKey> several;
  for (const JobStatus& job : jobs)
    for (const RankState& state : job.states) {
      if (!state.inside || !state.last || state.pid == 0) continue;
      const ProcessKey key(state.host, state.pid);
      if (!inside.emplace(key, InsideRank{job.communicator, &state}).second) several.insert(key);
    }
  for (const ProcessKey& key : several) inside.erase(key);
  return inside;
}

// Finds idle ranks in processes that are inside an operation of another communicator.
void FindBlockingOperations(std::vector<JobStatus>& jobs) {
  const std::map<ProcessKey, InsideRank> inside = InsideRanksOf(jobs);
  for (JobStatus& job : jobs)
    for (RankState& state : job.states) {
      const auto at = inside.find({state.host, state.pid});
      if (state.inside || state.forming || at == inside.end()) continue;
      if (at->second.communicator == job.communicator) continue;
      const RankState& there = *at->second.state;
      state.elsewhere =
          fmt::format("{} of communicator {}", ToText(*there.last), at->second.communicator);
      if (there.waits_for)
        state.elsewhere += fmt::format(" and waits there for rank {}", *there.waits_for);
    }
}

// Finds a communicator with some ranks inside it and others inside another communicator.
void AddDeadlock(JobStatus& job) {
  std::vector<std::uint32_t> inside, elsewhere;
  for (const RankState& state : job.states) {
    if (state.inside) inside.push_back(state.rank);
    if (!state.elsewhere.empty()) elsewhere.push_back(state.rank);
  }
  if (inside.empty() || elsewhere.empty()) return;
  job.findings.push_back(fmt::format(
      "{} {} in an operation of this communicator, {} in one of another: all ranks must call the "
      "operations of several communicators in the same order",
      RanksNamed(inside), inside.size() == 1 ? "is" : "are", RanksNamed(elsewhere)));
}

/// Numbers jobs. Communicators that share a process belong to one job.
void NumberJobs(std::vector<JobStatus>& all) {
  std::map<ProcessKey, std::uint32_t> job_of;
  std::uint32_t jobs = 0;
  for (JobStatus& one : all) {
    std::set<std::uint32_t> joined;
    for (const RankState& state : one.states)
      if (const auto at = job_of.find({state.host, state.pid});
          state.pid != 0 && at != job_of.end())
        joined.insert(at->second);
    one.job = joined.empty() ? ++jobs : *joined.begin();
    for (const RankState& state : one.states)
      if (state.pid != 0) job_of[{state.host, state.pid}] = one.job;
    const auto rename = [&](std::uint32_t& job) {
      if (joined.contains(job)) job = one.job;
    };
    for (auto& [process, job] : job_of) rename(job);
    for (JobStatus& other : all)
      if (&other != &one) rename(other.job);
  }
  std::ranges::stable_sort(all, {}, &JobStatus::job);
  std::uint32_t number = 0, before = 0;
  for (JobStatus& one : all) {
    if (one.job != std::exchange(before, one.job)) ++number;
    one.job = number;
  }
}

/// "job 2: node7:6412, node7:6413 and 6 more processes".
std::string JobText(const std::vector<JobStatus>& all, std::uint32_t job) {
  constexpr std::size_t kProcessesShown = 2;
  std::set<ProcessKey> processes;
  for (const JobStatus& one : all)
    if (one.job == job)
      for (const RankState& state : one.states)
        if (state.pid != 0) processes.emplace(state.host, state.pid);
  std::string text = fmt::format("job {}:", job);
  std::size_t shown = 0;
  for (const auto& [host, pid] : processes) {
    if (shown == kProcessesShown) break;
    text += fmt::format("{} {}:{}", shown++ > 0 ? "," : "", host, pid);
  }
  if (processes.size() > shown)
    text += fmt::format(" and {} more process{}", processes.size() - shown,
                        processes.size() - shown == 1 ? "" : "es");
  return text + "\n";
}

/// The latest time of each step of a recovery, if the communicator continues a failed one. The
/// first result is missing until all known ranks have one.
std::optional<RecoveryTimes> RecoveryOf(const JobStatus& job) {
  std::optional<RecoveryTimes> latest;
  bool has_results = true;
  for (const RankState& state : job.states) {
    if (!state.recovery) continue;
    if (!latest) latest = RecoveryTimes{};
    latest->called = std::max(latest->called, state.recovery->called);
    latest->agreed = std::max(latest->agreed, state.recovery->agreed);
    latest->rebuilt = std::max(latest->rebuilt, state.recovery->rebuilt);
    has_results = has_results && state.recovery->first_result;
    latest->first_result = std::max(latest->first_result, state.recovery->first_result);
  }
  if (!has_results) latest->first_result.reset();
  return latest;
}

std::string TableText(const JobStatus& job) {
  std::string text = fmt::format("communicator {}, {} {}\n", job.communicator, job.ranks,
                                 job.ranks == 1 ? "rank" : "ranks");
  if (const auto recovery = RecoveryOf(job))
    text += fmt::format("continues a failed communicator; its last rank: {}\n", ToText(*recovery));
  text += fmt::format("{:>6} {:<24} {:<9} {:<8} {:>8} {:>8}  {}\n", "rank", "host:pid", "process",
                      "state", "for", "awaits", "operation");
  std::size_t rows = 0;
  for (const RankState& state : job.states)
    if (rows++ < kRowsMax) text += RowText(state);
  if (rows > kRowsMax) text += fmt::format("and {} more ranks\n", rows - kRowsMax);
  return text;
}

}  // namespace

bool IsNamed(std::string_view communicator, std::string_view name) {
  for (const std::string_view before : {"commId ", "communicator ", "comm ", "0x"})
    if (name.starts_with(before)) name.remove_prefix(before.size());
  const auto begins = [&](std::string_view digits) {
    return EqualIgnoringCase(digits.substr(0, name.size()), name);
  };
  // With 0x, logs omit leading zeros.
  const std::size_t first = communicator.find_first_not_of('0');
  return begins(communicator) ||
         (first != std::string_view::npos && begins(communicator.substr(first)));
}

std::vector<JobStatus> JobsOf(const std::vector<ProcessStatus>& processes) {
  std::map<std::string, KnownRanks> communicators;
  for (const ProcessStatus& process : processes)
    for (const CommunicatorStatus& one : process.communicators) {
      KnownRanks& joined = communicators[one.communicator];
      joined.ranks = std::max(joined.ranks, one.ranks);
      joined.own.insert_or_assign(one.self.rank, one.self);
      for (const RankState& peer : one.peers) joined.told.emplace(peer.rank, peer);
      for (const ReportedState& told : one.told) {
        KnownRanks& other = communicators[told.communicator];
        other.ranks = std::max(other.ranks, told.ranks);
        other.heard.emplace(told.state.rank, told.state);
      }
    }
  std::vector<JobStatus> jobs;
  for (auto& [communicator, joined] : communicators) {
    joined.own.merge(joined.told);
    joined.own.merge(joined.heard);
    JobStatus job{.communicator = communicator, .ranks = joined.ranks};
    for (auto& [rank, state] : joined.own) job.states.push_back(std::move(state));
    jobs.push_back(std::move(job));
  }
  FindBlockingOperations(jobs);
  for (JobStatus& job : jobs) {
    job.findings = FindingsOf(job.states, job.ranks);
    AddDeadlock(job);
  }
  NumberJobs(jobs);
  return jobs;
}

std::string ToText(const std::vector<JobStatus>& jobs) {
  std::string text;
  for (const JobStatus& job : jobs)
    for (const std::string& finding : job.findings)
      text += jobs.size() == 1 ? fmt::format("! {}\n", finding)
                               : fmt::format("! {} (communicator {})\n", finding, job.communicator);
  const bool several = !jobs.empty() && jobs.front().job != jobs.back().job;
  for (const JobStatus& job : jobs) {
    if (!text.empty()) text += "\n";
    const bool begins = &job == &jobs.front() || (&job - 1)->job != job.job;
    if (several && begins) text += JobText(jobs, job.job);
    text += TableText(job);
  }
  return text;
}

std::string ToJson(const std::vector<JobStatus>& jobs) {
  Json list = Json::array();
  for (const JobStatus& job : jobs) {
    Json states = Json::array();
    for (const RankState& state : job.states) states.push_back(RankStateJson(state));
    list.push_back({{"communicator", job.communicator},
                    {"job", job.job},
                    {"ranks", job.ranks},
                    {"states", std::move(states)},
                    {"findings", job.findings}});
  }
  return list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringlet::watch
