// Collectives among several hosts. The ranks of each host share memory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/value/prng.hpp"
#include "comm/backend/host_memory.hpp"
#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using HostsFormed = Result<std::unique_ptr<Communicator>>;

/// The host of each rank, by rank. Ranks of a host are threads of one process or have a process
/// each.
struct Placement {
  std::string name;
  std::vector<std::uint32_t> host_of;
  bool own_processes = false;
};

const std::vector<Placement>& Placements() {
  static const std::vector<Placement> placements = {
      {"TwoHostsOfTwo", {0, 0, 1, 1}},    {"TwoHostsOfTwoWithProcesses", {0, 0, 1, 1}, true},
      {"InTurn", {0, 1, 0, 1}},           {"OneAlone", {0, 0, 0, 1}},
      {"ThreeHosts", {0, 0, 1, 1, 2, 2}}, {"Uneven", {0, 1, 1, 2, 2, 2}},
  };
  return placements;
}

void RunOn(const Placement& placement, EnvMap environment, const RankBody& body) {
  environment.try_emplace("RINGLET_TIMEOUT", "20");
  std::map<std::uint32_t, std::shared_ptr<Process>> processes;
  std::vector<std::shared_ptr<Process>> of_rank;
  for (const std::uint32_t host : placement.host_of) {
    environment["RINGLET_HOSTID"] = "host" + std::to_string(host);
    std::shared_ptr<Process>& shared = processes[host];
    if (!shared || placement.own_processes) shared = ProcessWith(environment);
    of_rank.push_back(shared);
  }
  RunRanks(
      static_cast<std::uint32_t>(of_rank.size()), [&](std::uint32_t rank) { return of_rank[rank]; },
      body);
}

/// Returns elements that are exact as floats in any order of addition.
float Element(std::uint32_t rank, std::size_t index) {
  return static_cast<float>((rank * 7 + index * 13) % 64);
}

/// Returns the result of `call` at element `index` of the output of `self`.
float Expected(const Call& call, Rank self, std::size_t index, std::uint32_t ranks) {
  const std::size_t block = index / call.count, within = index % call.count;
  const auto from = static_cast<std::uint32_t>(block);
  switch (call.kind) {
    case CallKind::kBroadcast: return Element(Index(call.root), index);
    case CallKind::kAllGather:
    case CallKind::kGather: return Element(from, within);
    case CallKind::kScatter: return Element(Index(call.root), Index(self) * call.count + index);
    case CallKind::kAllToAll: return Element(from, Index(self) * call.count + within);
    default: break;
  }
  const std::size_t at =
      call.kind == CallKind::kReduceScatter ? Index(self) * call.count + index : index;
  float sum = 0;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) sum += Element(rank, at);
  return call.op == ReduceOp::kAvg ? sum / static_cast<float>(ranks) : sum;
}

/// Runs the call, in place if NCCL allows it, and checks every element.
Status CallAndCheck(Communicator& mine, Call call, bool in_place) {
  const collective::CallPlace place = mine.place();
  const std::size_t in = InputCount(call, place), out = OutputCount(call, place);
  std::vector<float> memory(std::max(in, out)), apart(out);
  const std::ptrdiff_t offset = in > 0 && out > 0 ? InPlaceOffset(call, place.self) : 0;
  float* const input = memory.data() + (offset < 0 ? -offset : 0);
  float* const output = in_place ? memory.data() + (offset > 0 ? offset : 0) : apart.data();
  for (std::size_t i = 0; i < in; ++i) input[i] = Element(Index(place.self), i);
  call.input = std::as_bytes(std::span(input, in));
  call.output = std::as_writable_bytes(std::span(output, out));
  RINGLET_TRY(mine.Run(call));
  for (std::size_t i = 0; i < out; ++i) {
    const float right = Expected(call, place.self, i, place.ranks);
    if (std::abs(output[i] - right) <= std::abs(right) / 1024) continue;
    return Error{Code::kProtocol,
                 fmt::format("{}, element {} is {}, not {}", ToText(call), i, output[i], right)};
  }
  return Ok();
}

class HostsWithMemory : public testing::TestWithParam<Placement> {};
INSTANTIATE_TEST_SUITE_P(On, HostsWithMemory, testing::ValuesIn(Placements()),
                         [](const auto& of) { return of.param.name; });

void ExpectAllCallsAreRight(const Placement& placement, const EnvMap& environment,
                            std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RunOn(placement, environment, [&](std::uint32_t, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Communicator& mine = **formed;
    ASSERT_FALSE(mine.host_memory().hosts().empty());
    EXPECT_FALSE(mine.host_memory().IsHere());
    Prng prng(seed);  // the same draws on all ranks
    constexpr CallKind kCallKinds[] = {
        CallKind::kAllReduce,     CallKind::kReduce, CallKind::kBroadcast, CallKind::kAllGather,
        CallKind::kReduceScatter, CallKind::kGather, CallKind::kScatter,   CallKind::kAllToAll};
    constexpr std::size_t kOfOneHost[] = {1, 3, 1023, 2048, 4099, 50'000};
    for (const CallKind kind : kCallKinds)
      for (const std::size_t count : kOfOneHost) {
        const Call call{.kind = kind,
                        .count = count,
                        .op = prng.Below(2) == 0 ? ReduceOp::kSum : ReduceOp::kAvg,
                        .root = Rank{static_cast<std::uint32_t>(prng.Below(mine.place().ranks))}};
        const bool in_place = prng.Below(2) == 0;
        const Status status = CallAndCheck(mine, call, in_place);
        ASSERT_TRUE(status.ok()) << (in_place ? "in place: " : "") << status.error().message;
      }
    EXPECT_TRUE(Barrier(mine).ok());
  });
}

TEST_P(HostsWithMemory, EveryCallIsCorrect) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) ExpectAllCallsAreRight(GetParam(), {}, seed);
}

TEST_P(HostsWithMemory, EveryCallIsCorrectWithEachAlgorithmBetweenHosts) {
  for (const char* way :
       {"hierarchical_shared", "hierarchical_shared_doubling", "hierarchical_shared_direct"})
    ExpectAllCallsAreRight(GetParam(), {{"RINGLET_HOST_ALGO", way}}, 7);
}

// Each rank has its own scalar, and a multiplied input is a copy that no call has in place.
TEST_P(HostsWithMemory, LongMessagesPassInPieces) {
  RunOn(GetParam(), {}, [&](std::uint32_t, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (const std::size_t count :
         {2 * collective::kPieceElementsMin - 1, 3 * collective::kPieceElementsMin + 5})
      for (const CallKind kind : {CallKind::kAllReduce, CallKind::kBroadcast, CallKind::kReduce})
        for (const bool in_place : {false, true}) {
          const Call call{.kind = kind, .count = count, .root = Rank{1}};
          const Status status = CallAndCheck(**formed, call, in_place);
          ASSERT_TRUE(status.ok()) << status.error().message;
        }
  });
}

TEST_P(HostsWithMemory, EachRankMultipliesByItsOwnScalar) {
  RunOn(GetParam(), {}, [](std::uint32_t rank, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const auto scalar = static_cast<float>(rank + 1);
    std::vector<float> data(5000, 1);
    const auto bytes = std::as_writable_bytes(std::span(data));
    const Status status =
        AllReduce(**formed, {.input = bytes,
                             .output = bytes,
                             .count = data.size(),
                             .op = ReduceOp::kPreMulSum,
                             .scalar = collective::Scalar(std::as_bytes(std::span(&scalar, 1)))});
    ASSERT_TRUE(status.ok()) << status.error().message;
    const std::uint32_t ranks = (*formed)->place().ranks;
    EXPECT_EQ(std::ranges::count(data, static_cast<float>(ranks * (ranks + 1) / 2)), 5000);
  });
}

const Placement& TwoOfTwo() {
  return Placements().front();
}

TEST(TwoHostsWithMemory, NoLinkIsMadeWithinAHost) {
  const EnvMap shared = {{"RINGLET_HOST_ALGO", "hierarchical_shared"}};
  RunOn(TwoOfTwo(), shared, [](std::uint32_t rank, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    for (const std::size_t count : {1u, 100'000u}) EXPECT_TRUE(SumOfRanks(**formed, count).ok());
    EXPECT_EQ((*formed)->links().Find(Rank{rank ^ 1}), nullptr);
    EXPECT_NE((*formed)->links().Find(Rank{rank ^ 2}), nullptr);
  });
}

TEST(TwoHostsWithMemory, UseNoMemoryIfTheSettingForbidsIt) {
  RunOn(TwoOfTwo(), {{"RINGLET_HOST_MEMORY", "0"}}, [](std::uint32_t, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE((*formed)->host_memory().hosts().empty());
    EXPECT_TRUE(SumOfRanks(**formed, 5000).ok());
  });
}

TEST(TwoHostsWithMemory, UseNoMemoryIfEachHostHasASingleRank) {
  RunOn({"", {0, 1, 2}}, {}, [](std::uint32_t, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE((*formed)->host_memory().hosts().empty());
    EXPECT_TRUE(SumOfRanks(**formed, 5000).ok());
  });
}

// ---- failures -----------------------------------------------------------------------------------

Status Broadcast(Communicator& mine, std::size_t count, Rank root) {
  std::vector<float> data(count);
  const auto bytes = std::as_writable_bytes(std::span(data));
  return Broadcast(mine, {.input = bytes, .output = bytes, .count = count, .root = root});
}

/// Rank `odd` makes a different call from all others.
void ExpectBothCallsAreNamed(std::uint32_t odd, const std::function<Status(Communicator&)>& its,
                             const std::string& text) {
  RunOn(TwoOfTwo(), {}, [&](std::uint32_t rank, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    // A slow rank may receive the failure of the second call during the first.
    Status status = SumOfRanks(**formed, 3);
    if (status.ok()) status = rank == odd ? its(**formed) : SumOfRanks(**formed, 8);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol) << status.error().message;
    EXPECT_THAT(status.error().message,
                AllOf(HasSubstr(fmt::format("rank {} called {}", odd, text)),
                      HasSubstr("called all_reduce of 8 float sum"), HasSubstr("operation 1")));
    EXPECT_FALSE(Barrier(**formed).ok()) << "it stays failed";
  });
}

TEST(TwoHostsWithMemory, ADifferentCallWithinAHostIsReported) {
  ExpectBothCallsAreNamed(
      3, [](Communicator& mine) { return SumOfRanks(mine, 9); }, "all_reduce of 9 float sum");
  ExpectBothCallsAreNamed(
      1, [](Communicator& mine) { return Broadcast(mine, 8, Rank{2}); },
      "broadcast of 8 float at root 2");
}

// Rank 2 uses links while rank 3 waits for it in memory, so neither finds the other's call there.
TEST(TwoHostsWithMemory, ADifferentCallOverAnotherMediumIsReported) {
  ExpectBothCallsAreNamed(
      2,
      [](Communicator& mine) {
        return CallAndCheck(mine, {.kind = CallKind::kAllToAll, .count = 8}, false);
      },
      "all_to_all of 8 float");
}

TEST(TwoHostsWithMemory, ADifferentCallOfAWholeHostIsReported) {
  RunOn(TwoOfTwo(), {}, [&](std::uint32_t rank, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Status status = SumOfRanks(**formed, rank < 2 ? 8 : 9);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol) << status.error().message;
    EXPECT_THAT(status.error().message, AllOf(HasSubstr("called all_reduce of 8 float sum"),
                                              HasSubstr("called all_reduce of 9 float sum")));
  });
}

TEST(TwoHostsWithMemory, AnAbortEndsTheWaitOfARankOnAnotherHost) {
  RunOn(TwoOfTwo(), {}, [&](std::uint32_t rank, HostsFormed formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank == 0) {
      (*formed)->Abort("enough");
      return;
    }
    const Status status = SumOfRanks(**formed, 8);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kAborted) << status.error().message;
    EXPECT_THAT(status.error().message, HasSubstr("enough"));
  });
}

TEST(TwoHostsWithMemory, BothHostsNameARankThatDoesNotCall) {
  for (const std::uint32_t missing : {0u, 1u})
    RunOn(TwoOfTwo(), {{"RINGLET_TIMEOUT", "0.5"}}, [&](std::uint32_t rank, HostsFormed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      if (rank == missing) {
        (*formed)->control().AwaitFailure(std::chrono::seconds(60));
        return;
      }
      const Status status = SumOfRanks(**formed, 8);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kTimeout);
      EXPECT_THAT(status.error().message, AllOf(HasSubstr(fmt::format("rank {}", missing)),
                                                HasSubstr("has not called it")));
    });
}

TEST(TwoHostsWithMemory, BothHostsNameADepartedRank) {
  for (const std::uint32_t leaver : {0u, 3u})
    RunOn(TwoOfTwo(), {}, [&](std::uint32_t rank, HostsFormed formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      // A slow rank may receive the failure of the second call during the first.
      Status status = SumOfRanks(**formed, 8);
      if (rank == leaver) return;
      if (status.ok()) status = SumOfRanks(**formed, 8);
      ASSERT_FALSE(status.ok());
      EXPECT_EQ(status.error().code, Code::kPeerLost) << status.error().message;
      EXPECT_THAT(status.error().message, HasSubstr(fmt::format("rank {}", leaver)));
    });
}

}  // namespace
}  // namespace ringlet::comm
