#include "watch/job.hpp"

#include <fmt/format.h>

#include <map>

namespace ringlet::watch {
namespace {

constexpr std::size_t kRowsMax = 128;

struct KnownRanks {
  std::uint32_t ranks = 0;
  std::map<std::uint32_t, RankState> own, told;
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

}  // namespace

std::vector<JobStatus> JobsOf(const std::vector<ProcessStatus>& processes) {
  std::map<std::string, KnownRanks> communicators;
  for (const ProcessStatus& process : processes)
    for (const CommunicatorStatus& one : process.communicators) {
      KnownRanks& joined = communicators[one.communicator];
      joined.ranks = std::max(joined.ranks, one.ranks);
      joined.own.insert_or_assign(one.self.rank, one.self);
      for (const RankState& peer : one.peers) joined.told.emplace(peer.rank, peer);
    }
  std::vector<JobStatus> jobs;
  for (auto& [communicator, joined] : communicators) {
    joined.own.merge(joined.told);
    JobStatus job{.communicator = communicator, .ranks = joined.ranks};
    for (auto& [rank, state] : joined.own) job.states.push_back(std::move(state));
    job.findings = FindingsOf(job.states, job.ranks);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::string ToText(const JobStatus& job) {
  std::string text =
      fmt::format("communicator {}, {} {}\n{:>6} {:<24} {:<9} {:<8} {:>8} {:>8}  {}\n",
                  job.communicator, job.ranks, job.ranks == 1 ? "rank" : "ranks", "rank",
                  "host:pid", "process", "state", "for", "awaits", "operation");
  std::size_t rows = 0;
  for (const RankState& state : job.states)
    if (rows++ < kRowsMax) text += RowText(state);
  if (rows > kRowsMax) text += fmt::format("and {} more ranks\n", rows - kRowsMax);
  for (const std::string& finding : job.findings) text += "! " + finding + "\n";
  return text;
}

std::string ToJson(const std::vector<JobStatus>& jobs) {
  Json list = Json::array();
  for (const JobStatus& job : jobs) {
    Json states = Json::array();
    for (const RankState& state : job.states) states.push_back(RankStateJson(state));
    list.push_back({{"communicator", job.communicator},
                    {"ranks", job.ranks},
                    {"states", std::move(states)},
                    {"findings", job.findings}});
  }
  return list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringlet::watch
