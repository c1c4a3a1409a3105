#include "emulate/host/shared_events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace ringlet::cuda {
namespace {

constexpr unsigned kForProcesses = ringletEventInterprocess | ringletEventDisableTiming;

/// Changes a handle to that of another process.
IpcHandle OfOtherProcess(IpcHandle handle) {
  const std::int64_t pid = ::getpid() + 1;
  std::memcpy(handle.data() + 8, &pid, sizeof pid);
  return handle;
}

class SharedEventsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ringletStreamCreate(&stream_, 0, ringletStreamNonBlocking, 0), ringletSuccess);
    ASSERT_TRUE(events_.Create(&event_, kForProcesses).ok());
  }
  void TearDown() override {
    EXPECT_TRUE(events_.Destroy(event_).ok());
    ringletStreamDestroy(stream_);
  }

  SharedEvents events_;
  ringletStream_t stream_ = nullptr;
  ringletEvent_t event_ = nullptr;
};

TEST_F(SharedEventsTest, ASharedEventIsCompleteWhenRecordReturns) {
  std::atomic<bool> may_end{false};
  ASSERT_TRUE(Enqueue(stream_, [&] { may_end.wait(false); }).ok());
  ASSERT_TRUE(events_.Record(event_, stream_).ok());
  EXPECT_EQ(ringletEventQuery(event_), ringletNotReady);
  std::thread ends([&] {
    may_end = true;
    may_end.notify_all();
  });
  IpcHandle handle;
  ASSERT_TRUE(events_.Export(event_, handle).ok());
  EXPECT_EQ(ringletEventQuery(event_), ringletSuccess);
  ends.join();
  bool ran = false;
  ASSERT_TRUE(Enqueue(stream_, [&] { ran = true; }).ok());
  ASSERT_TRUE(events_.Record(event_, stream_).ok());
  EXPECT_TRUE(ran);
}

TEST_F(SharedEventsTest, AnOpenedEventIsCompleteWhenRecordReturns) {
  IpcHandle handle;
  ASSERT_TRUE(events_.Export(event_, handle).ok());
  EXPECT_EQ(events_.Open(handle, nullptr).code, CudaCode::kDeviceUninitialized);
  ringletEvent_t opened = nullptr;
  ASSERT_TRUE(events_.Open(OfOtherProcess(handle), &opened).ok());
  EXPECT_EQ(ringletEventQuery(opened), ringletSuccess);
  bool ran = false;
  ASSERT_TRUE(Enqueue(stream_, [&] { ran = true; }).ok());
  ASSERT_TRUE(events_.Record(opened, stream_).ok());
  EXPECT_TRUE(ran);
  EXPECT_TRUE(events_.Destroy(opened).ok());
}

TEST_F(SharedEventsTest, RefusesEventsThatCannotBeShared) {
  IpcHandle handle{};
  EXPECT_EQ(events_.Open(handle, nullptr).code, CudaCode::kInvalidHandle);
  ringletEvent_t other = nullptr;
  ASSERT_TRUE(events_.Create(&other, ringletEventDisableTiming).ok());
  EXPECT_EQ(events_.Export(other, handle).code, CudaCode::kInvalidHandle);
  EXPECT_TRUE(events_.Destroy(other).ok());
  ASSERT_TRUE(events_.Export(event_, handle).ok());
  ASSERT_EQ(ringletStreamBeginCapture(stream_, ringletCaptureRelaxed), ringletSuccess);
  EXPECT_EQ(events_.Record(event_, stream_).code, CudaCode::kNotSupported);
  ringletGraph_t graph = nullptr;
  ASSERT_EQ(ringletStreamEndCapture(stream_, &graph), ringletSuccess);
  ringletGraphDestroy(graph);
}

}  // namespace
}  // namespace ringlet::cuda
