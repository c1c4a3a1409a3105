#include "comm/backend/blocking_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

TEST(BlockingTask, NamesAMissingRank) {
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
        const Status sent = Send(**communicator, Rank{2}, View(&value, 1), 1, DataType::kUint8);
        ASSERT_FALSE(sent.ok());
        EXPECT_EQ(sent.error().code, Code::kTimeout);
      });
}

}  // namespace
}  // namespace ringlet::comm
