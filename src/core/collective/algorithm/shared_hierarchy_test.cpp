// Checks the amounts of data that the parts move. algorithm_test.cpp proves their results.
#include "collective/algorithm/shared_hierarchy.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "collective/algorithm/algorithm.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

/// Returns the number of elements that all ranks of a host send to other hosts.
template <typename Build>
std::size_t LeavingTheShared(const std::vector<Rank>& host, Build build) {
  std::size_t elements = 0;
  for (const Rank self : host)
    for (const CallPart& part : build(self).parts)
      if (const auto* schedule = std::get_if<Schedule>(&part))
        for (const Step& step : schedule->steps)
          if (step.kind == StepKind::kSend) elements += step.count;
  return elements;
}

std::vector<CallKind> KindsOnHost(const CallParts& parts) {
  std::vector<CallKind> kinds;
  for (const CallPart& part : parts.parts)
    if (const auto* on_host = std::get_if<HostPart>(&part)) kinds.push_back(on_host->kind);
  return kinds;
}

TEST(SharedHierarchy, SendsTheFewestElementsOutOfAHost) {
  const Groups hosts = EvenGroups(12, 3);
  for (const std::size_t shards : {1u, 4u}) {
    EXPECT_EQ(LeavingTheShared(hosts[0],
                               [&](Rank self) {
                                 return SharedAllReduce(hosts, shards, 1, Between::kRing, self,
                                                        120);
                               }),
              2u * 2 * 120 / 3);
    EXPECT_EQ(LeavingTheShared(hosts[0],
                               [&](Rank self) { return SharedAllGather(hosts, shards, self, 10); }),
              2u * 4 * 10);
    EXPECT_EQ(
        LeavingTheShared(hosts[0],
                         [&](Rank self) { return SharedReduceScatter(hosts, shards, self, 10); }),
        2u * 4 * 10);
  }
  for (const Between between : {Between::kRing, Between::kDoubling, Between::kDirect}) {
    EXPECT_EQ(LeavingTheShared(
                  hosts[0],
                  [&](Rank self) { return SharedReduce(hosts, 1, between, self, Rank{5}, 10); }),
              10u);
    EXPECT_EQ(LeavingTheShared(
                  hosts[0],
                  [&](Rank self) { return SharedBroadcast(hosts, 1, between, self, Rank{5}, 10); }),
              0u);
  }
}

TEST(SharedHierarchy, ShardsLargeMessagesOverEvenHosts) {
  const auto shards = [](std::size_t count, const Groups& hosts, CallKind kind) {
    return SharedShardsOf(Call{.kind = kind, .count = count},
                          {.order = InOrder(hosts), .groups = hosts, .sharing = hosts});
  };
  const Groups even = EvenGroups(8, 2);
  EXPECT_EQ(shards(4 * kShardElementsMin - 1, even, CallKind::kAllReduce), 1u);
  EXPECT_EQ(shards(4 * kShardElementsMin, even, CallKind::kAllReduce), 4u);
  EXPECT_EQ(shards(4 * kShardElementsMin, EvenGroups(7, 2), CallKind::kAllReduce), 1u);
  EXPECT_EQ(shards(kShardElementsMin - 1, even, CallKind::kAllGather), 1u);
  EXPECT_EQ(shards(kShardElementsMin, even, CallKind::kAllGather), 4u);
}

TEST(SharedHierarchy, ASingleRankOfAHostRunsNoStepOnTheHost) {
  const Groups hosts = {{Rank{0}}, {Rank{1}, Rank{2}}};
  EXPECT_TRUE(KindsOnHost(SharedAllReduce(hosts, 1, 1, Between::kDirect, Rank{0}, 5)).empty());
  EXPECT_EQ(KindsOnHost(SharedAllReduce(hosts, 1, 1, Between::kDirect, Rank{2}, 5)),
            (std::vector{CallKind::kReduce, CallKind::kBroadcast}));
}

TEST(SharedHierarchy, TheLastRankAlsoHandlesTheRemainder) {
  const Groups hosts = EvenGroups(8, 2);
  const auto kinds = [&](std::size_t count) {
    return KindsOnHost(SharedAllReduce(hosts, 4, 1, Between::kRing, Rank{0}, count));
  };
  EXPECT_EQ(kinds(40), (std::vector{CallKind::kReduceScatter, CallKind::kAllGather}));
  EXPECT_EQ(kinds(43), (std::vector{CallKind::kReduceScatter, CallKind::kReduce,
                                    CallKind::kAllGather, CallKind::kBroadcast}));
}

TEST(SharedHierarchy, RecognizesHostsWithConsecutiveRanks) {
  EXPECT_TRUE(AreInRankOrder(EvenGroups(6, 3)));
  EXPECT_FALSE(AreInRankOrder(EvenGroups(7, 3)));
  EXPECT_FALSE(AreInRankOrder({{Rank{0}, Rank{2}}, {Rank{1}, Rank{3}}}));
}

struct Stretch {
  Buffer buffer;
  std::size_t begin, end;
};
bool Meets(const std::vector<Stretch>& some, const std::vector<Stretch>& others) {
  for (const Stretch& a : some)
    for (const Stretch& b : others)
      if (a.buffer == b.buffer && a.begin < b.end && b.begin < a.end) return true;
  return false;
}

/// The ranges that a part reads and writes, for a call in place: input and output are one buffer.
struct Touched {
  std::vector<Stretch> read, written;
};
Touched TouchedBy(const CallPart& part, std::size_t mates) {
  Touched touched;
  const auto add = [](std::vector<Stretch>& to, const Place& place, std::size_t count) {
    const Buffer buffer = place.buffer == Buffer::kInput ? Buffer::kOutput : place.buffer;
    if (count > 0) to.push_back({buffer, place.begin, place.begin + count});
  };
  if (const auto* schedule = std::get_if<Schedule>(&part)) {
    for (const Step& step : schedule->steps) {
      if (Reads(step.kind)) add(touched.read, step.from, step.count);
      if (Writes(step.kind)) add(touched.written, step.to, step.count);
    }
    return touched;
  }
  const auto& on_host = std::get<HostPart>(part);
  const bool scatters = on_host.kind == CallKind::kReduceScatter;
  const bool gathers = on_host.kind == CallKind::kAllGather;
  add(touched.read, on_host.input, on_host.count * (scatters ? mates : 1));
  add(touched.written, on_host.output, on_host.count * (gathers ? mates : 1));
  return touched;
}

/// Checks that of two concurrent parts, neither touches memory that the other writes.
void ExpectApart(const CallParts& parts, std::size_t mates) {
  std::vector<const CallPart*> over_links;
  for (const CallPart& part : parts.parts) {
    const auto* on_host = std::get_if<HostPart>(&part);
    if (on_host == nullptr) {
      over_links.push_back(&part);
      continue;
    }
    const Touched here = TouchedBy(part, mates);
    for (std::size_t i = on_host->links_before; i < over_links.size(); ++i) {
      const Touched there = TouchedBy(*over_links[i], mates);
      EXPECT_FALSE(Meets(here.written, there.read) || Meets(here.written, there.written) ||
                   Meets(here.read, there.written))
          << ToText(parts);
    }
  }
}

TEST(SharedHierarchy, ConcurrentPartsTouchDisjointElements) {
  const Groups hosts = EvenGroups(9, 3), uneven = {{Rank{0}}, {Rank{1}, Rank{2}, Rank{3}}};
  for (const std::size_t pieces : {1u, 2u, 3u, 7u})
    for (const Between between : {Between::kRing, Between::kDoubling, Between::kDirect})
      for (const std::size_t count : {30u, 31u, 2u}) {
        for (std::uint32_t rank = 0; rank < 9; ++rank) {
          for (const std::size_t shards : {1u, 3u})
            ExpectApart(SharedAllReduce(hosts, shards, pieces, between, Rank{rank}, count), 3);
          ExpectApart(SharedBroadcast(hosts, pieces, between, Rank{rank}, Rank{4}, count), 3);
          ExpectApart(SharedReduce(hosts, pieces, between, Rank{rank}, Rank{4}, count), 3);
        }
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
          ExpectApart(SharedAllReduce(uneven, 1, pieces, between, Rank{rank}, count), 3);
          ExpectApart(SharedReduce(uneven, pieces, between, Rank{rank}, Rank{0}, count), 3);
        }
      }
}

TEST(SharedHierarchy, OverlapsLinksWithReductionsOnTheHost) {
  const CallParts parts = SharedAllReduce(EvenGroups(4, 2), 2, 3, Between::kRing, Rank{0}, 20);
  std::string order;
  for (const CallPart& part : parts.parts) {
    const auto* on_host = std::get_if<HostPart>(&part);
    order += on_host == nullptr ? "link "
                                : fmt::format("{}:{} ", Name(on_host->kind), on_host->links_before);
  }
  EXPECT_EQ(order,
            "reduce_scatter:0 link reduce_scatter:0 link all_gather:1 reduce_scatter:0 link "
            "all_gather:2 all_gather:3 ");
}

TEST(SharedHierarchy, LongMessagesAreCutIntoPieces) {
  const auto pieces = [](std::size_t count) {
    return SharedPiecesOf(Call{.count = count}, {.order = {}, .groups = {}});
  };
  EXPECT_EQ(pieces(0), 1u);
  EXPECT_EQ(pieces(2 * kPieceElementsMin - 1), 1u);
  EXPECT_EQ(pieces(2 * kPieceElementsMin), 2u);
  EXPECT_EQ(pieces(1000 * kPieceElementsMin), kPiecesMax);
}

TEST(SharedHierarchy, PrintsItsPartsAsText) {
  const std::string text =
      ToText(SharedReduce(EvenGroups(4, 2), 1, Between::kDirect, Rank{2}, Rank{1}, 8));
  EXPECT_THAT(text,
              HasSubstr("reduce of 8 elements through the memory of the host to its place 0"));
  EXPECT_THAT(text, HasSubstr("send 8 elements at scratch 0 to rank 1"));
}

}  // namespace
}  // namespace ringlet::collective
