#include "comm/establish/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

constexpr std::size_t kCallBytesMax = 64;

double Seconds(Instant time) {
  return std::chrono::duration<double>(time).count();
}
double Microseconds(Instant time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

std::string_view Name(Phase phase) {
  static constexpr std::array<std::string_view, kPhases> kNames = {
      "call",       "look around", "check in", "roster", "connect below", "all connected",
      "peer table", "topology",    "plan",     "links",  "barrier"};
  return kNames[static_cast<std::size_t>(phase)];
}

Timeline::Timeline(std::string_view call)
    : call_(call), began_(os::Now()), began_unix_(os::UnixTime()) {}

Timeline Timeline::AfterFailure(std::string_view call, Instant failed_at) {
  Timeline timeline(call);
  timeline.began_unix_ -= timeline.began_ - failed_at;
  timeline.began_ = failed_at;
  timeline.Reached(Phase::kCalled);
  return timeline;
}

std::optional<watch::RecoveryTimes> Timeline::recovery() const {
  if (at(Phase::kCalled) == Instant(0)) return std::nullopt;
  return watch::RecoveryTimes{.called = at(Phase::kCalled),
                              .agreed = at(Phase::kStanding),
                              .rebuilt = total(),
                              .first_result = {}};
}

void Timeline::Reached(Phase phase) {
  reached_[static_cast<std::size_t>(phase)] = std::max(os::Now() - began_, Instant(1));
}

void Timeline::Joined(const bootstrap::Milestones& milestones) {
  const auto set = [&](Phase phase, Instant when) {
    if (when > began_) reached_[static_cast<std::size_t>(phase)] = when - began_;
  };
  set(Phase::kCheckIn, milestones.called);
  set(Phase::kRoster, milestones.roster);
  set(Phase::kBelow, milestones.connected);
  set(Phase::kStanding, milestones.standing);
}

Instant Timeline::DurationOf(Phase phase) const {
  if (at(phase) == Instant(0)) return Instant(0);
  Instant before{0};
  for (std::size_t p = 0; p < static_cast<std::size_t>(phase); ++p)
    before = std::max(before, reached_[p]);
  return std::max(at(phase) - before, Instant(0));
}

Instant Timeline::total() const {
  return *std::ranges::max_element(reached_);
}

std::string Timeline::Line(std::uint32_t rank, std::uint32_t size) const {
  const Instant bootstrap = DurationOf(Phase::kCheckIn) + DurationOf(Phase::kRoster) +
                            DurationOf(Phase::kBelow) + DurationOf(Phase::kStanding);
  const Instant topology = DurationOf(Phase::kDiscoverLocal) + DurationOf(Phase::kTopology);
  return fmt::format(
      "Init timings - {}: rank {} nranks {} total {:.4f} (kernels 0.0000, alloc 0.0000, bootstrap "
      "{:.4f}, allgathers {:.4f}, topo {:.4f}, graphs {:.4f}, connections {:.4f}, rest {:.4f})",
      call_, rank, size, Seconds(total()), Seconds(bootstrap),
      Seconds(DurationOf(Phase::kPeerTable)), Seconds(topology), Seconds(DurationOf(Phase::kPlan)),
      Seconds(DurationOf(Phase::kConnect)), Seconds(DurationOf(Phase::kBarrier)));
}

void Encode(Writer& out, const Timeline& timeline) {
  out.Text(std::string_view(timeline.call_).substr(0, kCallBytesMax));
  out.U64(static_cast<std::uint64_t>(timeline.began_unix_.count()));
  for (const Instant one : timeline.reached_) out.U64(static_cast<std::uint64_t>(one.count()));
}

Bytes Encode(const Timeline& timeline) {
  Writer out;
  Encode(out, timeline);
  return out.Take();
}

Timeline DecodeTimelineFrom(Reader& in) {
  Timeline timeline;
  timeline.call_ = in.Text(kCallBytesMax);
  timeline.began_unix_ = Instant(static_cast<std::int64_t>(in.U64() & 0x7fffffffffffffff));
  for (Instant& one : timeline.reached_)
    one = Instant(static_cast<std::int64_t>(in.U64() & 0x7fffffffffffffff));
  return timeline;
}

Result<Timeline> DecodeTimeline(View bytes) {
  Reader in(bytes);
  Timeline timeline = DecodeTimelineFrom(in);
  if (!in.AtEnd()) return Error{Code::kProtocol, "a rank's time line that cannot be read"};
  return timeline;
}

std::string TraceOf(const std::vector<RankTimeline>& ranks) {
  Instant origin = Instant::max();
  for (const RankTimeline& rank : ranks) origin = std::min(origin, rank.timeline.began_unix());
  nlohmann::json events = nlohmann::json::array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Timeline& timeline = ranks[i].timeline;
    events.push_back({{"ph", "M"},
                      {"name", "thread_name"},
                      {"pid", 0},
                      {"tid", i},
                      {"args", {{"name", ranks[i].rank}}}});
    const Instant began = timeline.began_unix() - origin;
    for (std::size_t p = 0; p < kPhases; ++p) {
      const auto phase = static_cast<Phase>(p);
      if (timeline.at(phase) == Instant(0)) continue;
      const Instant took = timeline.DurationOf(phase);
      events.push_back({{"ph", "X"},
                        {"name", Name(phase)},
                        {"cat", timeline.call()},
                        {"pid", 0},
                        {"tid", i},
                        {"ts", Microseconds(began + timeline.at(phase) - took)},
                        {"dur", Microseconds(took)}});
    }
  }
  return nlohmann::json{{"displayTimeUnit", "ms"}, {"traceEvents", events}}.dump(1) + "\n";
}

}  // namespace ringlet::comm
