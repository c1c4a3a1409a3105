#include "c_api/group.hpp"

#include <gmock/gmock.h>

#include "c_api/comms_for_test.hpp"
#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

void ExpectNoGroupIsOpen() {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("without ncclGroupStart"));
}

TEST(Group, EndsAtOnceIfItIsEmpty) {
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  for (int depth = 0; depth < 3; ++depth) EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int depth = 0; depth < 3; ++depth) EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  ExpectNoGroupIsOpen();
}

TEST(Group, RunsImmediateCallsWithoutWaiting) {
  const Comms comms = InitAll(2);
  float memory[8] = {}, scalar = 2;
  void* handle = nullptr;
  ncclRedOp_t op;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommRegister(comms[0], memory, sizeof memory, &handle), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat, ncclScalarHostImmediate, comms[0]),
            ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(op, comms[0]), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  DestroyAll(comms);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
}

// Messages alone run on a shorter way than messages among other calls.
TEST(Group, MessagesMixWithOtherCallsInAnyOrder) {
  const Comms one = InitAll(2), other = InitAll(2);
  for (const std::string order : {"m", "mm", "mc", "cm", "mcm", "mo", "om", "moc", "mocm"}) {
    float sent = 0, got[8] = {}, summed[2] = {1, 1}, others = 0;
    std::size_t messages = 0;
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (const char call : order) {
      sent = 3;
      if (call == 'm') {
        EXPECT_EQ(ncclSend(&sent, 1, ncclFloat, 1, one[0], nullptr), ncclSuccess);
        EXPECT_EQ(ncclRecv(&got[messages++], 1, ncclFloat, 0, one[1], nullptr), ncclSuccess);
      } else if (call == 'o') {
        EXPECT_EQ(ncclSend(&sent, 1, ncclFloat, 0, other[1], nullptr), ncclSuccess);
        EXPECT_EQ(ncclRecv(&others, 1, ncclFloat, 1, other[0], nullptr), ncclSuccess);
      } else {
        for (std::size_t rank = 0; rank < 2; ++rank)
          EXPECT_EQ(ncclAllReduce(&summed[rank], &summed[rank], 1, ncclFloat, ncclSum, one[rank],
                                  nullptr),
                    ncclSuccess);
      }
    }
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << order << ": " << LastMessage();
    for (std::size_t i = 0; i < messages; ++i) EXPECT_EQ(got[i], 3) << order;
    EXPECT_EQ(others, order.find('o') == std::string::npos ? 0 : 3) << order;
    EXPECT_EQ(summed[1], order.find('c') == std::string::npos ? 1 : 2) << order;
  }
  DestroyAll(one);
  DestroyAll(other);
}

TEST(Group, ARefusedMessageKeepsTheEarlierOnesFromRunning) {
  const Comms comms = InitAll(1);
  float sent = 3, got = 0;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclSend(&sent, 1, ncclFloat, 0, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclRecv(&got, 1, ncclFloat, 0, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclSend(&sent, 1, ncclFloat, 9, comms[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(got, 0);
  // The next group does not contain them. A rank alone runs its messages to itself at once.
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclSend(&sent, 1, ncclFloat, 0, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclRecv(&got, 1, ncclFloat, 0, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(got, 3);
  DestroyAll(comms);
}

TEST(Group, MayConsistOfSplits) {
  const Comms parents = InitAll(2);
  Comms children(2);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclCommSplit(parents[i], 0, 0, &children[i], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(children[0], nullptr) << "not before the outermost end";
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  ExpectSum(children);
  Comms none(2);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclCommSplit(parents[i], NCCL_SPLIT_NOCOLOR, 0, &none[i], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(none, Comms(2));
  DestroyAll(children);
  DestroyAll(parents);
}

TEST(Group, LeavesNoStateAfterAnError) {
  const Comms comms = InitAll(2);
  for (const int depth : {1, 2}) {
    for (int i = 0; i < depth; ++i) EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 1, ncclFloat, ncclSum, comms[0], nullptr),
              ncclInvalidArgument);
    for (int i = 1; i < depth; ++i) EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << "an inner end";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_THAT(LastMessage(), HasSubstr("sendbuff is NULL"));
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    ExpectSum(comms);
  }
  ncclComm_t child = nullptr;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommSplit(nullptr, 0, 0, &child, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(child = reinterpret_cast<ncclComm_t>(&child)), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << "what is done at once has said so";
  ExpectNoGroupIsOpen();
  DestroyAll(comms);
}

TEST(Group, ReportsAFailureToFormAndReturnsNoHandles) {
  const ncclUniqueId rubbish{};
  Comms comms(2);
  for (const bool threads : {true, false}) {
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < 2; ++rank)
      EXPECT_EQ(ncclCommInitRank(&comms[static_cast<std::size_t>(rank)], 2, rubbish, rank),
                ncclSuccess);
    if (threads) {
      EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
      EXPECT_THAT(LastMessage(), HasSubstr("unique id"));
    } else {
      const comm::NoThreadsStart limit;
      EXPECT_EQ(ncclGroupEnd(), ncclSystemError);
      EXPECT_THAT(LastMessage(), HasSubstr("cannot start a thread"));
    }
    EXPECT_EQ(comms, Comms(2));
    ExpectNoGroupIsOpen();
  }
}

TEST(Group, FailsForAllCommunicatorsIfASingleOneFails) {
  ncclUniqueId id;
  const ncclUniqueId rubbish{};
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  Comms comms(2);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comms[0], 2, id, 0), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(&comms[1], 2, rubbish, 1), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument) << "not the end of the other, which that caused";
  EXPECT_THAT(LastMessage(), HasSubstr("unique id"));
  EXPECT_EQ(comms, Comms(2));
}

TEST(Group, CannotMixFormingAndOperations) {
  const Comms comms = InitAll(1);
  ncclComm_t child = nullptr;
  float data = 1;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommSplit(comms[0], 0, 0, &child, nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("not both"));
  EXPECT_EQ(child, nullptr);
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(Group, MayOutliveTheHandlesOfItsCalls) {
  const Comms comms = InitAll(2);
  float data[] = {1, 2};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], nullptr),
              ncclSuccess);
  DestroyAll(comms);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(data[0], 3);
  EXPECT_EQ(data[1], 3);
}

TEST(GroupSimulation, ClosesTheGroupAndRunsNoCall) {
  const Comms comms = InitAll(2);
  float data[] = {1, 2};
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], nullptr),
              ncclSuccess);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("it closes the group"));
  ExpectNoGroupIsOpen();
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(info.estimatedTime, NCCL_UNDEF_FLOAT);
  void* buffers[] = {&data[0], &data[1]};
  EXPECT_EQ(AllReduceInGroup(comms, buffers, 1, ncclFloat, ncclSum), ncclSuccess);
  EXPECT_EQ(data[0], 3) << "what is called later runs";
  DestroyAll(comms);
}

TEST(GroupSimulation, AppliesToTheOuterGroup) {
  const Comms comms = InitAll(1);
  float data = 1;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidUsage);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("ncclGroupSimulateEnd"));
  ExpectNoGroupIsOpen();
  DestroyAll(comms);
}

TEST(GroupSimulation, ResetsTheHandlesOfUnformedCommunicators) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NonBlocking();
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidUsage);
  EXPECT_EQ(comm, nullptr);
  ExpectNoGroupIsOpen();
}

TEST(GroupSimulation, NamesTheWrongField) {
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("without ncclGroupStart"));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("simInfo is NULL"));
  ExpectNoGroupIsOpen();
  info.size = 3;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("simInfo->size is 3"));
  info.magic = 3;
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("simInfo->magic is 0x3"));
  ExpectNoGroupIsOpen();
}

}  // namespace
}  // namespace ringlet::c_api
