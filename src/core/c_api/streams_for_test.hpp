// Streams for the tests of NCCL's functions, and host functions that block them.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "c_api/comms_for_test.hpp"
#include "ringlet/stream.h"

namespace ringlet::c_api {

inline cudaStream_t AsCuda(ringletStream_t stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}

/// `count` streams, destroyed with this object.
class TestStreams {
 public:
  explicit TestStreams(std::size_t count) : handles_(count) {
    for (ringletStream_t& one : handles_)
      EXPECT_EQ(ringletStreamCreate(&one, 0, ringletStreamNonBlocking, 0), ringletSuccess);
  }
  ~TestStreams() {
    for (const ringletStream_t one : handles_) EXPECT_EQ(ringletStreamDestroy(one), ringletSuccess);
  }
  TestStreams(const TestStreams&) = delete;
  TestStreams& operator=(const TestStreams&) = delete;

  ringletStream_t operator[](std::size_t index) const { return handles_[index]; }
  void Synchronize() const {
    for (const ringletStream_t one : handles_)
      EXPECT_EQ(ringletStreamSynchronize(one), ringletSuccess) << ringletStreamLastMessage();
  }

 private:
  std::vector<ringletStream_t> handles_;
};

/// Blocks streams until it is opened, at the latest in its destructor.
class StreamGate {
 public:
  StreamGate() = default;
  ~StreamGate() { Open(); }
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;

  void Hold(ringletStream_t stream) {
    auto* const open = new std::shared_ptr<std::atomic<bool>>(open_);
    EXPECT_EQ(ringletStreamLaunchOwned(stream, Wait, open, Release), ringletSuccess);
  }
  void Open() {
    *open_ = true;
    open_->notify_all();
  }

 private:
  using Flag = std::shared_ptr<std::atomic<bool>>;
  static void Wait(void* data) { (*static_cast<Flag*>(data))->wait(false); }
  static void Release(void* data) { delete static_cast<Flag*>(data); }

  Flag open_ = std::make_shared<std::atomic<bool>>(false);  // shared with the blocked items
};

/// Aborts the communicator during an operation of this rank that has not begun, so that the
/// operation cannot have ended, whatever the other ranks call.
inline void AbortInACall(ncclComm_t comm) {
  float data = 1;
  const TestStreams stream(1);
  StreamGate gate;
  gate.Hold(stream[0]);
  const ncclResult_t issued =
      ncclAllReduce(&data, &data, 1, ncclFloat, ncclSum, comm, AsCuda(stream[0]));
  EXPECT_TRUE(issued == ncclSuccess || issued == ncclInProgress) << LastMessage();
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
  gate.Open();
  ringletStreamSynchronize(stream[0]);
}

}  // namespace ringlet::c_api
