#include "ringlet/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <latch>
#include <numeric>
#include <span>

#include "comm/run/no_threads_for_test.hpp"
#include "cxx/ranks_for_test.hpp"

namespace ringlet::cxx {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

int Number(const Communicator& communicator) {
  return static_cast<int>(Index(communicator.rank()));
}

TEST(CommunicatorOfCxx, IsFormedByThreadsThatShareAnId) {
  const Result<UniqueId> id = UniqueId::Create(Quiet().environment);
  ASSERT_TRUE(id.ok()) << Said(id);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&id, rank] {
      auto communicator = Communicator::Create(*id, Rank{rank}, 3, Quiet());
      ASSERT_TRUE(communicator.ok()) << Said(communicator);
      EXPECT_EQ(communicator->rank(), Rank{rank});
      EXPECT_EQ(communicator->size(), 3u);
      EXPECT_EQ(communicator->hosts(), 1u);
      ExpectSum(*communicator);
      EXPECT_EQ(Said(communicator->Destroy()), "ok");
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(CommunicatorOfCxx, RefusesInvalidRanksSizesAndIds) {
  const Result<UniqueId> id = UniqueId::Create(Quiet().environment);
  ASSERT_TRUE(id.ok()) << Said(id);
  EXPECT_THAT(Said(Communicator::Create(*id, Rank{3}, 3, Quiet())), HasSubstr("rank 3"));
  EXPECT_THAT(Said(Communicator::Create(*id, Rank{0}, 0, Quiet())), HasSubstr("size 0"));
  EXPECT_THAT(Said(Communicator::Create(UniqueId{}, Rank{0}, 1, Quiet())), HasSubstr("id"));
  EXPECT_THAT(Said(Communicator::CreateAll(0, Quiet())), HasSubstr("size is 0"));
  EXPECT_THAT(Said(Communicator::CreateAll(65537, Quiet())), HasSubstr("65537"));
  CommunicatorOptions options = Quiet();
  options.device = 1;
  EXPECT_THAT(Said(Communicator::CreateAll(2, options)), HasSubstr("device is 1 for all 2 ranks"));
}

TEST(CommunicatorOfCxx, NamesTheMissingRanks) {
  const Result<UniqueId> id = UniqueId::Create(Quiet().environment);
  ASSERT_TRUE(id.ok()) << Said(id);
  CommunicatorOptions options = Quiet();
  options.init_timeout = std::chrono::milliseconds(100);
  const auto alone = Communicator::Create(*id, Rank{0}, 2, options);
  ASSERT_FALSE(alone.ok());
  EXPECT_EQ(alone.error().code, Code::kTimeout);
  EXPECT_THAT(alone.error().message, HasSubstr("1"));
}

TEST(CommunicatorOfCxx, FailsIfNoThreadStarts) {
  ASSERT_TRUE(UniqueId::Create(Quiet().environment).ok()) << "its threads run already";
  const comm::NoThreadsStart limit;
  const auto all = Communicator::CreateAll(2, Quiet());
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, Code::kSystem);
}

TEST(CommunicatorOfCxx, Reduces) {
  RunRanks(4, [](Communicator communicator) {
    const std::vector<float> mine(8, static_cast<float>(Number(communicator) + 1));
    std::vector<float> all(8), block(2), at_root(8);
    EXPECT_EQ(Said(communicator.AllReduce(mine, all, ReduceOp::kProd)), "ok");
    EXPECT_THAT(all, Each(24.0f));
    EXPECT_EQ(Said(communicator.ReduceScatter(mine, block)), "ok");
    EXPECT_THAT(block, Each(10.0f));
    const bool is_root = communicator.rank() == Rank{2};
    EXPECT_EQ(Said(communicator.Reduce(mine, is_root ? ReceiveBuffer(at_root) : ReceiveBuffer(),
                                       ReduceOp::kMax, Rank{2})),
              "ok");
    EXPECT_THAT(at_root, Each(is_root ? 4.0f : 0.0f));
  });
}

TEST(CommunicatorOfCxx, GathersScattersAndExchanges) {
  RunRanks(4, [](Communicator communicator) {
    const int me = Number(communicator);
    const std::array<int, 1> mine = {me};
    std::vector<int> all(4), at_root(4), numbers(4), exchanged(4);
    EXPECT_EQ(Said(communicator.AllGather(mine, all)), "ok");
    EXPECT_THAT(all, ElementsAre(0, 1, 2, 3));

    const bool is_root = me == 1;
    EXPECT_EQ(Said(communicator.Gather(mine, is_root ? ReceiveBuffer(at_root) : ReceiveBuffer(),
                                       Rank{1})),
              "ok");
    EXPECT_EQ(at_root, (is_root ? std::vector<int>{0, 1, 2, 3} : std::vector<int>(4)));

    std::iota(numbers.begin(), numbers.end(), 10 * me);
    std::array<int, 1> one = {-1};
    EXPECT_EQ(
        Said(communicator.Scatter(is_root ? SendBuffer(numbers) : SendBuffer(), one, Rank{1})),
        "ok");
    EXPECT_EQ(one[0], 10 + me);
    EXPECT_EQ(Said(communicator.AllToAll(numbers, exchanged)), "ok");
    EXPECT_THAT(exchanged, ElementsAre(me, 10 + me, 20 + me, 30 + me));
  });
}

TEST(CommunicatorOfCxx, BroadcastsSendsAndReceives) {
  RunRanks(3, [](Communicator communicator) {
    std::vector<double> data(5, Number(communicator));
    EXPECT_EQ(Said(communicator.Broadcast(data, Rank{2})), "ok");
    EXPECT_THAT(data, Each(2.0));
    std::vector<std::int16_t> message(3, 7);
    if (communicator.rank() == Rank{0}) {
      EXPECT_EQ(Said(communicator.Send(message, Rank{1})), "ok");
    }
    if (communicator.rank() == Rank{1}) {
      std::vector<std::int16_t> got(5, 0);
      EXPECT_EQ(Said(communicator.Receive(std::span(got).first(3), Rank{0})), "ok");
      EXPECT_THAT(got, ElementsAre(7, 7, 7, 0, 0));
    }
    EXPECT_EQ(Said(communicator.Barrier()), "ok");
  });
}

TEST(CommunicatorOfCxx, WorksInPlaceAndOnUntypedMemory) {
  RunRanks(3, [](Communicator communicator) {
    std::vector<std::uint16_t> all(3);
    std::uint16_t* const mine = all.data() + Number(communicator);
    *mine = static_cast<std::uint16_t>(0x3c00 + Number(communicator));
    EXPECT_EQ(Said(communicator.AllGather(SendBuffer(mine, 1, DataType::kFloat16),
                                          ReceiveBuffer(all.data(), 3, DataType::kFloat16))),
              "ok");
    EXPECT_THAT(all, ElementsAre(0x3c00, 0x3c01, 0x3c02));
  });
}

TEST(CommunicatorOfCxx, DoesNotWaitInAnEmptyCall) {
  std::vector<Communicator> ranks = AllRanks(2);
  EXPECT_EQ(Said(ranks[0].AllReduce(SendBuffer(), ReceiveBuffer())), "ok");
}

TEST(CommunicatorOfCxx, ReportsDifferentCallsOnAllRanks) {
  RunRanks(2, [](Communicator communicator) {
    std::vector<float> data(Number(communicator) == 0 ? 4 : 5);
    const Status status = communicator.AllReduce(data, data);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol) << Said(status);
    ASSERT_TRUE(communicator.failure());
    EXPECT_EQ(communicator.failure()->code, Code::kProtocol);
    EXPECT_FALSE(communicator.Destroy().ok()) << "it says that it had failed";
  });
}

TEST(CommunicatorOfCxx, SplitsByColor) {
  RunRanks(5, [](Communicator communicator) {
    const int me = Number(communicator);
    auto child =
        communicator.Split(me == 4 ? std::nullopt : std::optional<std::int32_t>(me % 2), -me);
    ASSERT_TRUE(child.ok()) << Said(child);
    if (me == 4) {
      EXPECT_FALSE(*child);
      EXPECT_EQ(child->size(), 0u);
    } else {
      EXPECT_EQ(child->size(), 2u);
      EXPECT_EQ(child->rank(), Rank{me < 2 ? 1u : 0u});
      ExpectSum(*child);
    }
    ExpectSum(communicator);
  });
}

TEST(CommunicatorOfCxx, AChildOutlivesItsParent) {
  RunRanks(2, [](Communicator communicator) {
    auto child = communicator.Split(0);
    ASSERT_TRUE(child.ok()) << Said(child);
    EXPECT_EQ(Said(communicator.Destroy()), "ok");
    ExpectSum(*child);
    EXPECT_EQ(Said(child->Destroy()), "ok");
  });
}

TEST(CommunicatorOfCxx, ShrinksAfterAnAbort) {
  RunRanks(3, [](Communicator communicator) {
    if (communicator.rank() == Rank{1}) return communicator.Abort("rank 1 is done for");
    std::vector<float> data(4);
    const Status status = communicator.AllReduce(data, data);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kAborted);
    EXPECT_THAT(status.error().message, HasSubstr("rank 1 is done for"));
    auto rest = communicator.Shrink({Rank{1}});
    ASSERT_TRUE(rest.ok()) << Said(rest);
    EXPECT_EQ(rest->size(), 2u);
    ExpectSum(*rest);
  });
}

TEST(CommunicatorOfCxx, ReformsAfterTheLossOfRanks) {
  RunRanks(5, [](Communicator communicator) {
    const bool leaves = communicator.rank() == Rank{1} || communicator.rank() == Rank{4};
    if (leaves) return;
    std::vector<float> data(4);
    EXPECT_FALSE(communicator.AllReduce(data, data).ok());
    auto rest = communicator.Reform();
    ASSERT_TRUE(rest.ok()) << Said(rest);
    EXPECT_EQ(rest->size(), 3u);
    ExpectSum(*rest);
    EXPECT_THAT(Said(Communicator().Reform()), HasSubstr("empty"));
  });
}

TEST(CommunicatorOfCxx, RefusesToExcludeItselfOrAnUnknownRank) {
  std::vector<Communicator> ranks = AllRanks(2);
  EXPECT_THAT(Said(ranks[0].Shrink({Rank{0}})), HasSubstr("0"));
  EXPECT_THAT(Said(ranks[0].Shrink({Rank{2}})), HasSubstr("2"));
}

TEST(CommunicatorOfCxx, Grows) {
  std::vector<Communicator> ranks = AllRanks(2);
  const Result<UniqueId> id = ranks[1].CreateGrowthId();
  ASSERT_TRUE(id.ok()) << Said(id);
  std::thread newcomer([&] {
    auto grown = Communicator::Create(*id, Rank{2}, 3, Quiet());
    ASSERT_TRUE(grown.ok()) << Said(grown);
    ExpectSum(*grown);
  });
  RunRanks(std::move(ranks), [&](Communicator communicator) {
    auto grown = communicator.rank() == Rank{1} ? communicator.Grow(3, *id) : communicator.Grow(3);
    ASSERT_TRUE(grown.ok()) << Said(grown);
    EXPECT_EQ(grown->rank(), communicator.rank());
    EXPECT_EQ(grown->size(), 3u);
    ExpectSum(*grown);
  });
  newcomer.join();
}

TEST(CommunicatorOfCxx, IsAbortedFromAnotherThread) {
  std::vector<Communicator> ranks = AllRanks(2);
  std::latch entered(1);
  std::thread blocked([&] {
    std::vector<float> data(4);
    entered.count_down();
    const Status status = ranks[0].AllReduce(data, data);  // rank 1 makes no call
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kAborted);
    EXPECT_THAT(status.error().message, HasSubstr("the user is tired of it"));
  });
  entered.wait();
  ranks[0].Abort("the user is tired of it");
  blocked.join();
  ASSERT_TRUE(ranks[0].failure());
  EXPECT_EQ(ranks[0].failure()->code, Code::kAborted);
  const Status left = ranks[0].Destroy();
  ASSERT_FALSE(left.ok()) << "it says that it had failed";
  EXPECT_EQ(left.error().code, Code::kAborted);
  EXPECT_FALSE(ranks[0]);
}

TEST(CommunicatorOfCxx, RefusesOperationsAfterAnAbort) {
  std::vector<Communicator> ranks = AllRanks(2);
  ranks[1].Abort("enough");
  ASSERT_TRUE(ranks[1].failure()) << "known when Abort returns";
  std::vector<float> data(4);
  const Status status = ranks[1].AllReduce(data, data);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kAborted);
}

TEST(CommunicatorOfCxx, NamesADepartedRank) {
  std::vector<Communicator> ranks = AllRanks(2);
  EXPECT_EQ(Said(ranks[1].Destroy()), "ok");
  std::vector<float> data(4);
  const Status status = ranks[0].AllReduce(data, data);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kPeerLost);
  EXPECT_THAT(status.error().message, HasSubstr("rank 1"));
}

/// Expects that every call is refused for this reason.
void ExpectRefused(Communicator& communicator, const std::string& why) {
  communicator.Abort("nothing happens");
  std::vector<float> data(4);
  EXPECT_THAT(Said(communicator.AllReduce(data, data)), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Reduce(data, data, ReduceOp::kSum, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Broadcast(data, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.AllGather(data, data)), HasSubstr(why));
  EXPECT_THAT(Said(communicator.ReduceScatter(data, data)), HasSubstr(why));
  EXPECT_THAT(Said(communicator.AllToAll(data, data)), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Scatter(data, data, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Gather(data, data, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Send(data, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Receive(data, Rank{0})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Barrier()), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Split(0)), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Shrink({})), HasSubstr(why));
  EXPECT_THAT(Said(communicator.CreateGrowthId()), HasSubstr(why));
  EXPECT_THAT(Said(communicator.Grow(2)), HasSubstr(why));
}

void ExpectEmpty(Communicator& communicator) {
  EXPECT_FALSE(communicator);
  EXPECT_EQ(communicator.size(), 0u);
  EXPECT_EQ(communicator.hosts(), 0u);
  EXPECT_EQ(communicator.rank(), Rank{0});
  EXPECT_FALSE(communicator.failure());
  ExpectRefused(communicator, "the communicator is empty");
  EXPECT_THAT(Said(communicator.Destroy()), HasSubstr("the communicator is empty"));
}

// A child has copies of its parent's objects, and must not touch their sockets and memory.
TEST(CommunicatorOfCxx, RefusesAllCallsInAForkedChild) {
  std::vector<Communicator> ranks = AllRanks(2);
  std::vector<float> data = {1, 2};
  Group group;
  for (Communicator& one : ranks) group.AllReduce(one, data, data);
  const pid_t child = ::fork();
  if (child == 0) {
    ExpectRefused(ranks[0], "before fork()");
    EXPECT_THAT(Said(group.End()), HasSubstr("before fork()"));
    group.Barrier(ranks[1]);
    EXPECT_THAT(Said(group.End()), HasSubstr("before fork()"));
    EXPECT_THAT(ranks[0].failure().value_or(Error{}).message, HasSubstr("before fork()"));
    EXPECT_THAT(Said(ranks[0].Destroy()), HasSubstr("before fork()"));
    ranks[1] = Communicator();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  RunRanks(std::move(ranks), [](Communicator mine) { ExpectSum(mine); });
}

TEST(CommunicatorOfCxx, RefusesAllCallsWhenEmpty) {
  Communicator never_formed;
  ExpectEmpty(never_formed);
  std::vector<Communicator> ranks = AllRanks(1);
  Communicator moved = std::move(ranks[0]);
  ExpectEmpty(ranks[0]);  // NOLINT(bugprone-use-after-move): what this is about
  ExpectSum(moved);
  EXPECT_EQ(Said(moved.Destroy()), "ok");
  ExpectEmpty(moved);
}

TEST(CommunicatorOfCxx, LeavesWhenOverwrittenByAnAssignment) {
  std::vector<Communicator> ranks = AllRanks(2);
  ranks[1] = Communicator();
  const Status status = ranks[0].Barrier();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kPeerLost);
  static_assert(!std::is_copy_constructible_v<Communicator>);
  static_assert(std::is_nothrow_move_constructible_v<Communicator>);
}

}  // namespace
}  // namespace ringlet::cxx
