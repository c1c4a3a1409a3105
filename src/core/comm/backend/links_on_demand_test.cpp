#include "comm/backend/links_on_demand.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

class LinksOfEachKind : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Links, LinksOfEachKind, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& links) { return links.param; });

TEST_P(LinksOfEachKind, AreMadeForCommunicatingRanksAndKept) {
  // Ranks 0 and 2 are not neighbours in a ring of five.
  RunRanks(5, {{"RINGLET_LINKS", GetParam()}},
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             Communicator& mine = **communicator;
             EXPECT_EQ(mine.links().size(), 2u);
             for (std::uint8_t round = 0; round < 3; ++round) {
               std::byte value{round};
               if (rank == 0) {
                 ASSERT_TRUE(Send(mine, Rank{2}, {&value, 1}, 1, DataType::kUint8).ok());
               }
               if (rank == 2) {
                 value = std::byte{9};
                 ASSERT_TRUE(Receive(mine, Rank{0}, {&value, 1}, 1, DataType::kUint8).ok());
                 EXPECT_EQ(value, std::byte{round});
               }
             }
             EXPECT_EQ(mine.links().size(), rank == 0 || rank == 2 ? 3u : 2u);
             EXPECT_TRUE(Barrier(mine).ok());
           });
}

TEST(LinksOnDemand, ACollectiveMakesTheLinksOfItsSchedule) {
  RunFormed(5, {{"RINGLET_LINKS", "tcp"}}, [](std::uint32_t, Communicator& mine) {
    std::vector<float> in(5), out(5);
    EXPECT_TRUE(AllToAll(mine, {.input = std::as_bytes(std::span(in)),
                                .output = std::as_writable_bytes(std::span(out)),
                                .count = 1})
                    .ok());
    EXPECT_EQ(mine.links().size(), 4u);
  });
}

}  // namespace
}  // namespace ringlet::comm
