// Communicators with all ranks in one thread of the test.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ringlet/compat/nccl.h"

namespace ringlet::c_api {

using Comms = std::vector<ncclComm_t>;

inline std::string LastMessage() {
  return ncclGetLastError(nullptr);
}

/// Converts any number to a C enumeration, because C callers may pass any number.
template <typename Enum>
Enum EnumOf(int number) {
  Enum value;
  static_assert(sizeof value == sizeof number);
  std::memcpy(&value, &number, sizeof value);
  return value;
}

inline Comms InitAll(int ranks) {
  Comms comms(static_cast<std::size_t>(ranks));
  EXPECT_EQ(ncclCommInitAll(comms.data(), ranks, nullptr), ncclSuccess) << LastMessage();
  return comms;
}

inline void DestroyAll(const Comms& comms) {
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess) << comm;
}

inline void AbortAll(const Comms& comms) {
  for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

inline ncclResult_t AllReduceInGroup(const Comms& comms, void* const* buffers, std::size_t count,
                                     ncclDataType_t type, ncclRedOp_t op) {
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    const ncclResult_t result =
        ncclAllReduce(buffers[i], buffers[i], count, type, op, comms[i], nullptr);
    if (result == ncclSuccess) continue;
    EXPECT_EQ(ncclGroupEnd(), result);
    return result;
  }
  return ncclGroupEnd();
}

/// Returns the state after all work in progress. The running operation has its own deadline.
inline ncclResult_t Outcome(ncclComm_t comm) {
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
    if (asked != ncclSuccess) return asked;
    std::this_thread::yield();
  }
  return state;
}

inline ncclResult_t StateNow(ncclComm_t comm) {
  ncclResult_t state = ncclNumResults;
  EXPECT_EQ(ncclCommGetAsyncError(comm, &state), ncclSuccess) << LastMessage();
  return state;
}

/// Checks that the communicators work, whether or not their calls block.
inline void ExpectSum(const Comms& comms) {
  std::vector<float> data(comms.size(), 1.0f);
  std::vector<void*> buffers;
  for (float& one : data) buffers.push_back(&one);
  const ncclResult_t result = AllReduceInGroup(comms, buffers.data(), 1, ncclFloat, ncclSum);
  EXPECT_TRUE(result == ncclSuccess || result == ncclInProgress) << LastMessage();
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  for (const float one : data) EXPECT_EQ(one, static_cast<float>(comms.size()));
}

inline ncclConfig_t NonBlocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

/// Begins non-blocking communicators of this process together, without waiting for them.
inline Comms BeginWithoutBlocking(int ranks) {
  ncclConfig_t config = NonBlocking();
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  Comms comms(static_cast<std::size_t>(ranks));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < ranks; ++rank) {
    ncclComm_t& comm = comms[static_cast<std::size_t>(rank)];
    EXPECT_EQ(ncclCommInitRankConfig(&comm, ranks, id, rank, &config), ncclInProgress);
    EXPECT_NE(comm, nullptr) << "there at once, as in NCCL";
  }
  EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
  return comms;
}

inline Comms FormWithoutBlocking(int ranks) {
  const Comms comms = BeginWithoutBlocking(ranks);
  for (const ncclComm_t comm : comms) EXPECT_EQ(Outcome(comm), ncclSuccess) << LastMessage();
  return comms;
}

}  // namespace ringlet::c_api
