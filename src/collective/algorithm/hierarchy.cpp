#include "collective/algorithm/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "collective/algorithm/direct.hpp"
#include "collective/algorithm/doubling.hpp"
#include "collective/algorithm/ring.hpp"
#include "collective/algorithm/tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// The place of a schedule of fewer elements or ranks within a larger one.
struct Mount {
  Place input;
  Place output;
};

/// Appends the steps of `inner`, its buffers placed where `mount` says; its scratch is new.
void Append(Schedule& outer, const Schedule& inner, const Mount& mount) {
  const std::size_t scratch = outer.scratch_count;
  outer.scratch_count += inner.scratch_count;
  const auto placed = [&](const Place& place) {
    Place base = Scratch(scratch);
    if (place.buffer == Buffer::kInput) base = mount.input;
    if (place.buffer == Buffer::kOutput) base = mount.output;
    return Place{base.buffer, base.begin + place.begin};
  };
  for (Step step : inner.steps) {
    if (Reads(step.kind)) step.from = placed(step.from);
    if (Writes(step.kind)) step.to = placed(step.to);
    outer.steps.push_back(step);
  }
}

/// A rank among its hosts.
struct Here {
  const Groups& groups;
  GroupPlace place;

  Here(const Groups& all, Rank self) : groups(all) {
    const auto found = PlaceIn(all, self);
    RINGLET_ASSERT(found.has_value());
    place = *found;
  }
  const std::vector<Rank>& mates() const { return groups[place.group]; }
  std::size_t local() const { return place.local; }
  /// Mates from the next on, not this rank.
  template <typename Visit>
  void ForEachMate(Visit visit) const {
    for (std::size_t i = 1; i < mates().size(); ++i) visit((local() + i) % mates().size());
  }
  /// Other hosts from the next on.
  template <typename Visit>
  void ForEachOtherHost(Visit visit) const {
    for (std::size_t i = 1; i < groups.size(); ++i) visit((place.group + i) % groups.size());
  }
  /// The rank here that stands for local place `local` of another host.
  bool StandsFor(std::size_t other_local) const { return other_local % mates().size() == local(); }
};

/// The rank of host `group` that stands for the rank at `local` of another host.
Rank StandIn(const Groups& groups, std::size_t group, std::size_t local) {
  return groups[group][local % groups[group].size()];
}

}  // namespace

std::size_t ShardsOf(const Groups& groups, std::size_t count, std::size_t shard_elements_min) {
  return std::clamp<std::size_t>(count / shard_elements_min, 1, SmallestOf(groups));
}

namespace {

Schedule RailAllReduce(std::span<const Rank> rail, Between between, Rank self, std::size_t count) {
  switch (between) {
    case Between::kRing: return RingAllReduce(rail, self, count);
    case Between::kDoubling: return DoublingAllReduce(rail, self, count);
    case Between::kDirect: return DirectAllReduce(rail, self, count);
  }
  return {};
}

}  // namespace

Schedule HierarchicalAllReduce(const Groups& groups, std::size_t shards, Between between, Rank self,
                               std::size_t count) {
  const Here here(groups, self);
  Schedule schedule{.input_count = count, .output_count = count};
  const auto shard = [&](std::size_t index) { return EvenChunk(count, shards, index); };
  here.ForEachMate([&](std::size_t mate) {
    if (mate < shards)
      schedule.Send(here.mates()[mate], Input(shard(mate).begin), shard(mate).count);
  });
  if (here.local() < shards) {
    const Range mine = shard(here.local());
    Place sum = Input(mine.begin);
    here.ForEachMate([&](std::size_t mate) {
      schedule.ReceiveReduce(here.mates()[mate], sum, Output(mine.begin), mine.count);
      sum = Output(mine.begin);
    });
    if (groups.size() == 1 && here.mates().size() > 1) schedule.steps.back().finishes = true;
    if (groups.size() > 1 || here.mates().size() == 1) {
      std::vector<Rank> rail;
      for (const auto& group : groups) rail.push_back(group[here.local()]);
      Append(schedule, RailAllReduce(rail, between, self, mine.count),
             {.input = sum, .output = Output(mine.begin)});
    }
    here.ForEachMate([&](std::size_t mate) {
      schedule.Send(here.mates()[mate], Output(mine.begin), mine.count);
    });
  }
  here.ForEachMate([&](std::size_t mate) {
    if (mate < shards)
      schedule.Receive(here.mates()[mate], Output(shard(mate).begin), shard(mate).count);
  });
  return schedule;
}

namespace {

/// Of each host the rank that talks to other hosts: the root, or the first.
std::vector<Rank> LeadersFor(const Groups& groups, Rank root) {
  const Here there(groups, root);
  std::vector<Rank> leaders;
  for (std::size_t group = 0; group < groups.size(); ++group)
    leaders.push_back(group == there.place.group ? root : groups[group].front());
  return leaders;
}

}  // namespace

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
  const auto on_rail = [&](std::span<const Rank> ranks) {
    return between == Between::kDirect ? DirectBroadcast(ranks, self, root, count)
                                       : flat(ranks, root);
  };
  Schedule schedule{.input_count = is_root ? count : 0, .output_count = count};
  const Place source = is_root ? Input() : Output();
  if (self == leader) Append(schedule, on_rail(leaders), {.input = source, .output = Output()});
  Append(schedule, flat(here.mates(), leader), {.input = source, .output = Output()});
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
    Append(schedule, flat(here.mates(), leader), {.input = Input(), .output = sum});
    if (groups.size() == 1 || self != leader) return schedule;
    schedule.steps.back().finishes = false;  // other hosts' are still to come
  }
  Append(
      schedule,
      between == Between::kDirect ? DirectReduce(leaders, self, root, count) : flat(leaders, root),
      {.input = sum, .output = Output()});
  return schedule;
}

Schedule HierarchicalAllGather(const Groups& groups, Rank self, std::size_t count) {
  const Here here(groups, self);
  Schedule schedule{.input_count = count, .output_count = count * InOrder(groups).size()};
  const auto block = [&](Rank rank) { return Output(Index(rank) * count); };
  here.ForEachOtherHost([&](std::size_t host) {
    schedule.Send(StandIn(groups, host, here.local()), Input(), count);
  });
  here.ForEachMate([&](std::size_t mate) { schedule.Send(here.mates()[mate], Input(), count); });
  here.ForEachMate([&](std::size_t mate) {
    schedule.Receive(here.mates()[mate], block(here.mates()[mate]), count);
  });
  // Both sides go through the blocks of a host in the same order.
  for (std::size_t host = 0; host < groups.size(); ++host) {
    if (host == here.place.group) continue;
    for (std::size_t local = 0; local < groups[host].size(); ++local) {
      const Rank owner = groups[host][local];
      if (!here.StandsFor(local)) {
        schedule.Receive(StandIn(groups, here.place.group, local), block(owner), count);
        continue;
      }
      schedule.Receive(owner, block(owner), count);
      here.ForEachMate(
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
  // For each block one rank of this host adds up what the host has of it, and sends it on.
  for (std::size_t host = 0; host < groups.size(); ++host) {
    if (host == here.place.group) continue;
    for (std::size_t local = 0; local < groups[host].size(); ++local) {
      const Rank owner = groups[host][local];
      if (!here.StandsFor(local)) {
        schedule.Send(StandIn(groups, here.place.group, local), block(owner), count);
        continue;
      }
      Place sum = block(owner);
      const Place partial = Scratch(schedule.scratch_count);
      if (here.mates().size() > 1) schedule.scratch_count += count;
      here.ForEachMate([&](std::size_t mate) {
        schedule.ReceiveReduce(here.mates()[mate], sum, partial, count);
        sum = partial;
      });
      schedule.Send(owner, sum, count);
    }
  }
  Place sum = block(self);
  here.ForEachMate([&](std::size_t mate) {
    schedule.Send(here.mates()[mate], block(here.mates()[mate]), count);
  });
  const auto add = [&](Rank from) {
    schedule.ReceiveReduce(from, sum, Output(), count);
    sum = Output();
  };
  here.ForEachMate([&](std::size_t mate) { add(here.mates()[mate]); });
  here.ForEachOtherHost([&](std::size_t host) { add(StandIn(groups, host, here.local())); });
  if (ranks == 1) {
    schedule.Copy(Input(), Output(), count).finishes = true;
  } else {
    schedule.steps.back().finishes = true;
  }
  return schedule;
}

}  // namespace ringlet::collective
