#include "tool/peers/init_peers.hpp"

#include <gmock/gmock.h>

#include "os/process/env.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

os::Command Shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}, os::ReadEnvironment()};
}

TEST(PeerCommandTest, GlooStartsEnoughProcessesForItsMesh) {
  const auto processes = [](const InitHead& head) {
    return PeerCommand("gloo", head, "/f", 20'000, {}).arguments;
  };
  EXPECT_THAT(processes({.ranks = 64}), ElementsAre("/f/ringlet_init_gloo", "64", "1"));
  EXPECT_THAT(processes({.ranks = 256}), ElementsAre("/f/ringlet_init_gloo", "256", "5"));
  EXPECT_THAT(processes({.ranks = 64, .threads = false, .processes = 64}),
              ElementsAre("/f/ringlet_init_gloo", "64", "64"));
}

TEST(PeerCommandTest, ReservesDescriptorsOutsideTheMesh) {
  const auto processes = [](std::uint64_t descriptors) {
    return PeerCommand("gloo", {.ranks = 64}, "/f", descriptors, {}).arguments.at(2);
  };
  EXPECT_EQ(processes(1024), "8") << "64 * 64 * 3 / 2, by 1024 - 256";
  EXPECT_EQ(processes(300), "24") << "by 256, as few as there are";
  EXPECT_EQ(PeerCommand("gloo", {.ranks = 64}, "/f", 256 + 6144, {}).arguments.at(2), "1");
  EXPECT_EQ(PeerCommand("gloo", {.ranks = 64}, "/f", 256 + 6143, {}).arguments.at(2), "2");
}

TEST(PeerCommandTest, MpiStartsThroughItsLauncher) {
  const os::Command command = PeerCommand("openmpi", {.ranks = 3}, "/f", 20'000, {{"A", "b"}});
  EXPECT_THAT(command.arguments,
              ElementsAre("/f/ringlet_mpirun_openmpi", "-n", "3", "/f/ringlet_init_openmpi"));
  EXPECT_EQ(command.environment.at("A"), "b");
  EXPECT_EQ(command.environment.at("OMPI_MCA_rmaps_base_oversubscribe"), "1");
  EXPECT_EQ(command.environment.at("PRTE_MCA_rmaps_default_mapping_policy"), ":oversubscribe");
}

TEST(RunPeerTest, ParsesTheTimeFromTheOutput) {
  const PeerRun run =
      RunPeer("gloo", Shell("echo warning >&2; echo total_ms 12.5"), std::chrono::minutes(1));
  EXPECT_EQ(run, (PeerRun{"gloo", 12.5, ""}));
}

TEST(RunPeerTest, ReportsAProgramThatIsNotBuilt) {
  for (const char* const peer : {"gloo", "openmpi"}) {
    const PeerRun run = RunPeer(peer, PeerCommand(peer, {.ranks = 2}, "/nowhere", 100, {}),
                                std::chrono::minutes(1));
    EXPECT_FALSE(run.total_ms.has_value());
    EXPECT_THAT(run.trouble, HasSubstr("was not built"));
    EXPECT_THAT(run.trouble, HasSubstr(std::string("/nowhere/ringlet_init_") + peer));
  }
}

TEST(RunPeerTest, QuotesTheErrorOfAFailedProgram) {
  const PeerRun run =
      RunPeer("gloo", Shell("echo total_ms 3; echo no route >&2; exit 3"), std::chrono::minutes(1));
  EXPECT_FALSE(run.total_ms.has_value());
  EXPECT_EQ(run.trouble, "it exited with status 3: no route");
}

TEST(RunPeerTest, QuotesAnInvalidTime) {
  for (const std::string time : {"soon", "0", "-1", "nan"}) {
    const PeerRun run = RunPeer("gloo", Shell("echo total_ms " + time), std::chrono::minutes(1));
    EXPECT_FALSE(run.total_ms.has_value()) << time;
    EXPECT_THAT(run.trouble, HasSubstr("total_ms " + time));
  }
}

TEST(RunPeerTest, EndsAProgramThatExceedsItsTime) {
  const PeerRun run = RunPeer("gloo", Shell("kill -STOP $$"), Instant(0));
  EXPECT_FALSE(run.total_ms.has_value());
  EXPECT_THAT(run.trouble, HasSubstr("ended after 0 s"));
}

TEST(ToolFolderTest, IsThatOfThisProgram) {
  EXPECT_THAT(ToolFolder(), testing::StartsWith("/"));
}

}  // namespace
}  // namespace ringlet::cli
