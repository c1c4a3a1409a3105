#include "stream/worker.hpp"

#include <gtest/gtest.h>

#include "stream/current_device.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

class ClosedWorker : public StreamWorker {
 public:
  explicit ClosedWorker(bool keeps_failure = true) : StreamWorker(5, keeps_failure) {
    EXPECT_TRUE(Start().ok());
  }
  ~ClosedWorker() { Close(); }
};

ItemEndRef Give(StreamWorker& worker, StreamItem item) {
  ItemEndRef done = item.done;
  worker.Push(std::move(item));
  return done;
}

TEST(StreamWorker, RunsItemsInOrder) {
  Trace trace;
  {
    ClosedWorker worker;
    for (const char* word : {"a", "b", "c"}) Give(worker, {.tasks = {trace.Write(word)}});
    Give(worker, {.tasks = {trace.Write("d"), trace.Write("e")}})->Wait();
    EXPECT_EQ(trace.text(), "abcde");
  }
}

TEST(StreamWorker, RunsItsQueuedItemsAfterClose) {
  Trace trace;
  {
    ClosedWorker worker;
    Gate gate;
    Give(worker, {.tasks = {gate.Wait(), trace.Write("a")}});
    Give(worker, {.tasks = {trace.Write("b")}});
    worker.Close();
    EXPECT_FALSE(worker.ended());
  }
  EXPECT_EQ(trace.text(), "ab");
}

TEST(StreamWorker, AFailurePreventsLaterItems) {
  Trace trace;
  ClosedWorker worker;
  std::string passed_over;
  HostTask next{.run = [] { return Ok(); },
                .pass_over = [&](const Error& why) { passed_over = why.message; }};
  Give(worker, {.tasks = {FailingTask("broken"), trace.Write("a")}});
  const ItemEndRef last =
      Give(worker, {.tasks = {std::make_shared<const HostTask>(std::move(next))}});
  last->Wait();
  ASSERT_NE(last->failure(), nullptr);
  EXPECT_EQ(last->failure()->error.message, "broken");
  EXPECT_EQ(passed_over, "broken");
  EXPECT_EQ(trace.text(), "");
  EXPECT_EQ(worker.last_error(), "broken");
  worker.ClearFailure();
  Give(worker, {.tasks = {trace.Write("b")}})->Wait();
  EXPECT_EQ(trace.text(), "b");
  EXPECT_EQ(worker.last_error(), "broken") << "stays to be read";
}

TEST(StreamWorker, AWorkerThatKeepsNoFailureContinues) {
  Trace trace;
  ClosedWorker worker(false);
  Give(worker, {.tasks = {FailingTask("broken")}});
  const ItemEndRef next = Give(worker, {.tasks = {trace.Write("a")}});
  next->Wait();
  EXPECT_EQ(next->failure(), nullptr);
  EXPECT_EQ(trace.text(), "a");
}

TEST(StreamWorker, AFailurePropagatesThroughAWaitUnlessAnyEndSuffices) {
  ClosedWorker worker(false);
  const auto failed = std::make_shared<ItemEnd>();
  failed->Fail(Instant(1),
               std::make_shared<const ItemFailure>(ItemFailure{Error{Code::kSystem, "elsewhere"}}));
  const ItemEndRef behind = Give(worker, {.after = {failed}});
  const ItemEndRef beside = Give(worker, {.after_any_end = {failed}});
  beside->Wait();
  ASSERT_NE(behind->failure(), nullptr);
  EXPECT_EQ(behind->failure()->error.message, "elsewhere");
  EXPECT_EQ(beside->failure(), nullptr);
}

TEST(StreamWorker, AClearedFailureDoesNotPreventLaterItems) {
  ClosedWorker worker;
  const auto order = std::make_shared<SerialOrder>();
  const TaskRef failing =
      std::make_shared<const HostTask>(HostTask{.run = []() -> Status {
                                                  return Error{Code::kAborted, "aborted"};
                                                },
                                                .orders = {order}});
  Give(worker, {.tasks = {failing}, .sources = {order}})->Wait();
  EXPECT_NE(worker.failure(), nullptr);
  order->TolerateFailures();
  EXPECT_EQ(worker.failure(), nullptr);
  const ItemEndRef later = Give(worker, {.tasks = {failing}});
  later->Wait();
  EXPECT_NE(worker.failure(), nullptr) << "issued after it was forgiven";
}

TEST(StreamWorker, AHostFunctionRunsWithTheDeviceOfItsStream) {
  ClosedWorker worker;
  int device = -1;
  Give(worker, {.tasks = {Task([&] { device = CurrentDevice(); })}})->Wait();
  EXPECT_EQ(device, 5);
}

TEST(StreamWorker, AFullQueueHasRoomAfterAnItemRan) {
  ClosedWorker worker;
  Gate gate;
  const ItemEndRef held = Give(worker, {.tasks = {gate.Wait()}});
  while (worker.HasRoom()) Give(worker, {});
  gate.Open();
  worker.AwaitRoom();
  EXPECT_TRUE(worker.HasRoom());
  held->Wait();
}

}  // namespace
}  // namespace ringlet::stream
