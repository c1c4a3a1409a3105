// Calls every function of nccl.h with wrong arguments and in the wrong state. Each call must return
// an error with its reason, without a crash and without side effects.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "base/value/prng.hpp"
#include "c_api/comms_for_test.hpp"
#include "c_api/streams_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

constexpr std::size_t kFewElements = 8;
constexpr std::size_t kTooMany = SIZE_MAX / 4;

/// The buffers of the calls, and the values that the calls leave in them.
struct Things {
  alignas(NCCL_WIN_REQUIRED_ALIGNMENT) double in[kFewElements * 4] = {};
  double out[kFewElements * 4] = {};
  int excluded = 1, number = 0;
  ncclComm_t made = nullptr;
  void* handle = nullptr;
  ncclWindow_t window = nullptr;
  ncclRedOp_t op = ncclSum;
  ncclResult_t state = ncclSuccess;
  ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER;
  std::uint64_t value = 0;
  ncclUniqueId id = {};
};
Things& The() {
  static Things things;
  return things;
}

/// A function of a communicator, with valid arguments for one of several ranks.
struct OnComm {
  const char* name;
  std::function<ncclResult_t(ncclComm_t)> call;
  ncclResult_t finalized, revoked, failed;  // its result on such a communicator
};

const ncclResult_t kOk = ncclSuccess, kArgument = ncclInvalidArgument, kUsage = ncclInvalidUsage,
                   kRemote = ncclRemoteError;

std::vector<OnComm> CollectiveFunctions() {
  double* const in = The().in;
  double* const out = The().out;
  const auto on = [](const char* name, auto call) {
    return OnComm{name, call, kUsage, kUsage, kRemote};
  };
  return {
      on("ncclReduce",
         [=](auto c) { return ncclReduce(in, out, 8, ncclDouble, ncclSum, 0, c, nullptr); }),
      on("ncclBcast", [=](auto c) { return ncclBcast(in, 8, ncclDouble, 0, c, nullptr); }),
      on("ncclBroadcast",
         [=](auto c) { return ncclBroadcast(in, out, 8, ncclDouble, 0, c, nullptr); }),
      on("ncclAllReduce",
         [=](auto c) { return ncclAllReduce(in, out, 8, ncclDouble, ncclSum, c, nullptr); }),
      on("ncclReduceScatter",
         [=](auto c) { return ncclReduceScatter(in, out, 8, ncclDouble, ncclSum, c, nullptr); }),
      on("ncclAllGather",
         [=](auto c) { return ncclAllGather(in, out, 8, ncclDouble, c, nullptr); }),
      on("ncclAlltoAll", [=](auto c) { return ncclAlltoAll(in, out, 8, ncclDouble, c, nullptr); }),
      on("ncclGather", [=](auto c) { return ncclGather(in, out, 8, ncclDouble, 0, c, nullptr); }),
      on("ncclScatter", [=](auto c) { return ncclScatter(in, out, 8, ncclDouble, 0, c, nullptr); }),
      on("ncclReduceConfig",
         [=](auto c) {
           return ncclReduceConfig(in, out, 8, ncclDouble, ncclSum, 0, c, nullptr, &The().config);
         }),
      on("ncclBroadcastConfig",
         [=](auto c) {
           return ncclBroadcastConfig(in, out, 8, ncclDouble, 0, c, nullptr, &The().config);
         }),
      on("ncclAllReduceConfig",
         [=](auto c) {
           return ncclAllReduceConfig(in, out, 8, ncclDouble, ncclSum, c, nullptr, nullptr);
         }),
      on("ncclReduceScatterConfig",
         [=](auto c) {
           return ncclReduceScatterConfig(in, out, 8, ncclDouble, ncclSum, c, nullptr,
                                          &The().config);
         }),
      on("ncclAllGatherConfig",
         [=](auto c) {
           return ncclAllGatherConfig(in, out, 8, ncclDouble, c, nullptr, &The().config);
         }),
      on("ncclAlltoAllConfig",
         [=](auto c) {
           return ncclAlltoAllConfig(in, out, 8, ncclDouble, c, nullptr, &The().config);
         }),
      on("ncclGatherConfig",
         [=](auto c) {
           return ncclGatherConfig(in, out, 8, ncclDouble, 0, c, nullptr, &The().config);
         }),
      on("ncclScatterConfig",
         [=](auto c) {
           return ncclScatterConfig(in, out, 8, ncclDouble, 0, c, nullptr, &The().config);
         }),
      on("ncclSignal", [](auto c) { return ncclSignal(0, 0, 0, 0, c, nullptr); }),
      on("ncclSend", [=](auto c) { return ncclSend(in, 8, ncclDouble, 1, c, nullptr); }),
      on("ncclRecv", [=](auto c) { return ncclRecv(out, 8, ncclDouble, 1, c, nullptr); }),
  };
}

std::vector<OnComm> Others() {
  Things& the = The();
  return {
      {"ncclCommSplit", [&](auto c) { return ncclCommSplit(c, 0, 0, &the.made, nullptr); }, kUsage,
       kRemote, kRemote},  // revoked by this rank only; the other rank is lost
      {"ncclCommCount", [&](auto c) { return ncclCommCount(c, &the.number); }, kOk, kOk, kOk},
      {"ncclCommCuDevice", [&](auto c) { return ncclCommCuDevice(c, &the.number); }, kOk, kOk, kOk},
      {"ncclCommUserRank", [&](auto c) { return ncclCommUserRank(c, &the.number); }, kOk, kOk, kOk},
      {"ncclCommGetAsyncError", [&](auto c) { return ncclCommGetAsyncError(c, &the.state); }, kOk,
       kOk, kOk},
      {"ncclCommRegister", [&](auto c) { return ncclCommRegister(c, the.in, 64, &the.handle); },
       kUsage, kUsage, kRemote},
      {"ncclCommDeregister", [&](auto c) { return ncclCommDeregister(c, the.in); }, kArgument,
       kArgument, kArgument},
      {"ncclCommWindowRegister",
       [&](auto c) { return ncclCommWindowRegister(c, the.in, 64, &the.window, 0); }, kUsage,
       kUsage, kRemote},
      {"ncclCommWindowDeregister",
       [&](auto c) { return ncclCommWindowDeregister(c, reinterpret_cast<ncclWindow_t>(the.in)); },
       kArgument, kArgument, kArgument},
      {"ncclRedOpCreatePreMulSum",
       [&](auto c) {
         return ncclRedOpCreatePreMulSum(&the.op, the.in, ncclDouble, ncclScalarDevice, c);
       },
       kUsage, kUsage, kOk},
      {"ncclRedOpDestroy", [](auto c) { return ncclRedOpDestroy(EnumOf<ncclRedOp_t>(9), c); },
       kArgument, kArgument, kArgument},
      {"ncclCommRevoke", [](auto c) { return ncclCommRevoke(c, NCCL_REVOKE_DEFAULT); }, kUsage,
       kUsage, kOk},
      {"ncclCommFinalize", [](auto c) { return ncclCommFinalize(c); }, kArgument, kUsage, kOk},
      {"ncclCommShrink",
       [&](auto c) { return ncclCommShrink(c, &the.excluded, 1, &the.made, nullptr, 0); }, kUsage,
       kOk, kOk},
      {"ncclCommGetUniqueId", [&](auto c) { return ncclCommGetUniqueId(c, &the.id); }, kUsage,
       kUsage, kRemote},
      {"ncclCommGrow", [&](auto c) { return ncclCommGrow(c, 1, nullptr, -1, &the.made, nullptr); },
       kUsage, kUsage, kArgument},  // the maximum exists already, or none waits
      {"ncclCommMemStats",
       [&](auto c) { return ncclCommMemStats(c, ncclStatGpuMemTotal, &the.value); }, kOk, kOk, kOk},
      {"ncclCommSuspend", [](auto c) { return ncclCommSuspend(c, NCCL_SUSPEND_MEM); }, kUsage,
       kUsage, kRemote},
      {"ncclCommResume", [](auto c) { return ncclCommResume(c); }, kUsage, kUsage, kUsage},
      {"ncclWinGetUserPtr",
       [&](auto c) {
         return ncclWinGetUserPtr(c, reinterpret_cast<ncclWindow_t>(the.in), &the.handle);
       },
       kArgument, kArgument, kArgument},
      {"ncclPutSignal",
       [&](auto c) {
         return ncclPutSignal(the.in, 1, ncclDouble, 0, nullptr, 0, 0, 0, 0, c, nullptr);
       },
       kUsage, kUsage, kArgument},
      {"ncclWaitSignal", [](auto c) { return ncclWaitSignal(0, nullptr, c, nullptr); }, kUsage,
       kUsage, kArgument},
      {"ncclCommDestroy", [](auto c) { return ncclCommDestroy(c); }, kOk, kOk, kOk},
      {"ncclCommAbort", [](auto c) { return ncclCommAbort(c); }, kOk, kOk, kOk},
  };
}

std::vector<OnComm> All() {
  std::vector<OnComm> all = CollectiveFunctions();
  for (OnComm& one : Others()) all.push_back(std::move(one));
  return all;
}

/// Makes the call and expects a new error message.
template <typename Call>
ncclResult_t Tried(Call call) {
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  const std::string before = LastMessage();
  const ncclResult_t result = call();
  if (result != ncclSuccess && result != ncclInProgress) {
    EXPECT_NE(LastMessage(), before) << "an error without a reason";
    EXPECT_NE(LastMessage(), "");
  }
  return result;
}

/// A communicator of two ranks. The test owns the first.
class One {
 public:
  One() : comms_(InitAll(2)) {}
  ~One() {
    if (The().made) ncclCommAbort(std::exchange(The().made, nullptr));
    for (const ncclComm_t comm : comms_) ncclCommAbort(comm);
  }
  ncclComm_t mine() const { return comms_[0]; }
  void OtherAborts() {
    AbortInACall(comms_[1]);
    while (StateNow(comms_[0]) == ncclSuccess) std::this_thread::yield();
  }

 private:
  Comms comms_;
};

TEST(EveryFunction, IsCoveredByThisTest) {
  const auto header = std::filesystem::path(__FILE__).parent_path() / ".." / ".." / ".." /
                      "include" / "ringlet" / "compat" / "nccl.h";
  std::ifstream file(header);
  ASSERT_TRUE(file) << header << " is looked for in the folder of the build";
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  const std::regex declared(R"(RINGLET_C_API [a-zA-Z_ ]+\*? ?\*?(nccl[a-zA-Z0-9]+)\()");
  std::set<std::string> names, known = {"ncclGetVersion",
                                        "ncclGetErrorString",
                                        "ncclGetLastError",
                                        "ncclResetDebugInit",
                                        "ncclGetUniqueId",
                                        "ncclCommInitRank",
                                        "ncclCommInitAll",
                                        "ncclCommInitRankConfig",
                                        "ncclCommInitRankScalable",
                                        "ncclMemAlloc",
                                        "ncclMemFree",
                                        "ncclGroupStart",
                                        "ncclGroupEnd",
                                        "ncclGroupSimulateEnd",
                                        "ncclResetDebugInitInternal",
                                        "ncclSetEncryption",
                                        "ncclParamBind",
                                        "ncclParamGetI8",
                                        "ncclParamGetI16",
                                        "ncclParamGetI32",
                                        "ncclParamGetI64",
                                        "ncclParamGetU8",
                                        "ncclParamGetU16",
                                        "ncclParamGetU32",
                                        "ncclParamGetU64",
                                        "ncclParamGetStr",
                                        "ncclParamGet",
                                        "ncclParamGetParameter",
                                        "ncclParamGetAllParameterKeys",
                                        "ncclParamDumpAll"};
  for (auto at = std::sregex_iterator(all.begin(), all.end(), declared);
       at != std::sregex_iterator(); ++at)
    names.insert((*at)[1]);
  for (const OnComm& function : All()) known.insert(function.name);
  EXPECT_EQ(names, known);
}

TEST(EveryFunction, RefusesInvalidCommunicators) {
  const Comms destroyed = InitAll(1), aborted = InitAll(1);
  DestroyAll(destroyed);
  AbortAll(aborted);
  int local = 0;
  const Comms wrong = {nullptr,
                       destroyed[0],
                       aborted[0],
                       reinterpret_cast<ncclComm_t>(&local),
                       reinterpret_cast<ncclComm_t>(std::uintptr_t{1}),
                       reinterpret_cast<ncclComm_t>(UINTPTR_MAX)};
  for (const bool grouped : {false, true})
    for (const OnComm& function : All())
      for (const ncclComm_t comm : wrong) {
        SCOPED_TRACE(testing::Message()
                     << function.name << " on " << comm << " in a group " << grouped);
        const std::string name = function.name;
        const bool nothing = !comm && (name == "ncclCommDestroy" || name == "ncclCommAbort");
        if (!comm && name == "ncclCommGrow") continue;  // a new rank has no communicator
        if (grouped) {
          EXPECT_EQ(ncclGroupStart(), ncclSuccess);
        }
        EXPECT_EQ(Tried([&] { return function.call(comm); }), nothing ? kOk : kArgument);
        if (!nothing) {
          EXPECT_THAT(LastMessage(), HasSubstr("communicator"));
        }
        if (!grouped) continue;
        const ncclResult_t end = ncclGroupEnd();
        EXPECT_TRUE(end == kOk || end == kArgument) << end;
      }
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
}

// Handles of a parent process are errors in its forked child, which must not touch the sockets and
// the shared memory of the communicator.
TEST(EveryFunction, RefusesACommunicatorOfTheParentProcess) {
  const Comms comms = InitAll(2);
  ExpectSum(comms);
  const pid_t child = ::fork();
  if (child == 0) {
    int wrong = 0;
    for (const OnComm& function : All()) {
      const bool right = function.call(comms[0]) == ncclInvalidArgument &&
                         LastMessage().find("before fork()") != std::string::npos;
      if (!right) ++wrong;
      if (!right) std::fprintf(stderr, "%s: %s\n", function.name, LastMessage().c_str());
    }
    ::_exit(wrong == 0 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(EveryFunction, GroupEndRefusesAGroupOfTheParentProcess) {
  const Comms comms = InitAll(2);
  float data[2] = {1, 2};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], nullptr), kOk);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(ncclGroupEnd() == kUsage ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child ran the calls of its parent";
  EXPECT_EQ(ncclGroupEnd(), kOk) << LastMessage();
  EXPECT_EQ(data[0], 3);
  DestroyAll(comms);
}

TEST(EveryFunction, ReturnsItsResultForAFinalizedCommunicator) {
  for (const OnComm& function : All()) {
    SCOPED_TRACE(function.name);
    const One one;
    EXPECT_EQ(ncclCommFinalize(one.mine()), ncclSuccess);
    EXPECT_EQ(Tried([&] { return function.call(one.mine()); }), function.finalized);
    if (function.finalized == kUsage) {
      EXPECT_THAT(LastMessage(), HasSubstr("finalized"));
    }
  }
}

TEST(EveryFunction, ReturnsItsResultForARevokedCommunicator) {
  for (const OnComm& function : All()) {
    SCOPED_TRACE(function.name);
    One one;
    EXPECT_EQ(ncclCommRevoke(one.mine(), NCCL_REVOKE_DEFAULT), ncclSuccess);
    if (function.revoked == kRemote) continue;  // waits for the other rank
    EXPECT_EQ(Tried([&] { return function.call(one.mine()); }), function.revoked);
    if (function.revoked == kUsage) {
      EXPECT_THAT(LastMessage(), HasSubstr("revoked"));
    }
  }
}

TEST(EveryFunction, ReturnsItsResultIfAnotherRankAborted) {
  for (const OnComm& function : All()) {
    SCOPED_TRACE(function.name);
    One one;
    one.OtherAborts();
    EXPECT_EQ(Tried([&] { return function.call(one.mine()); }), function.failed);
    if (function.failed == kRemote) {
      EXPECT_THAT(LastMessage(), HasSubstr("ncclCommAbort was called"));
    }
  }
}

TEST(EveryFunction, RefusesACommunicatorThatIsBeingFormed) {
  ncclConfig_t config = NonBlocking();
  for (const OnComm& function : All()) {
    SCOPED_TRACE(function.name);
    const std::string name = function.name;
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), ncclInProgress);
    const bool allowed = name == "ncclCommAbort" || name == "ncclCommGetAsyncError";
    EXPECT_EQ(Tried([&] { return function.call(comm); }), allowed ? kOk : kArgument);
    if (!allowed) {
      EXPECT_THAT(LastMessage(), HasSubstr("communicator is still busy"));
    }
    if (name != "ncclCommAbort") {
      EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
    }
  }
}

// ---- arguments ----------------------------------------------------------------------------------

struct Wrong {
  std::function<ncclResult_t(ncclComm_t)> call;
  const char* says;
};

std::vector<Wrong> WrongData() {
  double* const in = The().in;
  double* const out = The().out;
  const auto type = [](int number) { return EnumOf<ncclDataType_t>(number); };
  const auto op = [](int number) { return EnumOf<ncclRedOp_t>(number); };
  const auto sum = [=](const void* send, void* receive, std::size_t count, int its_type, int its_op,
                       cudaStream_t stream = nullptr) {
    return [=](ncclComm_t c) {
      return ncclAllReduce(send, receive, count, type(its_type), op(its_op), c, stream);
    };
  };
  return {
      {sum(nullptr, out, 8, ncclDouble, ncclSum), "sendbuff is NULL"},
      {sum(in, nullptr, 8, ncclDouble, ncclSum), "recvbuff is NULL"},
      {sum(in, out, kTooMany, ncclDouble, ncclSum), "count of"},
      {sum(in, out, static_cast<std::size_t>(-1), ncclInt8, ncclSum), "count of"},
      {sum(in, in + 1, 8, ncclDouble, ncclSum), "overlap"},
      {sum(in, out, 8, ncclNumTypes, ncclSum), "data type 12"},
      {sum(in, out, 8, -1, ncclSum), "data type -1"},
      {sum(in, out, 8, INT_MAX, ncclSum), "data type 2147483647"},
      {sum(in, out, 8, ncclDouble, -1), "reduction -1"},
      {sum(in, out, 8, ncclDouble, ncclNumOps), "reduction 5"},
      {sum(in, out, 8, ncclDouble, INT_MAX), "reduction 2147483647"},
      {sum(in, out, 0, ncclDouble, 7), "reduction 7"},
      {[=](ncclComm_t c) { return ncclReduce(in, out, 8, ncclDouble, ncclSum, -1, c, nullptr); },
       "root is -1"},
      {[=](ncclComm_t c) { return ncclReduce(in, out, 8, ncclDouble, ncclSum, 2, c, nullptr); },
       "root is 2"},
      {[=](ncclComm_t c) { return ncclBcast(in, 8, ncclDouble, INT_MIN, c, nullptr); },
       "root is -2147483648"},
      {[=](ncclComm_t c) { return ncclBcast(nullptr, 8, ncclDouble, 0, c, nullptr); }, "is NULL"},
      {[=](ncclComm_t c) { return ncclBroadcast(in, out, 0, ncclDouble, 2, c, nullptr); },
       "root is 2"},
      {[=](ncclComm_t c) { return ncclGather(in, out, 8, ncclDouble, INT_MAX, c, nullptr); },
       "root is 2147483647"},
      {[=](ncclComm_t c) { return ncclGather(in, nullptr, 8, ncclDouble, 0, c, nullptr); },
       "recvbuff is NULL"},
      {[=](ncclComm_t c) { return ncclScatter(nullptr, out, 8, ncclDouble, 0, c, nullptr); },
       "sendbuff is NULL"},
      {[=](ncclComm_t c) { return ncclScatter(in, out, kTooMany, ncclInt8, 0, c, nullptr); },
       "count of"},
      {[=](ncclComm_t c) { return ncclAllGather(in, out + 1, kTooMany, ncclInt8, c, nullptr); },
       "count of"},
      {[=](ncclComm_t c) {
         return ncclReduceScatter(nullptr, out, 8, ncclDouble, ncclSum, c, nullptr);
       },
       "sendbuff is NULL"},
      {[=](ncclComm_t c) { return ncclAlltoAll(in, out, kTooMany, ncclInt8, c, nullptr); },
       "count of"},
      {[=](ncclComm_t c) { return ncclSend(in, 8, ncclDouble, 2, c, nullptr); }, "peer is 2"},
      {[=](ncclComm_t c) { return ncclSend(in, 8, ncclDouble, -1, c, nullptr); }, "peer is -1"},
      {[=](ncclComm_t c) { return ncclSend(nullptr, 8, ncclDouble, 1, c, nullptr); },
       "sendbuff is NULL"},
      {[=](ncclComm_t c) { return ncclRecv(nullptr, 8, ncclDouble, 1, c, nullptr); },
       "recvbuff is NULL"},
      {[=](ncclComm_t c) { return ncclSend(nullptr, 1, ncclInt8, 1, c, nullptr); },
       "sendbuff is NULL"},
      {[=](ncclComm_t c) { return ncclRecv(nullptr, 1, ncclInt8, 1, c, nullptr); },
       "recvbuff is NULL"},
      {[=](ncclComm_t c) { return ncclRecv(out, SIZE_MAX, ncclDouble, 1, c, nullptr); },
       "count of"},
      {[=](ncclComm_t c) { return ncclRecv(out, 8, type(99), 1, c, nullptr); }, "data type 99"},
  };
}

std::vector<Wrong> WrongUseOfOne() {
  Things& the = The();
  const auto shrink = [&](int* list, int count, ncclComm_t* out, int flags) {
    return [=](ncclComm_t c) { return ncclCommShrink(c, list, count, out, nullptr, flags); };
  };
  const auto put = [&](const void* from, std::size_t count, int type, int peer) {
    return [=](ncclComm_t c) {
      return ncclPutSignal(from, count, EnumOf<ncclDataType_t>(type), peer, nullptr, 0, 0, 0, 0, c,
                           nullptr);
    };
  };
  const auto wait = [](int count, ncclWaitSignalDesc_t* list) {
    return [=](ncclComm_t c) { return ncclWaitSignal(count, list, c, nullptr); };
  };
  const auto selected = [&](const char* algorithms) {
    return [&the, algorithms](ncclComm_t c) {
      ncclCollConfig_t its = NCCL_COLLCONFIG_INITIALIZER;
      its.algSelection = algorithms;
      return ncclAllReduceConfig(the.in, the.out, 8, ncclDouble, ncclSum, c, nullptr, &its);
    };
  };
  static ncclWaitSignalDesc_t descriptor = {0, 0, 0, 0}, beyond_peer = {1, 2, 0, 0},
                              beyond_signal = {1, 0, 1, 0};
  static int negative = -1, self = 0, beyond = 2;
  static ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.splitShare = 3;
  return {
      {[](ncclComm_t c) { return ncclCommSplit(c, 0, 0, nullptr, nullptr); }, "newcomm is NULL"},
      {[&](ncclComm_t c) { return ncclCommSplit(c, 0, 0, &the.made, &config); },
       "config->splitShare is 3"},
      {shrink(nullptr, 1, &the.made, 0), "excludeRanksList is NULL"},
      {shrink(&the.excluded, 1, nullptr, 0), "newcomm is NULL"},
      {shrink(&the.excluded, 0, &the.made, 0), "excludeRanksCount is 0"},
      {shrink(&the.excluded, -1, &the.made, 1), "excludeRanksCount is -1"},
      {shrink(&the.excluded, INT_MAX, &the.made, 1), "excludeRanksCount is 2147483647"},
      {shrink(&the.excluded, 1, &the.made, 2), "shrinkFlags is 2"},
      {shrink(&the.excluded, 1, &the.made, -1), "shrinkFlags is -1"},
      {shrink(&negative, 1, &the.made, 0), "excludeRanksList[0] is -1"},
      {shrink(&beyond, 1, &the.made, 1), "excludeRanksList[0] is 2"},
      {shrink(&self, 1, &the.made, 1), "excludeRanksList has rank 0"},
      {[](ncclComm_t c) { return ncclCommRevoke(c, 2); }, "revokeFlags is 2"},
      {[](ncclComm_t c) { return ncclCommGetAsyncError(c, nullptr); }, "asyncError is NULL"},
      {[](ncclComm_t c) { return ncclCommCount(c, nullptr); }, "count is NULL"},
      {[](ncclComm_t c) { return ncclCommCuDevice(c, nullptr); }, "device is NULL"},
      {[](ncclComm_t c) { return ncclCommUserRank(c, nullptr); }, "rank is NULL"},
      {[&](ncclComm_t c) { return ncclCommRegister(c, nullptr, 8, &the.handle); }, "buff is NULL"},
      {[&](ncclComm_t c) { return ncclCommRegister(c, the.in, 8, nullptr); }, "handle is NULL"},
      {[&](ncclComm_t c) { return ncclCommRegister(c, the.in, 0, &the.handle); }, "size is 0"},
      {[&](ncclComm_t c) { return ncclCommRegister(c, the.in, SIZE_MAX, &the.handle); },
       "size is 18446744073709551615"},
      {[](ncclComm_t c) { return ncclCommDeregister(c, nullptr); }, "handle is NULL"},
      {[&](ncclComm_t c) { return ncclCommDeregister(c, the.in); }, "handle"},
      {[](ncclComm_t c) { return ncclCommDeregister(c, reinterpret_cast<void*>(1)); }, "handle"},
      {[&](ncclComm_t c) { return ncclCommWindowRegister(c, nullptr, 8, &the.window, 0); },
       "buff is NULL"},
      {[&](ncclComm_t c) { return ncclCommWindowRegister(c, the.in, 8, nullptr, 0); },
       "win is NULL"},
      {[&](ncclComm_t c) { return ncclCommWindowRegister(c, the.in, 8, &the.window, -1); },
       "winFlags -1"},
      {[&](ncclComm_t c) { return ncclCommWindowRegister(c, the.in + 1, 8, &the.window, 0); },
       "multiple of 4096"},
      {[](ncclComm_t c) { return ncclCommWindowDeregister(c, nullptr); }, "win is NULL"},
      {[&](ncclComm_t c) {
         return ncclRedOpCreatePreMulSum(nullptr, the.in, ncclDouble, ncclScalarDevice, c);
       },
       "op is NULL"},
      {[&](ncclComm_t c) {
         return ncclRedOpCreatePreMulSum(&the.op, nullptr, ncclDouble, ncclScalarDevice, c);
       },
       "scalar is NULL"},
      {[&](ncclComm_t c) {
         return ncclRedOpCreatePreMulSum(&the.op, the.in, EnumOf<ncclDataType_t>(-7),
                                         ncclScalarDevice, c);
       },
       "data type -7"},
      {[&](ncclComm_t c) {
         return ncclRedOpCreatePreMulSum(&the.op, the.in, ncclDouble,
                                         EnumOf<ncclScalarResidence_t>(-1), c);
       },
       "residence is -1"},
      {[](ncclComm_t c) { return ncclRedOpDestroy(EnumOf<ncclRedOp_t>(-1), c); }, "reduction -1"},
      {[](ncclComm_t c) { return ncclCommSuspend(c, 2); }, "flags 0x2"},
      {[](ncclComm_t c) { return ncclCommMemStats(c, ncclStatGpuMemTotal, nullptr); },
       "value is NULL"},
      {[&](ncclComm_t c) { return ncclCommMemStats(c, EnumOf<ncclCommMemStat_t>(4), &the.value); },
       "stat is 4"},
      {[](ncclComm_t c) { return ncclCommGetUniqueId(c, nullptr); }, "uniqueId is NULL"},
      {[](ncclComm_t c) { return ncclCommGrow(c, 3, nullptr, -1, nullptr, nullptr); },
       "newcomm is NULL"},
      {[&](ncclComm_t c) { return ncclCommGrow(c, 0, nullptr, -1, &the.made, nullptr); },
       "nRanks is 0"},
      {[&](ncclComm_t c) { return ncclCommGrow(c, 9, nullptr, 0, &the.made, nullptr); },
       "rank is 0"},
      {[&](ncclComm_t c) { return ncclCommGrow(c, 9, nullptr, -1, &the.made, &config); },
       "config->splitShare is 3"},
      {[](ncclComm_t c) { return ncclWinGetUserPtr(c, nullptr, nullptr); }, "outUserPtr is NULL"},
      {[&](ncclComm_t c) { return ncclWinGetUserPtr(c, nullptr, &the.handle); }, "win is NULL"},
      {[](ncclComm_t c) { return ncclSignal(2, 0, 0, 0, c, nullptr); }, "peer is 2"},
      {[](ncclComm_t c) { return ncclSignal(0, 1, 0, 0, c, nullptr); }, "sigIdx is 1"},
      {[](ncclComm_t c) { return ncclSignal(0, 0, -1, 0, c, nullptr); }, "ctx is -1"},
      {[](ncclComm_t c) { return ncclSignal(0, 0, 0, 1, c, nullptr); }, "flags is 0x1"},
      {put(the.in, 1, 0, -1), "peer is -1"},
      {put(nullptr, 1, 0, 0), "localbuff is NULL"},
      {put(the.in, kTooMany, 0, 0), "count of"},
      {put(the.in, 1, 99, 0), "data type 99"},
      {put(the.in, 1, 0, 0), "peerWin is NULL"},
      {wait(1, nullptr), "signalDescs is NULL"},
      {wait(-1, &descriptor), "nDesc is -1"},
      {wait(1, &descriptor), "signalDescs[0].opCnt is 0"},
      {wait(1, &beyond_peer), "signalDescs[0].peer is 2"},
      {wait(1, &beyond_signal), "signalDescs[0].sigIdx is 1"},
      {selected("nonsense"), "algSelection has \"nonsense\""},
      {selected("nvls"), "\"nvls\", can run"},
      {selected("one_shot,,"), "algSelection has \"\""},
      {[](ncclComm_t c) { return ncclRedOpDestroy(EnumOf<ncclRedOp_t>(5), c); }, "reduction 5"},
  };
}

TEST(EveryFunction, NamesAWrongArgument) {
  const Comms comms = InitAll(2);
  for (const bool grouped : {false, true})
    for (const std::vector<Wrong>& wrong : {WrongData(), WrongUseOfOne()})
      for (const Wrong& one : wrong) {
        SCOPED_TRACE(testing::Message() << one.says << ", in a group " << grouped);
        if (grouped) {
          EXPECT_EQ(ncclGroupStart(), ncclSuccess);
        }
        const ncclResult_t result = Tried([&] { return one.call(comms[0]); });
        // A group detects some errors only at its end.
        if (!grouped || result != ncclSuccess) {
          EXPECT_EQ(result, ncclInvalidArgument);
          EXPECT_THAT(LastMessage(), HasSubstr(one.says));
        }
        if (!grouped) continue;
        const ncclResult_t end = ncclGroupEnd();
        EXPECT_TRUE(result == ncclInvalidArgument || end == ncclInvalidArgument) << end;
      }
  ExpectSum(comms);
  DestroyAll(comms);
}

TEST(EveryFunction, NamesAWrongArgumentWithoutACommunicator) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  static ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = -3;
  ncclComm_t comm = nullptr;
  const int devices[] = {-1};
  const std::vector<int> many(65'537, -1);
  const auto scalable = [&](int ranks, int rank, int ids, ncclUniqueId* list) {
    return [&comm, ranks, rank, ids, list](ncclComm_t) {
      return ncclCommInitRankScalable(&comm, ranks, rank, ids, list, nullptr);
    };
  };
  const std::vector<Wrong> kWrong = {
      {[](ncclComm_t) { return ncclGetUniqueId(nullptr); }, "uniqueId is NULL"},
      {[&](ncclComm_t) { return ncclCommInitRank(nullptr, 1, id, 0); }, "comm is NULL"},
      {[&](ncclComm_t) { return ncclCommInitRank(&comm, -1, id, 0); }, "nranks is -1"},
      {[&](ncclComm_t) { return ncclCommInitRank(&comm, INT_MIN, id, 0); }, "nranks is"},
      {[&](ncclComm_t) { return ncclCommInitRank(&comm, INT_MAX, id, 0); }, "2147483647"},
      {[&](ncclComm_t) { return ncclCommInitRank(&comm, 2, id, 2); }, "rank 2"},
      {[&](ncclComm_t) { return ncclCommInitRank(&comm, 2, id, INT_MIN); }, "rank -2147483648"},
      {[&](ncclComm_t) { return ncclCommInitRankConfig(&comm, 1, id, 0, &config); },
       "config->blocking is -3"},
      {[&](ncclComm_t) { return ncclCommInitAll(nullptr, 1, nullptr); }, "comm is NULL"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, 0, nullptr); }, "ndev is 0"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, -1, nullptr); }, "ndev is -1"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, INT_MAX, nullptr); }, "ndev is 2147483647"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, 1, devices); }, "devlist[0] = -1"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, 65'536, many.data()); }, "devlist[0] = -1"},
      {[&](ncclComm_t) { return ncclCommInitAll(&comm, 65'537, many.data()); }, "ndev is 65537"},
      {scalable(1, 0, 1, nullptr), "commIds is NULL"},
      {scalable(1, 0, 0, &id), "nId is 0"},
      {scalable(1, 0, -1, &id), "nId is -1"},
      {scalable(1, 0, 2, &id), "nId is 2"},
      {scalable(0, 0, 1, &id), "nranks"},
      {scalable(1, 1, 1, &id), "rank 1"},
      {[](ncclComm_t) { return ncclMemAlloc(nullptr, 1); }, "ptr is NULL"},
      {[&](ncclComm_t) { return ncclMemFree(&comm); }, "ncclMemAlloc"},
      {[](ncclComm_t) { return ncclGetVersion(nullptr); }, "version is NULL"},
      {[&](ncclComm_t) { return ncclCommGrow(nullptr, 2, nullptr, 1, &comm, nullptr); },
       "uniqueId is NULL"},
      {[&](ncclComm_t) { return ncclCommGrow(nullptr, 2, &id, 2, &comm, nullptr); }, "rank 2"},
      {[&](ncclComm_t) { return ncclCommGrow(nullptr, 2, &id, -1, &comm, nullptr); }, "rank -1"},
      {[](ncclComm_t) { return ncclParamBind(nullptr, "NCCL_DEBUG"); }, "out is NULL"},
  };
  for (const bool grouped : {false, true})
    for (const Wrong& one : kWrong) {
      SCOPED_TRACE(testing::Message() << one.says << ", in a group " << grouped);
      if (grouped) {
        EXPECT_EQ(ncclGroupStart(), ncclSuccess);
      }
      const ncclResult_t result = one.call(nullptr);
      if (!grouped || result != ncclSuccess) {
        EXPECT_EQ(result, ncclInvalidArgument);
        EXPECT_THAT(LastMessage(), HasSubstr(one.says));
      }
      if (!grouped) continue;
      const ncclResult_t end = ncclGroupEnd();
      EXPECT_TRUE(result == ncclInvalidArgument || end == ncclInvalidArgument) << end;
    }
  EXPECT_EQ(comm, nullptr);
  for (const int code : {-1, INT_MIN, INT_MAX, 9})
    EXPECT_STREQ(ncclGetErrorString(EnumOf<ncclResult_t>(code)), "unknown result code");
  EXPECT_NE(ncclGetLastError(reinterpret_cast<ncclComm_t>(&comm)), nullptr);
  ncclResetDebugInit();
}

// ---- at random ----------------------------------------------------------------------------------

/// Calls of one thread on communicators with one rank each, so that no call waits for another rank.
class Program {
 public:
  explicit Program(std::uint64_t seed) : random_(seed) {}
  ~Program() {
    while (ncclGroupEnd() != ncclInvalidUsage || !NoGroup()) {
    }
    for (const auto& place : places_) ncclCommAbort(*place);
    for (const ncclComm_t comm : comms_) ncclCommAbort(comm);
    for (void* const memory : memory_) ncclMemFree(memory);
  }

  void Step() {
    static const std::vector<OnComm> functions = All();
    static const std::vector<Wrong> wrong = WrongUseOfOne(), data = WrongData();
    switch (random_.Below(8)) {
      case 0: Begin(); break;
      case 1: Check(ncclGroupStart()); break;
      case 2: Check(ncclGroupEnd()); break;
      case 3: Check(AllReduce()); break;
      case 4: RecordLastError(functions[random_.Below(functions.size())].call(Comm())); break;
      case 5: Check(wrong[random_.Below(wrong.size())].call(Comm())); break;
      case 6: Check(data[random_.Below(data.size())].call(Comm())); break;
      case 7: Allocate(); break;
    }
  }

 private:
  static bool NoGroup() {
    return LastMessage().find("without ncclGroupStart") != LastMessage().npos;
  }

  void Check(ncclResult_t result) {
    if (result != ncclSuccess && result != ncclInProgress) {
      EXPECT_NE(LastMessage(), "");
    }
  }
  /// Stores the result of a split or shrink in the program.
  void RecordLastError(ncclResult_t result) {
    Check(result);
    if (The().made) comms_.push_back(std::exchange(The().made, nullptr));
  }
  ncclComm_t Comm() {
    if (comms_.empty() || random_.Chance(0.05)) return nullptr;
    return comms_[random_.Below(comms_.size())];
  }
  void Begin() {
    if (places_.size() >= kBegunMax) return;  // unused ids keep their listeners
    constexpr int kRanks[] = {1, 1, 1, 0, -1, INT_MIN, INT_MAX};
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = static_cast<int>(random_.Below(3)) - 1;
    if (random_.Chance(0.5)) config.blocking = NCCL_CONFIG_UNDEF_INT;
    places_.push_back(std::make_unique<ncclComm_t>(nullptr));  // a group may write it much later
    const int ranks = kRanks[random_.Below(std::size(kRanks))];
    if (ranks == 1) Check(ncclGetUniqueId(&id_));  // each id is for one communicator
    Check(ncclCommInitRankConfig(places_.back().get(), ranks, id_, 0, &config));
    for (const auto& place : places_)
      if (*place) comms_.push_back(std::exchange(*place, nullptr));
  }
  ncclResult_t AllReduce() {
    constexpr std::size_t kCounts[] = {0, 1, kFewElements, kTooMany, SIZE_MAX};
    double* const ends[] = {nullptr, The().in, The().out};
    return ncclAllReduce(ends[random_.Below(3)], ends[random_.Below(3)],
                         kCounts[random_.Below(std::size(kCounts))],
                         EnumOf<ncclDataType_t>(static_cast<int>(random_.Below(14)) - 1),
                         EnumOf<ncclRedOp_t>(static_cast<int>(random_.Below(8)) - 1), Comm(),
                         random_.Chance(0.1) ? reinterpret_cast<cudaStream_t>(this) : nullptr);
  }
  void Allocate() {
    constexpr std::size_t kSizes[] = {0, 1, 4096, SIZE_MAX, std::size_t{1} << 62};
    void* memory = nullptr;
    Check(ncclMemAlloc(&memory, kSizes[random_.Below(std::size(kSizes))]));
    if (memory) memory_.push_back(memory);
    if (memory_.empty()) return;
    void* const any = memory_[random_.Below(memory_.size())];
    if (random_.Chance(0.5)) {
      Check(ncclCommRegister(Comm(), any, 1, &The().handle));
    } else if (random_.Chance(0.5)) {
      Check(ncclCommDeregister(Comm(), The().handle));
    } else {
      Check(ncclMemFree(any));  // freed again at the end, which is only an error
    }
  }

  static constexpr std::size_t kBegunMax = 12;
  Prng random_;
  ncclUniqueId id_ = {};
  Comms comms_;
  std::vector<void*> memory_;
  std::vector<std::unique_ptr<ncclComm_t>> places_;
};

TEST(EveryFunction, ReturnsItsExpectedResultInAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Program program(seed);
    for (int step = 0; step < 200; ++step) program.Step();
  }
}

}  // namespace
}  // namespace ringlet::c_api
