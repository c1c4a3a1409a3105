#include "collective/algorithm/rails.hpp"

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/direct.hpp"
#include "collective/algorithm/doubling.hpp"
#include "collective/algorithm/ring.hpp"
#include "collective/algorithm/tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

std::vector<Rank> RailAt(const Groups& groups, std::size_t local) {
  std::vector<Rank> rail;
  for (const auto& group : groups) rail.push_back(group[local]);
  return rail;
}

std::vector<Rank> LeadersFor(const Groups& groups, Rank root) {
  const auto there = PlaceIn(groups, root);
  RINGLET_ASSERT(there.has_value());
  std::vector<Rank> leaders;
  for (std::size_t group = 0; group < groups.size(); ++group)
    leaders.push_back(group == there->group ? root : groups[group].front());
  return leaders;
}

Schedule RailAllReduce(std::span<const Rank> rail, Between between, Rank self, std::size_t count) {
  switch (between) {
    case Between::kRing: return RingAllReduce(rail, self, count);
    case Between::kDoubling: return DoublingAllReduce(rail, self, count);
    case Between::kDirect: return DirectAllReduce(rail, self, count);
  }
  return {};
}

Schedule RailBroadcast(std::span<const Rank> rail, Between between, Rank self, Rank root,
                       std::size_t count) {
  switch (between) {
    case Between::kRing: return RingBroadcast(rail, self, root, count);
    case Between::kDoubling: return BinomialBroadcast(rail, self, root, count);
    case Between::kDirect: return DirectBroadcast(rail, self, root, count);
  }
  return {};
}

Schedule RailReduce(std::span<const Rank> rail, Between between, Rank self, Rank root,
                    std::size_t count) {
  switch (between) {
    case Between::kRing: return RingReduce(rail, self, root, count);
    case Between::kDoubling: return BinomialReduce(rail, self, root, count);
    case Between::kDirect: return DirectReduce(rail, self, root, count);
  }
  return {};
}

Schedule OnRail(Schedule schedule, std::span<const Rank> rail) {
  for (Step& step : schedule.steps)
    if (Communicates(step.kind)) step.peer = rail[Index(step.peer)];
  return schedule;
}

std::uint64_t RailsNs(const CallCost& one, Between between, std::uint64_t rails) {
  const LinkCost& remote = one.model.remote;
  switch (between) {
    case Between::kRing:
      return 2 * (one.hosts - 1) * one.Together(rails, 0) +
             one.Moving(remote, 2 * (one.bytes - one.bytes / one.hosts));
    case Between::kDoubling: return one.Rounds(one.hosts) * one.Together(rails, one.bytes);
    case Between::kDirect:
      return one.Burst(remote, one.hosts - 1, (one.hosts - 1) * one.bytes) +
             (rails - 1) * (one.hosts - 1) * (remote.overhead_ns / 5) +
             (one.hosts - 1) * one.Reducing(one.bytes / rails);
  }
  return 0;
}

std::uint64_t RailWithRootNs(const CallCost& one, Between between) {
  const LinkCost& remote = one.model.remote;
  switch (between) {
    case Between::kRing:
      return (one.hosts - 1) * one.Hop(remote) + one.Moving(remote, one.bytes) + ReduceBlockNs(one);
    case Between::kDoubling:
      return one.Rounds(one.hosts) *
             (one.Hop(remote) + one.Moving(remote, one.bytes) + ReduceBlockNs(one));
    case Between::kDirect:
      return one.Burst(remote, one.hosts - 1, (one.hosts - 1) * one.bytes) +
             (one.hosts - 1) * ReduceBlockNs(one);
  }
  return 0;
}

}  // namespace ringlet::collective
