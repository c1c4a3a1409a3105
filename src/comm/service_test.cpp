#include "comm/service.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ringlet::comm {
namespace {

std::size_t Next(const std::vector<std::uint32_t>& ranks, std::size_t threads_max) {
  return ThreadForNextRank(ranks, threads_max);
}

TEST(ThreadForNextRank, FillsAThreadBeforeItStartsAnother) {
  EXPECT_EQ(Next({0}, 4), 0u);
  EXPECT_EQ(Next({kRanksOfAThread - 1}, 4), 0u);
  EXPECT_EQ(Next({kRanksOfAThread}, 4), 1u) << "a new one";
  EXPECT_EQ(Next({kRanksOfAThread, 3}, 4), 1u);
}

TEST(ThreadForNextRank, StartsNoMoreThanThereMayBe) {
  EXPECT_EQ(Next({kRanksOfAThread}, 1), 0u);
  EXPECT_EQ(Next({kRanksOfAThread, kRanksOfAThread}, 2), 0u);
}

TEST(ThreadForNextRank, DealsRanksOutInBlocksSoThatNeighboursStayTogether) {
  std::vector<std::uint32_t> ranks = {0};
  std::vector<std::size_t> blocks;
  for (std::uint32_t rank = 0; rank < 8 * kRanksOfAThread; ++rank) {
    const std::size_t thread = Next(ranks, 3);
    if (thread == ranks.size()) ranks.push_back(0);
    ++ranks[thread];
    if (rank % kRanksOfAThread == 0) blocks.push_back(thread);
    EXPECT_EQ(thread, blocks.back()) << "rank " << rank;
  }
  EXPECT_EQ(blocks, (std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(ThreadForNextRank, FillsWhatOthersHaveLeft) {
  EXPECT_EQ(Next({3 * kRanksOfAThread, kRanksOfAThread + 5, 2 * kRanksOfAThread}, 3), 1u);
}

TEST(Service, ASeatIsTakenUntilItsLastCopyGoes) {
  os::Logger logger(Settings{}, "host", 1);
  std::shared_ptr<const void> kept;
  {
    const auto service = *Service::Start("test", logger);
    auto seat = service->TakeSeat();
    kept = service->TakeSeat();
    const auto copy = seat;
    EXPECT_EQ(service->ranks(), 2u);
    seat.reset();
    EXPECT_EQ(service->ranks(), 2u) << "a copy holds it";
  }
  kept.reset();  // may outlive the service
}

}  // namespace
}  // namespace ringlet::comm
