#include "comm/run/blocking_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

class LinksOnDemand : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Links, LinksOnDemand, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& links) { return links.param; });

TEST_P(LinksOnDemand, AreMadeForRanksThatTalkAndKept) {
  // In a ring of five, ranks 0 and 2 are no neighbours.
  RunRanks(5, {{"RINGLET_LINKS", GetParam()}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             Communicator& mine = **communicator;
             EXPECT_EQ(mine.links().size(), 2u);
             for (std::uint8_t round = 0; round < 3; ++round) {
               std::byte value{round};
               if (rank == 0) {
                 ASSERT_TRUE(mine.Send(Rank{2}, {&value, 1}, 1, DataType::kUint8).ok());
               }
               if (rank == 2) {
                 value = std::byte{9};
                 ASSERT_TRUE(mine.Receive(Rank{0}, {&value, 1}, 1, DataType::kUint8).ok());
                 EXPECT_EQ(value, std::byte{round});
               }
             }
             EXPECT_EQ(mine.links().size(), rank == 0 || rank == 2 ? 3u : 2u);
             EXPECT_TRUE(mine.Barrier().ok());
           });
}

TEST(BlockingTask, ARankThatDoesNotComeIsNamed) {
  RunRanks(
      5, {{"RINGLET_LINKS", "shm"}, {"RINGLET_TIMEOUT", "0.2"}},
      [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        if (rank != 0) {
          const auto reason = (*communicator)->control().AwaitFailure(std::chrono::seconds(20));
          ASSERT_TRUE(reason.has_value());
          EXPECT_THAT(reason->message, HasSubstr("waits for rank 2 to begin"));
          return;
        }
        const std::byte value{};
        const Status sent = (*communicator)->Send(Rank{2}, View(&value, 1), 1, DataType::kUint8);
        ASSERT_FALSE(sent.ok());
        EXPECT_EQ(sent.error().code, Code::kTimeout);
      });
}

}  // namespace
}  // namespace ringlet::comm
