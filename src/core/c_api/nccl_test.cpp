#include "ringlet/compat/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "c_api/comms_for_test.hpp"
#include "c_api/streams_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

TEST(Nccl, ReportsItsVersionAndErrorStrings) {
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("version is NULL"));
  EXPECT_STREQ(ncclGetErrorString(ncclSuccess), "no error");
  EXPECT_STREQ(ncclGetErrorString(static_cast<ncclResult_t>(14)), "unknown result code");
  EXPECT_THAT(ncclGetErrorString(ncclRemoteError), HasSubstr("remote"));
}

TEST(Nccl, ACommunicatorReportsItsRankSizeAndDevice) {
  const int devices[] = {7, 3};
  ncclComm_t comms[2];
  ASSERT_EQ(ncclCommInitAll(comms, 2, devices), ncclSuccess) << ncclGetLastError(nullptr);
  for (int i = 0; i < 2; ++i) {
    int count = 0, rank = -1, device = -1;
    ncclResult_t state = ncclInternalError;
    EXPECT_EQ(ncclCommCount(comms[i], &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(comms[i], &rank), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(comms[i], &device), ncclSuccess);
    EXPECT_EQ(ncclCommGetAsyncError(comms[i], &state), ncclSuccess);
    EXPECT_EQ(count, 2);
    EXPECT_EQ(rank, i);
    EXPECT_EQ(device, devices[i]);
    EXPECT_EQ(state, ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(comms[i]), ncclSuccess);
    EXPECT_EQ(ncclCommFinalize(comms[i]), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(comms[i]), ncclSuccess);
  }
}

// This thread uses the communicator and finds it again without a lock. Another thread changes what
// the communicator permits.
TEST(Nccl, AThreadNoticesWhatAnotherThreadDidToItsCommunicator) {
  const Comms comms = InitAll(1);
  float number = 1;
  const auto use = [&] {
    ncclResult_t last = ncclSuccess;
    for (int i = 0; i < 3; ++i)
      last = ncclAllReduce(&number, &number, 1, ncclFloat, ncclSum, comms[0], nullptr);
    return last;
  };
  const auto elsewhere = [&](const std::function<ncclResult_t()>& change) {
    std::thread([&] { EXPECT_EQ(change(), ncclSuccess) << LastMessage(); }).join();
  };
  EXPECT_EQ(use(), ncclSuccess);
  elsewhere([&] { return ncclCommSuspend(comms[0], NCCL_SUSPEND_MEM); });
  EXPECT_EQ(use(), ncclInvalidUsage) << "suspended";
  elsewhere([&] { return ncclCommResume(comms[0]); });
  EXPECT_EQ(use(), ncclSuccess) << "resumed";
  elsewhere([&] { return ncclCommFinalize(comms[0]); });
  EXPECT_EQ(use(), ncclInvalidUsage) << "finalized";
  elsewhere([&] { return ncclCommDestroy(comms[0]); });
  EXPECT_EQ(use(), ncclInvalidArgument) << "destroyed";
}

// No call waits, because the root calls first and runs at most a few calls ahead.
TEST(Nccl, AThreadUsesMoreCommunicatorsInTurnThanItRemembers) {
  const Comms comms = InitAll(12);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t rank = 0; rank < comms.size(); ++rank) {
      int number = rank == 0 ? 100 + round : -1;
      ASSERT_EQ(ncclBroadcast(&number, &number, 1, ncclInt, 0, comms[rank], nullptr), ncclSuccess)
          << LastMessage();
      EXPECT_EQ(number, 100 + round) << "rank " << rank;
    }
  }
  DestroyAll(comms);
}

TEST(Nccl, ManyRanksOfAHostShareItsMemory) {
  constexpr int kMany = 130;
  const Comms comms = InitAll(kMany);
  EXPECT_GT(Find(comms.back()).value()->memory_use().shared, 0u);
  for (const std::size_t count : {1u, 20u, 3000u, 40'000u}) {  // one-shot, slices, adaptive
    std::vector<std::vector<int>> data;
    std::vector<void*> buffers;
    for (int rank = 0; rank < kMany; ++rank)
      buffers.push_back(data.emplace_back(count, rank).data());
    ASSERT_EQ(AllReduceInGroup(comms, buffers.data(), count, ncclInt, ncclSum), ncclSuccess)
        << LastMessage();
    for (const auto& one : data)
      EXPECT_THAT(one, testing::Each(kMany * (kMany - 1) / 2)) << count << " elements";
  }
  DestroyAll(comms);
}

// Tests every type with every reduction over three ranks with the values 1, 2 and 3. All results
// are exact. The average of integers is truncated, but the average here is 2.
template <typename T>
void ExpectReductions(ncclDataType_t type, const std::vector<ncclComm_t>& comms,
                      T (*encode)(float)) {
  const struct {
    ncclRedOp_t op;
    float expected;
  } kCases[] = {{ncclSum, 6}, {ncclProd, 6}, {ncclMax, 3}, {ncclMin, 1}, {ncclAvg, 2}};
  for (const auto& test : kCases) {
    std::vector<std::vector<T>> data;
    std::vector<void*> buffers;
    for (int rank = 0; rank < 3; ++rank)
      data.emplace_back(100, encode(static_cast<float>(rank + 1)));
    for (auto& one : data) buffers.push_back(one.data());
    ASSERT_EQ(AllReduceInGroup(comms, buffers.data(), 100, type, test.op), ncclSuccess)
        << ncclGetLastError(nullptr);
    for (const auto& one : data)
      for (const T value : one)
        ASSERT_EQ(value, encode(test.expected)) << "type " << type << " op " << test.op;
  }
}

std::uint16_t Bfloat16(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}
// Encodes 1, 2, 3 and 6 in other narrow formats: sign 0, biased exponent, top fraction bits.
template <int kExponentBits, int kFractionBits, typename T>
T Narrow(float value) {
  const int exponent = static_cast<int>(std::log2(value));
  const float fraction = value / std::exp2(static_cast<float>(exponent)) - 1;
  const int bias = (1 << (kExponentBits - 1)) - 1;
  return static_cast<T>(((exponent + bias) << kFractionBits) |
                        static_cast<int>(fraction * (1 << kFractionBits)));
}

TEST(Nccl, EveryTypeAndReductionRuns) {
  const auto comms = InitAll(3);
  ExpectReductions<std::int8_t>(ncclInt8, comms,
                                [](float v) { return static_cast<std::int8_t>(v); });
  ExpectReductions<std::uint8_t>(ncclUint8, comms,
                                 [](float v) { return static_cast<std::uint8_t>(v); });
  ExpectReductions<std::int32_t>(ncclInt32, comms,
                                 [](float v) { return static_cast<std::int32_t>(v); });
  ExpectReductions<std::uint32_t>(ncclUint32, comms,
                                  [](float v) { return static_cast<std::uint32_t>(v); });
  ExpectReductions<std::int64_t>(ncclInt64, comms,
                                 [](float v) { return static_cast<std::int64_t>(v); });
  ExpectReductions<std::uint64_t>(ncclUint64, comms,
                                  [](float v) { return static_cast<std::uint64_t>(v); });
  ExpectReductions<float>(ncclFloat32, comms, [](float v) { return v; });
  ExpectReductions<double>(ncclFloat64, comms, [](float v) { return static_cast<double>(v); });
  ExpectReductions<std::uint16_t>(ncclBfloat16, comms, &Bfloat16);
  ExpectReductions<std::uint16_t>(ncclFloat16, comms, &Narrow<5, 10, std::uint16_t>);
  ExpectReductions<std::uint8_t>(ncclFloat8e4m3, comms, &Narrow<4, 3, std::uint8_t>);
  ExpectReductions<std::uint8_t>(ncclFloat8e5m2, comms, &Narrow<5, 2, std::uint8_t>);
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Nccl, RefusesEachWrongArgumentWithAReason) {
  ncclUniqueId id, garbage;
  std::memset(&garbage, 0x5a, sizeof garbage);
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  const auto last = [] { return std::string(ncclGetLastError(nullptr)); };
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("comm is NULL"));
  EXPECT_EQ(ncclCommInitRank(&comm, 4, id, 4), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("rank 4"));
  EXPECT_EQ(ncclCommInitRank(&comm, 4, id, -1), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("nranks is 0"));
  EXPECT_EQ(ncclCommInitRank(&comm, 1, garbage, 0), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("not made by Ringlet"));
  std::memset(&garbage, 0, sizeof garbage);
  EXPECT_EQ(ncclCommInitRank(&comm, 1, garbage, 0), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("all zero"));
  EXPECT_EQ(comm, nullptr);
  const int twice[] = {1, 1};
  ncclComm_t two[2];
  EXPECT_EQ(ncclCommInitAll(two, 2, twice), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("devlist[1] = 1"));
  EXPECT_EQ(ncclCommInitAll(nullptr, 2, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(two, 0, nullptr), ncclInvalidArgument);
}

TEST(Nccl, AWrongCallLeavesTheCommunicatorUsable) {
  const auto comms = InitAll(1);
  float data[4] = {1, 2, 3, 4};
  const auto call = [&](const void* send, void* receive, int type, int op, ncclComm_t comm) {
    return ncclAllReduce(send, receive, 4, static_cast<ncclDataType_t>(type),
                         static_cast<ncclRedOp_t>(op), comm, nullptr);
  };
  const auto last = [] { return std::string(ncclGetLastError(nullptr)); };
  EXPECT_EQ(call(data, data, 12, ncclSum, comms[0]), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("data type 12"));
  EXPECT_EQ(call(data, data, 15, ncclSum, comms[0]), ncclInvalidArgument);
  EXPECT_EQ(call(data, data, ncclFloat, 5, comms[0]), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("reduction 5"));
  EXPECT_EQ(call(nullptr, data, ncclFloat, ncclSum, comms[0]), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("sendbuff is NULL"));
  EXPECT_EQ(call(data, nullptr, ncclFloat, ncclSum, comms[0]), ncclInvalidArgument);
  EXPECT_EQ(call(data, data, ncclFloat, ncclSum, nullptr), ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("the communicator is NULL"));
  EXPECT_EQ(ncclAllReduce(data, data, SIZE_MAX, ncclDouble, ncclSum, comms[0], nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 4, ncclFloat, ncclSum, comms[0],
                          reinterpret_cast<cudaStream_t>(data)),
            ncclInvalidArgument);
  EXPECT_THAT(last(), HasSubstr("does not name any stream of this process"));
  EXPECT_EQ(call(data, data, ncclFloat, ncclSum, comms[0]), ncclSuccess);
  EXPECT_EQ(data[3], 4);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
}

TEST(Nccl, AnInvalidHandleReturnsAnError) {
  const auto comms = InitAll(1);
  ASSERT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comms[0], &count), ncclInvalidArgument);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("already destroyed"));
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCount(reinterpret_cast<ncclComm_t>(&count), &count), ncclInvalidArgument);
  EXPECT_EQ(ncclCommAbort(reinterpret_cast<ncclComm_t>(&count)), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
  ncclResult_t state;
  EXPECT_EQ(ncclCommGetAsyncError(nullptr, &state), ncclInvalidArgument);
}

TEST(Nccl, AFinalizedCommunicatorRefusesOperations) {
  const auto comms = InitAll(1);
  float data = 1;
  ASSERT_EQ(ncclCommFinalize(comms[0]), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], nullptr),
            ncclInvalidUsage);
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
}

TEST(Nccl, AGroupWithARefusedCallRunsNoCall) {
  const auto comms = InitAll(2);
  float a = 1, b = 2;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&a, &a, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&b, nullptr, 1, ncclFloat, ncclSum, comms[1], nullptr),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(a, 1);
  void* buffers[] = {&a, &b};
  EXPECT_EQ(AllReduceInGroup(comms, buffers, 1, ncclFloat, ncclSum), ncclSuccess);
  EXPECT_EQ(a, 3);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage) << "no group is open";
  for (const ncclComm_t comm : comms) ncclCommDestroy(comm);
}

TEST(Nccl, ASingleThreadFormsACommunicatorInAGroup) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comms[3];
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 3; ++rank)
    ASSERT_EQ(ncclCommInitRank(&comms[rank], 3, id, rank), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Nccl, AbortFromAnotherThreadEndsABlockedCallAndFailsThePeers) {
  const auto comms = InitAll(2);
  float a = 1;
  std::thread blocked([&] {
    EXPECT_EQ(ncclAllReduce(&a, &a, 1, ncclFloat, ncclSum, comms[0], nullptr), ncclRemoteError);
    EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("ncclCommAbort was called"));
  });
  AbortInACall(comms[1]);
  blocked.join();
  EXPECT_EQ(StateNow(comms[0]), ncclRemoteError);
  EXPECT_EQ(ncclCommAbort(comms[0]), ncclSuccess);
}

// Behaves as NCCL. If a program ends without destroying its communicators, PyTorch aborts them. If
// peers that still work on other communicators saw a failure, they would end too.
TEST(Nccl, AnAbortWithoutUnfinishedOperationsIsADeparture) {
  const auto comms = InitAll(3);
  float data[] = {1, 1, 1};
  void* buffers[] = {&data[0], &data[1], &data[2]};
  ASSERT_EQ(AllReduceInGroup(comms, buffers, 1, ncclFloat, ncclSum), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(comms[2]), ncclSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclSend(&data[0], 1, ncclFloat, 1, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclRecv(&data[1], 1, ncclFloat, 0, comms[1], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << "rank 2 has no part in it";
  EXPECT_EQ(StateNow(comms[0]), ncclSuccess);
  EXPECT_EQ(AllReduceInGroup({comms[0], comms[1]}, buffers, 1, ncclFloat, ncclSum),
            ncclRemoteError);
  EXPECT_THAT(LastMessage(), HasSubstr("left the communicator (destroyed or aborted it)"));
  AbortAll({comms[0], comms[1]});
}

// Runs `body` in a child of fork, which starts with its own settings, and returns its result.
bool HoldsInAChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(Nccl, AForkedChildFormsItsOwnCommunicators) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a process with threads";
#endif
  const auto comms = InitAll(1);
  EXPECT_TRUE(HoldsInAChild([&] {
    ncclComm_t own;
    int count = 0;
    return ncclCommInitAll(&own, 1, nullptr) == ncclSuccess &&
           ncclCommCount(comms[0], &count) == ncclInvalidArgument &&
           ncclCommDestroy(own) == ncclSuccess;
  }));
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
}

// Rank 1 runs in a child that exits with `exit_status` without destroying its communicator. Returns
// the error of rank 0's next operation.
std::string ToldOfAnExit(int exit_status) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm = nullptr;
  float data = 1;
  const auto takes_part = [&](int rank) {
    return ncclCommInitRank(&comm, 2, id, rank) == ncclSuccess &&
           ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, nullptr) == ncclSuccess;
  };
  const pid_t child = fork();
  if (child == 0) std::exit(takes_part(1) ? exit_status : 99);
  EXPECT_TRUE(takes_part(0)) << LastMessage();
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
#if !defined(__SANITIZE_ADDRESS__)  // objects on the stacks before fork would count as leaks
  EXPECT_EQ(WEXITSTATUS(status), exit_status);
#endif
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, nullptr), ncclRemoteError);
  const std::string told = LastMessage();
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  return told;
}

TEST(Nccl, AnExitWithStatusZeroIsADeparture) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a process with threads";
#endif
  EXPECT_THAT(ToldOfAnExit(0), HasSubstr("left the communicator (destroyed or aborted it)"));
  EXPECT_THAT(ToldOfAnExit(3), Not(HasSubstr("left the communicator")));
}

TEST(Nccl, RanksShareADeviceIfTheSettingAllowsIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer cannot start threads in the child of a process with threads";
#endif
  EXPECT_TRUE(HoldsInAChild([] {
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
    const int twice[] = {1, 1};
    ncclComm_t two[2];
    int devices[2] = {};
    return ncclCommInitAll(two, 2, twice) == ncclSuccess &&
           ncclCommCuDevice(two[0], &devices[0]) == ncclSuccess &&
           ncclCommCuDevice(two[1], &devices[1]) == ncclSuccess && devices[0] == 1 &&
           devices[1] == 1 && ncclCommDestroy(two[0]) == ncclSuccess &&
           ncclCommDestroy(two[1]) == ncclSuccess;
  }));
}

TEST(Nccl, SeveralIdsFormOneCommunicator) {
  for (const int ids : {1, 2, 3}) {
    std::vector<ncclUniqueId> list(static_cast<std::size_t>(ids));
    for (ncclUniqueId& id : list) ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    Comms comms(3);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(ncclCommInitRankScalable(&comms[static_cast<std::size_t>(rank)], 3, rank, ids,
                                         list.data(), nullptr),
                ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
    ExpectSum(comms);
    DestroyAll(comms);
  }
}

TEST(Nccl, PncclNamesAreTheSameFunctions) {
  EXPECT_EQ(reinterpret_cast<void*>(&pncclAllReduce), reinterpret_cast<void*>(&ncclAllReduce));
  EXPECT_EQ(reinterpret_cast<void*>(&pncclCommSplit), reinterpret_cast<void*>(&ncclCommSplit));
}

TEST(Nccl, AConfigIsChecked) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t comm;
  config.magic = 1;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(Nccl, RanksWithoutADeviceAreNumberedOnTheirHost) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  Comms comms(3), halves(3);
  const auto device = [](ncclComm_t comm) {
    int number = -1;
    EXPECT_EQ(ncclCommCuDevice(comm, &number), ncclSuccess) << LastMessage();
    return number;
  };
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 3; ++rank)
    ASSERT_EQ(ncclCommInitRank(&comms[static_cast<std::size_t>(rank)], 3, id, rank), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < 3; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    EXPECT_EQ(device(comms[i]), rank);
    ASSERT_EQ(ncclCommSplit(comms[i], rank > 0, -rank, &halves[i], nullptr), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(device(halves[static_cast<std::size_t>(rank)]), rank) << "that of the parent";
  DestroyAll(halves);
  DestroyAll(comms);
}

TEST(Nccl, AnEmptyCollectiveWaitsForNoRank) {
  const auto comms = InitAll(2);
  const ncclComm_t alone = comms[0];
  EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, 1, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclBroadcast(nullptr, nullptr, 0, ncclFloat, 1, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclBcast(nullptr, 0, ncclFloat, 1, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllGather(nullptr, nullptr, 0, ncclFloat, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclReduceScatter(nullptr, nullptr, 0, ncclFloat, ncclSum, alone, nullptr),
            ncclSuccess);
  EXPECT_EQ(ncclAlltoAll(nullptr, nullptr, 0, ncclFloat, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclGather(nullptr, nullptr, 0, ncclFloat, 1, alone, nullptr), ncclSuccess);
  EXPECT_EQ(ncclScatter(nullptr, nullptr, 0, ncclFloat, 1, alone, nullptr), ncclSuccess);
  AbortAll(comms);
}

// ---- The other collectives: one thread has all ranks -------------------------------------------

class Collectives : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  using Numbers = std::vector<std::int32_t>;

  void TearDown() override {
    for (ncclComm_t comm : comms_) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }

  /// Calls `call` for each rank in one group, with `in_` and `out_`.
  template <typename Call>
  void OnEach(Call call) {
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int rank = 0; rank < kRanks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      EXPECT_EQ(call(in_[i].data(), out_[i].data(), comms_[i]), ncclSuccess)
          << ncclGetLastError(nullptr);
    }
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
  }

  std::vector<ncclComm_t> comms_ = InitAll(kRanks);
  // Two elements per rank: rank r has 10 r, 10 r + 1, ...
  std::vector<Numbers> in_{{0, 1, 2, 3, 4, 5}, {10, 11, 12, 13, 14, 15}, {20, 21, 22, 23, 24, 25}};
  std::vector<Numbers> out_{kRanks, Numbers(6, -1)};
};

TEST_F(Collectives, MoveAndReduceTheElementsThatNcclDocuments) {
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclReduce(in, out, 2, ncclInt32, ncclSum, 1, comm, nullptr);
  });
  EXPECT_EQ(out_[1], (Numbers{30, 33, -1, -1, -1, -1}));
  EXPECT_EQ(out_[0], Numbers(6, -1));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclBroadcast(in, out, 2, ncclInt32, 2, comm, nullptr);
  });
  EXPECT_EQ(out_[0], (Numbers{20, 21, -1, -1, -1, -1}));
  OnEach([](auto*, auto* out, ncclComm_t comm) {
    return ncclBcast(out, 6, ncclInt32, 0, comm, nullptr);
  });
  EXPECT_EQ(out_[2], (Numbers{20, 21, -1, -1, -1, -1}));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclAllGather(in, out, 2, ncclInt32, comm, nullptr);
  });
  for (const Numbers& out : out_) EXPECT_EQ(out, (Numbers{0, 1, 10, 11, 20, 21}));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclReduceScatter(in, out, 2, ncclInt32, ncclMax, comm, nullptr);
  });
  EXPECT_EQ(out_[1], (Numbers{22, 23, 10, 11, 20, 21}));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclAlltoAll(in, out, 2, ncclInt32, comm, nullptr);
  });
  EXPECT_EQ(out_[1], (Numbers{2, 3, 12, 13, 22, 23}));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclScatter(in, out, 2, ncclInt32, 2, comm, nullptr);
  });
  EXPECT_EQ(out_[1], (Numbers{22, 23, 12, 13, 22, 23}));
  OnEach([](auto* in, auto* out, ncclComm_t comm) {
    return ncclGather(in, out, 2, ncclInt32, 0, comm, nullptr);
  });
  EXPECT_EQ(out_[0], (Numbers{0, 1, 10, 11, 20, 21}));
}

TEST_F(Collectives, MatchSendsAndReceivesOfAGroup) {
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const int next = (rank + 1) % kRanks, previous = (rank + 2) % kRanks;
    EXPECT_EQ(ncclRecv(out_[i].data(), 6, ncclInt32, previous, comms_[i], nullptr), ncclSuccess);
    EXPECT_EQ(ncclSend(in_[i].data(), 6, ncclInt32, next, comms_[i], nullptr), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << ncclGetLastError(nullptr);
  EXPECT_EQ(out_[0], in_[2]);
  EXPECT_EQ(out_[1], in_[0]);
}

TEST_F(Collectives, PreMultipliedSumsUseTheScalarOfEachRank) {
  ncclRedOp_t ops[kRanks];
  for (int rank = 0; rank < kRanks; ++rank) {
    std::int32_t scalar = rank + 1;
    ASSERT_EQ(ncclRedOpCreatePreMulSum(&ops[rank], &scalar, ncclInt32, ncclScalarHostImmediate,
                                       comms_[static_cast<std::size_t>(rank)]),
              ncclSuccess);
  }
  int next = 0;
  OnEach([&](auto* in, auto* out, ncclComm_t comm) {
    return ncclAllReduce(in, out, 2, ncclInt32, ops[next++], comm, nullptr);
  });
  EXPECT_EQ(out_[0], (Numbers{80, 86, -1, -1, -1, -1}));
  float number = 0;
  EXPECT_EQ(ncclAllReduce(&number, &number, 1, ncclFloat, ops[0], comms_[0], nullptr),
            ncclInvalidArgument);
  EXPECT_THAT(ncclGetLastError(nullptr), HasSubstr("elements of int32, not float"));
  EXPECT_EQ(ncclRedOpDestroy(ops[0], comms_[0]), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(ops[0], comms_[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpDestroy(ncclSum, comms_[0]), ncclInvalidArgument);
}

}  // namespace
}  // namespace ringlet::c_api
