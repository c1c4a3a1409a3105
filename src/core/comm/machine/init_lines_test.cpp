#include "comm/machine/init_lines.hpp"

#include <gmock/gmock.h>

#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class InitLinesTest : public OnMachine {
 protected:
  std::vector<std::string> LinesOf(std::uint32_t hosts, std::uint32_t rank) const {
    std::vector<std::string> lines;
    RunOn(hosts, 4 * hosts, {}, [&](std::uint32_t self, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      if (self == rank)
        for (const InitLine& line : InitLines(*(*communicator)->backend().machine(),
                                              (*communicator)->peer_table(), Rank{rank}, 0xabc)) {
          EXPECT_EQ(line.subsystem == Subsystem::kGraph, line.text.starts_with("Ring "));
          lines.push_back(line.text);
        }
    });
    return lines;
  }
};

TEST_F(InitLinesTest, MatchTheLinesOfNccl) {
  const auto lines = LinesOf(1, 0);
  EXPECT_THAT(lines, Contains("comm 0xabc rank 0 nRanks 4 nNodes 1 localRanks 4 localRank 0 "
                              "MNNVL 0"));
  EXPECT_THAT(lines, Contains(MatchesRegex("Channel 00/[0-9]+ : 0 [1-3] [1-3] [1-3]")));
  EXPECT_THAT(lines, Contains(MatchesRegex("Ring 00 : [1-3] -> 0 -> [1-3]")));
  EXPECT_THAT(lines, Contains(MatchesRegex("Trees \\[0\\] .*->0->.*")));
  EXPECT_THAT(lines, Contains(MatchesRegex("Channel 00/0 : 0\\[0\\] -> .* via P2P/CUMEM")));
  EXPECT_THAT(lines, Contains("Connected all rings"));
  EXPECT_THAT(lines, Contains("Connected all trees"));
  EXPECT_THAT(lines, Contains(MatchesRegex("[0-9]+ coll channels, 0 collnet channels, 0 nvls "
                                           "channels, [0-9]+ p2p channels, [0-9]+ p2p channels "
                                           "per peer")));
}

TEST_F(InitLinesTest, BetweenHostsTheyNameTheNics) {
  std::vector<std::string> all;
  for (std::uint32_t rank = 4; rank < 8; ++rank)
    for (const std::string& line : LinesOf(2, rank)) all.push_back(line);
  EXPECT_THAT(all, Not(Contains(StartsWith("Channel 00/0"
                                           "2 :"))));  // of rank 0 only
  EXPECT_THAT(all, Contains(AllOf(HasSubstr("[send] via NET/"))));
  EXPECT_THAT(all, Contains(AllOf(HasSubstr("[receive] via NET/"))));
  EXPECT_THAT(all, Contains(HasSubstr("nNodes 2")));
}

}  // namespace
}  // namespace ringlet::comm
