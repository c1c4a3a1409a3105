// Streams of a test, with host functions that wait until the test releases them.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "stream/stream_table.hpp"

namespace ringlet::stream {

inline StreamTable& Table() {
  return StreamTable::Here();
}

inline TaskRef Task(std::function<void()> run) {
  return std::make_shared<const HostTask>(HostTask{.run = [run = std::move(run)]() -> Status {
    run();
    return Ok();
  }});
}

inline TaskRef FailingTask(std::string why) {
  return std::make_shared<const HostTask>(HostTask{.run = [why = std::move(why)]() -> Status {
    return Error{Code::kSystem, why};
  }});
}

/// A stream, destroyed with this.
class StreamForTest {
 public:
  explicit StreamForTest(unsigned flags = 0, int device = 0) {
    EXPECT_TRUE(Table().Create(&handle_, device, flags, 0).ok());
  }
  ~StreamForTest() { static_cast<void>(Table().Destroy(handle_)); }
  StreamForTest(const StreamForTest&) = delete;
  StreamForTest& operator=(const StreamForTest&) = delete;

  operator ringletStream_t() const { return handle_; }  // NOLINT: a handle, in other words

 private:
  ringletStream_t handle_ = nullptr;
};

class EventForTest {
 public:
  explicit EventForTest(unsigned flags = 0) {
    EXPECT_TRUE(Table().CreateEvent(&handle_, flags).ok());
  }
  ~EventForTest() { static_cast<void>(Table().DestroyEvent(handle_)); }
  EventForTest(const EventForTest&) = delete;
  EventForTest& operator=(const EventForTest&) = delete;

  operator ringletEvent_t() const { return handle_; }  // NOLINT: a handle, in other words

 private:
  ringletEvent_t handle_ = nullptr;
};

/// Host functions wait at this point until it is opened.
class Gate {
 public:
  ~Gate() { Open(); }
  TaskRef Wait() const {
    return Task([open = open_] { open->wait(false); });
  }
  void Open() {
    *open_ = true;
    open_->notify_all();
  }

 private:
  // Shared with tasks, which may outlive the failed test.
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

/// The words of host functions, in the order of execution.
class Trace {
 public:
  TaskRef Write(std::string word) {
    return Task([this, word = std::move(word)] {
      const std::lock_guard lock(mutex_);
      text_ += word;
    });
  }
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace ringlet::stream
