#include "tool/sim/sim_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kFirstShown = 16;
constexpr std::uint32_t kSpreadShown = 48;
constexpr std::uint32_t kJob = 0;  // the process of the job; a host's process is its number + 1

double Microseconds(Instant time) {
  return static_cast<double>(time.count()) / 1e3;
}

class Events {
 public:
  void Name(const char* what, std::uint32_t process, std::uint32_t thread, std::string name) {
    all_.push_back({{"ph", "M"},
                    {"name", what},
                    {"pid", process},
                    {"tid", thread},
                    {"args", {{"name", std::move(name)}}}});
  }
  void Span(std::uint32_t process, std::uint32_t thread, const char* name, Instant begin,
            Instant end) {
    all_.push_back({{"ph", "X"},
                    {"name", name},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", Microseconds(begin)},
                    {"dur", Microseconds(end - begin)}});
  }
  void Mark(std::uint32_t process, std::uint32_t thread, const std::string& name, Instant when) {
    all_.push_back({{"ph", "i"},
                    {"name", name},
                    {"pid", process},
                    {"tid", thread},
                    {"ts", Microseconds(when)},
                    {"s", "t"}});
  }
  std::string Text() const {
    const Json json{{"displayTimeUnit", "ms"}, {"traceEvents", all_}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  Json all_ = Json::array();
};

void AddJob(Events& events, const SimPhases& phases) {
  events.Name("process_name", kJob, 0, "job");
  struct TracedPhase {
    const char* name;
    const std::optional<Instant>& end;
  };
  Instant begin{0};
  for (const TracedPhase& phase :
       {TracedPhase{"check-in", phases.checked_in},
        TracedPhase{"roster to the first rank", phases.roster_first},
        TracedPhase{"roster to all", phases.roster_last},
        TracedPhase{"connecting", phases.connected}, TracedPhase{"go", phases.standing}}) {
    if (!phase.end || *phase.end < begin) continue;
    events.Span(kJob, 0, phase.name, begin, *phase.end);
    begin = *phase.end;
  }
}

void AddRank(Events& events, const TracedRank& traced) {
  const std::uint32_t process = traced.host + 1;
  events.Name("process_name", process, traced.rank, fmt::format("host {}", traced.host));
  events.Name("thread_name", process, traced.rank, fmt::format("rank {}", traced.rank));
  Instant begin = traced.start;
  if (traced.roster) {
    events.Span(process, traced.rank, "checking in", begin, *traced.roster);
    begin = *traced.roster;
  }
  if (traced.standing) {
    events.Span(process, traced.rank, "connecting", begin, *traced.standing);
    begin = *traced.standing;
  }
  if (!traced.failed) return;
  events.Span(process, traced.rank, "until it failed", begin, *traced.failed);
  events.Mark(process, traced.rank, traced.failure, *traced.failed);
}

}  // namespace

std::vector<std::uint32_t> RanksToTrace(std::uint32_t size, std::vector<std::uint32_t> always) {
  std::vector<std::uint32_t> ranks = std::move(always);
  for (std::uint32_t rank = 0; rank < std::min(size, kFirstShown); ++rank) ranks.push_back(rank);
  for (std::uint32_t i = 0; i < kSpreadShown; ++i)
    ranks.push_back(static_cast<std::uint32_t>(std::uint64_t{i} * size / kSpreadShown));
  if (size > 0) ranks.push_back(size - 1);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::string ChromeTrace(const SimPhases& phases, const std::vector<TracedRank>& ranks) {
  Events events;
  AddJob(events, phases);
  for (const TracedRank& rank : ranks) AddRank(events, rank);
  return events.Text();
}

}  // namespace ringlet::cli
