#include "comm/backend/emulated.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"
#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

class EmulatedBackend : public OnMachine {
 protected:
  void RunTwo(const EnvMap& more, const CommunicatorBody& body) const {
    RunOn(1, 2, more, [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      body(rank, **formed);
    });
  }
};

TEST_F(EmulatedBackend, CallsRunOnTheChannelsOfTheMachine) {
  RunTwo({}, [](std::uint32_t, Communicator& mine) {
    const Call call{.count = 1 << 20};
    const Profile::AlgorithmNames way = mine.backend().AlgorithmNamesOf(call);
    EXPECT_THAT(way.algorithm, testing::AnyOf(testing::StrEq("RING"), testing::StrEq("TREE")));
    EXPECT_EQ(way.channels, mine.backend().machine()->AlgorithmNamesOf(call)->channels);
    EXPECT_STREQ(
        mine.backend().AlgorithmNamesOf({.kind = CallKind::kAllToAll, .count = 8}).algorithm,
        "MESSAGES");
    EXPECT_TRUE(SumOfRanks(mine, 1000).ok());
    EXPECT_TRUE(mine.FreeWorkingMemory().ok());
    EXPECT_TRUE(SumOfRanks(mine, 1000).ok());
  });
}

TEST_F(EmulatedBackend, RefusesACallWithoutAnAllowedAlgorithm) {
  RunTwo({{"NCCL_ALGO", "allreduce:nvls"}}, [](std::uint32_t, Communicator& mine) {
    const Status can = mine.backend().Can({.count = 8});
    ASSERT_FALSE(can.ok());
    EXPECT_EQ(can.error().code, Code::kInvalidArgument);
    EXPECT_EQ(SumOfRanks(mine, 8).error().message, can.error().message) << "nothing has begun";
    EXPECT_TRUE(Barrier(mine).ok());
  });
}

TEST_F(EmulatedBackend, TheReportIsWrittenWhenTheRankLeaves) {
  RunTwo({{"RINGLET_TRAFFIC_DIR", PathOf("traffic")}}, [](std::uint32_t, Communicator& mine) {
    EXPECT_TRUE(SumOfRanks(mine, 1000).ok());
    mine.Leave();
  });
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(PathOf("traffic")), {}), 2);
}

}  // namespace
}  // namespace ringlet::comm
