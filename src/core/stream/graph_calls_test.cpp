// Graphs: made by hand, cloned, launched while others run.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <iterator>

#include "os/clock.hpp"
#include "stream/stream_table.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

using testing::SizeIs;

struct HandMade {
  HandMade() { EXPECT_TRUE(Table().CreateGraph(&graph).ok()); }
  ~HandMade() {
    for (const ringletGraphExec_t one : execs) EXPECT_TRUE(Table().DestroyExec(one).ok());
    if (graph) {
      EXPECT_TRUE(Table().DestroyGraph(graph).ok());
    }
  }
  HandMade(const HandMade&) = delete;
  HandMade& operator=(const HandMade&) = delete;

  ringletGraphNode_t Add(const std::vector<ringletGraphNode_t>& after, TaskRef task) {
    ringletGraphNode_t node = nullptr;
    EXPECT_TRUE(Table().AddNode(&node, graph, after, std::move(task)).ok());
    return node;
  }
  ringletGraphExec_t Instantiate() {
    EXPECT_TRUE(Table().Instantiate(&execs.emplace_back(), graph).ok());
    return execs.back();
  }

  ringletGraph_t graph = nullptr;
  std::vector<ringletGraphExec_t> execs;
};

TEST(Graphs, BranchesRunConcurrently) {
  const StreamForTest stream;
  HandMade made;
  Gate gate;
  Trace trace;
  const ringletGraphNode_t root = made.Add({}, trace.Write("root "));
  const ringletGraphNode_t held = made.Add({root}, gate.Wait());
  // This branch releases the other one. With one worker for both, the graph would hang.
  const ringletGraphNode_t free = made.Add({root}, Task([&] { gate.Open(); }));
  made.Add({held, free}, trace.Write("end"));
  EXPECT_TRUE(Table().LaunchGraph(made.Instantiate(), stream).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "root end");
}

// Tests both ends of a fork, and two independent nodes.
TEST(Graphs, ALaunchEndsWhenAllItsLeavesEnd) {
  for (const bool forks : {true, false}) {
    for (const bool first_is_held : {true, false}) {
      const StreamForTest stream;
      HandMade made;
      Gate gate;
      std::atomic<bool> ran = false;
      const auto free = Task([&] {
        ran = true;
        ran.notify_all();
      });
      std::vector<ringletGraphNode_t> root;
      if (forks) root.push_back(made.Add({}, Task([] {})));
      made.Add(root, first_is_held ? gate.Wait() : free);
      made.Add(root, first_is_held ? free : gate.Wait());
      EXPECT_TRUE(Table().LaunchGraph(made.Instantiate(), stream).ok());
      ran.wait(false);
      EXPECT_EQ(Table().Query(stream).code, ringletNotReady);
      gate.Open();
      EXPECT_TRUE(Table().Synchronize(stream).ok());
    }
  }
}

TEST(Graphs, AChainStartsNoThread) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  const StreamForTest stream;
  HandMade made;
  made.Add({made.Add({}, Task([] {}))}, Task([] {}));
  EXPECT_TRUE(Table().Launch(stream, Task([] {})).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  const auto before = threads();
  EXPECT_TRUE(Table().LaunchGraph(made.Instantiate(), stream).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_LE(threads(), before);
}

TEST(Graphs, LaunchesOfAnExecutableRunInSequence) {
  const StreamForTest one, two;
  HandMade made;
  Gate gate;
  Trace trace;
  made.Add({made.Add({}, gate.Wait())}, trace.Write("x"));
  const ringletGraphExec_t exec = made.Instantiate();
  EXPECT_TRUE(Table().LaunchGraph(exec, one).ok());
  EXPECT_TRUE(Table().LaunchGraph(exec, two).ok());
  EXPECT_EQ(Table().Query(two).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(two).ok());
  EXPECT_TRUE(Table().Query(one).ok());
  EXPECT_EQ(trace.text(), "xx");
}

TEST(Graphs, TasksAreEnqueuedAtTheLaunch) {
  const StreamForTest stream;
  HandMade made;
  Gate gate;
  std::vector<std::uint64_t> enqueued;
  made.Add({}, std::make_shared<const HostTask>(HostTask{.run = [&] {
             enqueued.push_back(RunningItemEnqueued());
             return Ok();
           }}));
  const ringletGraphExec_t exec = made.Instantiate();
  EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
  const std::uint64_t before = os::Ticks();
  EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
  const std::uint64_t between = os::Ticks();
  EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
  const std::uint64_t after = os::Ticks();
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  ASSERT_THAT(enqueued, SizeIs(2));
  EXPECT_LE(before, enqueued[0]);
  EXPECT_LE(enqueued[0], between);
  EXPECT_LE(between, enqueued[1]);
  EXPECT_LE(enqueued[1], after);
}

TEST(Graphs, LaunchesContinueAfterTheirHandlesAreDestroyed) {
  const StreamForTest stream;
  Gate gate;
  Trace trace;
  int ended = 0;
  {
    HandMade made;
    const ringletGraphNode_t root = made.Add({}, gate.Wait());
    made.Add({root}, trace.Write("a"));
    made.Add({root}, trace.Write("b"));
    EXPECT_TRUE(Table().OnDestroy(made.graph, [&] { ++ended; }).ok());
    EXPECT_TRUE(Table().LaunchGraph(made.Instantiate(), stream).ok());
  }
  EXPECT_EQ(ended, 0);
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_THAT(trace.text(), SizeIs(2));
  EXPECT_EQ(ended, 1);
}

TEST(Graphs, AnExecutableKeepsTheGraphOfItsInstantiation) {
  const StreamForTest stream;
  HandMade made;
  Trace trace;
  const ringletGraphNode_t first = made.Add({}, trace.Write("a"));
  const ringletGraphExec_t before = made.Instantiate();
  ringletGraph_t clone = nullptr;
  ASSERT_TRUE(Table().Clone(&clone, made.graph).ok());
  made.Add({first}, trace.Write("b"));
  const ringletGraphExec_t after = made.Instantiate();
  std::vector<ringletGraphNode_t> nodes, of_clone;
  EXPECT_TRUE(Table().GetNodes(made.graph, &nodes).ok());
  EXPECT_TRUE(Table().GetNodes(clone, &of_clone).ok());
  EXPECT_THAT(nodes, SizeIs(2));
  EXPECT_THAT(of_clone, SizeIs(1));
  EXPECT_NE(nodes[0], of_clone[0]);
  EXPECT_EQ(Table().AddNode(nullptr, made.graph, of_clone, nullptr).code, ringletInvalidHandle)
      << "a node of another graph";
  EXPECT_TRUE(Table().DestroyGraph(clone).ok());
  EXPECT_EQ(Table().AddNode(nullptr, made.graph, of_clone, nullptr).code, ringletInvalidHandle);
  EXPECT_TRUE(Table().LaunchGraph(before, stream).ok());
  EXPECT_TRUE(Table().LaunchGraph(after, stream).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "aab");
}

TEST(Graphs, AFailureOfABranchFailsTheStream) {
  const StreamForTest stream;
  HandMade made;
  Trace trace;
  const ringletGraphNode_t root = made.Add({}, nullptr);
  const ringletGraphNode_t good = made.Add({root}, Task([] {}));
  const ringletGraphNode_t bad = made.Add({root}, FailingTask("a node failed"));
  made.Add({good, bad}, trace.Write("passed over"));
  const ringletGraphExec_t exec = made.Instantiate();
  EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
  EXPECT_EQ(Table().Synchronize(stream).why, "a node failed");
  EXPECT_TRUE(Table().LaunchGraph(exec, stream).ok());
  EXPECT_EQ(Table().Synchronize(stream).why, "a node failed") << "each launch fails by itself";
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(trace.text(), "");
}

TEST(Graphs, ASerialOrderHoldsAcrossLaunchesAndOtherWork) {
  const StreamForTest one, two;
  const auto order = std::make_shared<SerialOrder>();
  Gate gate;
  Trace trace;
  const auto in_order = [&](const TaskRef& task) {
    return std::make_shared<const HostTask>(HostTask{.run = task->run, .orders = {order}});
  };
  HandMade made;
  made.Add({made.Add({}, in_order(trace.Write("g")))}, in_order(trace.Write("h ")));
  const ringletGraphExec_t exec = made.Instantiate();
  EXPECT_TRUE(Table().Launch(one, gate.Wait()).ok());
  EXPECT_TRUE(Table().Launch(one, in_order(trace.Write("first "))).ok());
  EXPECT_TRUE(Table().LaunchGraph(exec, two).ok());
  EXPECT_TRUE(Table().Launch(one, in_order(trace.Write("last"))).ok());
  gate.Open();
  EXPECT_TRUE(Table().Synchronize(one).ok());
  EXPECT_EQ(trace.text(), "first gh last");
}

TEST(Graphs, AnEmptyGraphCanBeLaunched) {
  const StreamForTest stream;
  HandMade made;
  EXPECT_TRUE(Table().LaunchGraph(made.Instantiate(), stream).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(Table().LaunchGraph(nullptr, stream).code, ringletInvalidHandle);
}

TEST(Graphs, AThousandLaunchesRunAThousandTimes) {
  const StreamForTest stream, branch;
  const EventForTest fork, join;
  int left = 0, right = 0, both = 0;  // each on one worker at a time
  EXPECT_TRUE(Table().BeginCapture(stream, ringletCaptureGlobal).ok());
  EXPECT_TRUE(Table().Record(fork, stream).ok());
  EXPECT_TRUE(Table().WaitEvent(branch, fork).ok());
  EXPECT_TRUE(Table().Launch(stream, Task([&] { ++left; })).ok());
  EXPECT_TRUE(Table().Launch(branch, Task([&] { ++right; })).ok());
  EXPECT_TRUE(Table().Record(join, branch).ok());
  EXPECT_TRUE(Table().WaitEvent(stream, join).ok());
  EXPECT_TRUE(Table().Launch(stream, Task([&] { both += left == right; })).ok());
  ringletGraph_t graph = nullptr;
  ASSERT_TRUE(Table().EndCapture(stream, &graph).ok());
  ringletGraphExec_t exec = nullptr;
  ASSERT_TRUE(Table().Instantiate(&exec, graph).ok());
  EXPECT_TRUE(Table().DestroyGraph(graph).ok());
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Table().LaunchGraph(exec, stream).ok());
  EXPECT_TRUE(Table().Synchronize(stream).ok());
  EXPECT_EQ(left, 1000);
  EXPECT_EQ(right, 1000);
  EXPECT_EQ(both, 1000);
  EXPECT_TRUE(Table().DestroyExec(exec).ok());
}

}  // namespace
}  // namespace ringlet::stream
