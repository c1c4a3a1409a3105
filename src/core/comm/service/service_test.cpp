#include "comm/service/service.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>
#include <vector>

#include "comm/run/no_threads_for_test.hpp"
#include "os/process/limits.hpp"

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

TEST(ThreadForNextRank, StartsAtMostTheAllowedThreads) {
  EXPECT_EQ(Next({kRanksOfAThread}, 1), 0u);
  EXPECT_EQ(Next({kRanksOfAThread, kRanksOfAThread}, 2), 0u);
}

TEST(ThreadForNextRank, AssignsRanksInBlocks) {
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

TEST(ThreadForNextRank, FillsFreedPlaces) {
  EXPECT_EQ(Next({3 * kRanksOfAThread, kRanksOfAThread + 5, 2 * kRanksOfAThread}, 3), 1u);
}

TEST(Service, ASeatIsTakenUntilItsLastCopyIsDestroyed) {
  os::Logger logger(Settings{}, "host", 1);
  std::shared_ptr<const void> kept;
  {
    const auto service = *Service::Start("test", logger);
    auto slot = service->ReserveService();
    kept = service->ReserveService();
    const auto copy = slot;
    EXPECT_EQ(service->ranks(), 2u);
    slot.reset();
    EXPECT_EQ(service->ranks(), 2u) << "a copy holds it";
  }
  kept.reset();  // may outlive the service
}

TEST(Service, FailsIfItsThreadCannotStart) {
  os::Logger logger(Settings{}, "host", 1);
  const NoThreadsStart limit;
  const auto service = Service::Start("test", logger);
  ASSERT_FALSE(service.ok());
  EXPECT_EQ(service.error().code, Code::kSystem);
}

int MemoryPolicy() {
  int mode = -1;
  return ::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0 ? mode : -1;
}

/// Returns the memory policy of the service's thread, after all its posted work.
int MemoryPolicyOf(Service& service) {
  std::promise<int> answer;
  service.driver().Post([&] { answer.set_value(MemoryPolicy()); });
  return answer.get_future().get();
}

TEST(Service, PlacesItsMemoryAtTheNumaNodeSharedByItsRanks) {
  bool possible = false;
  std::thread([&] { possible = os::MemoryNear(0).in_force(); }).join();
  if (!possible) GTEST_SKIP() << "the kernel lets no thread say where its memory is to be";
  os::Logger logger(Settings{}, "host", 1);
  const auto service = *Service::Start("test", logger);
  const std::vector<std::uint32_t> cpus = os::UsableCpus();
  ASSERT_FALSE(cpus.empty());
  const auto local_host = topology::CpuSet::Of(cpus.front(), cpus.front());
  const int before = MemoryPolicyOf(*service);
  ASSERT_NE(before, MPOL_PREFERRED);
  for (int rank = 0; rank < 2; ++rank) {
    service->RunNear(local_host, 0);
    EXPECT_EQ(MemoryPolicyOf(*service), MPOL_PREFERRED);
  }
  for (const std::uint32_t node : {1u, 0u}) {
    service->RunNear(local_host, node);
    EXPECT_EQ(MemoryPolicyOf(*service), before) << "they live at two nodes";
  }
}

}  // namespace
}  // namespace ringlet::comm
