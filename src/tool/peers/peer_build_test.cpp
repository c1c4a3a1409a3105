#include "tool/peers/peer_build.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(PeerBuildTest, TheCommandInstallsAndBuilds) {
  EXPECT_THAT(PeerBuildCommand("/b/bin", "bench", "gloo"),
              testing::EndsWith("apt-get install -y libgloo-dev && cmake -DRINGLET_PEERS=ON /b && "
                                "cmake --build /b --target ringlet_bench_gloo"));
  EXPECT_EQ(PeerBuildCommand("/b/bin", "init", "intelmpi"),
            "python3 -m venv /b/peers/intelmpi && /b/peers/intelmpi/bin/pip install -q impi-rt "
            "impi-devel && cmake -DRINGLET_PEERS=ON /b && cmake --build /b --target "
            "ringlet_init_intelmpi");
}

TEST(PeerBuildTest, EachPeerHasACommand) {
  for (const std::string& peer : PeerNames()) {
    EXPECT_THAT(PeerBuildCommand("/b/bin", "bench", peer), HasSubstr("ringlet_bench_" + peer));
    EXPECT_THAT(PeerNamesText(), HasSubstr(peer));
  }
}

TEST(PeerBuildTest, ProgramsLieBesideTheTool) {
  EXPECT_EQ(PeerProgram("/b/bin", "init", "gloo"), "/b/bin/ringlet_init_gloo");
  EXPECT_EQ(PeerLauncher("/b/bin", "mpich"), "/b/bin/ringlet_mpirun_mpich");
}

}  // namespace
}  // namespace ringlet::cli
