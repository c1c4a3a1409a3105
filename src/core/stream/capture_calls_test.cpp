// Captures: forks and joins over events, errors that invalidate them, and calls that they forbid.
#include <gmock/gmock.h>

#include <thread>

#include "stream/stream_table.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

using testing::SizeIs;

ringletGraph_t Capture(ringletStream_t stream, const std::function<void()>& issue) {
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
  issue();
  ringletGraph_t graph = nullptr;
  const Answer ended = Table().EndCapture(stream, &graph);
  EXPECT_TRUE(ended.ok()) << ended.why;
  return graph;
}

ringletResult_t EndOf(ringletStream_t stream) {
  ringletGraph_t graph = nullptr;
  const Answer ended = Table().EndCapture(stream, &graph);
  EXPECT_EQ(graph != nullptr, ended.ok());
  if (graph) {
    EXPECT_TRUE(Table().DestroyGraph(graph).ok());
  }
  return ended.code;
}

void LaunchTimes(ringletGraph_t graph, ringletStream_t stream, int times) {
  ringletGraphExec_t exec = nullptr;
  ASSERT_TRUE(Table().Instantiate(&exec, graph).ok());
  for (int i = 0; i < times; ++i) EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
  EXPECT_TRUE(Table().DestroyExec(exec).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
}

TEST(Captures, RunNothingUntilTheGraphIsLaunched) {
  const StreamForTest stream;
  Trace trace;
  const ringletGraph_t graph = Capture(stream, [&] {
    EXPECT_TRUE(Table().Launch(stream, trace.Write("a")).ok());
    EXPECT_TRUE(Table().Launch(stream, trace.Write("b")).ok());
  });
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "");
  LaunchTimes(graph, stream, 3);
  EXPECT_EQ(trace.text(), "ababab");
  EXPECT_TRUE(Table().DestroyGraph(graph).ok());
}

TEST(Captures, ForkAndJoinThroughEvents) {
  const StreamForTest stream, branch;
  const EventForTest fork, join;
  Trace trace;
  const ringletGraph_t graph = Capture(stream, [&] {
    EXPECT_TRUE(Table().Launch(stream, trace.Write("a")).ok());
    EXPECT_TRUE(Table().Record(fork, stream).ok());
    EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
    StreamTable::CaptureStatus mine, its;
    EXPECT_TRUE(Table().DescribeCapture(stream, &mine).ok());
    EXPECT_TRUE(Table().DescribeCapture(branch, &its).ok());
    EXPECT_EQ(its.status, ringletCaptureActive);
    EXPECT_EQ(its.id, mine.id);
    EXPECT_EQ(its.graph, mine.graph);
    EXPECT_TRUE(Table().Launch(branch, trace.Write("b")).ok());
    EXPECT_TRUE(Table().Record(join, branch).ok());
    EXPECT_TRUE(Table().WaitEvent(stream, join).ok());
    EXPECT_TRUE(Table().Launch(stream, trace.Write("c")).ok());
  });
  StreamTable::CaptureStatus after;
  EXPECT_TRUE(Table().DescribeCapture(branch, &after).ok());
  EXPECT_EQ(after.status, ringletCaptureNone);
  LaunchTimes(graph, stream, 2);
  EXPECT_EQ(trace.text(), "abcabc");
  EXPECT_EQ(Table().QueryEvent(join).code, ringletCapturedEvent);
  EXPECT_EQ(Table().WaitEvent(branch, join).code, ringletCapturedEvent) << "the capture is over";
  EXPECT_TRUE(Table().DestroyGraph(graph).ok());
}

TEST(Captures, AnUnjoinedBranchIsAnError) {
  const StreamForTest stream, branch;
  const EventForTest fork;
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
  EXPECT_TRUE(Table().Record(fork, stream).ok());
  EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
  EXPECT_TRUE(Table().Launch(branch, Task([] {})).ok());
  EXPECT_EQ(EndOf(stream), ringletCaptureUnjoined);
  EXPECT_TRUE(Table().Query(branch).ok()) << "it is not captured any more";
}

TEST(Captures, ABranchOfADestroyedStreamStillCounts) {
  const StreamForTest stream;
  const EventForTest fork;
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
  EXPECT_TRUE(Table().Record(fork, stream).ok());
  {
    const StreamForTest branch;
    EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
    EXPECT_TRUE(Table().Launch(branch, Task([] {})).ok());
  }
  EXPECT_EQ(EndOf(stream), ringletCaptureUnjoined);
}

TEST(Captures, EndOnTheStreamAndThreadOfTheirBeginning) {
  const StreamForTest stream, branch;
  const EventForTest fork;
  EXPECT_EQ(EndOf(stream), ringletCaptureUnmatched);
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
  EXPECT_EQ(Table().BeginCapture(stream, ringletCaptureGlobal).code, ringletInvalidArgument);
  EXPECT_TRUE(Table().Record(fork, stream).ok());
  EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
  EXPECT_EQ(EndOf(branch), ringletCaptureUnmatched);
  ringletResult_t of_another = ringletSuccess;
  {
    const std::jthread another([&] { of_another = EndOf(stream); });
  }
  EXPECT_EQ(of_another, ringletCaptureWrongThread);
  EXPECT_EQ(EndOf(stream), ringletSuccess);
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureRelaxed).ok());
  {
    const std::jthread another([&] { of_another = EndOf(stream); });
  }
  EXPECT_EQ(of_another, ringletSuccess);
}

TEST(Captures, AreInvalidatedByWaitingForTheirWork) {
  const StreamForTest stream;
  const auto broken_by = [&](const std::function<ringletResult_t()>& call) {
    EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureRelaxed).ok());
    const ringletResult_t result = call();
    StreamTable::CaptureStatus its;
    EXPECT_TRUE(Table().DescribeCapture(stream, &its).ok());
    EXPECT_EQ(its.status, ringletCaptureBroken);
    EXPECT_EQ(Table().Launch(stream, Task([] {})).code, ringletCaptureInvalidated);
    std::vector<ringletGraphNode_t> nodes;
    EXPECT_EQ(Table().GetCaptureNodes(stream, &nodes).code, ringletCaptureInvalidated);
    EXPECT_EQ(Table().SetCaptureNodes(stream, {}, false).code, ringletCaptureInvalidated);
    EXPECT_EQ(EndOf(stream), ringletCaptureInvalidated);
    return result;
  };
  const auto unsupported = ringletCaptureUnsupported;
  EXPECT_EQ(broken_by([&] { return Table().Synchronize(stream).code; }), unsupported);
  EXPECT_EQ(broken_by([&] { return Table().Query(stream).code; }), unsupported);
  EXPECT_EQ(broken_by([&] { return Table().SynchronizeDevice(0).code; }), unsupported);
  EXPECT_EQ(broken_by([&] { return Table().Launch(nullptr, Task([] {})).code; }),
            ringletCaptureImplicit);
  EXPECT_EQ(broken_by([&] { return Table().Query(nullptr).code; }), ringletCaptureImplicit);
  EXPECT_EQ(broken_by([&] { return Table().Synchronize(nullptr).code; }), ringletCaptureImplicit);
  const StreamForTest other;
  const EventForTest outside, inside;
  EXPECT_TRUE(Table().Record(outside, other).ok());
  EXPECT_EQ(broken_by([&] { return Table().WaitEvent(stream, outside).code; }),
            ringletCaptureIsolation);
  EXPECT_EQ(broken_by([&] {
              JointTask joint{.streams = {other, stream}, .task = Task([] {})};
              return Table().Enqueue({&joint, 1}).code;
            }),
            ringletCaptureIsolation);
  EXPECT_EQ(broken_by([&] {
              EXPECT_TRUE(Table().Record(inside, stream).ok());
              return Table().WaitEvent(nullptr, inside).code;
            }),
            ringletCaptureImplicit);
  EXPECT_TRUE(Table().Query(stream).ok()) << "none of this has stayed";
}

TEST(Captures, CannotBeMerged) {
  const StreamForTest one, two;
  const EventForTest event;
  EXPECT_TRUE(Table().BeginCapture(one, ringletCaptureGlobal).ok());
  EXPECT_TRUE(Table().BeginCapture(two, ringletCaptureGlobal).ok());
  EXPECT_TRUE(Table().Record(event, one).ok());
  EXPECT_EQ(Table().WaitEvent(two, event).code, ringletCaptureMerge);
  EXPECT_EQ(EndOf(one), ringletCaptureInvalidated);
  EXPECT_EQ(EndOf(two), ringletCaptureInvalidated);
}

TEST(Captures, EndWhenTheirStreamIsDestroyed) {
  const StreamForTest branch;
  const EventForTest fork;
  {
    const StreamForTest stream;
    EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
    EXPECT_TRUE(Table().Record(fork, stream).ok());
    EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
  }
  EXPECT_TRUE(Table().Query(branch).ok());
  EXPECT_TRUE(Table().CheckCapture().ok());
}

TEST(Captures, TheLegacyStreamCannotBeCaptured) {
  EXPECT_EQ(Table().BeginCapture(nullptr, ringletCaptureGlobal).code, ringletCaptureUnsupported);
  const StreamForTest stream;
  EXPECT_EQ(Table().BeginCapture(stream, 3).code, ringletInvalidArgument);
  EXPECT_TRUE(Table().BeginCapture(ringletStreamPerThread, ringletCaptureGlobal).ok());
  EXPECT_EQ(EndOf(ringletStreamPerThread), ringletSuccess);
}

/// Returns true if a thread with this mode may make unsafe calls while a stream is captured.
bool MayCall(int captured, int own, bool same_thread) {
  const StreamForTest stream;
  EXPECT_TRUE(Table().BeginCapture(stream, captured).ok());
  bool may = false;
  const auto ask = [&] {
    int mode = own;
    EXPECT_TRUE(StreamTable::ExchangeCaptureMode(&mode).ok());
    may = Table().CheckCapture().ok();
    EXPECT_TRUE(StreamTable::ExchangeCaptureMode(&mode).ok());
    EXPECT_EQ(mode, own);
  };
  if (same_thread) {
    ask();
  } else {
    const std::jthread another(ask);
  }
  EXPECT_EQ(EndOf(stream), may ? ringletSuccess : ringletCaptureInvalidated);
  return may;
}

TEST(Captures, ModesForbidCallsThatACaptureWouldMiss) {
  const int global = ringletCaptureGlobal, local = ringletCaptureThreadLocal,
            relaxed = ringletCaptureRelaxed;
  EXPECT_FALSE(MayCall(global, global, true));
  EXPECT_FALSE(MayCall(global, global, false));
  EXPECT_FALSE(MayCall(global, local, true));
  EXPECT_TRUE(MayCall(global, local, false));
  EXPECT_TRUE(MayCall(global, relaxed, true));
  EXPECT_FALSE(MayCall(local, global, true));
  EXPECT_TRUE(MayCall(local, global, false));
  EXPECT_TRUE(MayCall(relaxed, global, true));
  EXPECT_TRUE(MayCall(relaxed, local, false));
  int mode = 17;
  EXPECT_EQ(StreamTable::ExchangeCaptureMode(&mode).code, ringletInvalidArgument);
}

TEST(Captures, TheNextNodesPredecessorsCanBeReadAndSet) {
  const StreamForTest stream;
  std::vector<ringletGraphNode_t> first, second;
  const ringletGraph_t graph = Capture(stream, [&] {
    EXPECT_TRUE(Table().Launch(stream, Task([] {})).ok());
    EXPECT_TRUE(Table().GetCaptureNodes(stream, &first).ok());
    EXPECT_TRUE(Table().SetCaptureNodes(stream, {}, false).ok());
    EXPECT_TRUE(Table().Launch(stream, Task([] {})).ok());
    EXPECT_TRUE(Table().SetCaptureNodes(stream, first, true).ok());
    EXPECT_TRUE(Table().GetCaptureNodes(stream, &second).ok());
  });
  EXPECT_THAT(first, SizeIs(1));
  EXPECT_THAT(second, SizeIs(2));
  EXPECT_EQ(Table().GetCaptureNodes(stream, &first).code, ringletCaptureUnmatched);
  EXPECT_TRUE(Table().DestroyGraph(graph).ok());
}

TEST(Captures, ContainTheNodesOfALaunchedGraph) {
  const StreamForTest stream;
  Trace trace;
  const ringletGraph_t inner =
      Capture(stream, [&] { EXPECT_TRUE(Table().Launch(stream, trace.Write("i")).ok()); });
  ringletGraphExec_t exec = nullptr;
  ASSERT_TRUE(Table().Instantiate(&exec, inner).ok());
  const ringletGraph_t outer = Capture(stream, [&] {
    EXPECT_TRUE(Table().Launch(stream, trace.Write("(")).ok());
    EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
    std::vector<ringletGraphNode_t> next;
    EXPECT_TRUE(Table().GetCaptureNodes(stream, &next).ok());
    ASSERT_EQ(next.size(), 1u);
    EXPECT_TRUE(Table().SetCaptureNodes(stream, next, false).ok()) << "it has a name at once";
    EXPECT_TRUE(Table().Launch(stream, trace.Write(")")).ok());
  });
  EXPECT_TRUE(Table().DestroyExec(exec).ok());
  EXPECT_TRUE(Table().DestroyGraph(inner).ok());
  LaunchTimes(outer, stream, 2);
  EXPECT_EQ(trace.text(), "(i)(i)");
  EXPECT_TRUE(Table().DestroyGraph(outer).ok());
}

}  // namespace
}  // namespace ringlet::stream
