// ncclCommRevoke: the communicator stays as a parent of others.
#include <gmock/gmock.h>

#include <thread>

#include "c_api/comms_for_test.hpp"
#include "ringlet/errors.h"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

Comms Revoked(int ranks) {
  const Comms comms = InitAll(ranks);
  for (const ncclComm_t comm : comms)
    EXPECT_EQ(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess) << LastMessage();
  return comms;
}

TEST(Revoke, RefusesUnknownFlags) {
  const Comms comms = InitAll(1);
  for (const int flags : {1, -1, 1 << 30}) {
    EXPECT_EQ(ncclCommRevoke(comms[0], flags), ncclInvalidArgument);
    EXPECT_THAT(LastMessage(), HasSubstr("revokeFlags is " + std::to_string(flags)));
  }
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(Revoke, AllowsOnlyTheMakingOfOtherCommunicators) {
  const Comms comms = Revoked(2);
  float data = 1;
  void* handle = nullptr;
  const ncclComm_t one = comms[0];
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}}) {
    EXPECT_EQ(ncclAllReduce(&data, &data, count, ncclFloat, ncclSum, one, nullptr),
              ncclInvalidUsage);
    EXPECT_THAT(LastMessage(), HasSubstr("revoked"));
    EXPECT_EQ(ncclSend(&data, count, ncclFloat, 1, one, nullptr), ncclInvalidUsage);
  }
  EXPECT_EQ(ncclCommRegister(one, &data, 4, &handle), ncclInvalidUsage);
  EXPECT_EQ(ncclCommFinalize(one), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("revoked"));
  EXPECT_EQ(ncclCommRevoke(one, NCCL_REVOKE_DEFAULT), ncclInvalidUsage);
  EXPECT_EQ(StateNow(one), ncclSuccess) << "it is as it was asked to be";
  int count = 0;
  EXPECT_EQ(ncclCommCount(one, &count), ncclSuccess);
  DestroyAll(comms);
}

TEST(Revoke, RefusesAFinalizedCommunicator) {
  const Comms comms = InitAll(1);
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclSuccess);
  EXPECT_EQ(ncclCommRevoke(comms[0], NCCL_REVOKE_DEFAULT), ncclInvalidUsage);
  DestroyAll(comms);
}

TEST(Revoke, LeavesACommunicatorThatCanBeSplit) {
  const Comms parents = Revoked(3);
  for (int round = 0; round < 2; ++round) {
    Comms children(3);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(
          ncclCommSplit(parents[static_cast<std::size_t>(rank)], rank == 1 ? NCCL_SPLIT_NOCOLOR : 5,
                        -rank, &children[static_cast<std::size_t>(rank)], nullptr),
          ncclSuccess)
          << LastMessage();
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
    EXPECT_EQ(children[1], nullptr);
    int rank = -1;
    EXPECT_EQ(ncclCommUserRank(children[2], &rank), ncclSuccess);
    EXPECT_EQ(rank, 0) << "by its key";
    ExpectSum({children[2], children[0]});
    DestroyAll({children[0], children[2]});
  }
  DestroyAll(parents);
}

TEST(Revoke, LeavesACommunicatorThatCanBeShrunk) {
  const Comms parents = Revoked(3);
  Comms children(2);
  int excluded = 0;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(
        ncclCommShrink(parents[i + 1], &excluded, 1, &children[i], nullptr, NCCL_SHRINK_DEFAULT),
        ncclSuccess)
        << LastMessage();
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  ExpectSum(children);
  DestroyAll(children);
  DestroyAll(parents);
}

// All ranks still exist, so all are in the new communicator.
TEST(Revoke, LeavesACommunicatorThatCanBeReformed) {
  const Comms parents = Revoked(3);
  Comms children(3);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(ringletCommReform(parents[i], 3, &children[i]), ncclSuccess) << LastMessage();
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  ExpectSum(children);
  DestroyAll(children);
  DestroyAll(parents);
}

TEST(Reform, RefusesWrongArgumentsAndACommunicatorThatWorks) {
  const Comms comms = InitAll(2);
  ncclComm_t made = comms[0];
  EXPECT_EQ(ringletCommReform(comms[0], 0, &made), ncclInvalidArgument);
  EXPECT_EQ(made, nullptr);
  EXPECT_THAT(LastMessage(), HasSubstr("minRanks is 0"));
  EXPECT_EQ(ringletCommReform(comms[0], 1, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ringletCommReform(nullptr, 1, &made), ncclInvalidArgument);
  EXPECT_EQ(ringletCommReform(comms[0], 1, &made), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("has not failed"));
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(Revoke, EndsACallInAnotherThreadAndFailsThePeers) {
  const Comms comms = InitAll(2);
  float data = 1;
  std::thread blocked([&] {
    EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr),
              ncclRemoteError);
    EXPECT_THAT(LastMessage(), HasSubstr("revoked"));
  });
  EXPECT_EQ(ncclCommRevoke(comms[1], NCCL_REVOKE_DEFAULT), ncclSuccess);
  blocked.join();
  EXPECT_EQ(StateNow(comms[0]), ncclRemoteError) << "it has not revoked it itself";
  EXPECT_EQ(ncclCommRevoke(comms[0], NCCL_REVOKE_DEFAULT), ncclSuccess);
  EXPECT_EQ(StateNow(comms[0]), ncclSuccess);
  DestroyAll(comms);
}

TEST(Revoke, EndsNonBlockingOperations) {
  const Comms comms = FormWithoutBlocking(2);
  float data = 1;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclInProgress);
  for (const ncclComm_t comm : comms)
    EXPECT_EQ(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess) << LastMessage();
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess);
  Comms children(2);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclCommSplit(comms[i], 0, 0, &children[i], nullptr), ncclInProgress);
  for (const ncclComm_t comm : children) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  ExpectSum(children);
  DestroyAll(children);
  DestroyAll(comms);
}

}  // namespace
}  // namespace ringlet::c_api
