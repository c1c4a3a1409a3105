#include "comm/establish/split.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

class SplitOver : public testing::TestWithParam<const char*> {
 protected:
  EnvMap Environment() const {
    if (GetParam() == std::string_view("encrypted")) return {{"RINGLET_ENCRYPT", "1"}};
    return {{"RINGLET_BOOTSTRAP", GetParam()}, {"RINGLET_TREE_ARITY", "2"}};
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, SplitOver, testing::Values("tree", "ring", "encrypted"),
                         [](const auto& shape) { return std::string(shape.param); });

TEST_P(SplitOver, SplitMakesACommunicatorOfEachColourInOrderOfKeys) {
  RunRanks(7, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok()) << parent.error().message;
    const bool none = rank == 3;
    const auto color = none ? std::nullopt : std::optional<std::int32_t>(rank % 2 == 0 ? -5 : 9);
    auto child = Split(**parent, color, -static_cast<std::int32_t>(rank), {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    ASSERT_EQ(*child == nullptr, none);
    if (none) return;
    EXPECT_EQ((*child)->identity().size, rank % 2 == 0 ? 4u : 2u);
    EXPECT_EQ((*child)->identity().rank, Rank{(6 - rank) / 2 - (rank == 1 ? 1 : 0)});
    EXPECT_NE((*child)->identity().magic, (*parent)->identity().magic);
    EXPECT_TRUE(SumOfRanks(**child, 1000).ok());
  });
}

TEST_P(SplitOver, ChildrenOutliveTheirParentAndHaveChildren) {
  RunRanks(6, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    auto child = Split(**parent, static_cast<std::int32_t>(rank / 3), 0, {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    parent->reset();
    EXPECT_TRUE(SumOfRanks(**child, 10).ok());
    auto grandchild = Split(**child, 0, static_cast<std::int32_t>(rank), {});
    ASSERT_TRUE(grandchild.ok()) << grandchild.error().message;
    EXPECT_TRUE(SumOfRanks(**grandchild, 10).ok());
    EXPECT_TRUE(SumOfRanks(**child, 10).ok());
  });
}

TEST_P(SplitOver, ManySplitsOfOneParentDoNotMix) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    std::vector<std::unique_ptr<Communicator>> children;
    for (std::uint32_t i = 0; i < 12; ++i) {
      auto child = Split(**parent, static_cast<std::int32_t>((rank + i) % 4 / 2), 0, {});
      ASSERT_TRUE(child.ok()) << child.error().message;
      children.push_back(std::move(*child));
    }
    for (const auto& child : children) EXPECT_TRUE(SumOfRanks(*child, 5).ok());
  });
}

TEST_P(SplitOver, ShrinkFormsACommunicatorWithoutTheDeadRanks) {
  RunRanks(6, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 2) {
      (*parent)->Abort("it dies");
      return;
    }
    ASSERT_TRUE((*parent)->control().AwaitFailure(std::chrono::seconds(20)));
    EXPECT_FALSE(SumOfRanks(**parent, 10).ok()) << "the parent has failed";
    auto rest = Shrink(**parent, {2}, {});
    ASSERT_TRUE(rest.ok()) << rest.error().message;
    EXPECT_EQ((*rest)->identity().size, 5u);
    EXPECT_EQ((*rest)->identity().rank, Rank{rank < 2 ? rank : rank - 1});
    EXPECT_TRUE(SumOfRanks(**rest, 1000).ok());
    auto fewer = Shrink(**rest, {4}, {});  // in the ranks of `rest`: rank 5 of the first
    if (rank == 5) {
      ASSERT_FALSE(fewer.ok());
      EXPECT_THAT(fewer.error().message, HasSubstr("rank 4 cannot leave itself out"));
      return;
    }
    ASSERT_TRUE(fewer.ok()) << fewer.error().message;
    EXPECT_TRUE(SumOfRanks(**fewer, 1000).ok());
  });
}

// Excluded ranks do not know of the shrink. All can still be split, and other parts can shrink.
TEST_P(SplitOver, AfterAShrinkTheParentSplitsAndShrinksAgain) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    std::vector<std::unique_ptr<Communicator>> children;
    const auto shrink = [&](std::vector<std::uint32_t> excluded) {
      if (std::ranges::count(excluded, rank) > 0) return;
      auto child = Shrink(**parent, excluded, {});
      ASSERT_TRUE(child.ok()) << child.error().message;
      children.push_back(std::move(*child));
    };
    shrink({1});
    auto half = Split(**parent, static_cast<std::int32_t>(rank % 2), 0, {});
    ASSERT_TRUE(half.ok()) << half.error().message;
    children.push_back(std::move(*half));
    shrink({1});
    shrink({1, 2});
    shrink({0});
    shrink({0, 3});
    for (const auto& child : children) EXPECT_TRUE(SumOfRanks(*child, 5).ok());
    EXPECT_TRUE(SumOfRanks(**parent, 5).ok());
  });
}

TEST_P(SplitOver, AParentCanBeShrunkByVaryingRanksAndSplit) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    const auto shrink = [&](std::vector<std::uint32_t> without) {
      if (std::ranges::find(without, rank) != without.end()) return;
      const auto rest = Shrink(**parent, without, {});
      ASSERT_TRUE(rest.ok()) << rest.error().message;
      EXPECT_TRUE(SumOfRanks(**rest, 10).ok());
    };
    const auto split = [&] {
      const auto child = Split(**parent, static_cast<std::int32_t>(rank % 2), 0, {});
      ASSERT_TRUE(child.ok()) << child.error().message;
      EXPECT_TRUE(SumOfRanks(**child, 10).ok());
    };
    shrink({0, 2, 3});
    split();
    shrink({3});
    shrink({0});
    shrink({3});
    split();
  });
}

// Rank 2 of the parent is rank 1 among the remaining ranks.
TEST_P(SplitOver, AFailedShrinkNamesRanksByTheirNumbersInTheParent) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 1) return;
    if (rank == 2) {
      const auto control = (*parent)->control().Shrink({1});
      ASSERT_TRUE(control.ok());
      EXPECT_EQ((*control)->ranks_of_parent(), (std::vector<std::uint32_t>{0, 2, 3}));
      (*control)->Fail({.code = Code::kPeerLost,
                        .message = (*control)->roster().DescribeRank(Rank{1}) + " is gone",
                        .lost_rank = 1});
      return;
    }
    const auto rest = Shrink(**parent, {1}, {});
    ASSERT_FALSE(rest.ok());
    EXPECT_THAT(rest.error().message, HasSubstr("rank 2 (host "));
    EXPECT_THAT(rest.error().message, testing::Not(HasSubstr("rank 1 ")));
    EXPECT_EQ(rest.error().lost_rank, 2);
  });
}

TEST_P(SplitOver, DifferentExcludedRanksAreRefused) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 3) return;
    const auto rest = Shrink(
        **parent, rank == 1 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{3}, {});
    ASSERT_FALSE(rest.ok());
    EXPECT_EQ(rest.error().code == Code::kInvalidArgument || rest.error().code == Code::kPeerLost,
              true)
        << rest.error().message;
  });
}

// No rank is told which ranks are gone. Some learn of rank 2 first, others of rank 5.
TEST_P(SplitOver, ReformLeavesOutTheRanksThatAreLost) {
  RunRanks(7, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 2 || rank == 5) return;
    EXPECT_FALSE(SumOfRanks(**parent, 10).ok());
    auto rest = Reform(**parent, 5, {});
    ASSERT_TRUE(rest.ok()) << rest.error().message;
    EXPECT_EQ((*rest)->identity().size, 5u);
    EXPECT_EQ((*rest)->identity().rank, Rank{rank < 2 ? rank : rank < 5 ? rank - 1 : rank - 2});
    EXPECT_EQ((*parent)->control().recovery(), std::nullopt);
    EXPECT_EQ((*rest)->control().recovery()->first_result, std::nullopt);
    EXPECT_TRUE(SumOfRanks(**rest, 1000).ok());
    const auto times = (*rest)->control().recovery();
    EXPECT_LE(times->called, times->agreed);
    EXPECT_LE(times->agreed, times->rebuilt);
    EXPECT_LE(times->rebuilt, times->first_result);
    EXPECT_TRUE(SumOfRanks(**rest, 10).ok());
    EXPECT_EQ((*rest)->control().recovery(), times) << "only the first result counts";
    parent->reset();
    if (rank == 0) return;
    EXPECT_FALSE(SumOfRanks(**rest, 10).ok());
    const auto fewer = Reform(**rest, 1, {});
    ASSERT_TRUE(fewer.ok()) << fewer.error().message;
    EXPECT_EQ((*fewer)->identity().size, 4u);
    EXPECT_TRUE(SumOfRanks(**fewer, 1000).ok());
  });
}

// If a rank is lost while they form it, some may have it and others not.
TEST_P(SplitOver, RanksReformTogetherEvenIfOnlySomeHaveReformedBefore) {
  RunRanks(5, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 4) return;
    EXPECT_FALSE(SumOfRanks(**parent, 10).ok());
    auto first = Reform(**parent, 1, {});
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ((*first)->identity().size, 4u);
    if (rank == 2) return;
    EXPECT_FALSE(SumOfRanks(**first, 10).ok());
    if (rank == 3) first->reset();
    const auto second = Reform(rank == 3 ? **parent : **first, 1, {});
    ASSERT_TRUE(second.ok()) << second.error().message;
    EXPECT_EQ((*second)->identity().size, 3u);
    EXPECT_EQ((*second)->identity().rank, Rank{rank == 3 ? 2 : rank});
    EXPECT_TRUE(SumOfRanks(**second, 1000).ok());
  });
}

TEST_P(SplitOver, ReformKeepsAllRanksIfNoneIsLost) {
  RunRanks(3, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    EXPECT_FALSE(SumOfRanks(**parent, 10 + rank).ok()) << "the ranks call different operations";
    const auto again = Reform(**parent, 3, {});
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ((*again)->identity().rank, Rank{rank});
    EXPECT_TRUE(SumOfRanks(**again, 1000).ok());
  });
}

// The peer infos of ranks that expect one host contain the place of its memory.
TEST(SplitTest, ChildrenOfOneHostExpectOneHost) {
  RunRanks(3, EnvMap(), [](std::uint32_t, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok()) << parent.error().message;
    EXPECT_FALSE((*parent)->peer_table().peer_infos.back().arena);
    const auto child = Split(**parent, 0, 0, {});
    ASSERT_TRUE(child.ok()) << child.error().message;
    EXPECT_TRUE((*child)->peer_table().peer_infos.back().arena);
    EXPECT_TRUE(SumOfRanks(**child, 1000).ok());
  });
}

TEST(SplitTest, ChildrenOfSeveralHostsDoNot) {
  RunRanks(
      3,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", rank == 2 ? "b" : "a"}, {"RINGLET_LINKS", "tcp"}});
      },
      [](std::uint32_t, Result<std::unique_ptr<Communicator>> parent) {
        ASSERT_TRUE(parent.ok()) << parent.error().message;
        const auto child = Split(**parent, 0, 0, {});
        ASSERT_TRUE(child.ok()) << child.error().message;
        EXPECT_FALSE((*child)->origin().config.expects_one_host);
        EXPECT_TRUE(SumOfRanks(**child, 1000).ok());
      });
}

TEST(SplitTest, ReformRefusesACommunicatorThatWorks) {
  RunRanks(1, EnvMap(), [](std::uint32_t, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    const auto none = Reform(**parent, 1, {});
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, Code::kInvalidArgument);
    EXPECT_THAT(none.error().message, HasSubstr("has not failed"));
    EXPECT_TRUE(SumOfRanks(**parent, 10).ok());
  });
}

TEST_P(SplitOver, ReformFailsOnAllRanksIfTooFewRemain) {
  RunRanks(4, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 1) return;
    EXPECT_FALSE(SumOfRanks(**parent, 10).ok());
    const auto none = Reform(**parent, 4, {});
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().code, Code::kInvalidArgument);
    EXPECT_THAT(none.error().message, HasSubstr("of 4 ranks, 3 remain, which is less than the "
                                                "minimum of 4"));
  });
}

TEST(SplitTest, GrowAddsNewProcesses) {
  UniqueId growth;
  std::atomic<bool> made = false;
  const auto newcomers = ProcessWith({});
  std::thread joins([&] {
    made.wait(false);
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 3; rank < 5; ++rank)
      threads.emplace_back([&, rank] {
        auto grown = Establish(newcomers, {.id = growth, .rank = rank, .size = 5}, {});
        ASSERT_TRUE(grown.ok()) << grown.error().message;
        EXPECT_TRUE(SumOfRanks(**grown, 100).ok());
      });
    for (std::thread& thread : threads) thread.join();
  });
  RunRanks(3, EnvMap(), [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    std::optional<UniqueId> id;
    if (rank == 1) {
      auto created = CreateGrowthId(**parent);
      ASSERT_TRUE(created.ok()) << created.error().message;
      id = growth = *created;
      made = true;
      made.notify_all();
    }
    auto grown = Grow(**parent, 5, id, {});
    ASSERT_TRUE(grown.ok()) << grown.error().message;
    EXPECT_EQ((*grown)->identity().rank, Rank{rank});
    EXPECT_TRUE(SumOfRanks(**grown, 100).ok());
    EXPECT_TRUE(SumOfRanks(**parent, 100).ok()) << "the parent stays";
  });
  joins.join();
}

TEST(SplitTest, ANewRankReceivesTheFailureOfTheMembers) {
  const auto newcomer = ProcessWith({{"RINGLET_INIT_TIMEOUT", "300"}});
  RunRanks(2, EnvMap(), [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    if (rank == 1) return (*parent)->Abort("rank 1 has had enough");
    const auto id = CreateGrowthId(**parent);
    ASSERT_TRUE(id.ok());
    EXPECT_THAT(Grow(**parent, 3, *id, {}).error().message, HasSubstr("rank 1 has had enough"));
    const auto late = Establish(newcomer, {.id = *id, .rank = 2, .size = 3}, {});
    ASSERT_FALSE(late.ok());
    EXPECT_THAT(late.error().message,
                testing::ContainsRegex("^the communicator was not grown: .*rank 1 has had enough"));
  });
}

TEST(SplitTest, AllRanksRefuseAnImpossibleGrowth) {
  RunRanks(2, EnvMap(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> parent) {
    ASSERT_TRUE(parent.ok());
    EXPECT_THAT(Grow(**parent, 3, {}, {}).error().message, HasSubstr("no rank passed a unique id"));
    const auto id = CreateGrowthId(**parent);
    ASSERT_TRUE(id.ok());
    EXPECT_THAT(Grow(**parent, 3, *id, {}).error().message,
                HasSubstr("ranks 0,1 all passed a unique id"));
    const std::optional<UniqueId> one = rank == 0 ? std::optional(*id) : std::nullopt;
    EXPECT_THAT(Grow(**parent, 2, one, {}).error().message, HasSubstr("cannot grow to 2"));
    const auto plain = CreateUniqueId((*parent)->origin().process);
    const auto foreign = CreateUniqueId((*parent)->origin().process, 5);
    ASSERT_TRUE(plain.ok() && foreign.ok());
    const auto grow_with = [&](const UniqueId& wrong) {
      return Grow(**parent, 3, rank == 0 ? std::optional(wrong) : std::nullopt, {}).error().message;
    };
    EXPECT_THAT(grow_with(*plain), testing::EndsWith("this communicator of 2 ranks"));
    EXPECT_THAT(grow_with(*foreign), testing::EndsWith("of 2 ranks but one of 5"));
    const Config old{.id = *id, .rank = 1, .size = 3};
    EXPECT_THAT(Establish((*parent)->origin().process, old, {}).error().message,
                HasSubstr("rank 1 is one of the 2 ranks"));
  });
}

}  // namespace
}  // namespace ringlet::comm
