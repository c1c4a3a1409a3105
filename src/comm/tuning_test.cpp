#include "comm/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

TEST(Tuning, RanksLieByHost) {
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_HOSTID", rank % 2 == 0 ? "even" : "odd"}});
  };
  RunRanks(4, process_of, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const auto layout = LayoutOf((*communicator)->plan(), (*communicator)->census());
    EXPECT_EQ(layout.order.size(), 4u);
    ASSERT_EQ(layout.groups.size(), 2u);
    EXPECT_THAT(layout.groups[0], testing::UnorderedElementsAre(Rank{0}, Rank{2}));
    EXPECT_THAT(layout.groups[1], testing::UnorderedElementsAre(Rank{1}, Rank{3}));
    EXPECT_TRUE(SumOfRanks(**communicator, 1000).ok());
  });
}

TEST(Tuning, WithoutSharedMemoryAHostIsSlow) {
  Settings settings;
  const auto fast = TunerFor(settings).model.local;
  settings.links = LinkChoice::kTcp;
  EXPECT_GT(TunerFor(settings).model.local.latency_ns, fast.latency_ns);
}

TEST(Tuning, AnAlgorithmThatDoesNotExistIsRefusedAtTheStart) {
  const auto process = Process::Start({{"RINGLET_HOST_ALGO", "fastest"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message, HasSubstr("must be one of ring, doubling"));
}

}  // namespace
}  // namespace ringlet::comm
