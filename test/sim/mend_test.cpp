// Ranks leave in good order, and then a failure occurs. The rest of the tree or ring is
// disconnected, but every remaining rank must learn of the failure.
#include <gtest/gtest.h>

#include "world.hpp"

namespace ringlet::sim {
namespace {

using bootstrap::kWorld;
using bootstrap::Member;
using bootstrap::Shape;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint32_t kSize = 15;
constexpr bootstrap::GroupId kGroup = 7;

// Arity 2: below 0 are 1 and 8, below 1 are 2 and 5, below 2 are 3 and 4, ...
class Mend : public testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    for (std::uint32_t rank = 0; rank < kSize; ++rank)
      nodes_.push_back(world_.network().Add(std::make_unique<Member>(world_.ConfigOf(rank)),
                                            World::RankAddress(rank), Instant(0)));
    RunUntil(seconds(1));
    for (std::uint32_t rank = 0; rank < kSize; ++rank) ASSERT_TRUE(member(rank).standing());
  }
  static WorldConfig Config() {
    WorldConfig config;
    config.seed = 3;
    config.size = kSize;
    config.shape = GetParam();
    config.arity = 2;
    return config;
  }
  Member& member(std::uint32_t rank) {
    return static_cast<Member&>(world_.network().machine(nodes_[rank]));
  }
  void RunUntil(Instant time) { ASSERT_TRUE(world_.network().Run(time)); }
  void Turn(std::uint32_t rank) {
    world_.network().RequestTick(nodes_[rank], world_.network().now());
  }
  /// Sends its goodbye. Its process ends when that is on its way.
  void LeaveAt(std::uint32_t rank, Instant when) {
    RunUntil(when);
    member(rank).Leave();
    Turn(rank);
    world_.network().Kill(nodes_[rank], when + milliseconds(20));
    gone_.insert(rank);
  }
  void KillAt(std::uint32_t rank, Instant when) {
    world_.network().Kill(nodes_[rank], when);
    gone_.insert(rank);
  }
  void ExpectAllBlame(std::uint32_t origin, bootstrap::GroupId group = kWorld) {
    for (std::uint32_t rank = 0; rank < kSize; ++rank) {
      if (gone_.contains(rank)) continue;
      ASSERT_TRUE(member(rank).failure(group)) << "rank " << rank << " has not heard of it";
      EXPECT_EQ(member(rank).failure(group)->origin, origin) << member(rank).failure(group)->text;
    }
  }

  World world_{Config()};
  std::vector<NodeId> nodes_;
  std::set<std::uint32_t> gone_;
};

INSTANTIATE_TEST_SUITE_P(Shapes, Mend, testing::Values(Shape::kTree, Shape::kRing),
                         [](const auto& shape) {
                           return shape.param == Shape::kTree ? "tree" : "ring";
                         });

TEST_P(Mend, AFailureBelowADepartedRankReachesAll) {
  LeaveAt(1, seconds(2));
  LeaveAt(9, seconds(2));
  KillAt(3, seconds(3));
  RunUntil(seconds(5));
  ExpectAllBlame(3);
}

TEST_P(Mend, AFailureReachesAllAlthoughItsNeighboursLeft) {
  LeaveAt(1, seconds(2));
  LeaveAt(0, milliseconds(2500));
  LeaveAt(2, milliseconds(2600));
  LeaveAt(12, milliseconds(2700));
  RunUntil(seconds(3));
  member(4).Abort(Code::kAborted, "the caller said so");  // it has no line left
  Turn(4);
  RunUntil(seconds(5));
  ExpectAllBlame(4);
}

TEST_P(Mend, AFailureThatMeetsADepartureIsForwarded) {
  RunUntil(seconds(2));
  member(6).Abort(Code::kAborted, "the caller said so");
  Turn(6);
  for (const std::uint32_t rank : {1u, 5u}) LeaveAt(rank, seconds(2));
  RunUntil(seconds(5));
  ExpectAllBlame(6);
}

TEST_P(Mend, AFailureOfAGroupBypassesRanksThatLeftIt) {
  RunUntil(seconds(2));
  std::vector<std::uint32_t> all(kSize);
  for (std::uint32_t rank = 0; rank < kSize; ++rank) all[rank] = rank;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    ASSERT_TRUE(member(rank).Form(kGroup, kWorld, all, world_.network().now()).ok());
    Turn(rank);
  }
  RunUntil(seconds(3));
  for (const std::uint32_t rank : {1u, 8u}) {
    member(rank).Leave(kGroup);
    Turn(rank);
    gone_.insert(rank);
  }
  RunUntil(seconds(4));
  member(3).Abort(Code::kAborted, "the caller said so", kGroup);
  Turn(3);
  RunUntil(seconds(6));
  ExpectAllBlame(3, kGroup);
  for (std::uint32_t rank = 0; rank < kSize; ++rank)
    EXPECT_FALSE(member(rank).failure()) << "the world goes on";
}

TEST_P(Mend, RanksThatLeaveAfterAFailureDialNoOther) {
  KillAt(3, seconds(2));
  RunUntil(seconds(3));
  std::uint32_t before = 0, after = 0;
  for (const NodeId node : nodes_) before += world_.network().traffic(node).dialled;
  for (std::uint32_t rank = 0; rank < kSize; ++rank) {
    if (rank == 3) continue;
    member(rank).Leave();
    Turn(rank);
    RunUntil(seconds(3) + milliseconds(5 * (rank + 1)));
  }
  RunUntil(seconds(5));
  for (const NodeId node : nodes_) after += world_.network().traffic(node).dialled;
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace ringlet::sim
