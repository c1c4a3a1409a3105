#include "tool/sim/sim_faults.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Fault::Kind;

constexpr Instant kEver = Instant::max();

FaultTarget RankVictim(std::uint32_t index) {
  return {FaultTarget::Kind::kRank, index};
}
FaultTarget HostVictim(std::uint32_t index) {
  return {FaultTarget::Kind::kHost, index};
}
FaultTarget RootVictim(std::uint32_t index) {
  return {FaultTarget::Kind::kRoot, index};
}

TEST(SimFaultsTest, AnEmptyTextGivesNoFaults) {
  const FaultPlan plan = ParseFaults(" ").value();
  EXPECT_FALSE(plan.any());
  EXPECT_EQ(plan.Last(), Instant(0));
}

TEST(SimFaultsTest, ParsesEveryKindOfFault) {
  const FaultPlan plan =
      ParseFaults(
          "kill:3@10ms, silence:host2@5ms,stop:root@1ms-2s,slow:root1@3ms,late:5@100ms,"
          "absent:6,refuse:0.5,corrupt:0.25")
          .value();
  EXPECT_THAT(plan.faults,
              ElementsAre(Fault{Kind::kKill, RankVictim(3), {}, milliseconds(10), kEver},
                          Fault{Kind::kSilence, HostVictim(2), {}, milliseconds(5), kEver},
                          Fault{Kind::kStop, RootVictim(0), {}, milliseconds(1), seconds(2)},
                          Fault{Kind::kSlow, RootVictim(1), {}, milliseconds(3), kEver},
                          Fault{Kind::kLate, RankVictim(5), {}, milliseconds(100), kEver},
                          Fault{Kind::kAbsent, RankVictim(6), {}, Instant(0), Instant(0)}));
  EXPECT_EQ(plan.refuse, 0.5);
  EXPECT_EQ(plan.corrupt, 0.25);
  EXPECT_EQ(plan.Last(), seconds(2));
  EXPECT_TRUE(ParseFaults("corrupt:0.25").value().any());
  EXPECT_EQ(ParseFaults("kill:3@10ms,kill:4@5ms").value().Last(), milliseconds(10));
}

TEST(SimFaultsTest, ACutHasOneDirectionOrBoth) {
  EXPECT_THAT(
      ParseFaults("cut:host1>host2@5ms-1s").value().faults,
      ElementsAre(Fault{Kind::kCut, HostVictim(1), HostVictim(2), milliseconds(5), seconds(1)}));
  EXPECT_THAT(ParseFaults("cut:host1-host2@5ms").value().faults,
              ElementsAre(Fault{Kind::kCut, HostVictim(1), HostVictim(2), milliseconds(5), kEver},
                          Fault{Kind::kCut, HostVictim(2), HostVictim(1), milliseconds(5), kEver}));
}

TEST(SimFaultsTest, QuotesAnInvalidFaultWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"kill", "a colon is missing"},
      {"tickle:3@1ms", "unknown fault \"tickle\""},
      {"kill:3", "it needs a time"},
      {"kill:x@1ms", "\"x\" is not a rank"},
      {"kill:host@1ms", "is not a rank"},
      {"kill:4294967296@1ms", "is not a rank"},
      {"kill:3@soon", "\"soon\" is not a time"},
      {"stop:3@1ms", "it needs an end"},
      {"stop:3@2ms-1ms", "it ends before it begins"},
      {"stop:host3@1ms-2ms", "not to a host"},
      {"late:host3@1ms", "it applies to a rank"},
      {"absent:3@1ms", "stays absent"},
      {"cut:host1@1ms", "only a cut takes two hosts"},
      {"kill:1-2@1ms", "only a cut takes two hosts"},
      {"cut:1-2@1ms", "a cut needs two hosts"},
      {"cut:host1-nobody@1ms", "a cut needs two hosts"},
      {"cut:host1-2@1ms", "a cut needs two hosts"},
      {"refuse:2", "\"2\" is not a probability"},
      {"corrupt:", "not a probability"},
  };
  for (const auto& [text, why] : cases) {
    const auto plan = ParseFaults(std::string("kill:1@1ms,") + text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_THAT(plan.error().message,
                AllOf(HasSubstr(std::string("\"") + text + "\""), HasSubstr(why)));
    EXPECT_EQ(plan.error().code, Code::kInvalidArgument);
  }
}

TEST(SimFaultsTest, VictimsMustExist) {
  const SimExtent extent{.ranks = 16, .hosts = 2, .roots = 1};
  EXPECT_TRUE(CheckFaults(ParseFaults("kill:15@1ms,cut:host0-host1@1ms").value(), extent).ok());
  const auto complaint = [&](const char* text) {
    return CheckFaults(ParseFaults(text).value(), extent).error().message;
  };
  EXPECT_THAT(complaint("kill:16@1ms"), HasSubstr("names rank 16, but there are 16 ranks"));
  EXPECT_THAT(complaint("kill:root1@1ms"), HasSubstr("names root 1, but there is 1 root, from 0"));
  EXPECT_THAT(complaint("cut:host0>host2@1ms"), HasSubstr("names host 2"));
}

}  // namespace
}  // namespace ringlet::cli
