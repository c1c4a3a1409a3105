#include "frontends/cli/peers/peer_build.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(PeerBuildTest, TheCommandNamesPackagesTreeAndTarget) {
  EXPECT_THAT(PeerBuildCommand("/b/bin", "libgloo-dev", "ringlet_bench_gloo"),
              testing::EndsWith("apt-get install -y libgloo-dev && cmake -DRINGLET_PEERS=ON /b && "
                                "cmake --build /b --target ringlet_bench_gloo"));
}

}  // namespace
}  // namespace ringlet::cli
