// How streams are ordered, by themselves and with the legacy stream, and what a failure stops.
#include <gmock/gmock.h>

#include <thread>

#include "stream/current_device.hpp"
#include "stream/stream_table.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

using testing::HasSubstr;

TEST(Issue, AStreamIsInOrderAndStreamsAreBesideEachOther) {
  const StreamForTest held, free;
  Gate gate;
  Trace trace;
  EXPECT_TRUE(Table().Launch(held, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(held, trace.Write("second")).ok());
  EXPECT_TRUE(Table().Launch(free, trace.Write("first ")).ok());
  EXPECT_TRUE(Table().Synchronize(free).ok());
  EXPECT_EQ(Table().Query(held).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(held).ok());
  EXPECT_TRUE(Table().Query(held).ok());
  EXPECT_EQ(trace.text(), "first second");
}

TEST(Issue, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const StreamForTest blocking, later, free(ringletStreamNonBlocking);
  Gate gate;
  Trace trace;
  EXPECT_TRUE(Table().Launch(blocking, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(blocking, trace.Write("blocking ")).ok());
  EXPECT_TRUE(Table().Launch(nullptr, trace.Write("legacy ")).ok());
  EXPECT_TRUE(Table().Launch(later, trace.Write("later")).ok());
  EXPECT_TRUE(Table().Launch(free, trace.Write("free ")).ok());
  EXPECT_TRUE(Table().Synchronize(free).ok());
  EXPECT_EQ(trace.text(), "free ");
  EXPECT_EQ(Table().Query(ringletStreamLegacy).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(later).ok());
  EXPECT_EQ(trace.text(), "free blocking legacy later");
}

TEST(Issue, LegacyStreamsOfDevicesHaveNothingToDoWithEachOther) {
  const StreamForTest held(0, 1);
  Gate gate;
  Trace trace;
  EXPECT_TRUE(Table().Launch(held, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(nullptr, trace.Write("of device 0")).ok());
  EXPECT_TRUE(Table().Synchronize(nullptr).ok());
  EXPECT_EQ(trace.text(), "of device 0");
  SetCurrentDevice(1);
  EXPECT_EQ(Table().Query(nullptr).code, ringletNotReady) << "it waits for the blocking one";
  SetCurrentDevice(0);
  gate.Open();
  EXPECT_TRUE(Table().SynchronizeDevice(1).ok());
}

TEST(Issue, AFailureIsReportedOnceAndTheStreamWorksAgain) {
  const StreamForTest stream;
  Trace trace;
  EXPECT_TRUE(Table().Launch(stream, FailingTask("the copy failed")).ok());
  EXPECT_TRUE(Table().Launch(stream, trace.Write("passed over")).ok());
  const Answer first = Table().Synchronize(stream);
  EXPECT_EQ(first.code, ringletFailed);
  EXPECT_EQ(first.why, "the copy failed");
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_TRUE(Table().Launch(stream, trace.Write("runs")).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "runs");
  StreamTable::Properties its;
  EXPECT_TRUE(Table().Describe(stream, &its).ok());
  EXPECT_EQ(its.last_error, "the copy failed");
}

TEST(Issue, AFailureGoesWithTheLegacyStream) {
  const StreamForTest stream;
  EXPECT_TRUE(Table().Launch(stream, FailingTask("in a blocking stream")).ok());
  EXPECT_TRUE(Table().Launch(nullptr, Task([] {})).ok());
  EXPECT_THAT(Table().Synchronize(nullptr).why, HasSubstr("in a blocking stream"));
  EXPECT_TRUE(Table().Synchronize(nullptr).ok());
  EXPECT_TRUE(Table().SynchronizeDevice(0).ok());
}

TEST(Issue, ADeviceIsWaitedForWithItsDestroyedStreams) {
  Trace trace;
  Gate gate;
  {
    const StreamForTest stream(0, 2);
    EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
    EXPECT_TRUE(Table().Launch(stream, trace.Write("done")).ok());
  }
  const std::jthread opener([&] { gate.Open(); });
  EXPECT_TRUE(Table().SynchronizeDevice(2).ok());
  EXPECT_EQ(trace.text(), "done");
  EXPECT_EQ(Table().SynchronizeDevice(-1).code, ringletInvalidArgument);
}

TEST(Issue, AHostFunctionMayIssueAndMayNotWait) {
  const StreamForTest stream, other;
  Answer synchronized, launched;
  EXPECT_TRUE(Table()
                  .Launch(stream, Task([&] {
                            launched = Table().Launch(other, Task([] {}));
                            synchronized = Table().Synchronize(other);
                          }))
                  .ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_TRUE(launched.ok());
  EXPECT_EQ(synchronized.code, ringletNotPermitted);
}

TEST(Issue, AJointTaskWaitsForAllItsStreamsAndTheyForIt) {
  const StreamForTest one, two;
  Gate gate;
  Trace trace;
  EXPECT_TRUE(Table().Launch(two, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(two, trace.Write("before ")).ok());
  JointTask joint{.streams = {one, two, one}, .task = trace.Write("joint ")};
  EXPECT_TRUE(Table().Enqueue({&joint, 1}).ok());
  EXPECT_TRUE(Table().Launch(two, trace.Write("after")).ok());
  EXPECT_EQ(Table().Query(one).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(two).ok());
  EXPECT_TRUE(Table().Query(one).ok());
  EXPECT_EQ(trace.text(), "before joint after");
  EXPECT_FALSE(joint.done->pending());
}

TEST(Issue, OfJointTasksAllOrNoneAreIssued) {
  const StreamForTest stream;
  Trace trace;
  std::vector<JointTask> tasks = {
      {.streams = {stream}, .task = trace.Write("a")},
      {.streams = {reinterpret_cast<ringletStream_t>(&trace)}, .task = trace.Write("b")}};
  EXPECT_EQ(Table().Enqueue(tasks).code, ringletInvalidHandle);
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "");
}

TEST(Issue, ASerialOrderHoldsAcrossStreams) {
  const StreamForTest one, two;
  const auto order = std::make_shared<SerialOrder>();
  Gate gate;
  Trace trace;
  const auto in_order = [&](const TaskRef& task) {
    return std::make_shared<const HostTask>(HostTask{.run = task->run, .orders = {order}});
  };
  EXPECT_TRUE(Table().Launch(one, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(one, in_order(trace.Write("first "))).ok());
  EXPECT_TRUE(Table().Launch(two, in_order(trace.Write("second"))).ok());
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // time to do it wrong
  EXPECT_EQ(trace.text(), "");
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(two).ok());
  EXPECT_EQ(trace.text(), "first second");
}

TEST(Issue, AFullStreamHoldsTheCallerAndNoHostFunction) {
  const StreamForTest stream, feeder;
  Gate gate;
  int ran = 0;  // on one worker
  EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
  for (int i = 0; i < RINGLET_STREAM_ITEMS_MAX; ++i)
    EXPECT_TRUE(Table().Launch(stream, Task([&] { ++ran; })).ok());
  Answer from_host_function;
  EXPECT_TRUE(Table()
                  .Launch(feeder, Task([&] {
                            from_host_function = Table().Launch(stream, Task([&] { ++ran; }));
                          }))
                  .ok());
  EXPECT_TRUE(Table().Synchronize(feeder).ok());
  EXPECT_TRUE(from_host_function.ok());
  {
    const std::jthread caller(
        [&] { EXPECT_TRUE(Table().Launch(stream, Task([&] { ++ran; })).ok()); });
    gate.Open();
  }
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(ran, RINGLET_STREAM_ITEMS_MAX + 2);
}

}  // namespace
}  // namespace ringlet::stream
