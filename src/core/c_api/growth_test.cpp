#include <gmock/gmock.h>

#include <thread>

#include "c_api/comms_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

/// Grows `parents` by new ranks, all in one thread. The last rank of `parents` made the id.
Comms Grown(const Comms& parents, int size, const ncclUniqueId& id, bool says_id,
            ncclConfig_t* config = nullptr) {
  const int before = static_cast<int>(parents.size());
  Comms grown(static_cast<std::size_t>(size));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < size; ++rank) {
    ncclComm_t* const out = &grown[static_cast<std::size_t>(rank)];
    const bool is_new = rank >= before;
    const bool gives = is_new || (says_id && rank == before - 1);
    const ncclResult_t result =
        ncclCommGrow(is_new ? nullptr : parents[static_cast<std::size_t>(rank)], size,
                     gives ? &id : nullptr, is_new ? rank : -1, out, config);
    EXPECT_EQ(result, config && config->blocking == 0 ? ncclInProgress : ncclSuccess)
        << LastMessage();
  }
  const ncclResult_t end = ncclGroupEnd();
  EXPECT_TRUE(end == ncclSuccess || end == ncclInProgress) << LastMessage();
  for (const ncclComm_t comm : grown) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  return grown;
}

TEST(Growth, OldRanksKeepTheirNumbersAndNewOnesFollow) {
  for (const bool says_id : {false, true}) {
    SCOPED_TRACE(says_id);
    const auto parents = InitAll(2);
    ncclUniqueId id;
    ASSERT_EQ(ncclCommGetUniqueId(parents[1], &id), ncclSuccess) << LastMessage();
    const auto grown = Grown(parents, 5, id, says_id);
    for (int rank = 0; rank < 5; ++rank) {
      int its = -1, count = 0;
      EXPECT_EQ(ncclCommUserRank(grown[static_cast<std::size_t>(rank)], &its), ncclSuccess);
      EXPECT_EQ(ncclCommCount(grown[static_cast<std::size_t>(rank)], &count), ncclSuccess);
      EXPECT_EQ(its, rank);
      EXPECT_EQ(count, 5);
    }
    ExpectSum(grown);
    ExpectSum(parents);  // the parents are unchanged
    DestroyAll(grown);
    DestroyAll(parents);
  }
}

TEST(Growth, CanBeRepeatedAndNonBlocking) {
  Comms comms = InitAll(1);
  ncclConfig_t waits = NCCL_CONFIG_INITIALIZER, goes_on = NonBlocking();
  for (int size = 2; size <= 4; ++size) {
    ncclUniqueId id;
    ASSERT_EQ(ncclCommGetUniqueId(comms.back(), &id), ncclSuccess) << LastMessage();
    const Comms grown = Grown(comms, size, id, false, size % 2 == 0 ? &goes_on : &waits);
    ExpectSum(grown);
    DestroyAll(comms);
    comms = grown;
  }
  DestroyAll(comms);
}

TEST(Growth, WorksWithAThreadPerRank) {
  const auto parents = InitAll(2);
  ncclUniqueId id;
  ASSERT_EQ(ncclCommGetUniqueId(parents[0], &id), ncclSuccess);
  Comms grown(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      const ncclResult_t result =
          rank < 2
              ? ncclCommGrow(parents[at], 4, rank == 0 ? &id : nullptr, -1, &grown[at], nullptr)
              : ncclCommGrow(nullptr, 4, &id, rank, &grown[at], nullptr);
      EXPECT_EQ(result, ncclSuccess) << LastMessage();
    });
  for (std::thread& thread : threads) thread.join();
  ExpectSum(grown);
  DestroyAll(grown);
  DestroyAll(parents);
}

TEST(Growth, AllowsASingleUnusedIdAtATime) {
  const auto parents = InitAll(2);
  ncclUniqueId id, other;
  ASSERT_EQ(ncclCommGetUniqueId(parents[0], &id), ncclSuccess);
  EXPECT_EQ(ncclCommGetUniqueId(parents[0], &other), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("has not used the last id"));
  const auto grown = Grown(parents, 3, id, false);
  EXPECT_EQ(ncclCommGetUniqueId(parents[0], &other), ncclSuccess) << LastMessage();
  DestroyAll(grown);
  DestroyAll(parents);
}

TEST(Growth, WithoutAnIdItIsRefusedOnAllRanks) {
  const auto parents = InitAll(2);
  Comms grown(2);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclCommGrow(parents[i], 3, nullptr, -1, &grown[i], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("no rank passed a unique id"));
  EXPECT_EQ(grown[0], nullptr);
  DestroyAll(parents);
}

}  // namespace
}  // namespace ringlet::c_api
