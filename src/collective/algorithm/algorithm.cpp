#include "collective/algorithm/algorithm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/value/text.hpp"
#include "collective/algorithm/bruck.hpp"
#include "collective/algorithm/direct.hpp"
#include "collective/algorithm/doubling.hpp"
#include "collective/algorithm/hierarchy.hpp"
#include "collective/algorithm/ring.hpp"
#include "collective/algorithm/tree.hpp"

namespace ringlet::collective {
namespace {

constexpr std::array<std::string_view, kAlgorithms> kNames = {"ring",
                                                              "doubling",
                                                              "halving",
                                                              "binomial",
                                                              "double_tree",
                                                              "bruck",
                                                              "dissemination",
                                                              "direct",
                                                              "hierarchical",
                                                              "hierarchical_doubling",
                                                              "hierarchical_direct",
                                                              "hierarchical_shared",
                                                              "hierarchical_shared_doubling",
                                                              "hierarchical_shared_direct",
                                                              "one_shot",
                                                              "slices",
                                                              "zero_copy",
                                                              "fetch"};

Between BetweenOf(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kHierarchical:
    case Algorithm::kHierarchicalShared: return Between::kRing;
    case Algorithm::kHierarchicalDirect:
    case Algorithm::kHierarchicalSharedDirect: return Between::kDirect;
    default: return Between::kDoubling;
  }
}

Schedule BuildAllReduce(Algorithm algorithm, const Call& call, CallPlace place,
                        const Layout& layout) {
  switch (algorithm) {
    case Algorithm::kDoubling: return DoublingAllReduce(layout.order, place.self, call.count);
    case Algorithm::kHalving: return HalvingAllReduce(layout.order, place.self, call.count);
    case Algorithm::kDoubleTree: return DoubleTreeAllReduce(layout.order, place.self, call.count);
    case Algorithm::kDirect: return DirectAllReduce(layout.order, place.self, call.count);
    case Algorithm::kHierarchical:
    case Algorithm::kHierarchicalDoubling:
    case Algorithm::kHierarchicalDirect:
      return HierarchicalAllReduce(layout.groups,
                                   ShardsOf(layout.groups, call.count, layout.shard_elements_min),
                                   BetweenOf(algorithm), place.self, call.count);
    default: return RingAllReduce(layout.order, place.self, call.count);
  }
}

Schedule BuildAllGather(Algorithm algorithm, const Call& call, CallPlace place,
                        const Layout& layout) {
  const Seat seat{place.self, place.ranks};
  switch (algorithm) {
    case Algorithm::kDoubling: return DoublingAllGather(seat, call.count);
    case Algorithm::kBruck: return BruckAllGather(seat, call.count);
    case Algorithm::kDirect: return DirectAllGather(seat, call.count);
    case Algorithm::kHierarchical:
      return HierarchicalAllGather(layout.groups, place.self, call.count);
    default: return RingAllGather(layout.order, place.self, call.count);
  }
}

Schedule BuildReduceScatter(Algorithm algorithm, const Call& call, CallPlace place,
                            const Layout& layout) {
  const Seat seat{place.self, place.ranks};
  switch (algorithm) {
    case Algorithm::kHalving: return HalvingReduceScatter(seat, call.count);
    case Algorithm::kDirect: return DirectReduceScatter(seat, call.count);
    case Algorithm::kHierarchical:
      return HierarchicalReduceScatter(layout.groups, place.self, call.count);
    default: return RingReduceScatter(layout.order, place.self, call.count);
  }
}

Schedule BuildBroadcast(Algorithm algorithm, const Call& call, CallPlace place,
                        const Layout& layout) {
  const auto flat = [&](auto build) {
    return build(layout.order, place.self, call.root, call.count);
  };
  switch (algorithm) {
    case Algorithm::kBinomial: return flat(BinomialBroadcast);
    case Algorithm::kDoubleTree: return flat(DoubleTreeBroadcast);
    case Algorithm::kDirect: return flat(DirectBroadcast);
    case Algorithm::kHierarchical:
    case Algorithm::kHierarchicalDoubling:
    case Algorithm::kHierarchicalDirect:
      return HierarchicalBroadcast(layout.groups, BetweenOf(algorithm), place.self, call.root,
                                   call.count);
    default: return flat(RingBroadcast);
  }
}

Schedule BuildReduce(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout) {
  const auto flat = [&](auto build) {
    return build(layout.order, place.self, call.root, call.count);
  };
  switch (algorithm) {
    case Algorithm::kBinomial: return flat(BinomialReduce);
    case Algorithm::kDoubleTree: return flat(DoubleTreeReduce);
    case Algorithm::kDirect: return flat(DirectReduce);
    case Algorithm::kHierarchical:
    case Algorithm::kHierarchicalDoubling:
    case Algorithm::kHierarchicalDirect:
      return HierarchicalReduce(layout.groups, BetweenOf(algorithm), place.self, call.root,
                                call.count);
    default: return flat(RingReduce);
  }
}

CallParts BuildShared(Algorithm algorithm, const Call& call, Rank self, const Layout& layout) {
  const Between between = BetweenOf(algorithm);
  const Groups& hosts = layout.sharing;
  const std::size_t shards = SharedShardsOf(call, layout), pieces = SharedPiecesOf(call, layout);
  switch (call.kind) {
    case CallKind::kAllReduce:
      return SharedAllReduce(hosts, shards, pieces, between, self, call.count);
    case CallKind::kBarrier: return SharedAllReduce(hosts, 1, 1, between, self, call.count);
    case CallKind::kBroadcast:
      return SharedBroadcast(hosts, pieces, between, self, call.root, call.count);
    case CallKind::kReduce:
      return SharedReduce(hosts, pieces, between, self, call.root, call.count);
    case CallKind::kAllGather: return SharedAllGather(hosts, shards, self, call.count);
    case CallKind::kReduceScatter: return SharedReduceScatter(hosts, shards, self, call.count);
    default: return {};
  }
}

/// Those between hosts as all-reduces of what may be nothing.
Schedule BuildBarrier(Algorithm algorithm, const Call& call, CallPlace place,
                      const Layout& layout) {
  switch (algorithm) {
    case Algorithm::kDirect: return DirectAllReduce(layout.order, place.self, call.count);
    case Algorithm::kHierarchicalDoubling:
    case Algorithm::kHierarchicalDirect:
      return HierarchicalAllReduce(layout.groups, 1, BetweenOf(algorithm), place.self, call.count);
    default: return DisseminationBarrier({place.self, place.ranks}, call.count);
  }
}

/// Between hosts; some need hosts of several ranks.
void AddForHosts(CallKind kind, const Layout& layout, std::vector<Algorithm>& algorithms) {
  using enum Algorithm;
  if (layout.groups.size() < 2) return;
  const bool little = kind == CallKind::kAllReduce || kind == CallKind::kBarrier ||
                      kind == CallKind::kBroadcast || kind == CallKind::kReduce;
  if (little) algorithms.push_back(kDirect);
  if (LargestOf(layout.groups) < 2) return;
  if (kind != CallKind::kBarrier) algorithms.push_back(kHierarchical);
  if (little) algorithms.insert(algorithms.end(), {kHierarchicalDoubling, kHierarchicalDirect});
  if (layout.sharing.empty()) return;
  if (little) {
    if (kind != CallKind::kBarrier) algorithms.push_back(kHierarchicalShared);
    algorithms.insert(algorithms.end(), {kHierarchicalSharedDoubling, kHierarchicalSharedDirect});
  } else if (AreInRankOrder(layout.sharing)) {
    algorithms.push_back(kHierarchicalShared);
  }
}

std::vector<Algorithm> OnSharedMemory(CallKind kind) {
  using enum Algorithm;
  switch (kind) {
    case CallKind::kAllToAllV:
    case CallKind::kSendReceive: return {};
    case CallKind::kBarrier: return {kOneShot};
    case CallKind::kAllToAll:
    case CallKind::kAllGather:
    case CallKind::kBroadcast: return {kOneShot, kSlices, kZeroCopy, kFetch};
    default: return {kOneShot, kSlices, kZeroCopy};
  }
}

}  // namespace

std::optional<Algorithm> NextOf(Algorithm algorithm) {
  const bool may_be_refused = algorithm == Algorithm::kZeroCopy || algorithm == Algorithm::kFetch;
  return may_be_refused ? std::optional(Algorithm::kSlices) : std::nullopt;
}

std::string_view Name(Algorithm algorithm) {
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::optional<Algorithm> AlgorithmNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (EqualIgnoringCase(name, kNames[i])) return static_cast<Algorithm>(i);
  return std::nullopt;
}

Layout LayoutOnHost(std::uint32_t ranks, std::size_t post_bytes) {
  Groups groups = EvenGroups(ranks, 1);
  std::vector<Rank> order = InOrder(groups);
  return {.order = std::move(order), .groups = std::move(groups), .post_bytes = post_bytes};
}

std::vector<Algorithm> AlgorithmsFor(CallKind kind, const Layout& layout) {
  using enum Algorithm;
  if (SharesMemory(layout)) return OnSharedMemory(kind);
  std::vector<Algorithm> algorithms;
  switch (kind) {
    case CallKind::kAllReduce: algorithms = {kRing, kDoubling, kHalving, kDoubleTree}; break;
    case CallKind::kReduce:
    case CallKind::kBroadcast: algorithms = {kRing, kBinomial, kDoubleTree}; break;
    case CallKind::kReduceScatter: algorithms = {kRing, kHalving, kDirect}; break;
    case CallKind::kAllToAll: return {kBruck, kDirect};
    case CallKind::kGather:
    case CallKind::kScatter: return {kDirect};
    case CallKind::kBarrier: algorithms = {kDissemination}; break;
    case CallKind::kAllGather:
      algorithms = {kRing};
      if (std::has_single_bit(layout.order.size())) algorithms.push_back(kDoubling);
      algorithms.insert(algorithms.end(), {kBruck, kDirect});
      break;
    case CallKind::kAllToAllV:
    case CallKind::kSendReceive: return {};
  }
  AddForHosts(kind, layout, algorithms);
  return algorithms;
}

Schedule Build(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout) {
  const Seat seat{place.self, place.ranks};
  switch (call.kind) {
    case CallKind::kAllReduce: return BuildAllReduce(algorithm, call, place, layout);
    case CallKind::kAllGather: return BuildAllGather(algorithm, call, place, layout);
    case CallKind::kReduceScatter: return BuildReduceScatter(algorithm, call, place, layout);
    case CallKind::kBroadcast: return BuildBroadcast(algorithm, call, place, layout);
    case CallKind::kReduce: return BuildReduce(algorithm, call, place, layout);
    case CallKind::kAllToAll:
      return algorithm == Algorithm::kBruck ? BruckAllToAll(seat, call.count)
                                            : DirectAllToAll(seat, call.count);
    case CallKind::kGather: return DirectGather(seat, call.root, call.count);
    case CallKind::kScatter: return DirectScatter(seat, call.root, call.count);
    case CallKind::kBarrier: return BuildBarrier(algorithm, call, place, layout);
    case CallKind::kAllToAllV:
    case CallKind::kSendReceive: break;
  }
  return {};
}

std::size_t SharedShardsOf(const Call& call, const Layout& layout) {
  const std::size_t mates = SmallestOf(layout.sharing);
  if (LargestOf(layout.sharing) != mates) return 1;
  const bool block_each =
      call.kind == CallKind::kAllGather || call.kind == CallKind::kReduceScatter;
  const std::size_t shard = block_each ? call.count : call.count / mates;
  return shard >= layout.shard_elements_min ? mates : 1;
}

std::size_t SharedPiecesOf(const Call& call, const Layout& layout) {
  return std::clamp<std::size_t>(call.count / layout.piece_elements_min, 1, kPiecesMax);
}

CallParts BuildParts(Algorithm algorithm, const Call& call, CallPlace place, const Layout& layout) {
  if (SharesWithinHosts(algorithm)) return BuildShared(algorithm, call, place.self, layout);
  Schedule schedule = Build(algorithm, call, place, layout);
  const std::size_t scratch_count = schedule.scratch_count;
  return {.scratch_count = scratch_count, .parts = {std::move(schedule)}};
}

}  // namespace ringlet::collective
