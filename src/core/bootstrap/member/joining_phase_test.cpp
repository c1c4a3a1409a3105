#include "bootstrap/member/joining_phase.hpp"

#include <fmt/format.h>

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, PhaseNamesAtMostEightPendingRanks) {
  for (const std::uint32_t below : {8u, 9u}) {
    MemberConfig config = Config(0, below + 1);
    config.arity = static_cast<std::uint16_t>(below);
    Scene scene(config);
    scene.CheckIn().Transmit(FrameType::kRoster, RosterOf(below + 1).bytes().bytes);
    EXPECT_THAT(scene.member.Phase(), HasSubstr(", rank 8 (host host4, pid 1008)"));
    EXPECT_THAT(scene.member.Phase(), testing::Not(HasSubstr("rank 9")));
    EXPECT_EQ(scene.member.Phase().ends_with(", ..."), below > 8);
  }
}

// Config on a host with a stopped rank 1.
MemberConfig BesideAStoppedRank(MemberConfig config) {
  config.is_stopped = [](std::string_view host, std::uint32_t pid) {
    return host == "host0" && pid == 1001;
  };
  return config;
}
constexpr const char* kStopped =
    "is stopped (by SIGSTOP or a debugger; kill -CONT 1001 resumes it)";

TEST(Member, ReportsAStoppedChildAsStopped) {
  Scene scene(BesideAStoppedRank(Config(0, 2)));
  scene.CheckIn().Transmit(FrameType::kRoster, RosterOf(2).bytes().bytes);
  EXPECT_EQ(scene.member.Phase(), fmt::format("connecting to the ranks below: rank 1 (host host0, "
                                              "pid 1001) {}",
                                              kStopped));
  scene.driver.Pass(seconds(10) - 2 * LadderStep(seconds(10)));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  EXPECT_THAT(scene.Why(),
              AllOf(testing::StartsWith(fmt::format("rank 1 (host host0, pid 1001) {};", kStopped)),
                    testing::Not(HasSubstr("10.0.0.1"))));
}

TEST(Member, ReportsAStoppedNodeLeaderAsStopped) {
  MemberConfig config = BesideAStoppedRank(Config(0, 4));
  config.node_leader = Address::Unix("node leader");
  Scene scene(config);
  scene.driver.Deliver(Connected{scene.driver.dials.back().line, 1001});
  scene.driver.Pass(seconds(10));
  EXPECT_EQ(scene.Why(), fmt::format("rank 0 (host host0, pid 1000) timed out connecting to the "
                                     "node leader of this host, which {}",
                                     kStopped));
}

}  // namespace
}  // namespace ringlet::bootstrap
