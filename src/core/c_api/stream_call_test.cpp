// NCCL's functions on streams.
#include "c_api/stream_call.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <thread>

#include "c_api/handle/handles.hpp"
#include "c_api/streams_for_test.hpp"
#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::c_api {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<Issued> const kNoneIssued = std::make_shared<Issued>();

/// A call on a fake communicator, which the test only compares.
StreamCall CallOf(std::uintptr_t communicator, std::uintptr_t stream, std::size_t count) {
  std::shared_ptr<comm::Communicator> its(reinterpret_cast<comm::Communicator*>(communicator * 16),
                                          [](comm::Communicator*) {});
  comm::Call call;
  call.count = count;
  return {.call = {std::move(its), call},
          .issued = kNoneIssued,
          .stream = reinterpret_cast<ringletStream_t>(stream),
          .on_stream = stream != 0};
}

std::vector<std::size_t> CountsOf(const StreamCallSet& set) {
  std::vector<std::size_t> counts;
  for (const StreamCall& call : set.calls)
    counts.push_back(std::get<comm::Call>(call.call.work).count);
  return counts;
}

TEST(Gather, SeparatesCallsOfOtherCommunicatorsAndStreams) {
  const auto sets = Gather({CallOf(1, 10, 1), CallOf(2, 20, 2), CallOf(1, 10, 3)});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_THAT(CountsOf(sets[0]), ElementsAre(1, 3));
  EXPECT_THAT(CountsOf(sets[1]), ElementsAre(2));
  EXPECT_EQ(sets[0].streams.size(), 1u);
  EXPECT_FALSE(sets[0].waits);
}

TEST(Gather, JoinsCallsOfASharedStreamOrCommunicator) {
  const auto sets =
      Gather({CallOf(1, 10, 1), CallOf(2, 20, 2), CallOf(3, 30, 3), CallOf(1, 20, 4)});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_THAT(CountsOf(sets[0]), ElementsAre(1, 2, 4)) << "in the order of the calls";
  EXPECT_EQ(sets[0].streams.size(), 2u);
  EXPECT_THAT(CountsOf(sets[1]), ElementsAre(3));
}

TEST(Gather, JoinsACallWithoutAStreamToItsCommunicator) {
  const auto sets = Gather({CallOf(2, 20, 2), CallOf(3, 30, 3), CallOf(2, 0, 4)});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_THAT(CountsOf(sets[0]), ElementsAre(2, 4));
  EXPECT_TRUE(sets[0].waits);
  EXPECT_THAT(CountsOf(sets[1]), ElementsAre(3));
  EXPECT_FALSE(sets[1].waits);
}

/// Sums ones over all ranks of one thread, each on its own stream.
void ExpectSumOn(const Comms& comms, const TestStreams& streams) {
  std::vector<float> data(comms.size(), 1);
  for (std::size_t i = 0; i < comms.size(); ++i) {
    const ncclResult_t result =
        ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i]));
    EXPECT_EQ(result, ncclSuccess) << LastMessage();
  }
  streams.Synchronize();
  EXPECT_THAT(data, Each(static_cast<float>(comms.size())));
}

TEST(OnStreams, RanksOfASingleThreadNeedNoGroup) {
  const auto comms = InitAll(3);
  ExpectSumOn(comms, TestStreams(3));
  DestroyAll(comms);
}

TEST(OnStreams, ACallReturnsBeforeItsStreamReachesIt) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  StreamGate gate;
  float data[2] = {1, 2};
  gate.Hold(streams[0]);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(
        ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i])),
        ncclSuccess);
  EXPECT_EQ(ringletStreamQuery(streams[0]), ringletNotReady);
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(StateNow(comms[0]), ncclSuccess) << "it is issued";
  gate.Open();
  streams.Synchronize();
  EXPECT_THAT(data, Each(3));
  DestroyAll(comms);
}

TEST(OnStreams, TracesRecordWhenAnOperationWasEnqueued) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  float data[1] = {1};
  const auto sum = [&](cudaStream_t stream) {
    EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat, ncclSum, comms[0], stream), ncclSuccess);
  };
  gate.Hold(streams[0]);
  sum(AsCuda(streams[0]));
  sum(AsCuda(streams[0]));
  gate.Open();
  streams.Synchronize();
  sum(nullptr);
  const auto held = FindActive(comms[0]);
  ASSERT_TRUE(held.ok());
  const auto operations = held->communicator->control().doing().Last();
  ASSERT_EQ(operations.size(), 3u);
  EXPECT_GT(operations[0].enqueued, Instant(0));
  EXPECT_LE(operations[0].enqueued, operations[1].enqueued);
  EXPECT_LT(operations[1].enqueued, operations[0].began);
  EXPECT_EQ(operations[2].enqueued, Instant(0));
  DestroyAll(comms);
}

TEST(OnStreams, OperationsKeepTheirOrderAcrossStreams) {
  const auto comms = InitAll(1);
  const TestStreams streams(2);
  StreamGate gate;
  int first[1] = {7}, second[1] = {0}, third[1] = {0};
  gate.Hold(streams[0]);
  EXPECT_EQ(ncclAllReduce(first, second, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  EXPECT_EQ(ncclAllReduce(second, third, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[1])),
            ncclSuccess);
  gate.Open();
  EXPECT_EQ(ringletStreamSynchronize(streams[1]), ringletSuccess);
  EXPECT_EQ(third[0], 7);
  DestroyAll(comms);
}

TEST(OnStreams, ACallOnANullStreamFollowsEarlierCallsAndCompletes) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  int first[1] = {7}, second[1] = {0}, third[1] = {0};
  gate.Hold(streams[0]);
  EXPECT_EQ(ncclAllReduce(first, second, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  {
    const std::jthread opener([&] { gate.Open(); });
    EXPECT_EQ(ncclAllReduce(second, third, 1, ncclInt, ncclSum, comms[0], nullptr), ncclSuccess);
  }
  EXPECT_EQ(third[0], 7);
  DestroyAll(comms);
}

// A thread with several devices calls for all of them. Its current device is busy, so the stream of
// the other device stays busy as well if it has the call of its communicator.
TEST(OnStreams, NullIsTheStreamOfTheDeviceOfTheCommunicator) {
  const auto comms = InitAll(2);  // devices 0 and 1
  int data[2] = {1, 2};
  ringletStreamUseNull(1);
  for (const int current : {1, 0}) {
    StreamGate gate;
    EXPECT_EQ(ringletStreamSetDevice(current), ringletSuccess);
    gate.Hold(nullptr);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t rank = 0; rank < 2; ++rank)
      EXPECT_EQ(ncclAllReduce(&data[rank], &data[rank], 1, ncclInt, ncclSum, comms[rank], nullptr),
                ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(ringletStreamSetDevice(1 - current), ringletSuccess);
    EXPECT_EQ(ringletStreamQuery(nullptr), ringletNotReady) << "device " << 1 - current;
    gate.Open();
    for (const int device : {current, 1 - current}) {
      EXPECT_EQ(ringletStreamSetDevice(device), ringletSuccess);
      EXPECT_EQ(ringletStreamSynchronize(nullptr), ringletSuccess);
    }
    EXPECT_EQ(data[0], current == 1 ? 3 : 6);
    EXPECT_EQ(data[1], current == 1 ? 3 : 6);
  }
  EXPECT_EQ(ringletStreamSetDevice(0), ringletSuccess);
  ringletStreamUseNull(0);
  DestroyAll(comms);
}

TEST(OnStreams, TheSettingMakesNullTheLegacyStream) {
  const auto comms = InitAll(1);
  ringletStream_t blocking = nullptr;
  ASSERT_EQ(ringletStreamCreate(&blocking, 0, 0, 0), ringletSuccess);
  StreamGate gate;
  int in[1] = {7}, out[1] = {0};
  ringletStreamUseNull(1);
  gate.Hold(blocking);
  EXPECT_EQ(ncclAllReduce(in, out, 1, ncclInt, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ringletStreamQuery(nullptr), ringletNotReady);
  EXPECT_EQ(out[0], 0);
  gate.Open();
  EXPECT_EQ(ringletStreamSynchronize(nullptr), ringletSuccess);
  ringletStreamUseNull(0);
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(ringletStreamDestroy(blocking), ringletSuccess);
  DestroyAll(comms);
}

TEST(OnStreams, AGroupOverRanksAndStreamsIsIssuedWhenItEnds) {
  const auto comms = InitAll(2);
  const TestStreams streams(3);
  int in[2] = {1, 2}, out[2] = {0, 0}, got[2] = {0, 0};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i) {
    const cudaStream_t stream = AsCuda(streams[i]);
    EXPECT_EQ(ncclAllReduce(&in[i], &out[i], 1, ncclInt, ncclSum, comms[i], stream), ncclSuccess);
    const int peer = static_cast<int>(1 - i);
    // Uses another stream of the same communicator. NCCL joins the two.
    EXPECT_EQ(ncclSend(&in[i], 1, ncclInt, peer, comms[i], AsCuda(streams[2])), ncclSuccess);
    EXPECT_EQ(ncclRecv(&got[i], 1, ncclInt, peer, comms[i], AsCuda(streams[2])), ncclSuccess);
  }
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  streams.Synchronize();
  EXPECT_THAT(out, Each(3));
  EXPECT_THAT(got, ElementsAre(2, 1));
  DestroyAll(comms);
}

TEST(OnStreams, AGroupCompletesItsCallsOnNullStreams) {
  const auto comms = InitAll(2);
  const TestStreams streams(1);
  int in[2] = {1, 2}, out[2] = {0, 0};
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&in[0], &out[0], 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&in[1], &out[1], 1, ncclInt, ncclSum, comms[1], nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(out[1], 3);
  streams.Synchronize();
  EXPECT_EQ(out[0], 3);
  DestroyAll(comms);
}

/// One rank's group: a call on each communicator, on the null stream or one of two streams as
/// `placement` specifies, and a second call on the second communicator on the null stream.
void RunPlacedGroup(const std::vector<Comms>& comms, std::size_t rank, const TestStreams& streams,
                    int placement) {
  const std::size_t ranks = comms[0].size();
  std::vector<int> in(comms.size() + 1, placement + static_cast<int>(rank)), out(in.size(), -1);
  const int expected =
      static_cast<int>(ranks) * placement + static_cast<int>(ranks * (ranks - 1)) / 2;
  const auto sum = [&](std::size_t call, std::size_t communicator, int place) {
    const cudaStream_t stream =
        place == 0 ? nullptr : AsCuda(streams[2 * rank + static_cast<std::size_t>(place) - 1]);
    EXPECT_EQ(ncclAllReduce(&in[call], &out[call], 1, ncclInt, ncclSum, comms[communicator][rank],
                            stream),
              ncclSuccess)
        << LastMessage();
  };
  int places = placement;
  for (std::size_t skipped = 0; skipped < rank * comms.size(); ++skipped) places /= 3;
  std::vector<std::size_t> complete = {comms.size()};  // on return
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < comms.size(); ++i, places /= 3) {
    sum(i, i, places % 3);
    if (places % 3 == 0) complete.push_back(i);
    if (i == 1) sum(comms.size(), 1, 0);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << placement << ": " << LastMessage();
  for (const std::size_t call : complete) EXPECT_EQ(out[call], expected) << placement;
  for (const std::size_t own : {2 * rank, 2 * rank + 1})
    EXPECT_EQ(ringletStreamSynchronize(streams[own]), ringletSuccess);
  EXPECT_THAT(out, Each(expected)) << placement;
}

/// Runs all 3^6 placements of six calls, with one thread per rank.
void RunPlacements(std::size_t ranks) {
  std::vector<Comms> comms;
  while (comms.size() * ranks < 6) comms.push_back(InitAll(static_cast<int>(ranks)));
  const TestStreams streams(2 * ranks);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        for (int placement = 0; placement < 729 && !testing::Test::HasFailure(); ++placement)
          RunPlacedGroup(comms, rank, streams, placement);
      });
  }
  for (const Comms& one : comms) testing::Test::HasFailure() ? AbortAll(one) : DestroyAll(one);
}

TEST(OnStreams, TwoRanksMayPlaceTheCallsOfAGroupDifferently) {
  RunPlacements(2);
}

TEST(OnStreams, ThreeRanksMayPlaceTheCallsOfAGroupDifferently) {
  RunPlacements(3);
}

TEST(OnStreams, RefusesAGroupOfADestroyedCommunicator) {
  const TestStreams streams(2);
  for (const auto end : {ncclCommDestroy, ncclCommAbort}) {
    const auto comms = InitAll(2);
    float data[2] = {1, 2};
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(
          ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i])),
          ncclSuccess);
    EXPECT_EQ(end(comms[0]), ncclSuccess);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_THAT(LastMessage(), HasSubstr("inside a group"));
    streams.Synchronize();
    EXPECT_THAT(data, ElementsAre(1, 2));
    EXPECT_EQ(ncclCommAbort(comms[1]), ncclSuccess);
  }
}

TEST(OnStreams, ArgumentsAreCheckedAtTheCall) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  int data[4] = {};
  const cudaStream_t stream = AsCuda(streams[0]);
  EXPECT_EQ(ncclAllReduce(nullptr, data, 1, ncclInt, ncclSum, comms[0], stream),
            ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, data + 1, 2, ncclInt, ncclSum, comms[0], stream),
            ncclInvalidArgument);
  EXPECT_THAT(LastMessage(), HasSubstr("overlap"));
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comms[0],
                          reinterpret_cast<cudaStream_t>(data)),
            ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(ringletStreamQuery(streams[0]), ringletSuccess);
  DestroyAll(comms);
}

TEST(OnStreams, AScalarInMemoryIsReadWhenTheOperationRuns) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  float scalar = 2, in = 3, out = 0;
  ncclRedOp_t op{};
  ASSERT_EQ(ncclRedOpCreatePreMulSum(&op, &scalar, ncclFloat, ncclScalarDevice, comms[0]),
            ncclSuccess);
  gate.Hold(streams[0]);
  EXPECT_EQ(ncclAllReduce(&in, &out, 1, ncclFloat, op, comms[0], AsCuda(streams[0])), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(op, comms[0]), ncclSuccess);
  scalar = 5;
  gate.Open();
  streams.Synchronize();
  EXPECT_EQ(out, 15);
  DestroyAll(comms);
}

TEST(OnStreams, ANonBlockingCallIsInProgressUntilItIsIssued) {
  const auto comms = FormWithoutBlocking(2);
  const TestStreams streams(2);
  StreamGate gate;
  float data[2] = {1, 2};
  gate.Hold(streams[0]);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(
        ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i])),
        ncclInProgress);
    EXPECT_EQ(StateNow(comms[i]), ncclSuccess);
  }
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclInProgress);
  EXPECT_EQ(StateNow(comms[0]), ncclInProgress);
  gate.Open();
  streams.Synchronize();
  EXPECT_EQ(Outcome(comms[0]), ncclSuccess);
  EXPECT_THAT(data, Each(3));
  DestroyAll(comms);
}

TEST(OnStreams, AHostFunctionMayNotWaitForALaterOperation) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  struct Seen {
    ncclComm_t comm;
    ncclResult_t reduced = ncclNumResults, destroyed = ncclNumResults;
  } seen{.comm = comms[0]};
  StreamGate gate;
  int data[1] = {7};
  gate.Hold(streams[0]);
  EXPECT_EQ(ringletStreamLaunch(
                streams[0],
                [](void* its) {
                  auto* const here = static_cast<Seen*>(its);
                  int one[1] = {1};
                  here->reduced = ncclAllReduce(one, one, 1, ncclInt, ncclSum, here->comm, nullptr);
                  here->destroyed = ncclCommDestroy(here->comm);
                },
                &seen),
            ringletSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  gate.Open();
  streams.Synchronize();
  EXPECT_EQ(seen.reduced, ncclInvalidUsage);
  EXPECT_EQ(seen.destroyed, ncclInvalidUsage);
  DestroyAll(comms);
}

TEST(OnStreams, PutsAndSignalsRunOnStreams) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  constexpr std::size_t kBytes = NCCL_WIN_REQUIRED_ALIGNMENT;
  void* memory[2] = {};
  ncclWindow_t windows[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ncclMemAlloc(&memory[i], kBytes), ncclSuccess);
    ASSERT_EQ(
        ncclCommWindowRegister(comms[i], memory[i], kBytes, &windows[i], NCCL_WIN_COLL_SYMMETRIC),
        ncclSuccess);
    static_cast<int*>(memory[i])[0] = static_cast<int>(10 + i);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const int peer = static_cast<int>(1 - i);
    ncclWaitSignalDesc_t wait = {.opCnt = 2, .peer = peer, .sigIdx = 0, .ctx = 0};
    EXPECT_EQ(ncclWaitSignal(1, &wait, comms[i], AsCuda(streams[i])), ncclSuccess);
    wait.opCnt = -1;  // already read
  }
  // A communicator runs one operation at a time, so the awaited operation follows the other one.
  EXPECT_EQ(ringletStreamQuery(streams[0]), ringletNotReady);
  AbortAll(comms);
  for (void* const one : memory) EXPECT_EQ(ncclMemFree(one), ncclSuccess);
}

TEST(OnStreams, AGroupPutsSignalsAndWaits) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  constexpr std::size_t kBytes = NCCL_WIN_REQUIRED_ALIGNMENT;
  void* memory[2] = {};
  ncclWindow_t windows[2] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(ncclMemAlloc(&memory[i], kBytes), ncclSuccess);
    ASSERT_EQ(
        ncclCommWindowRegister(comms[i], memory[i], kBytes, &windows[i], NCCL_WIN_COLL_SYMMETRIC),
        ncclSuccess);
    static_cast<int*>(memory[i])[0] = static_cast<int>(10 + i);
  }
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i) {
    const int peer = static_cast<int>(1 - i);
    const cudaStream_t stream = AsCuda(streams[i]);
    EXPECT_EQ(ncclPutSignal(memory[i], 1, ncclInt, peer, windows[i], sizeof(int), 0, 0, 0, comms[i],
                            stream),
              ncclSuccess)
        << LastMessage();
    EXPECT_EQ(ncclSignal(peer, 0, 0, 0, comms[i], stream), ncclSuccess);
    ncclWaitSignalDesc_t wait = {.opCnt = 2, .peer = peer, .sigIdx = 0, .ctx = 0};
    EXPECT_EQ(ncclWaitSignal(1, &wait, comms[i], stream), ncclSuccess);
  }
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  streams.Synchronize();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(static_cast<int*>(memory[i])[1], static_cast<int>(11 - i));
    EXPECT_EQ(ncclCommWindowDeregister(comms[i], windows[i]), ncclSuccess);
  }
  DestroyAll(comms);
  for (void* const one : memory) EXPECT_EQ(ncclMemFree(one), ncclSuccess);
}

TEST(OnStreams, ASplitWaitsForIssuedOperations) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  int in[1] = {7}, out[1] = {0};
  gate.Hold(streams[0]);
  EXPECT_EQ(ncclAllReduce(in, out, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])), ncclSuccess);
  ncclComm_t child = nullptr;
  {
    const std::jthread opener([&] { gate.Open(); });
    EXPECT_EQ(ncclCommSplit(comms[0], 0, 0, &child, nullptr), ncclSuccess);
    EXPECT_EQ(out[0], 7);
  }
  EXPECT_EQ(ncclCommSuspend(comms[0], NCCL_SUSPEND_MEM), ncclSuccess);
  DestroyAll({comms[0], child});
}

TEST(OnStreams, ACallWithAConfigRunsOnItsStream) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER;
  int in[1] = {7}, out[1] = {0};
  gate.Hold(streams[0]);
  EXPECT_EQ(
      ncclAllReduceConfig(in, out, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0]), &config),
      ncclSuccess);
  EXPECT_EQ(out[0], 0);
  gate.Open();
  streams.Synchronize();
  EXPECT_EQ(out[0], 7);
  DestroyAll(comms);
}

// ThreadSanitizer checks the accesses of the worker.
TEST(OnStreams, MemoryStatisticsAreReadableWhileOperationsRun) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  constexpr std::size_t kCalls = 8, kCountMax = 100'000;
  std::vector<float> in(kCountMax, 2), out(kCountMax);
  float factor = 3;
  ncclRedOp_t op;
  ASSERT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat, ncclScalarHostImmediate, comms[0]),
            ncclSuccess);
  for (std::size_t i = 1; i <= kCalls; ++i)
    ASSERT_EQ(ncclAllReduce(in.data(), out.data(), kCountMax / kCalls * i, ncclFloat, op, comms[0],
                            AsCuda(streams[0])),
              ncclSuccess);
  std::uint64_t bytes = 0;
  do {
    ASSERT_EQ(ncclCommMemStats(comms[0], ncclStatGpuMemTotal, &bytes), ncclSuccess);
  } while (ringletStreamQuery(streams[0]) == ringletNotReady);
  EXPECT_EQ(ncclCommMemStats(comms[0], ncclStatGpuMemSuspend, &bytes), ncclSuccess);
  EXPECT_GE(bytes, kCountMax * sizeof(float));
  EXPECT_THAT(out, Each(6));
  DestroyAll(comms);
}

/// An event that can record a launch.
class LaunchEvent {
 public:
  explicit LaunchEvent(unsigned flags = ringletEventDisableTiming) {
    EXPECT_EQ(ringletEventCreate(&handle_, flags), ringletSuccess);
    config_.launchCompletionEvent = reinterpret_cast<cudaEvent_t>(handle_);
  }
  ~LaunchEvent() { ringletEventDestroy(handle_); }
  LaunchEvent(const LaunchEvent&) = delete;
  LaunchEvent& operator=(const LaunchEvent&) = delete;

  ringletEvent_t handle() const { return handle_; }
  const ncclCollConfig_t* config() const { return &config_; }

 private:
  ringletEvent_t handle_ = nullptr;
  ncclCollConfig_t config_ = NCCL_COLLCONFIG_INITIALIZER;
};

TEST(OnStreams, ALaunchEventRecordsTheStartOfACall) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  const LaunchEvent event;
  StreamGate gate;
  float data[2] = {1, 2};
  gate.Hold(streams[0]);
  ASSERT_EQ(ncclAllReduceConfig(&data[0], &data[0], 1, ncclFloat, ncclSum, comms[0],
                                AsCuda(streams[0]), event.config()),
            ncclSuccess)
      << LastMessage();
  EXPECT_EQ(ringletEventQuery(event.handle()), ringletNotReady);
  gate.Open();
  EXPECT_EQ(ringletEventSynchronize(event.handle()), ringletSuccess);
  EXPECT_EQ(ringletStreamQuery(streams[0]), ringletNotReady) << "the other rank has not called";
  EXPECT_EQ(ncclAllReduce(&data[1], &data[1], 1, ncclFloat, ncclSum, comms[1], AsCuda(streams[1])),
            ncclSuccess);
  streams.Synchronize();
  EXPECT_THAT(data, Each(3));
  DestroyAll(comms);
}

// Alone, in a group, and in a group with streams where some calls wait for the streams.
TEST(OnStreams, ALaunchEventRecordsCallsOnNullStreams) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  const LaunchEvent alone, in_group, beside;
  float data = 1;
  const auto call = [&](const LaunchEvent& event, cudaStream_t stream) {
    EXPECT_EQ(ringletEventRecord(event.handle(), streams[0]), ringletSuccess);
    EXPECT_EQ(
        ncclAllReduceConfig(&data, &data, 1, ncclFloat, ncclSum, comms[0], stream, event.config()),
        ncclSuccess)
        << LastMessage();
  };
  StreamGate gate;
  gate.Hold(streams[0]);
  call(alone, nullptr);
  EXPECT_EQ(ringletEventQuery(alone.handle()), ringletSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  call(in_group, nullptr);
  EXPECT_EQ(ringletEventQuery(in_group.handle()), ringletNotReady) << "of before";
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(ringletEventQuery(in_group.handle()), ringletSuccess);
  gate.Open();
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  call(beside, nullptr);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess) << LastMessage();
  EXPECT_EQ(ringletEventQuery(beside.handle()), ringletSuccess);
  DestroyAll(comms);
}

TEST(OnStreams, RefusesAnUnsuitableLaunchEvent) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  float data = 1;
  const auto result = [&](const ncclCollConfig_t* config, cudaStream_t stream) {
    return ncclAllReduceConfig(&data, &data, 1, ncclFloat, ncclSum, comms[0], stream, config);
  };
  const LaunchEvent timed(0), sound;
  for (const cudaStream_t stream : {AsCuda(streams[0]), cudaStream_t{}}) {
    EXPECT_EQ(result(timed.config(), stream), ncclInvalidArgument);
    EXPECT_THAT(LastMessage(), HasSubstr("cannot mark a launch"));
    EXPECT_EQ(result(sound.config(), stream), ncclSuccess) << LastMessage();
  }
  EXPECT_EQ(ringletEventDestroy(sound.handle()), ringletSuccess);
  EXPECT_EQ(result(sound.config(), nullptr), ncclInvalidArgument);
  DestroyAll(comms);
}

TEST(OnStreams, FinalizeWaitsForIssuedOperations) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  StreamGate gate;
  int in[1] = {7}, out[1] = {0};
  gate.Hold(streams[0]);
  EXPECT_EQ(ncclAllReduce(in, out, 1, ncclInt, ncclSum, comms[0], AsCuda(streams[0])), ncclSuccess);
  {
    const std::jthread opener([&] { gate.Open(); });
    EXPECT_EQ(ncclCommFinalize(comms[0]), ncclSuccess);
    EXPECT_EQ(out[0], 7);
  }
  EXPECT_EQ(ncclCommDestroy(comms[0]), ncclSuccess);
  streams.Synchronize();
}

TEST(OnStreams, AnAbortEndsWaitingOperationsAndLeavesStreamsUsable) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  float data[2] = {1, 2};
  // Rank 1 never calls, so rank 0's operation keeps waiting.
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(
        ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
        ncclSuccess);
  EXPECT_EQ(ringletStreamQuery(streams[0]), ringletNotReady);
  EXPECT_EQ(ncclCommAbort(comms[0]), ncclSuccess);
  const auto after = InitAll(2);
  ExpectSumOn(after, streams);
  EXPECT_NE(std::string(ringletStreamLastError(streams[0])), "");
  EXPECT_NE(StateNow(comms[1]), ncclSuccess) << "the other rank hears of it";
  EXPECT_EQ(ncclCommAbort(comms[1]), ncclSuccess);
  DestroyAll(after);
}

TEST(OnStreams, AFailureFailsStreamAndCommunicator) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  float data[2] = {1, 2};
  EXPECT_EQ(ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  // Differs from rank 0's call.
  EXPECT_EQ(ncclBroadcast(&data[1], &data[1], 1, ncclFloat, 0, comms[1], AsCuda(streams[1])),
            ncclSuccess);
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
  EXPECT_NE(std::string(ringletStreamLastError(streams[0])), "");
  EXPECT_NE(StateNow(comms[0]), ncclSuccess);
  EXPECT_NE(ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess)
      << "a failed communicator says so at once";
  AbortAll(comms);
}

// Expects that after `end` the stream still reports that the operation did not write its output.
void ExpectFailureIsKept(ncclResult_t (*end)(ncclComm_t)) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  float data = 1;
  EXPECT_EQ(ncclSend(&data, 1, ncclFloat, 0, comms[0], AsCuda(streams[0])), ncclSuccess);
  EXPECT_EQ(Outcome(comms[0]), ncclSuccess) << "it is issued";
  EXPECT_NE(end(comms[0]), ncclSuccess);
  EXPECT_THAT(LastMessage(), HasSubstr("an operation on a stream failed: "));
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
  ncclCommAbort(comms[0]);
}

TEST(OnStreams, FinalizeAndDestroyReportAFailedOperation) {
  ExpectFailureIsKept(ncclCommFinalize);
  ExpectFailureIsKept(ncclCommDestroy);
}

TEST(OnStreams, DestroyReportsAnOperationThatDidNotRun) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  float data = 1;
  EXPECT_EQ(
      ringletStreamLaunch(
          streams[0], [](void*) { static_cast<void>(ringletStreamFail("no data")); }, nullptr),
      ringletSuccess);
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  EXPECT_NE(ncclCommDestroy(comms[0]), ncclSuccess);
  EXPECT_THAT(LastMessage(), HasSubstr("no data"));
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
}

// After an abort, streams continue, but a caller with an incomplete output gets an error.
TEST(OnStreams, AnAbortedCallOnANullStreamIsAnErrorInAGroupToo) {
  const auto comms = InitAll(2);
  const TestStreams streams(1);
  StreamGate gate;
  gate.Hold(streams[0]);
  float data[2] = {1, 2};
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data[0], &data[0], 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  EXPECT_EQ(ncclAllReduce(&data[1], &data[1], 1, ncclFloat, ncclSum, comms[0], nullptr),
            ncclSuccess);
  {
    const std::jthread aborter([&] {
      while (!FindIssued(comms[0])->pending()) std::this_thread::yield();
      EXPECT_EQ(ncclCommAbort(comms[0]), ncclSuccess);
      gate.Open();
    });
    EXPECT_NE(ncclGroupEnd(), ncclSuccess);
  }
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletSuccess) << "its owner aborted it";
  AbortAll({comms[1]});
}

// Both the worker's thread and the process have the error.
TEST(OnStreams, AFailureIsTheLastErrorOfThreadsWithoutAnError) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  float data = 1;
  EXPECT_EQ(ncclSend(&data, 1, ncclFloat, 0, comms[0], AsCuda(streams[0])), ncclSuccess);
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
  std::string heard;
  {
    const std::jthread another([&] { heard = ncclGetLastError(nullptr); });
  }
  EXPECT_THAT(heard, HasSubstr("sends itself"));
  AbortAll(comms);
}

TEST(OnStreams, ACallFailsIfNoThreadStarts) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  float data = 1;
  {
    const comm::NoThreadsStart limit;
    EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
              ncclSystemError);
  }
  EXPECT_THAT(LastMessage(), HasSubstr("thread"));
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  streams.Synchronize();
  DestroyAll(comms);
}

TEST(OnStreams, EarlierFailedWorkPreventsAnOperationOnAllRanks) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  StreamGate gate;
  float data[2] = {1, 2};
  gate.Hold(streams[0]);  // a failure before the call of rank 1 would refuse that call
  EXPECT_EQ(
      ringletStreamLaunch(
          streams[0], [](void*) { static_cast<void>(ringletStreamFail("no data")); }, nullptr),
      ringletSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(
        ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i])),
        ncclSuccess);
  gate.Open();
  EXPECT_EQ(ringletStreamSynchronize(streams[1]), ringletFailed);
  EXPECT_THAT(ringletStreamLastError(streams[1]), HasSubstr("no data"));
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
  EXPECT_STREQ(ringletStreamLastError(streams[0]), "no data");
  EXPECT_THAT(data, ElementsAre(1, 2));
  AbortAll(comms);
}

TEST(OnStreams, ARevocationEndsWaitingOperations) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  float data = 1;
  EXPECT_EQ(ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
            ncclSuccess);
  for (const ncclComm_t comm : comms)
    EXPECT_EQ(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess);
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletSuccess) << "its owner knows";
  DestroyAll(comms);
}

[[noreturn]] void EndWithWork() {
  const auto comms = InitAll(2);
  ringletStream_t stream = nullptr;
  float data = 1;
  bool issued = ringletStreamCreate(&stream, 0, 0, 0) == ringletSuccess;
  // The other rank never calls, so the operation still waits when the program ends.
  for (int i = 0; i < 3; ++i)
    issued = issued && ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comms[0],
                                     AsCuda(stream)) == ncclSuccess;
  std::exit(issued ? 0 : 1);
}

// Starts a new program, because a forked child has the data of its parent's threads only.
TEST(OnStreams, AProgramMayExitWithWorkOnItsStreams) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(EndWithWork(), testing::ExitedWithCode(0), "");
}

/// Captures a sum of ones over the ranks, each on its stream, and returns the executables.
std::vector<ringletGraphExec_t> CaptureSum(const Comms& comms, const TestStreams& streams,
                                           std::vector<float>& data) {
  std::vector<ringletGraphExec_t> execs(comms.size());
  for (std::size_t i = 0; i < comms.size(); ++i) {
    ringletGraph_t graph = nullptr;
    EXPECT_EQ(ringletStreamBeginCapture(streams[i], ringletCaptureGlobal), ringletSuccess);
    EXPECT_EQ(
        ncclAllReduce(&data[i], &data[i], 1, ncclFloat, ncclSum, comms[i], AsCuda(streams[i])),
        ncclSuccess);
    EXPECT_EQ(ringletStreamEndCapture(streams[i], &graph), ringletSuccess);
    EXPECT_EQ(ringletGraphInstantiate(&execs[i], graph), ringletSuccess);
    EXPECT_EQ(ringletGraphDestroy(graph), ringletSuccess);
  }
  return execs;
}

TEST(InGraphs, AnOperationRunsWithEachLaunch) {
  const auto comms = InitAll(2);
  const TestStreams streams(2);
  std::vector<float> data(2, 1);
  const auto execs = CaptureSum(comms, streams, data);
  EXPECT_THAT(data, Each(1)) << "nothing runs while it is captured";
  for (int times = 0; times < 1000; ++times) {
    if (times % 10 == 0) {
      streams.Synchronize();
      ASSERT_THAT(data, Each(times == 0 ? 1 : 1024));
      data.assign(2, 1);
    }
    for (std::size_t i = 0; i < 2; ++i)
      ASSERT_EQ(ringletGraphLaunch(execs[i], streams[i]), ringletSuccess);
  }
  streams.Synchronize();
  EXPECT_THAT(data, Each(1024));
  for (const ringletGraphExec_t exec : execs)
    EXPECT_EQ(ringletGraphExecDestroy(exec), ringletSuccess);
  DestroyAll(comms);
}

TEST(InGraphs, AnOperationOfADestroyedCommunicatorFails) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  std::vector<float> data(1, 1);
  const auto execs = CaptureSum(comms, streams, data);
  DestroyAll(comms);
  EXPECT_EQ(ringletGraphLaunch(execs[0], streams[0]), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(streams[0]), ringletFailed);
  EXPECT_THAT(ringletStreamLastError(streams[0]), HasSubstr("destroyed or aborted"));
  EXPECT_EQ(ringletGraphExecDestroy(execs[0]), ringletSuccess);
}

TEST(InGraphs, CaptureRefusesAGroupWithANullStream) {
  const auto comms = InitAll(1);
  const TestStreams streams(1);
  ringletGraph_t graph = nullptr;
  float captured = 1, complete = 1;
  ASSERT_EQ(ringletStreamBeginCapture(streams[0], ringletCaptureRelaxed), ringletSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  ASSERT_EQ(
      ncclAllReduce(&captured, &captured, 1, ncclFloat, ncclSum, comms[0], AsCuda(streams[0])),
      ncclSuccess);
  ASSERT_EQ(ncclAllReduce(&complete, &complete, 1, ncclFloat, ncclSum, comms[0], nullptr),
            ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_THAT(LastMessage(), HasSubstr("complete on return"));
  EXPECT_EQ(ringletStreamEndCapture(streams[0], &graph), ringletCaptureInvalidated);
  DestroyAll(comms);
}

TEST(InGraphs, AWholeGroupIsCaptured) {
  const auto comms = InitAll(2);
  const TestStreams streams(1);
  int in[2] = {1, 2}, out[2] = {0, 0};
  ASSERT_EQ(ringletStreamBeginCapture(streams[0], ringletCaptureRelaxed), ringletSuccess);
  EXPECT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(ncclAllReduce(&in[i], &out[i], 1, ncclInt, ncclSum, comms[i], AsCuda(streams[0])),
              ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  ringletGraph_t graph = nullptr;
  ASSERT_EQ(ringletStreamEndCapture(streams[0], &graph), ringletSuccess);
  ringletGraphExec_t exec = nullptr;
  ASSERT_EQ(ringletGraphInstantiate(&exec, graph), ringletSuccess);
  EXPECT_EQ(ringletGraphLaunch(exec, streams[0]), ringletSuccess);
  streams.Synchronize();
  EXPECT_THAT(out, Each(3));
  EXPECT_EQ(ringletGraphExecDestroy(exec), ringletSuccess);
  EXPECT_EQ(ringletGraphDestroy(graph), ringletSuccess);
  DestroyAll(comms);
}

}  // namespace
}  // namespace ringlet::c_api
