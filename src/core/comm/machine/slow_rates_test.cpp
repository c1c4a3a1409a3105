#include "comm/machine/slow_rates.hpp"

#include <gmock/gmock.h>

#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

class SlowRatesTest : public OnMachine {
 protected:
  /// Returns rank 0's algorithm for an all-reduce of so many bytes.
  MachineAlgorithm AlgorithmNamesOf(std::uint32_t hosts, const std::string& slow, std::size_t bytes,
                                    EnvMap more = {}) {
    MachineAlgorithm found;
    if (!slow.empty()) more["RINGLET_SLOW"] = slow;
    RunOn(hosts, 4 * hosts, more, [&](std::uint32_t rank, auto communicator) {
      ASSERT_TRUE(communicator.ok()) << communicator.error().message;
      const auto way = (*communicator)->backend().machine()->AlgorithmNamesOf({.count = bytes});
      ASSERT_TRUE(way.ok()) << way.error().message;
      if (rank == 0) found = *way;
    });
    return found;
  }
  static constexpr std::size_t kLarge = std::size_t{1} << 30;
};

TEST_F(SlowRatesTest, SlowLinksLeaveThePlanUnchanged) {
  const MachineAlgorithm whole = AlgorithmNamesOf(2, "", kLarge);
  MachineAlgorithm slow = AlgorithmNamesOf(2, "link=NET0:0.1", kLarge);
  EXPECT_NE(slow, whole);
  slow.slowed_ns.reset();
  EXPECT_EQ(slow, whole);
}

// Channels take 24 of the 25 GB/s of a NIC.
TEST_F(SlowRatesTest, ATenthOfTheRateTakesTenTimesTheTimeForLargeData) {
  const double whole = static_cast<double>(AlgorithmNamesOf(2, "", kLarge).predicted_ns());
  const double slow =
      static_cast<double>(AlgorithmNamesOf(2, "link=NET0:0.1", kLarge).predicted_ns());
  EXPECT_NEAR(slow / whole, 10 * 24 / 25.0, 0.1);
}

TEST_F(SlowRatesTest, LatenciesDoNotChange) {
  const double whole = static_cast<double>(AlgorithmNamesOf(2, "", 8).predicted_ns());
  const double slow = static_cast<double>(AlgorithmNamesOf(2, "link=NET0:0.1", 8).predicted_ns());
  EXPECT_LT(slow / whole, 1.1);
}

TEST_F(SlowRatesTest, ALinkThatNoChannelUsesDoesNotMatter) {
  EXPECT_EQ(AlgorithmNamesOf(1, "link=NET0:0.1", kLarge).slowed_ns, std::nullopt);
  EXPECT_EQ(AlgorithmNamesOf(2, "link=NET0:1", kLarge).slowed_ns, std::nullopt);
  EXPECT_EQ(AlgorithmNamesOf(2, "link=NET9:0.1", kLarge).slowed_ns, std::nullopt);
}

TEST_F(SlowRatesTest, ALinkOfOneHostSlowsAllRanks) {
  for (const char* host : {"host-0", "host-1"}) {
    const std::string slow = "link=NET0@" + std::string(host) + ":0.1";
    EXPECT_EQ(AlgorithmNamesOf(2, slow, kLarge).slowed_ns,
              AlgorithmNamesOf(2, "link=NET0:0.1", kLarge).slowed_ns);
  }
  EXPECT_EQ(AlgorithmNamesOf(2, "link=NET0@host-2:0.1", kLarge).slowed_ns, std::nullopt);
}

TEST_F(SlowRatesTest, AnNvLinkWithinANodeSlowsRanks) {
  const double whole = static_cast<double>(AlgorithmNamesOf(1, "", kLarge).predicted_ns());
  const double slow =
      static_cast<double>(AlgorithmNamesOf(1, "link=GPU2,NVS0:0.5", kLarge).predicted_ns());
  EXPECT_GT(slow / whole, 1.5);
  EXPECT_LT(slow / whole, 2.1);
}

TEST_F(SlowRatesTest, APartlyUsedLinkSlowsOnlyBelowItsUsedShare) {
  EXPECT_EQ(AlgorithmNamesOf(2, "link=NET0:0.97", kLarge).slowed_ns, std::nullopt);
  EXPECT_NE(AlgorithmNamesOf(2, "link=NET0:0.95", kLarge).slowed_ns, std::nullopt);
}

TEST_F(SlowRatesTest, EachAlgorithmAndProtocolHasATime) {
  for (const char* algorithm : {"Ring", "Tree"})
    for (const char* protocol : {"LL", "LL128", "Simple"})
      for (const char* fraction : {"0.001", "0.5"}) {
        const EnvMap forced = {{"NCCL_ALGO", algorithm}, {"NCCL_PROTO", protocol}};
        const MachineAlgorithm whole = AlgorithmNamesOf(2, "", kLarge, forced);
        const MachineAlgorithm slow =
            AlgorithmNamesOf(2, "link=NET0:" + std::string(fraction), kLarge, forced);
        EXPECT_GE(slow.predicted_ns(), whole.predicted_ns()) << algorithm << protocol << fraction;
        EXPECT_LE(slow.predicted_ns(), whole.predicted_ns() * 1100);
      }
}

TEST_F(SlowRatesTest, TheSettingIsCheckedWhenAProcessStarts) {
  const auto process = Process::Start({{"RINGLET_SLOW", "NET2"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message, testing::HasSubstr("RINGLET_SLOW: \"NET2\" is not link="));
}

}  // namespace
}  // namespace ringlet::comm
