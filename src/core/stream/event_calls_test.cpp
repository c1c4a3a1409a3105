// Events: records, the waits for them, and their times.
#include <gmock/gmock.h>

#include "stream/stream_table.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

TEST(Events, AStreamWaitsForTheRecordAtTheTimeOfTheCall) {
  const StreamForTest held, waiter;
  Gate first, second;
  Trace trace;
  const EventForTest event;
  EXPECT_TRUE(Table().Launch(held, first.Wait()).ok());
  EXPECT_TRUE(Table().Launch(held, trace.Write("first ")).ok());
  EXPECT_TRUE(Table().Record(event, held).ok());
  EXPECT_TRUE(Table().WaitEvent(waiter, event).ok());
  EXPECT_TRUE(Table().Launch(waiter, trace.Write("waiter")).ok());
  EXPECT_TRUE(Table().Launch(held, second.Wait()).ok());
  EXPECT_TRUE(Table().Record(event, held).ok()) << "a later record is not waited for";
  first.Open();
  EXPECT_TRUE(Table().Synchronize(waiter).ok());
  EXPECT_EQ(trace.text(), "first waiter");
  EXPECT_EQ(Table().QueryEvent(event).code, ringletNotReady);
  second.Open();
  EXPECT_TRUE(Table().SynchronizeEvent(event).ok());
}

TEST(Events, ADestroyedEventIsStillWaitedFor) {
  const StreamForTest held, waiter;
  Gate gate;
  Trace trace;
  EXPECT_TRUE(Table().Launch(held, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(held, trace.Write("held ")).ok());
  {
    const EventForTest event;
    EXPECT_TRUE(Table().Record(event, held).ok());
    EXPECT_TRUE(Table().WaitEvent(waiter, event).ok());
  }
  EXPECT_TRUE(Table().Launch(waiter, trace.Write("waiter")).ok());
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(waiter).ok());
  EXPECT_EQ(trace.text(), "held waiter");
}

TEST(Events, AnUnrecordedEventIsComplete) {
  const StreamForTest stream;
  const EventForTest event;
  EXPECT_TRUE(Table().QueryEvent(event).ok());
  EXPECT_TRUE(Table().SynchronizeEvent(event).ok());
  EXPECT_TRUE(Table().WaitEvent(stream, event).ok());
  EXPECT_TRUE(Table().Query(stream).ok());
}

TEST(Events, AFailureFailsTheEventAndTheWaitingStream) {
  const StreamForTest failing, waiter;
  const EventForTest event;
  Trace trace;
  EXPECT_TRUE(Table().Launch(failing, FailingTask("no such file")).ok());
  EXPECT_TRUE(Table().Record(event, failing).ok());
  EXPECT_TRUE(Table().WaitEvent(waiter, event).ok());
  EXPECT_TRUE(Table().Launch(waiter, trace.Write("passed over")).ok());
  EXPECT_EQ(Table().SynchronizeEvent(event).why, "no such file");
  EXPECT_EQ(Table().Synchronize(waiter).why, "no such file");
  EXPECT_EQ(Table().Synchronize(failing).why, "no such file");
  EXPECT_EQ(Table().QueryEvent(event).code, ringletFailed) << "that record stays failed";
  EXPECT_TRUE(Table().Record(event, failing).ok());
  EXPECT_TRUE(Table().QueryEvent(event).ok());
  EXPECT_EQ(trace.text(), "");
}

TEST(Events, MeasureTheTimeBetweenThem) {
  const StreamForTest stream;
  const EventForTest start, end, untimed(ringletEventDisableTiming), never;
  Gate gate;
  float ms = -1;
  EXPECT_TRUE(Table().Record(start, stream).ok());
  EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
  EXPECT_TRUE(Table().Record(end, stream).ok());
  EXPECT_EQ(Table().ElapsedTime(&ms, start, end).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().SynchronizeEvent(end).ok());
  EXPECT_TRUE(Table().ElapsedTime(&ms, start, end).ok());
  EXPECT_GT(ms, 0.0f);
  float back = 0;
  EXPECT_TRUE(Table().ElapsedTime(&back, end, start).ok());
  EXPECT_EQ(back, -ms);
  EXPECT_TRUE(Table().Record(untimed, stream).ok());
  EXPECT_EQ(Table().ElapsedTime(&ms, start, untimed).code, ringletInvalidHandle);
  EXPECT_EQ(Table().ElapsedTime(&ms, never, end).code, ringletInvalidHandle);
}

TEST(Events, RecordNowCompletesAnEvent) {
  const StreamForTest stream;
  const EventForTest event(ringletEventDisableTiming);
  Gate gate;
  EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
  EXPECT_TRUE(Table().Record(event, stream).ok());
  EXPECT_EQ(Table().QueryEvent(event).code, ringletNotReady);
  EXPECT_TRUE(Table().RecordNow(event).ok());
  EXPECT_TRUE(Table().QueryEvent(event).ok());
  EXPECT_EQ(Table().RecordNow(nullptr).code, ringletInvalidHandle);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(stream).ok());
}

TEST(Events, FlagsAreChecked) {
  ringletEvent_t event = nullptr;
  EXPECT_EQ(Table().CreateEvent(&event, 8).code, ringletInvalidArgument);
  EXPECT_EQ(Table().CreateEvent(&event, ringletEventInterprocess).code, ringletInvalidArgument);
  const EventForTest all(ringletEventBlockingSync | ringletEventDisableTiming |
                         ringletEventInterprocess);
  EXPECT_TRUE(Table().QueryEvent(all).ok());
  EXPECT_EQ(Table().DestroyEvent(nullptr).code, ringletInvalidHandle);
}

TEST(Events, TheLegacyStreamRecordsAfterBlockingStreams) {
  const StreamForTest held;
  const EventForTest event;
  Gate gate;
  EXPECT_TRUE(Table().Launch(held, gate.Wait()).ok());
  EXPECT_TRUE(Table().Record(event, nullptr).ok());
  EXPECT_EQ(Table().QueryEvent(event).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().SynchronizeEvent(event).ok());
}

}  // namespace
}  // namespace ringlet::stream
