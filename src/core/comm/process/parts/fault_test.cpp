#include "comm/process/parts/fault.hpp"

#include <gmock/gmock.h>

#include <csignal>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using collective::CallKind;
using testing::HasSubstr;

TEST(RankFault, ParsesItsText) {
  const auto tenth = ParseFault("3@all_reduce:10");
  ASSERT_TRUE(tenth.ok());
  EXPECT_EQ(tenth->rank, 3u);
  EXPECT_EQ(tenth->kind, CallKind::kAllReduce);
  EXPECT_EQ(tenth->number, 10u);
  EXPECT_EQ(ParseFault("0@broadcast")->number, 1u);
}

TEST(RankFault, QuotesInvalidTexts) {
  for (const char* const text :
       {"", "3", "@all_reduce", "3@", "3@sum", "x@all_reduce", "3@all_reduce:", "3@all_reduce:0",
        "3@all_reduce:1x", "-1@all_reduce", ":@"}) {
    const auto read = ParseFault(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().message, HasSubstr(text));
  }
}

TEST(RankFault, OccursOnceAtItsOperation) {
  RankFault fault{.kind = CallKind::kBroadcast, .number = 2};
  EXPECT_FALSE(fault.CountOperation(CallKind::kBroadcast));
  EXPECT_FALSE(fault.CountOperation(CallKind::kAllReduce));
  EXPECT_TRUE(fault.CountOperation(CallKind::kBroadcast));
  EXPECT_FALSE(fault.CountOperation(CallKind::kBroadcast));
}

TEST(RankFaultDeathTest, TheRankIsKilledAtItsOperation) {
  const auto second = [] {
    RunRanks(1, EnvMap{{"RINGLET_FAULT", "0@all_reduce:2"}}, [](std::uint32_t, auto communicator) {
      EXPECT_TRUE(Barrier(**communicator).ok());
      EXPECT_TRUE(SumOfRanks(**communicator, 1).ok());
      static_cast<void>(SumOfRanks(**communicator, 1));
    });
  };
  EXPECT_EXIT(second(), testing::KilledBySignal(SIGKILL), "");
}

TEST(RankFault, LeavesOtherRanksAlive) {
  RunRanks(1, EnvMap{{"RINGLET_FAULT", "1@all_reduce"}}, [](std::uint32_t, auto communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    EXPECT_TRUE(SumOfRanks(**communicator, 1).ok());
  });
}

TEST(RankFault, AnInvalidTextFailsTheProcess) {
  const auto process = Process::Start({{"RINGLET_FAULT", "soon"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message, HasSubstr("RINGLET_FAULT"));
}

}  // namespace
}  // namespace ringlet::comm
