#include "collective/algorithm/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/ring.hpp"
#include "collective/algorithm/tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// A rank among its hosts.
struct Here {
  const Groups& groups;
  GroupPosition place;

  Here(const Groups& all, Rank self) : groups(all) {
    const auto found = PlaceIn(all, self);
    RINGLET_ASSERT(found.has_value());
    place = *found;
  }
  const std::vector<Rank>& mates() const { return groups[place.group]; }
  std::size_t local() const { return place.local; }
  /// Visits the other ranks of this host, beginning with the next.
  template <typename Visit>
  void ForEachLocalPeer(Visit visit) const {
    for (std::size_t i = 1; i < mates().size(); ++i) visit((local() + i) % mates().size());
  }
  /// Visits the other hosts, beginning with the next.
  template <typename Visit>
  void ForEachOtherHost(Visit visit) const {
    for (std::size_t i = 1; i < groups.size(); ++i) visit((place.group + i) % groups.size());
  }
  /// Returns true if this rank represents local index `other_local` of another host.
  bool Represents(std::size_t other_local) const { return other_local % mates().size() == local(); }
};

/// Returns the rank of host `group` that represents local index `local` of another host.
Rank RepresentativeOf(const Groups& groups, std::size_t group, std::size_t local) {
  return groups[group][local % groups[group].size()];
}

}  // namespace

std::size_t ShardsOf(const Groups& groups, std::size_t count, std::size_t shard_elements_min) {
  return std::clamp<std::size_t>(count / shard_elements_min, 1, SmallestOf(groups));
}

Schedule HierarchicalAllReduce(const Groups& groups, std::size_t shards, Between between, Rank self,
                               std::size_t count) {
  const Here here(groups, self);
  Schedule schedule{.input_count = count, .output_count = count};
  const auto shard = [&](std::size_t index) { return EvenChunk(count, shards, index); };
  here.ForEachLocalPeer([&](std::size_t mate) {
    if (mate < shards)
      schedule.Send(here.mates()[mate], Input(shard(mate).begin), shard(mate).count);
  });
  if (here.local() < shards) {
    const Range mine = shard(here.local());
    Place sum = Input(mine.begin);
    here.ForEachLocalPeer([&](std::size_t mate) {
      schedule.ReceiveReduce(here.mates()[mate], sum, Output(mine.begin), mine.count);
      sum = Output(mine.begin);
    });
    if (groups.size() == 1 && here.mates().size() > 1) schedule.steps.back().finishes = true;
    if (groups.size() > 1 || here.mates().size() == 1) {
      schedule.Append(RailAllReduce(RailAt(groups, here.local()), between, self, mine.count),
                      {.input = sum, .output = Output(mine.begin)});
    }
    here.ForEachLocalPeer([&](std::size_t mate) {
      schedule.Send(here.mates()[mate], Output(mine.begin), mine.count);
    });
  }
  here.ForEachLocalPeer([&](std::size_t mate) {
    if (mate < shards)
      schedule.Receive(here.mates()[mate], Output(shard(mate).begin), shard(mate).count);
  });
  return schedule;
}

Schedule HierarchicalBroadcast(const Groups& groups, Between between, Rank self, Rank root,
                               std::size_t count) {
  const Here here(groups, self);
  const std::vector<Rank> leaders = LeadersFor(groups, root);
  const Rank leader = leaders[here.place.group];
  const bool is_root = self == root;
  const auto flat = [&](std::span<const Rank> ranks, Rank from) {
    return between == Between::kRing ? RingBroadcast(ranks, self, from, count)
                                     : BinomialBroadcast(ranks, self, from, count);
  };
  Schedule schedule{.input_count = is_root ? count : 0, .output_count = count};
  const Place source = is_root ? Input() : Output();
  if (self == leader)
    schedule.Append(RailBroadcast(leaders, between, self, root, count),
                    {.input = source, .output = Output()});
  schedule.Append(flat(here.mates(), leader), {.input = source, .output = Output()});
  return schedule;
}

Schedule HierarchicalReduce(const Groups& groups, Between between, Rank self, Rank root,
                            std::size_t count) {
  const Here here(groups, self);
  const std::vector<Rank> leaders = LeadersFor(groups, root);
  const Rank leader = leaders[here.place.group];
  const bool is_root = self == root;
  const auto flat = [&](std::span<const Rank> ranks, Rank to) {
    return between == Between::kRing ? RingReduce(ranks, self, to, count)
                                     : BinomialReduce(ranks, self, to, count);
  };
  Schedule schedule{.input_count = count, .output_count = is_root ? count : 0};
  Place sum = Input();  // of this host
  if (here.mates().size() > 1) {
    if (is_root) sum = Output();
    if (self == leader && !is_root) sum = Scratch(std::exchange(schedule.scratch_count, count));
    schedule.Append(flat(here.mates(), leader), {.input = Input(), .output = sum});
    if (groups.size() == 1 || self != leader) return schedule;
    schedule.steps.back().finishes = false;  // data of other hosts is still missing
  }
  schedule.Append(RailReduce(leaders, between, self, root, count),
                  {.input = sum, .output = Output()});
  return schedule;
}

Schedule HierarchicalAllGather(const Groups& groups, Rank self, std::size_t count) {
  const Here here(groups, self);
  Schedule schedule{.input_count = count, .output_count = count * InOrder(groups).size()};
  const auto block = [&](Rank rank) { return Output(Index(rank) * count); };
  here.ForEachOtherHost([&](std::size_t host) {
    schedule.Send(RepresentativeOf(groups, host, here.local()), Input(), count);
  });
  here.ForEachLocalPeer(
      [&](std::size_t mate) { schedule.Send(here.mates()[mate], Input(), count); });
  here.ForEachLocalPeer([&](std::size_t mate) {
    schedule.Receive(here.mates()[mate], block(here.mates()[mate]), count);
  });
  // Sender and receiver visit the blocks of a host in the same order.
  for (std::size_t host = 0; host < groups.size(); ++host) {
    if (host == here.place.group) continue;
    for (std::size_t local = 0; local < groups[host].size(); ++local) {
      const Rank owner = groups[host][local];
      if (!here.Represents(local)) {
        schedule.Receive(RepresentativeOf(groups, here.place.group, local), block(owner), count);
        continue;
      }
      schedule.Receive(owner, block(owner), count);
      here.ForEachLocalPeer(
          [&](std::size_t mate) { schedule.Send(here.mates()[mate], block(owner), count); });
    }
  }
  schedule.Copy(Input(), block(self), count);
  return schedule;
}

Schedule HierarchicalReduceScatter(const Groups& groups, Rank self, std::size_t count) {
  const Here here(groups, self);
  const std::size_t ranks = InOrder(groups).size();
  Schedule schedule{.input_count = count * ranks, .output_count = count};
  const auto block = [&](Rank rank) { return Input(Index(rank) * count); };
  // For each block, one rank of this host adds up the host's data and sends the sum.
  for (std::size_t host = 0; host < groups.size(); ++host) {
    if (host == here.place.group) continue;
    for (std::size_t local = 0; local < groups[host].size(); ++local) {
      const Rank owner = groups[host][local];
      if (!here.Represents(local)) {
        schedule.Send(RepresentativeOf(groups, here.place.group, local), block(owner), count);
        continue;
      }
      Place sum = block(owner);
      const Place partial = Scratch(schedule.scratch_count);
      if (here.mates().size() > 1) schedule.scratch_count += count;
      here.ForEachLocalPeer([&](std::size_t mate) {
        schedule.ReceiveReduce(here.mates()[mate], sum, partial, count);
        sum = partial;
      });
      schedule.Send(owner, sum, count);
    }
  }
  Place sum = block(self);
  here.ForEachLocalPeer([&](std::size_t mate) {
    schedule.Send(here.mates()[mate], block(here.mates()[mate]), count);
  });
  const auto add = [&](Rank from) {
    schedule.ReceiveReduce(from, sum, Output(), count);
    sum = Output();
  };
  here.ForEachLocalPeer([&](std::size_t mate) { add(here.mates()[mate]); });
  here.ForEachOtherHost(
      [&](std::size_t host) { add(RepresentativeOf(groups, host, here.local())); });
  if (ranks == 1) {
    schedule.Copy(Input(), Output(), count).finishes = true;
  } else {
    schedule.steps.back().finishes = true;
  }
  return schedule;
}

namespace {

bool AmongHostsOfSeveral(const Layout& layout) {
  return AmongHosts(layout) && LargestOf(layout.groups) > 1;
}

template <Between between>
CallParts LinkedAllReduce(const Call& call, CallPlace place, const Layout& layout) {
  const std::size_t shards = call.kind == CallKind::kBarrier
                                 ? 1
                                 : ShardsOf(layout.groups, call.count, layout.shard_elements_min);
  return OnePart(HierarchicalAllReduce(layout.groups, shards, between, place.self, call.count));
}

template <Between between>
CallParts LinkedBroadcast(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(HierarchicalBroadcast(layout.groups, between, place.self, call.root, call.count));
}

template <Between between>
CallParts LinkedReduce(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(HierarchicalReduce(layout.groups, between, place.self, call.root, call.count));
}

CallParts LinkedAllGather(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(HierarchicalAllGather(layout.groups, place.self, call.count));
}

CallParts LinkedReduceScatter(const Call& call, CallPlace place, const Layout& layout) {
  return OnePart(HierarchicalReduceScatter(layout.groups, place.self, call.count));
}

/// Ranks with a shard exchange data with all ranks of the host, and at once with other hosts.
template <Between between>
std::uint64_t LinkedAllReduceNs(const CallCost& one) {
  const std::uint64_t rails =
      ShardsOf(one.layout.groups, one.call.count, one.layout.shard_elements_min);
  const std::uint64_t shard = one.bytes / rails;
  const std::uint64_t near = std::max((one.mates - 1) * shard, one.bytes - shard);
  return 2 * one.Burst(one.model.local, one.mates - 1, near) +
         one.Reducing((one.mates - 1) * shard) + RailsNs(one, between, rails);
}

/// Time between hosts, plus a binomial tree from one rank of a host to its other ranks.
template <Between between>
std::uint64_t LinkedBroadcastNs(const CallCost& one) {
  if constexpr (between == Between::kRing) return PipelineNs(one);
  const std::uint64_t to_mates =
      one.Rounds(one.mates) *
      (one.Hop(one.model.local) + one.Moving(one.model.local, one.bytes) + ReduceBlockNs(one));
  return RailWithRootNs(one, between) + to_mates;
}

std::uint64_t LinkedAllGatherNs(const CallCost& one) {
  return AddingBlocksNs(one) +
         one.Burst(one.model.remote, one.hosts - 1,
                   (one.ranks - one.mates) * one.bytes * one.mates) +
         one.Burst(one.model.local, (one.mates - 1) * one.hosts, one.ranks * one.bytes);
}

template <Between between>
constexpr AlgorithmCase kLinkedAllReduceCase{CallKind::kAllReduce, AmongHostsOfSeveral,
                                             LinkedAllReduce<between>, LinkedAllReduceNs<between>};
template <Between between>
constexpr AlgorithmCase kLinkedBroadcastCase{CallKind::kBroadcast, AmongHostsOfSeveral,
                                             LinkedBroadcast<between>, LinkedBroadcastNs<between>};
template <Between between>
constexpr AlgorithmCase kLinkedReduceCase{CallKind::kReduce, AmongHostsOfSeveral,
                                          LinkedReduce<between>, LinkedBroadcastNs<between>};

constexpr AlgorithmCase kLinkedRingCases[] = {
    kLinkedAllReduceCase<Between::kRing>,
    kLinkedBroadcastCase<Between::kRing>,
    kLinkedReduceCase<Between::kRing>,
    {CallKind::kAllGather, AmongHostsOfSeveral, LinkedAllGather, LinkedAllGatherNs},
    {CallKind::kReduceScatter, AmongHostsOfSeveral, LinkedReduceScatter, LinkedAllGatherNs},
};

template <Between between>
constexpr AlgorithmCase kLinkedCases[] = {
    kLinkedAllReduceCase<between>,
    kLinkedBroadcastCase<between>,
    kLinkedReduceCase<between>,
    {CallKind::kBarrier, AmongHostsOfSeveral, LinkedAllReduce<between>, LinkedAllReduceNs<between>},
};

}  // namespace

constinit const AlgorithmRow kHierarchicalRows[] = {
    {"hierarchical", kLinkedRingCases, {}, NcclShape::kRing},
    {"hierarchical_doubling", kLinkedCases<Between::kDoubling>, {}, NcclShape::kTree},
    {"hierarchical_direct", kLinkedCases<Between::kDirect>},
};

}  // namespace ringlet::collective
