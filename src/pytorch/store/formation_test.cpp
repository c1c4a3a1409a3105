#include "pytorch/store/formation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "comm/establish/ranks_for_test.hpp"
#include "pytorch/store/store_for_test.hpp"

namespace ringlet::torch_api {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

FormationConfig SeatOf(std::uint32_t rank, std::uint32_t size) {
  return {.rank = rank,
          .size = size,
          .key = "0",
          .ranks_per_root = 2,
          .timeout = seconds(30),
          .operation_timeout = seconds(30)};
}

TEST(Formation, NamesOneKeyPerRootOfTheRank) {
  EXPECT_THAT(KeysOfRoots(SeatOf(0, 2)), ElementsAre("0"));
  EXPECT_THAT(KeysOfRoots(SeatOf(0, 5)), ElementsAre("0:0", "0:1", "0:2"));
}

TEST(Formation, RanksMeetThroughTheStoreAndLeaveItEmpty) {
  for (const std::uint32_t size : {1u, 2u, 5u}) {
    MemoryStore store;
    const auto process = comm::ProcessWith({});
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        auto communicator = Form(store, SeatOf(rank, size), process, {});
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        EXPECT_TRUE(comm::SumOfRanks(**communicator, 5).ok());
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(store.size(), 0u) << "the same keys can serve again";
  }
}

TEST(Formation, ARankWithoutAnIdNamesTheRankThatPublishesIt) {
  MemoryStore store;
  FormationConfig formation = SeatOf(1, 2);
  formation.timeout = std::chrono::milliseconds(1);
  const auto failed = Form(store, formation, comm::ProcessWith({}), {});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kTimeout);
  EXPECT_THAT(failed.error().message,
              HasSubstr("rank 0 published no unique id of the process group within 1 ms"));
}

TEST(Formation, AnAbortEndsTheWait) {
  MemoryStore store;
  std::stop_source abort;
  abort.request_stop();
  const auto failed = Await(store, "never", seconds(1000), abort.get_token());
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, Code::kAborted);
}

TEST(Formation, TheBackoffMayBeginWithImmediateTries) {
  Backoff eager({.at_once = 2}), patient;
  EXPECT_EQ(eager.Next().count(), 0);
  EXPECT_EQ(eager.Next().count(), 0);
  const auto first = patient.Next();
  EXPECT_GT(first.count(), 0);
  EXPECT_EQ(eager.Next(), first);
  EXPECT_GT(patient.Next(), first);
  EXPECT_TRUE(Pause(std::chrono::microseconds(0), {}));
}

TEST(Formation, NamesAnInvalidId) {
  const auto failed = ToId(AsView("rubbish"), "0");
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.error().message, HasSubstr("'0' in the store is 7 bytes, not an id of 128"));
}

}  // namespace
}  // namespace ringlet::torch_api
