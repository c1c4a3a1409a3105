// The C functions of streams, events and captures, as a program calls them.
#include "ringlet/stream.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>

#include "stream/current_device.hpp"

namespace ringlet::stream_api {
namespace {

using testing::HasSubstr;

void Increment(void* data) {
  ++*static_cast<int*>(data);
}

void Fail(void*) {
  EXPECT_EQ(ringletStreamFail("the kernel failed"), ringletSuccess);
}

TEST(StreamFunctions, RunHostFunctionsInOrder) {
  ringletStream_t stream = nullptr;
  ASSERT_EQ(ringletStreamCreate(&stream, 0, ringletStreamNonBlocking, 2), ringletSuccess);
  int ran = 0;
  EXPECT_EQ(ringletStreamLaunch(stream, Increment, &ran), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(stream), ringletSuccess);
  EXPECT_EQ(ran, 1);
  unsigned flags = 0;
  int priority = 0, device = -1;
  unsigned long long id = 0;
  EXPECT_EQ(ringletStreamGetFlags(stream, &flags), ringletSuccess);
  EXPECT_EQ(ringletStreamGetPriority(stream, &priority), ringletSuccess);
  EXPECT_EQ(ringletStreamGetDeviceOf(stream, &device), ringletSuccess);
  EXPECT_EQ(ringletStreamGetId(stream, &id), ringletSuccess);
  EXPECT_EQ(flags, 1u);
  EXPECT_EQ(priority, 2);
  EXPECT_EQ(device, 0);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
  EXPECT_EQ(ringletStreamQuery(stream), ringletInvalidHandle);
  EXPECT_THAT(ringletStreamLastMessage(), HasSubstr("never created, or is destroyed"));
}

TEST(StreamFunctions, AFailureHasAMessage) {
  ringletStream_t stream = nullptr;
  ASSERT_EQ(ringletStreamCreate(&stream, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  EXPECT_STREQ(ringletStreamLastError(stream), "");
  EXPECT_EQ(ringletStreamLaunch(stream, Fail, nullptr), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(stream), ringletFailed);
  EXPECT_STREQ(ringletStreamLastError(stream), "the kernel failed");
  EXPECT_STREQ(ringletStreamLastMessage(), "the kernel failed");
  EXPECT_EQ(ringletStreamFail("here"), ringletNotPermitted);
  EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
}

TEST(StreamFunctions, OwnedDataAreReleasedUnlessTheCallFails) {
  ringletStream_t stream = nullptr;
  ASSERT_EQ(ringletStreamCreate(&stream, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  int count = 0;
  EXPECT_EQ(ringletStreamLaunchOwned(stream, Increment, &count, Increment), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(stream), ringletSuccess);
  EXPECT_EQ(count, 2);
  ASSERT_EQ(ringletStreamBeginCapture(stream, ringletCaptureRelaxed), ringletSuccess);
  EXPECT_EQ(ringletStreamLaunchOwned(stream, Increment, &count, Increment), ringletSuccess);
  ringletGraph_t graph = nullptr;
  ASSERT_EQ(ringletStreamEndCapture(stream, &graph), ringletSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(ringletGraphDestroy(graph), ringletSuccess);
  EXPECT_EQ(count, 3) << "released, and never run";
  EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
  EXPECT_EQ(ringletStreamLaunchOwned(stream, Increment, &count, Increment), ringletInvalidHandle);
  EXPECT_EQ(count, 3);
}

TEST(StreamFunctions, NullPointersAreInvalidArguments) {
  EXPECT_EQ(ringletStreamCreate(nullptr, 0, 0, 0), ringletInvalidArgument);
  EXPECT_THAT(ringletStreamLastMessage(), HasSubstr("stream is NULL"));
  EXPECT_EQ(ringletStreamLaunch(nullptr, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletEventCreate(nullptr, 0), ringletInvalidArgument);
  EXPECT_EQ(ringletEventElapsedTime(nullptr, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamGetDevice(nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamGetId(nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamEndCapture(nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamCaptureStatus(nullptr, nullptr, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamExchangeCaptureMode(nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamGetCaptureNodes(nullptr, nullptr, nullptr), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamSetCaptureNodes(nullptr, nullptr, 1, 0), ringletInvalidArgument);
}

TEST(StreamFunctions, EventsAreRecordedWaitedForAndTimed) {
  ringletStream_t one = nullptr, two = nullptr;
  ringletEvent_t start = nullptr, end = nullptr;
  ASSERT_EQ(ringletStreamCreate(&one, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  ASSERT_EQ(ringletStreamCreate(&two, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  ASSERT_EQ(ringletEventCreate(&start, 0), ringletSuccess);
  ASSERT_EQ(ringletEventCreate(&end, ringletEventBlockingSync), ringletSuccess);
  int ran = 0;
  EXPECT_EQ(ringletEventRecord(start, one), ringletSuccess);
  EXPECT_EQ(ringletStreamLaunch(one, Increment, &ran), ringletSuccess);
  EXPECT_EQ(ringletEventRecord(end, one), ringletSuccess);
  EXPECT_EQ(ringletStreamWaitEvent(two, end), ringletSuccess);
  EXPECT_EQ(ringletStreamLaunch(two, Increment, &ran), ringletSuccess);
  EXPECT_EQ(ringletStreamSynchronize(two), ringletSuccess);
  EXPECT_EQ(ringletEventQuery(end), ringletSuccess);
  EXPECT_EQ(ringletEventSynchronize(end), ringletSuccess);
  float ms = -1;
  EXPECT_EQ(ringletEventElapsedTime(&ms, start, end), ringletSuccess);
  EXPECT_GE(ms, 0.0f);
  EXPECT_EQ(ran, 2);
  for (const ringletEvent_t event : {start, end})
    EXPECT_EQ(ringletEventDestroy(event), ringletSuccess);
  for (const ringletStream_t stream : {one, two})
    EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
}

TEST(StreamFunctions, CapturesReportTheirStatus) {
  ringletStream_t stream = nullptr;
  ASSERT_EQ(ringletStreamCreate(&stream, 0, 0, 0), ringletSuccess);
  int status = -1, ran = 0;
  unsigned long long id = 77;
  ringletGraph_t graph = nullptr;
  EXPECT_EQ(ringletStreamCaptureStatus(stream, &status, &id, &graph), ringletSuccess);
  EXPECT_EQ(status, ringletCaptureNone);
  EXPECT_EQ(id, 77u) << "only of a capture";
  ASSERT_EQ(ringletStreamBeginCapture(stream, ringletCaptureThreadLocal), ringletSuccess);
  EXPECT_EQ(ringletStreamLaunch(stream, Increment, &ran), ringletSuccess);
  EXPECT_EQ(ringletStreamCaptureStatus(stream, &status, &id, &graph), ringletSuccess);
  EXPECT_EQ(status, ringletCaptureActive);
  EXPECT_NE(id, 77u);
  EXPECT_EQ(ringletGraphDestroy(graph), ringletInvalidArgument) << "it is the capture's";
  ringletGraphNode_t node = nullptr;
  size_t count = 1;
  EXPECT_EQ(ringletStreamGetCaptureNodes(stream, &node, &count), ringletSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(ringletStreamSetCaptureNodes(stream, &node, 1, 1), ringletSuccess);
  int mode = ringletCaptureRelaxed;
  EXPECT_EQ(ringletStreamExchangeCaptureMode(&mode), ringletSuccess);
  EXPECT_EQ(ringletStreamCheckCapture(), ringletSuccess);
  EXPECT_EQ(ringletStreamExchangeCaptureMode(&mode), ringletSuccess);
  EXPECT_EQ(ringletStreamCheckCapture(), ringletCaptureUnsupported);
  EXPECT_EQ(ringletStreamEndCapture(stream, &graph), ringletCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(ringletStreamDestroy(stream), ringletSuccess);
}

TEST(StreamFunctions, TheCurrentDeviceBelongsToTheThread) {
  int device = -1;
  EXPECT_EQ(ringletStreamSetDevice(2), ringletSuccess);
  EXPECT_EQ(ringletStreamGetDevice(&device), ringletSuccess);
  EXPECT_EQ(device, 2);
  EXPECT_EQ(ringletStreamSetDevice(RINGLET_STREAM_DEVICES_MAX), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamGetDeviceOf(ringletStreamLegacy, &device), ringletSuccess);
  EXPECT_EQ(device, 2);
  EXPECT_EQ(ringletStreamSynchronizeDevice(2), ringletSuccess);
  EXPECT_EQ(ringletStreamAwaitDevice(2), ringletSuccess);
  EXPECT_EQ(ringletStreamAwaitDevice(RINGLET_STREAM_DEVICES_MAX), ringletInvalidArgument);
  EXPECT_EQ(ringletStreamSetDevice(0), ringletSuccess);
}

TEST(StreamFunctions, TheSettingMakesNullAStream) {
  ringletStreamUseNull(1);
  EXPECT_TRUE(stream::IsStream(nullptr));
  ringletStreamUseNull(0);
  EXPECT_FALSE(stream::IsStream(nullptr));
  EXPECT_STREQ(ringletStreamResultName(ringletNotReady), "ringletNotReady");
}

}  // namespace
}  // namespace ringlet::stream_api
