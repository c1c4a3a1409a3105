// Proves every algorithm for every kind of call that it supports.
//
// Up to 12 ranks with all roots, then some up to 64. The rest takes minutes: label `long`.
#include "collective/algorithm/algorithm.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include <string>
#include <utility>
#include <vector>

#include "base/value/prng.hpp"
#include "collective/algorithm/direct.hpp"
#include "sim/interpreter/interpreter.hpp"

namespace ringlet::collective {
namespace {

constexpr CallKind kKinds[] = {CallKind::kAllReduce, CallKind::kReduce,        CallKind::kBroadcast,
                               CallKind::kAllGather, CallKind::kReduceScatter, CallKind::kAllToAll,
                               CallKind::kGather,    CallKind::kScatter,       CallKind::kBarrier};

std::vector<Rank> Shuffled(std::uint32_t ranks, Prng& prng) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  for (std::size_t i = ranks; i > 1; --i) std::swap(order[i - 1], order[prng.Below(i)]);
  return order;
}

/// Returns hosts of random sizes with ranks in random order.
Layout AnyLayout(std::uint32_t ranks, std::uint64_t seed) {
  Prng prng(seed);
  Layout layout{.order = Shuffled(ranks, prng), .groups = {}};
  const std::size_t hosts = 1 + prng.Below(std::min<std::size_t>(ranks, 7));
  layout.groups.resize(hosts);
  for (std::size_t i = 0; i < ranks; ++i)
    layout.groups[i < hosts ? i : prng.Below(hosts)].push_back(layout.order[i]);
  layout.order = InOrder(layout.groups);
  return layout;
}

/// Converts an operation through a host's memory to a schedule over links between the host's ranks.
Schedule OverLinks(const HostPart& part, const std::vector<Rank>& host, Rank self) {
  const auto local = static_cast<std::uint32_t>(std::ranges::find(host, self) - host.begin());
  const PeerSet peers{Rank{local}, static_cast<std::uint32_t>(host.size())};
  const Rank root = host[Index(part.root)];
  switch (part.kind) {
    case CallKind::kReduce: return DirectReduce(host, self, root, part.count);
    case CallKind::kBroadcast: return DirectBroadcast(host, self, root, part.count);
    case CallKind::kAllGather: return OnRail(DirectAllGather(peers, part.count), host);
    case CallKind::kReduceScatter: return OnRail(DirectReduceScatter(peers, part.count), host);
    case CallKind::kScatter: return OnRail(DirectScatter(peers, part.root, part.count), host);
    default: ADD_FAILURE() << Name(part.kind); return {};
  }
}

/// Joins all parts to one schedule. Sums of parts on hosts are not complete.
Schedule AsOne(const CallParts& parts, const Call& call, CallPlace place, const Layout& layout) {
  Schedule all{.input_count = InputCount(call, place),
               .output_count = OutputCount(call, place),
               .scratch_count = parts.scratch_count};
  if (call.kind == CallKind::kBarrier) all.output_count = all.input_count;
  for (const CallPart& part : parts.parts) {
    if (const auto* schedule = std::get_if<Schedule>(&part)) {
      all.steps.insert(all.steps.end(), schedule->steps.begin(), schedule->steps.end());
      continue;
    }
    const auto& on_host = std::get<HostPart>(part);
    const auto& host = layout.sharing[PlaceIn(layout.sharing, place.self)->group];
    Schedule steps = OverLinks(on_host, host, place.self);
    for (Step& step : steps.steps) step.finishes = false;
    all.Append(steps, {.input = on_host.input, .output = on_host.output});
  }
  return all;
}

Status ProveOne(Algorithm algorithm, const Call& call, const Layout& layout, std::uint64_t seed) {
  std::vector<Schedule> schedules;
  const auto ranks = static_cast<std::uint32_t>(layout.order.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const CallPlace place{Rank{rank}, ranks};
    schedules.push_back(SharesWithinHosts(algorithm)
                            ? AsOne(BuildParts(algorithm, call, place, layout), call, place, layout)
                            : Build(algorithm, call, place, layout));
  }
  for (const bool in_place : {false, true}) {
    if (in_place && call.kind == CallKind::kAllToAll) continue;  // the caller passes a copy
    RINGLET_TRY(
        Prove(call, schedules, {.seed = seed, .link_capacity = seed % 3, .in_place = in_place}));
  }
  return Ok();
}

/// Proves all cases for one number of ranks. Tests every `stride`-th root.
void ProveAll(CallKind kind, std::uint32_t ranks, std::uint32_t stride, Layout layout) {
  for (const Algorithm algorithm : AlgorithmsFor(kind, layout)) {
    const std::uint32_t roots = HasRoot(kind) ? ranks : 1;
    for (std::uint32_t root = 0; root < roots; root += stride) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
        layout.shard_elements_min = 1 + ranks % 4;  // one shard or several
        layout.piece_elements_min = 1 + (ranks + root) % 5;
        const std::uint64_t seed = ranks * 1000 + root * 10 + count;
        const Status status =
            ProveOne(algorithm, {.kind = kind, .count = count, .root = Rank{root}}, layout, seed);
        ASSERT_TRUE(status.ok()) << Name(algorithm) << " for " << Name(kind) << " of " << count
                                 << " among " << ranks << " ranks on " << layout.groups.size()
                                 << " hosts, root " << root << ", seed " << seed << ": "
                                 << status.error().message;
      }
    }
  }
}

/// Uses random hosts, then as many hosts as possible with equally many ranks, at least two.
void ProveAll(CallKind kind, std::uint32_t ranks, std::uint32_t stride) {
  Layout anywhere = AnyLayout(ranks, ranks);
  anywhere.sharing = anywhere.groups;
  for (auto& host : anywhere.sharing) std::ranges::sort(host);
  if (anywhere.sharing.size() < 2) anywhere.sharing.clear();
  ProveAll(kind, ranks, stride, anywhere);
  for (std::uint32_t mates = 2; mates * 2 <= ranks; ++mates) {
    if (ranks % mates != 0) continue;
    const Groups groups = EvenGroups(ranks, ranks / mates);
    return ProveAll(kind, ranks, stride,
                    {.order = InOrder(groups), .groups = groups, .sharing = groups});
  }
}

class EveryAlgorithm : public testing::TestWithParam<CallKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryAlgorithm, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(Name(kind.param)); });

TEST_P(EveryAlgorithm, IsProvenForFewRanksAndEveryRoot) {
  for (std::uint32_t ranks = 1; ranks <= 12; ++ranks) {
    ProveAll(GetParam(), ranks, 1);
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryAlgorithm, IsProvenForSomeNumbersOfManyRanks) {
  for (const std::uint32_t ranks : {16u, 23u, 32u, 64u}) {
    ProveAll(GetParam(), ranks, 17);
    if (HasFatalFailure()) return;
  }
}

// Runs with --gtest_also_run_disabled_tests, as long.proofs does under the label `long`.
TEST_P(EveryAlgorithm, DISABLED_IsProvenForAllRanksAndRoots) {
  for (std::uint32_t ranks = 13; ranks <= kProvableRanksMax; ++ranks) {
    ProveAll(GetParam(), ranks, 1);
    if (HasFatalFailure()) return;
  }
}

/// Counts a rank's messages to other hosts in an all-reduce that one rank of each host handles.
std::size_t SentToOtherHosts(Algorithm algorithm, Rank self) {
  const Layout layout{.order = InOrder(EvenGroups(16, 4)), .groups = EvenGroups(16, 4)};
  const Call call{.kind = CallKind::kAllReduce, .count = 8};
  std::size_t sent = 0;
  for (const Step& step : Build(algorithm, call, {self, 16}, layout).steps)
    sent += step.kind == StepKind::kSend && Index(step.peer) / 4 != Index(self) / 4;
  return sent;
}

TEST(Algorithms, SendTheExpectedMessagesBetweenFourHosts) {
  EXPECT_EQ(SentToOtherHosts(Hierarchical(Within::kLinks, Between::kRing), Rank{0}), 6u)
      << "around the ring, twice";
  EXPECT_EQ(SentToOtherHosts(Hierarchical(Within::kLinks, Between::kDoubling), Rank{0}), 2u)
      << "rounds";
  EXPECT_EQ(SentToOtherHosts(Hierarchical(Within::kLinks, Between::kDirect), Rank{0}), 3u)
      << "one to each";
  EXPECT_EQ(SentToOtherHosts(Hierarchical(Within::kLinks, Between::kDirect), Rank{1}), 0u);
}

TEST(Algorithms, NamesRoundTrip) {
  for (std::size_t i = 0; i < kAlgorithms; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    EXPECT_EQ(AlgorithmNamed(Name(algorithm)), algorithm);
  }
  EXPECT_EQ(AlgorithmNamed("Ring"), Algorithm::kRing);
  EXPECT_EQ(AlgorithmNamed("fastest"), std::nullopt);
}

}  // namespace
}  // namespace ringlet::collective
