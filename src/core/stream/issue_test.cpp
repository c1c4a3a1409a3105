// The order of streams, among themselves and with the legacy stream, and the effects of a failure.
#include <gmock/gmock.h>

#include <thread>

#include "stream/current_device.hpp"
#include "stream/stream_table.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

using testing::HasSubstr;

TEST(Issue, AStreamRunsInOrderAndStreamsRunConcurrently) {
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

TEST(Issue, TheLegacyStreamAndBlockingStreamsWaitForEachOther) {
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

TEST(Issue, LegacyStreamsOfDevicesAreIndependent) {
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

TEST(Issue, AFailureIsReportedOnceAndTheStreamStaysUsable) {
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

TEST(Issue, TheLegacyStreamReportsAFailureOfABlockingStream) {
  const StreamForTest stream;
  EXPECT_TRUE(Table().Launch(stream, FailingTask("in a blocking stream")).ok());
  EXPECT_TRUE(Table().Launch(nullptr, Task([] {})).ok());
  EXPECT_THAT(Table().Synchronize(nullptr).why, HasSubstr("in a blocking stream"));
  EXPECT_TRUE(Table().Synchronize(nullptr).ok());
  EXPECT_TRUE(Table().SynchronizeDevice(0).ok());
}

TEST(Issue, WaitingForADeviceIncludesItsDestroyedStreams) {
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

TEST(Issue, AJointTaskAndItsStreamsWaitForEachOther) {
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

TEST(Issue, JointTasksAreIssuedTogetherOrNotAtAll) {
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
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // time for a wrong order
  EXPECT_EQ(trace.text(), "");
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(two).ok());
  EXPECT_EQ(trace.text(), "first second");
}

/// Returns a task of two streams that `gate` holds at its end. It records `event` where it begins.
JointTask Beginning(const StreamForTest& one, const StreamForTest& other, const EventForTest& event,
                    const Gate& gate, const std::shared_ptr<SerialOrder>& order) {
  HostTask task = *gate.Wait();
  task.orders.push_back(order);
  return {.streams = {one, other},
          .task = std::make_shared<const HostTask>(std::move(task)),
          .begins = {event}};
}

TEST(Issue, AnEventRecordsTheBeginningOfAJointTask) {
  const StreamForTest first, second, third;
  const EventForTest event(ringletEventDisableTiming);
  const auto order = std::make_shared<SerialOrder>();
  Gate before, ordered, within;
  HostTask earlier = *ordered.Wait();
  earlier.orders.push_back(order);
  EXPECT_TRUE(Table().Launch(third, std::make_shared<const HostTask>(std::move(earlier))).ok());
  EXPECT_TRUE(Table().Launch(second, before.Wait()).ok());
  JointTask joint = Beginning(first, second, event, within, order);
  ASSERT_TRUE(Table().Enqueue({&joint, 1}).ok());
  EXPECT_EQ(Table().QueryEvent(event).code, ringletNotReady);
  before.Open();
  EXPECT_EQ(Table().QueryEvent(event).code, ringletNotReady) << "its order is not there yet";
  ordered.Open();
  EXPECT_TRUE(Table().SynchronizeEvent(event).ok());
  EXPECT_EQ(Table().Query(first).code, ringletNotReady) << "it has not ended";
  within.Open();
  EXPECT_TRUE(Table().Synchronize(second).ok());
}

TEST(Issue, AnUnsuitableEventPreventsTheIssue) {
  const StreamForTest stream, other;
  const EventForTest timed, shared(ringletEventDisableTiming | ringletEventInterprocess);
  const Gate gate;
  for (const EventForTest* const event : {&timed, &shared}) {
    JointTask joint = Beginning(stream, other, *event, gate, std::make_shared<SerialOrder>());
    const Answer refused = Table().Enqueue({&joint, 1});
    EXPECT_EQ(refused.code, ringletInvalidArgument);
    EXPECT_THAT(refused.why, HasSubstr("cannot mark a launch"));
    EXPECT_EQ(Table().CheckBegin(*event).code, ringletInvalidArgument);
  }
  JointTask gone = Beginning(stream, other, timed, gate, std::make_shared<SerialOrder>());
  gone.begins = {nullptr};
  EXPECT_EQ(Table().Enqueue({&gone, 1}).code, ringletInvalidHandle);
  EXPECT_TRUE(Table().Query(stream).ok());
}

TEST(Issue, AnEventFailsIfAFailurePreventsTheBeginning) {
  const StreamForTest stream, other;
  const EventForTest event(ringletEventDisableTiming);
  const Gate gate;
  EXPECT_TRUE(Table().Launch(stream, FailingTask("no paper")).ok());
  JointTask joint = Beginning(other, stream, event, gate, std::make_shared<SerialOrder>());
  ASSERT_TRUE(Table().Enqueue({&joint, 1}).ok());
  EXPECT_EQ(Table().SynchronizeEvent(event).why, "no paper");
  EXPECT_EQ(Table().Synchronize(other).why, "no paper");
  EXPECT_EQ(Table().Synchronize(stream).why, "no paper");
}

TEST(Issue, ACapturedEventFollowsTheDependenciesOfItsTask) {
  const StreamForTest stream, other, branch;
  const EventForTest event(ringletEventDisableTiming), fork, join;
  Gate gate;
  Trace trace;
  ringletGraph_t graph = nullptr;
  ringletGraphExec_t exec = nullptr;
  ASSERT_TRUE(Table().BeginCapture(stream, ringletCaptureRelaxed).ok());
  EXPECT_TRUE(Table().Record(fork, stream).ok());
  EXPECT_TRUE(Table().WaitEvent(other, fork).ok());
  EXPECT_TRUE(Table().Launch(other, trace.Write("before ")).ok());
  JointTask joint = Beginning(stream, other, event, gate, std::make_shared<SerialOrder>());
  EXPECT_TRUE(Table().Enqueue({&joint, 1}).ok());
  EXPECT_EQ(Table().QueryEvent(event).code, ringletCapturedEvent);
  EXPECT_TRUE(Table().WaitEvent(branch, event).ok());
  std::atomic<bool> began = false;
  EXPECT_TRUE(Table()
                  .Launch(branch, Task([&] {
                            trace.Write("begun")->run().ok();
                            began = true;
                            began.notify_all();
                          }))
                  .ok());
  EXPECT_TRUE(Table().Record(join, branch).ok());
  EXPECT_TRUE(Table().WaitEvent(stream, join).ok());
  ASSERT_TRUE(Table().EndCapture(stream, &graph).ok());
  ASSERT_TRUE(Table().Instantiate(&exec, graph).ok());
  ASSERT_TRUE(Table().LaunchGraph(exec, stream).ok());
  began.wait(false);
  EXPECT_EQ(trace.text(), "before begun") << "while the task is held";
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_TRUE(Table().DestroyExec(exec).ok());
  EXPECT_TRUE(Table().DestroyGraph(graph).ok());
}

TEST(Issue, AFullStreamBlocksTheCallerButNoHostFunction) {
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
