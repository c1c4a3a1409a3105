#include "collective/exec/dataflow.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// An element of all buffers side by side. Equal addresses are the same memory.
using Address = std::ptrdiff_t;

/// A step that touched a segment, and the address of the step's first element.
struct LastAccess {
  std::uint32_t step = 0;
  Address base = 0;
};

/// Elements that each step covers either completely or not at all, and the steps that touched them.
struct TouchedRange {
  Address begin = 0;
  std::optional<LastAccess> writer = {};  // the last writer
  std::vector<LastAccess> readers = {};   // readers since then
};

class Derivation {
 public:
  Derivation(const Schedule& schedule, const Overlap& overlap) : schedule_(schedule) {
    flow_.input_count = schedule.input_count;
    flow_.output_count = schedule.output_count;
    flow_.scratch_count = schedule.scratch_count;
    const auto input = static_cast<Address>(schedule.input_count);
    const auto output = static_cast<Address>(schedule.output_count);
    bases_ = {0, overlap.value_or(input), 0};
    bases_[2] = std::max(input, bases_[1] + output);
    CutIntoSegments();
  }

  Flow Run() {
    for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) AddStep(i);
    return std::move(flow_);
  }

 private:
  Address At(const Place& place) const {
    return bases_[static_cast<std::size_t>(place.buffer)] + static_cast<Address>(place.begin);
  }

  void CutIntoSegments() {
    std::vector<Address> cuts;
    const auto cut = [&](const Place& place, std::size_t count) {
      const std::size_t size = schedule_.CountOf(place.buffer);
      RINGLET_ASSERT(place.begin <= size && count <= size - place.begin);
      cuts.push_back(At(place));
      cuts.push_back(At(place) + static_cast<Address>(count));
    };
    for (const Step& step : schedule_.steps) {
      if (Reads(step.kind)) cut(step.from, step.count);
      if (Writes(step.kind)) cut(step.to, step.count);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (const Address begin : cuts) segments_.push_back({.begin = begin});
  }

  std::span<TouchedRange> SegmentsOf(Address begin, std::size_t count) {
    const auto starts_before = [](const TouchedRange& segment, Address element) {
      return segment.begin < element;
    };
    const auto first = std::lower_bound(segments_.begin(), segments_.end(), begin, starts_before);
    const auto last = std::lower_bound(first, segments_.end(), begin + static_cast<Address>(count),
                                       starts_before);
    return {first, last};
  }

  void AddStep(std::uint32_t origin) {
    const Step& step = schedule_.steps[origin];
    const bool stays = step.kind == StepKind::kCopy && At(step.from) == At(step.to);
    if (stays && !step.finishes) return;
    const std::uint32_t lane = LaneOf(step);
    if (step.count == 0) return;
    const auto self = static_cast<std::uint32_t>(flow_.steps.size());
    FlowStep added{.step = step, .lane = lane, .origin = origin};
    std::vector<Dependency> awaited;
    if (Reads(step.kind)) Read(step, self, awaited);
    if (Writes(step.kind)) Write(step, self, awaited);
    AppendDependencies(std::move(awaited), added);
    flow_.lanes[lane].steps.push_back(self);
    flow_.steps.push_back(added);
  }

  void Read(const Step& step, std::uint32_t self, std::vector<Dependency>& awaited) {
    const Address base = At(step.from);
    for (TouchedRange& segment : SegmentsOf(base, step.count)) {
      if (segment.writer) awaited.push_back({segment.writer->step, segment.writer->base - base});
      segment.readers.push_back({self, base});
    }
  }

  void Write(const Step& step, std::uint32_t self, std::vector<Dependency>& awaited) {
    const Address base = At(step.to);
    // A step reads each element before it writes it, so the ranges must be equal or disjoint.
    const Address distance = Reads(step.kind) ? At(step.from) - base : 0;
    RINGLET_ASSERT(distance == 0 || std::abs(distance) >= static_cast<Address>(step.count));
    for (TouchedRange& segment : SegmentsOf(base, step.count)) {
      bool overwrites_unread = true;
      for (const LastAccess& reader : segment.readers) {
        if (reader.step == self) continue;
        awaited.push_back({reader.step, reader.base - base});
        overwrites_unread = false;
      }
      // Readers depend on the writer themselves, so depending on them suffices.
      if (overwrites_unread && segment.writer) {
        awaited.push_back({segment.writer->step, segment.writer->base - base});
      }
      segment.readers.clear();
      segment.writer = {self, base};
    }
  }

  void AppendDependencies(std::vector<Dependency> awaited, FlowStep& step) {
    const auto before = [](const Dependency& a, const Dependency& b) {
      return a.step != b.step ? a.step < b.step : a.offset < b.offset;
    };
    std::sort(awaited.begin(), awaited.end(), before);
    awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());
    step.dependencies_begin = static_cast<std::uint32_t>(flow_.dependencies.size());
    for (const Dependency& earlier : awaited) {
      // Steps of one lane are ordered anyway.
      if (flow_.steps[earlier.step].lane != step.lane) flow_.dependencies.push_back(earlier);
    }
    step.dependencies_end = static_cast<std::uint32_t>(flow_.dependencies.size());
  }

  std::uint32_t LaneOf(const Step& step) {
    Lane wanted;
    if (Communicates(step.kind)) {
      wanted = {.direction = step.kind == StepKind::kSend ? Lane::Direction::kSend
                                                          : Lane::Direction::kReceive,
                .peer = step.peer};
    }
    const auto same = [&](const Lane& lane) {
      return lane.direction == wanted.direction && lane.peer == wanted.peer;
    };
    const auto found = std::find_if(flow_.lanes.begin(), flow_.lanes.end(), same);
    const auto index = static_cast<std::uint32_t>(found - flow_.lanes.begin());
    if (found == flow_.lanes.end()) flow_.lanes.push_back(std::move(wanted));
    return index;
  }

  const Schedule& schedule_;
  std::array<Address, 3> bases_{};  // indexed by Buffer
  std::vector<TouchedRange> segments_;
  Flow flow_;
};

}  // namespace

Flow Derive(const Schedule& schedule, const Overlap& overlap) {
  return Derivation(schedule, overlap).Run();
}

std::size_t Frontier(const Flow& flow, const FlowStep& step, std::span<const std::size_t> done) {
  auto frontier = static_cast<std::ptrdiff_t>(step.step.count);
  const std::ptrdiff_t end = frontier;
  for (const Dependency& dependency : flow.DependenciesOf(step)) {
    const auto count = static_cast<std::ptrdiff_t>(flow.steps[dependency.step].step.count);
    const auto reached = dependency.offset + static_cast<std::ptrdiff_t>(done[dependency.step]);
    // After the last shared element, this dependency is met. Before the first one, wait there.
    if (reached >= std::min(dependency.offset + count, end)) continue;
    frontier = std::min(frontier, std::max<std::ptrdiff_t>(reached, 0));
  }
  return static_cast<std::size_t>(frontier);
}

}  // namespace ringlet::collective
