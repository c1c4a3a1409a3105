// Non-blocking communicators (blocking = 0).
#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "c_api/comms_for_test.hpp"
#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

TEST(NonBlocking, ACommunicatorFormsInTheBackground) {
  const auto comms = FormWithoutBlocking(2);
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(NonBlocking, AFormingCommunicatorIsRefusedAndCanBeAborted) {
  ncclConfig_t config = NonBlocking();
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config),
            ncclInProgress);  // the other rank never joins
  ncclResult_t state = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess);
  EXPECT_EQ(state, ncclInProgress);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comm, &count), ncclInvalidArgument);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("ncclCommGetAsyncError"));
  float value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, comm, nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclInvalidArgument) << "the handle is gone";
}

TEST(NonBlocking, AFailureToFormHasAReason) {
  ncclConfig_t config = NonBlocking();
  const ncclUniqueId rubbish{};
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, rubbish, 0, &config), ncclInProgress);
  EXPECT_NE(Outcome(comm), ncclSuccess);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("unique id"));
  int count = 0;
  EXPECT_NE(ncclCommCount(comm, &count), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, TheParentIsBusyUntilItsChildHasFormed) {
  const auto parents = InitAll(2);
  ncclConfig_t config = NonBlocking();
  ncclComm_t children[2] = {};
  EXPECT_EQ(ncclCommSplit(parents[0], 0, 0, &children[0], &config), ncclInProgress);
  ncclResult_t state = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(parents[0], &state), ncclSuccess);
  EXPECT_EQ(state, ncclInProgress) << "the other rank has not called yet";
  float value = 1;
  EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat, ncclSum, parents[0], nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclCommSplit(parents[1], 0, 0, &children[1], &config), ncclInProgress);
  for (const ncclComm_t comm : {children[0], children[1], parents[0], parents[1]})
    EXPECT_EQ(Outcome(comm), ncclSuccess);
  ExpectSum({children[0], children[1]});
  ExpectSum(parents);
  for (const ncclComm_t comm : {children[0], children[1], parents[0], parents[1]})
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, AnAbortedChildLeavesItsParentAbortable) {
  const auto parents = InitAll(2);
  ncclConfig_t config = NonBlocking();
  ncclComm_t child = nullptr;
  EXPECT_EQ(ncclCommSplit(parents[0], 0, 0, &child, &config), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(child), ncclSuccess);
  ncclResult_t state = ncclInProgress;
  EXPECT_EQ(ncclCommGetAsyncError(parents[0], &state), ncclSuccess);
  EXPECT_NE(state, ncclInProgress) << "it waits for nothing any more";
  for (const ncclComm_t comm : parents) EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST(NonBlocking, ARankWithoutAColorGetsANullChild) {
  const auto parents = InitAll(2);
  ncclConfig_t config = NonBlocking();
  ncclComm_t children[2] = {parents[0], parents[0]};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommSplit(parents[0], 0, 0, &children[0], &config), ncclInProgress);
  EXPECT_EQ(ncclCommSplit(parents[1], NCCL_SPLIT_NOCOLOR, 0, &children[1], &config),
            ncclInProgress);
  EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
  EXPECT_EQ(children[1], nullptr);
  for (const ncclComm_t comm : {children[0], parents[1]}) EXPECT_EQ(Outcome(comm), ncclSuccess);
  for (const ncclComm_t comm : {children[0], parents[0], parents[1]})
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NonBlocking, ARefusedGroupReturnsNoHandles) {
  const auto parents = InitAll(1);
  ncclConfig_t config = NonBlocking();
  ncclComm_t child = nullptr, other = nullptr;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommSplit(parents[0], 0, 0, &child, &config), ncclInProgress);
  EXPECT_EQ(ncclCommSplit(nullptr, 0, 0, &other, &config), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(child, nullptr);
  ExpectSum(parents);  // is not busy with a child that never forms
  EXPECT_EQ(ncclCommDestroy(parents[0]), ncclSuccess);
}

TEST(NonBlocking, AnOperationWithoutItsPeersReturnsAtOnce) {
  const auto comms = FormWithoutBlocking(2);
  float data[] = {1, 2};
  const auto sum = [&](std::size_t rank) {
    return ncclAllReduce(&data[rank], &data[rank], 1, ncclFloat, ncclSum, comms[rank], nullptr);
  };
  EXPECT_EQ(sum(0), ncclInProgress);
  EXPECT_EQ(StateNow(comms[0]), ncclInProgress) << "the other rank has not called";
  EXPECT_EQ(sum(0), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("busy with an operation"));
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclInvalidArgument);
  EXPECT_EQ(sum(1), ncclInProgress);
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 3);
  EXPECT_EQ(data[1], 3);
  EXPECT_EQ(ncclRecv(&data[1], 1, ncclFloat, 0, comms[1], nullptr), ncclInProgress);
  EXPECT_EQ(ncclSend(&data[0], 1, ncclFloat, 1, comms[0], nullptr), ncclInProgress);
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  DestroyAll(comms);
}

TEST(NonBlocking, AnOperationCanBeAbortedAtAnyTime) {
  const auto comms = FormWithoutBlocking(2);
  float data = 1;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comms[0]), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[1], nullptr) == ncclSuccess,
            false);
  EXPECT_EQ(Outcome(comms[1]), ncclRemoteError);
  EXPECT_THAT(LastMessage(), HasSubstr("ncclCommAbort was called"));
  EXPECT_EQ(ncclCommAbort(comms[1]), ncclSuccess);
}

TEST(NonBlocking, AFailedOperationHasAReason) {
  const auto comms = FormWithoutBlocking(2);
  float data = 1;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comms[1]), ncclSuccess);
  EXPECT_EQ(Outcome(comms[0]), ncclRemoteError);
  EXPECT_THAT(LastMessage(), HasSubstr("left the communicator (destroyed or aborted it)"));
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclRemoteError) << "its result is not there";
}

TEST(NonBlocking, AWrongCallIsRefusedAtOnce) {
  const auto comms = FormWithoutBlocking(1);
  float data[4] = {};
  EXPECT_EQ(ncclAllGather(data, data + 1, 2, ncclFloat, comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(StateNow(comms[0]), ncclSuccess);
  DestroyAll(comms);
}

TEST(NonBlocking, AChildWithoutAConfigInheritsNonBlocking) {
  const auto parents = FormWithoutBlocking(2);
  Comms children(2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(ncclCommSplit(parents[i], 0, 0, &children[i], nullptr), ncclInProgress);
    EXPECT_NE(children[i], nullptr);
  }
  for (const Comms& comms : {children, parents})
    for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  float data[] = {1, 2};
  EXPECT_EQ(ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, children[0], nullptr),
            ncclInProgress);
  EXPECT_EQ(ncclAllReduce(&data[1], &data[1], 1, ncclFloat, ncclSum, children[1], nullptr),
            ncclInProgress);
  for (const ncclComm_t comm : children) EXPECT_EQ(Outcome(comm), ncclSuccess);
  DestroyAll(children);
  DestroyAll(parents);
}

TEST(NonBlocking, ASplitWithoutAColorRunsOnTheParent) {
  const auto parents = FormWithoutBlocking(2);
  ncclComm_t none = parents[0], child = nullptr;
  EXPECT_EQ(ncclCommSplit(parents[0], NCCL_SPLIT_NOCOLOR, 0, &none, nullptr), ncclInProgress);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(StateNow(parents[0]), ncclInProgress) << "the other rank has not called";
  EXPECT_EQ(ncclCommSplit(parents[1], 0, 0, &child, nullptr), ncclInProgress);
  for (const ncclComm_t comm : {parents[0], parents[1], child})
    EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  ExpectSum(parents);
  DestroyAll({child, parents[0], parents[1]});
}

TEST(NonBlocking, AbortingTheParentAbortsASplitWithoutAColor) {
  const auto parents = FormWithoutBlocking(2);
  ncclComm_t none = nullptr;
  EXPECT_EQ(ncclCommSplit(parents[0], NCCL_SPLIT_NOCOLOR, 0, &none, nullptr), ncclInProgress);
  EXPECT_EQ(ncclCommDestroy(parents[0]), ncclInvalidArgument);
  AbortAll(parents);
}

TEST(NonBlocking, ShrinkWithAbortEndsARunningOperation) {
  const auto parents = FormWithoutBlocking(3);
  float data = 1;
  int excluded = 2;
  Comms children(2);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, parents[i], nullptr),
              ncclInProgress);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclCommShrink(parents[i], &excluded, 1, &children[i], nullptr, NCCL_SHRINK_ABORT),
              ncclInProgress)
        << LastMessage();
  for (const ncclComm_t comm : children) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  ExpectSum(children);
  DestroyAll(children);
  AbortAll(parents);
}

TEST(NonBlocking, AGroupRefusesToMixBlockingAndNonBlocking) {
  const auto one = FormWithoutBlocking(1), other = InitAll(1);
  float data = 1;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (const ncclComm_t comm : {one[0], other[0]})
    EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("block"));
  DestroyAll({one[0], other[0]});
}

TEST(NonBlocking, ACommunicatorAbortedInsideItsGroupIsNotFormed) {
  ncclConfig_t config = NonBlocking();
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
  // An error on a thread of the library is visible to threads without an error of their own.
  std::string seen;
  std::thread([&] { seen = LastMessage(); }).join();
  EXPECT_THAT(seen, HasSubstr("version is NULL")) << "nothing was begun that could fail";
  EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
}

// Another thread begins an operation after the group has collected its call.
TEST(NonBlocking, AGroupRefusesABusyCommunicator) {
  const auto comms = FormWithoutBlocking(2);
  float data[] = {1, 2}, other = 0;
  const auto sum = [&](float* value, std::size_t rank) {
    return ncclAllReduce(value, value, 1, ncclFloat, ncclSum, comms[rank], nullptr);
  };
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(sum(&other, 0), ncclSuccess);
  std::thread([&] { EXPECT_EQ(sum(&data[0], 0), ncclInProgress); }).join();
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("busy with an operation"));
  EXPECT_EQ(sum(&data[1], 1), ncclInProgress);
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 3);
  EXPECT_EQ(other, 0);
  DestroyAll(comms);
}

// The caller owns all buffers again, including those of another communicator of the same group.
TEST(NonBlocking, ARunningCallHasEndedWhenAbortReturns) {
  const auto one = FormWithoutBlocking(2), other = FormWithoutBlocking(2);
  float data[] = {1, 2};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, one[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data[1], &data[1], 1, ncclFloat, ncclSum, other[0], nullptr),
            ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
  EXPECT_EQ(StateNow(other[0]), ncclInProgress);
  EXPECT_EQ(ncclCommAbort(one[0]), ncclSuccess);
  EXPECT_EQ(StateNow(other[0]), ncclRemoteError);
  AbortAll({one[1], other[0], other[1]});
}

TEST(NonBlocking, AnOperationFailsWithAReasonIfNoThreadStarts) {
  const auto comms = FormWithoutBlocking(1);
  float data = 1;
  {
    const comm::NoThreadsStart limit;
    EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr),
              ncclSystemError);
    EXPECT_THAT(LastMessage(), HasSubstr("cannot start a thread"));
  }
  EXPECT_EQ(StateNow(comms[0]), ncclSuccess);
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(NonBlocking, AShrinkFailsTheParentOnlyWithTheAbortFlag) {
  int excluded = 2;
  for (const int flags : {NCCL_SHRINK_DEFAULT, NCCL_SHRINK_ABORT}) {
    const auto parents = FormWithoutBlocking(3);
    Comms children(2);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(ncclCommShrink(parents[i], &excluded, 1, &children[i], nullptr, flags),
                ncclInProgress)
          << LastMessage();
    for (const ncclComm_t comm : children) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
    ExpectSum(children);
    if (flags == NCCL_SHRINK_DEFAULT) {
      ExpectSum(parents);
    } else {
      EXPECT_EQ(Outcome(parents[0]), ncclRemoteError);
      EXPECT_THAT(LastMessage(), HasSubstr("ncclCommShrink"));
    }
    DestroyAll(children);
    AbortAll(parents);
  }
}

TEST(NonBlocking, DestroyingAChildEndsItsRegistrations) {
  const Comms parents = FormWithoutBlocking(1);
  ncclComm_t child = nullptr;
  ASSERT_EQ(ncclCommSplit(parents[0], 0, 0, &child, nullptr), ncclInProgress);
  ASSERT_EQ(Outcome(child), ncclSuccess) << LastMessage();
  void *memory = nullptr, *handle = nullptr;
  ASSERT_EQ(ncclMemAlloc(&memory, 64), ncclSuccess);
  ASSERT_EQ(ncclCommRegister(child, memory, 64, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(child), ncclSuccess);
  EXPECT_EQ(ncclMemFree(memory), ncclSuccess) << LastMessage();
  EXPECT_EQ(Outcome(parents[0]), ncclSuccess);
  DestroyAll(parents);
}

}  // namespace
}  // namespace ringlet::c_api
