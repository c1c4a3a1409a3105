#include "collective/dataflow.hpp"

#include <algorithm>
#include <optional>

#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// Elements that every step covers wholly or not at all, and what happened to them so far.
struct Segment {
  Range range;
  std::optional<std::uint32_t> writer;  // the last one
  std::vector<std::uint32_t> readers;   // since then
};

class Derivation {
 public:
  explicit Derivation(const Schedule& schedule) : schedule_(schedule) {
    flow_.count = schedule.count;
    CutIntoSegments();
  }

  Flow Run() {
    for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) AddStep(i);
    for (const Segment& segment : segments_) {
      if (!segment.writer) KeepInput(segment.range);
    }
    return std::move(flow_);
  }

 private:
  void CutIntoSegments() {
    std::vector<std::size_t> cuts = {0, schedule_.count};
    for (const Step& step : schedule_.steps) {
      RINGLET_ASSERT(step.range.begin <= schedule_.count &&
                     step.range.count <= schedule_.count - step.range.begin);
      cuts.push_back(step.range.begin);
      cuts.push_back(step.range.end());
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      segments_.push_back({.range = {cuts[i], cuts[i + 1] - cuts[i]}, .writer = {}, .readers = {}});
    }
  }

  std::span<Segment> SegmentsOf(const Range& range) {
    const auto starts_before = [](const Segment& segment, std::size_t element) {
      return segment.range.begin < element;
    };
    const auto first =
        std::lower_bound(segments_.begin(), segments_.end(), range.begin, starts_before);
    const auto last = std::lower_bound(first, segments_.end(), range.end(), starts_before);
    return {first, last};
  }

  void AddStep(std::uint32_t origin) {
    const Step& step = schedule_.steps[origin];
    std::span<Segment> rest = SegmentsOf(step.range);
    while (!rest.empty()) {
      // As many segments as find their operand in the same place.
      const bool written = rest.front().writer.has_value();
      const auto differs = [&](const Segment& segment) {
        return step.kind != StepKind::kReceive && segment.writer.has_value() != written;
      };
      const auto end = std::find_if(rest.begin(), rest.end(), differs);
      const auto count = static_cast<std::size_t>(end - rest.begin());
      AddPart(origin, rest.first(count), written ? Source::kOutput : Source::kInput);
      rest = rest.subspan(count);
    }
  }

  void AddPart(std::uint32_t origin, std::span<Segment> segments, Source source) {
    const Step& step = schedule_.steps[origin];
    const auto self = static_cast<std::uint32_t>(flow_.steps.size());
    const std::size_t begin = segments.front().range.begin;
    FlowStep part{.kind = step.kind,
                  .source = source,
                  .finishes = step.finishes,
                  .range = {begin, segments.back().range.end() - begin},
                  .lane = LaneOf(step),
                  .origin = origin};
    std::vector<std::uint32_t> awaited;
    for (Segment& segment : segments) Touch(segment, step.kind, self, awaited);
    AppendDependencies(std::move(awaited), part);
    flow_.lanes[part.lane].steps.push_back(self);
    flow_.steps.push_back(part);
  }

  static void Touch(Segment& segment, StepKind kind, std::uint32_t self,
                    std::vector<std::uint32_t>& awaited) {
    if (kind == StepKind::kSend) {
      if (segment.writer) awaited.push_back(*segment.writer);
      segment.readers.push_back(self);
      return;
    }
    // Readers have awaited the writer in their turn, so they stand for it.
    awaited.insert(awaited.end(), segment.readers.begin(), segment.readers.end());
    if (segment.readers.empty() && segment.writer) awaited.push_back(*segment.writer);
    segment.readers.clear();
    segment.writer = self;
  }

  void AppendDependencies(std::vector<std::uint32_t> awaited, FlowStep& part) {
    std::sort(awaited.begin(), awaited.end());
    awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
    part.dependencies_begin = static_cast<std::uint32_t>(flow_.dependencies.size());
    for (const std::uint32_t earlier : awaited) {
      // A lane keeps its order anyway.
      if (flow_.steps[earlier].lane != part.lane) flow_.dependencies.push_back(earlier);
    }
    part.dependencies_end = static_cast<std::uint32_t>(flow_.dependencies.size());
  }

  std::uint32_t LaneOf(const Step& step) {
    const bool sends = step.kind == StepKind::kSend;
    const auto same = [&](const Lane& lane) {
      return lane.peer == step.peer && lane.channel == step.channel && lane.sends == sends;
    };
    const auto found = std::find_if(flow_.lanes.begin(), flow_.lanes.end(), same);
    const auto index = static_cast<std::uint32_t>(found - flow_.lanes.begin());
    if (found == flow_.lanes.end()) {
      flow_.lanes.push_back(
          {.peer = step.peer, .channel = step.channel, .sends = sends, .steps = {}});
    }
    return index;
  }

  void KeepInput(const Range& range) {
    if (!flow_.untouched.empty() && flow_.untouched.back().end() == range.begin) {
      flow_.untouched.back().count += range.count;
    } else {
      flow_.untouched.push_back(range);
    }
  }

  const Schedule& schedule_;
  std::vector<Segment> segments_;
  Flow flow_;
};

}  // namespace

Flow Derive(const Schedule& schedule) {
  return Derivation(schedule).Run();
}

std::size_t Frontier(const Flow& flow, const FlowStep& step, std::span<const std::size_t> done) {
  std::size_t frontier = step.range.end();
  for (const std::uint32_t index : flow.DependenciesOf(step)) {
    const Range& earlier = flow.steps[index].range;
    const std::size_t reached = earlier.begin + done[index];
    // Past the last shared element it no longer matters; before the first, wait there.
    if (reached >= std::min(earlier.end(), step.range.end())) continue;
    frontier = std::min(frontier, std::max(reached, step.range.begin));
  }
  return frontier - step.range.begin;
}

}  // namespace ringlet::collective
