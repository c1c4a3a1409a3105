#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cxx/ranks_for_test.hpp"

namespace ringlet::cxx {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(GroupOfCxx, DrivesAllRanksOnASingleThread) {
  std::vector<Communicator> ranks = AllRanks(3);
  std::vector<std::vector<float>> data(3, std::vector<float>(100, 1.0f));
  Group group;
  for (std::size_t i = 0; i < ranks.size(); ++i) group.AllReduce(ranks[i], data[i], data[i]);
  EXPECT_EQ(group.size(), 3u);
  EXPECT_THAT(data[0], Each(1.0f)) << "nothing runs before End";
  EXPECT_EQ(Said(group.End()), "ok");
  for (const auto& one : data) EXPECT_THAT(one, Each(3.0f));
  EXPECT_EQ(group.size(), 0u);
}

TEST(GroupOfCxx, RunsEveryOperation) {
  std::vector<Communicator> ranks = AllRanks(2);
  std::vector<std::vector<int>> sums(2, {1}), roots(2, {0}), gathered(2, {0, 0}), scattered(2, {0}),
      exchanged(2, {0, 0}), at_root(2, {0, 0}), parts(2, {0});
  const std::vector<std::vector<int>> mine = {{5}, {6}}, pairs = {{1, 2}, {3, 4}};
  std::vector<std::vector<int>> shared = {{7}, {8}};
  Group group;
  for (std::size_t i = 0; i < 2; ++i) {
    group.AllReduce(ranks[i], sums[i], sums[i]);
    group.Reduce(ranks[i], mine[i], roots[i], ReduceOp::kMax, Rank{0});
    group.Broadcast(ranks[i], shared[i], Rank{1});
    group.AllGather(ranks[i], mine[i], gathered[i]);
    group.ReduceScatter(ranks[i], pairs[i], scattered[i]);
    group.AllToAll(ranks[i], pairs[i], exchanged[i]);
    group.Gather(ranks[i], mine[i], at_root[i], Rank{0});
    group.Scatter(ranks[i], pairs[i], parts[i], Rank{0});
    group.Barrier(ranks[i]);
  }
  ASSERT_EQ(Said(group.End()), "ok");
  EXPECT_EQ(sums, (std::vector<std::vector<int>>{{2}, {2}}));
  EXPECT_EQ(roots, (std::vector<std::vector<int>>{{6}, {0}}));
  EXPECT_EQ(shared, (std::vector<std::vector<int>>{{8}, {8}}));
  EXPECT_EQ(gathered, (std::vector<std::vector<int>>{{5, 6}, {5, 6}}));
  EXPECT_EQ(scattered, (std::vector<std::vector<int>>{{4}, {6}}));
  EXPECT_EQ(exchanged, (std::vector<std::vector<int>>{{1, 3}, {2, 4}}));
  EXPECT_EQ(at_root, (std::vector<std::vector<int>>{{5, 6}, {0, 0}}));
  EXPECT_EQ(parts, (std::vector<std::vector<int>>{{1}, {2}}));
}

TEST(GroupOfCxx, ExchangesMessagesInAnyOrder) {
  RunRanks(2, [](Communicator communicator) {
    const Rank other{1 - Index(communicator.rank())};
    const std::vector<double> mine(1 << 16, 1.0 + Index(communicator.rank()));
    std::vector<double> theirs(mine.size());
    Group group;
    group.Send(communicator, mine, other);
    group.Receive(communicator, theirs, other);
    EXPECT_EQ(Said(group.End()), "ok");
    EXPECT_THAT(theirs, Each(1.0 + Index(other)));
  });
}

TEST(GroupOfCxx, RunsNoCallIfACallIsWrong) {
  std::vector<Communicator> ranks = AllRanks(2);
  std::vector<float> data(4, 1.0f), short_of_one(3);
  Group group;
  group.AllReduce(ranks[0], data, data);
  group.AllReduce(ranks[1], data, short_of_one);
  group.AllReduce(ranks[1], data, data);
  const Status status = group.End();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  EXPECT_EQ(status.error().message,
            "call 2 of the group: all_reduce: receive has 3 elements, not 4 as send");
  EXPECT_THAT(data, Each(1.0f));
  EXPECT_EQ(Said(group.End()), "ok") << "it begins anew";
  EXPECT_FALSE(ranks[0].failure());
}

TEST(GroupOfCxx, NamesAnEmptyCommunicatorAndARankThatDoesNotExist) {
  std::vector<Communicator> ranks = AllRanks(1);
  std::vector<float> data(4);
  Group group;
  group.Barrier(Communicator());
  EXPECT_THAT(Said(group.End()), HasSubstr("call 1 of the group: the communicator is empty"));
  group.Send(ranks[0], data, Rank{1});
  EXPECT_THAT(Said(group.End()), HasSubstr("call 1 of the group: a message to rank 1"));
}

TEST(GroupOfCxx, RunsNoCallWithoutEnd) {
  std::vector<Communicator> ranks = AllRanks(2);
  std::vector<float> data(4, 1.0f);
  {
    Group group;
    group.AllReduce(ranks[0], data, data);
  }
  EXPECT_THAT(data, Each(1.0f));
  EXPECT_FALSE(ranks[0].failure());
}

TEST(GroupOfCxx, KeepsACommunicatorUntilItsCallsHaveRun) {
  std::vector<Communicator> ranks = AllRanks(1);
  std::vector<int> data = {3};
  Group group;
  group.AllReduce(ranks[0], data, data);
  EXPECT_EQ(Said(ranks[0].Destroy()), "ok");
  EXPECT_EQ(Said(group.End()), "ok");
  EXPECT_THAT(data, ElementsAre(3));
}

}  // namespace
}  // namespace ringlet::cxx
