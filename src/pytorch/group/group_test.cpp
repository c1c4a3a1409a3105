#include "pytorch/group/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "pytorch/store/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

RankGroup::Options At(std::uint32_t rank, std::uint32_t size) {
  return {.rank = rank,
          .size = size,
          .name = "test",
          .timeout = seconds(30),
          .init_timeout = seconds(30)};
}

void OnRanks(std::uint32_t size, const std::function<void(RankGroup&)>& body) {
  const auto store = std::make_shared<MemoryStore>();
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      RankGroup group(At(rank, size), store);
      ASSERT_TRUE(group.Announce().ok());
      body(group);
    });
  for (std::thread& thread : threads) thread.join();
}

Status Sum(RankGroup& group) {
  Status status = Ok();
  group.serial_executor().RunHere([&] {
    auto main = group.Main();
    status = main.ok() ? comm::SumOfRanks(**main, 3) : Status(main.error());
  });
  return status;
}

TEST(RankGroup, FormsAtItsFirstOperation) {
  OnRanks(2, [](RankGroup& group) {
    EXPECT_FALSE(group.is_formed());
    EXPECT_TRUE(Sum(group).ok());
    EXPECT_TRUE(Sum(group).ok());
    EXPECT_TRUE(group.is_formed());
  });
}

TEST(RankGroup, ChildrenFormWithoutAStore) {
  OnRanks(4, [](RankGroup& group) {
    ASSERT_TRUE(Sum(group).ok());
    const std::uint32_t rank = group.options().rank;
    if (rank == 1) return;
    RankGroup child(At(rank == 0 ? 0 : rank - 1, 3), std::make_shared<MemoryStore>());
    const Status made = group.CreateChild(child, {0, 2, 3});
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_TRUE(Sum(child).ok());
  });
}

TEST(RankGroup, SeveralGenerationsFormThroughOneStore) {
  const auto store = std::make_shared<MemoryStore>();
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      RankGroup::Options options = At(rank, 3);
      options.process = rank + 1;
      for (int generation = 0; generation < 20; ++generation) {
        RankGroup group(options, store);
        ASSERT_TRUE(group.Announce().ok());
        const Status sum = Sum(group);
        EXPECT_TRUE(sum.ok()) << sum.error().message;
        group.Leave();
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(RankGroup, AnAbortedGroupReportsTheCause) {
  RankGroup group(At(0, 2), std::make_shared<MemoryStore>());
  group.Abort("the test wants it");
  EXPECT_THAT(Sum(group).error().message, HasSubstr("the test wants it"));
}

TEST(RankGroup, AFailedGroupFailsAgainAtOnce) {
  RankGroup::Options options = At(1, 2);
  options.init_timeout = std::chrono::milliseconds(1);
  RankGroup group(options, std::make_shared<MemoryStore>());
  EXPECT_EQ(Sum(group).error().code, Code::kTimeout);
  EXPECT_EQ(Sum(group).error().code, Code::kTimeout);
}

TEST(RankGroup, ARankThatLeavesBeforeTheFormingEndsIt) {
  const auto store = std::make_shared<MemoryStore>();
  RankGroup group(At(1, 2), store);
  ASSERT_TRUE(group.Announce().ok());
  Presence other(*store, {.rank = 0, .process = 1});
  ASSERT_TRUE(other.Announce().ok());
  ASSERT_TRUE(other.Leave(Presence::Use::kNone).ok());
  const Status sum = Sum(group);
  EXPECT_EQ(sum.error().code, Code::kPeerLost);
  EXPECT_THAT(sum.error().message, HasSubstr("rank 0 has left"));
}

TEST(RankGroup, ARefusedCallFailsTheWaitingRanks) {
  for (const bool formed : {true, false}) {
    OnRanks(2, [formed](RankGroup& group) {
      if (formed) {
        ASSERT_TRUE(Sum(group).ok());
      }
      if (group.options().rank == 1) {
        group.Refused("as the test wants it");
        while (!group.store().Find("told")->has_value()) Pause(std::chrono::milliseconds(1), {});
        return;
      }
      const std::uint64_t call = group.NextCall();
      Status status = Ok();
      group.serial_executor().RunHere([&] {
        auto main = group.Main(call);
        status = main.ok() ? comm::SumOfRanks(**main, 3) : Status(main.error());
      });
      (void)group.store().Set("told", {});
      ASSERT_FALSE(status.ok());
      EXPECT_THAT(status.error().message,
                  HasSubstr("rank 1 refused its arguments: as the test wants it"));
    });
  }
}

TEST(RankGroup, RefusedAndRepeatedCallsLeaveTheGroupUsable) {
  OnRanks(3, [](RankGroup& group) {
    ASSERT_TRUE(Sum(group).ok());
    group.Refused("all do");
    if (group.options().rank == 1) group.Refused("and this one again");
    EXPECT_TRUE(Sum(group).ok());
  });
}

}  // namespace
}  // namespace ringlet::torch_api
