#include "plan/channels/p2p_channels.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace ringlet::plan {
namespace {

using Paths = std::vector<std::optional<topology::Bandwidth>>;

// Source  computed by hand from NCCL 2.30's rules for these machines.
TEST(P2pChannelsTest, CountsMatchNccl) {
  const Paths switched(56, topology::Bandwidth{370'800}), pcie(12);
  const P2pNodeClass hopper{switched, {20'600}, 1, {48'000}}, small{pcie, {}, 1, {12'000}};
  EXPECT_EQ(CountP2pChannels({&hopper, 1}, 2, 8, 16, {}), (P2pChannels{16, 4}));
  EXPECT_EQ(CountP2pChannels({&small, 1}, 2, 4, 2, {}), (P2pChannels{2, 1}));
  EXPECT_EQ(CountP2pChannels({&hopper, 1}, 1, 8, 24, {}), (P2pChannels{32, 32}));
}

TEST(P2pChannelsTest, TheWeakestClassAndTheUserLimitTheCount) {
  const Paths switched(56, topology::Bandwidth{370'800}), pcie(12);
  const P2pNodeClass both[] = {{switched, {20'600}, 1, {48'000}}, {pcie, {}, 1, {12'000}}};
  EXPECT_EQ(CountP2pChannels(both, 2, 8, 16, {}).of_a_peer, 1u);
  EXPECT_EQ(CountP2pChannels({both, 1}, 2, 8, 16, {.net_peer = 8}).of_a_peer, 8u);
  EXPECT_EQ(CountP2pChannels({both, 1}, 2, 64, 16, {.net_peer = 8}).of_a_peer, 2u);
  EXPECT_EQ(CountP2pChannels({both, 1}, 2, 8, 16, {.max = 4}).total, 4u);
  EXPECT_EQ(CountP2pChannels({}, 1, 1, 1, {}), (P2pChannels{1, 1}));
}

}  // namespace
}  // namespace ringlet::plan
