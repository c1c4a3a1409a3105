#include "stream/stream_table.hpp"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>

#include "stream/current_device.hpp"
#include "stream/streams_for_test.hpp"

namespace ringlet::stream {
namespace {

using testing::HasSubstr;

TEST(StreamTable, RefusesUnknownAndDestroyedHandles) {
  int elsewhere = 0;
  EXPECT_EQ(Table().Query(reinterpret_cast<ringletStream_t>(&elsewhere)).code,
            ringletInvalidHandle);
  ringletStream_t handle = nullptr;
  {
    const StreamForTest stream;
    handle = stream;
  }
  const Answer gone = Table().Synchronize(handle);
  EXPECT_EQ(gone.code, ringletInvalidHandle);
  EXPECT_THAT(gone.why, HasSubstr("never created, or is destroyed"));
  EXPECT_THAT(gone.why, HasSubstr("pass NULL, or a stream of ringlet/stream.h"));
  EXPECT_EQ(Table().Destroy(handle).code, ringletInvalidHandle);
  const EventForTest event;
  EXPECT_EQ(Table().Query(reinterpret_cast<ringletStream_t>(ringletEvent_t(event))).code,
            ringletInvalidHandle)
      << "an event is no stream";
}

TEST(StreamTable, StreamsHaveTheirCreationProperties) {
  ringletStream_t stream = nullptr;
  ASSERT_TRUE(Table().Create(&stream, 7, ringletStreamNonBlocking, -3).ok());
  StreamTable::Properties its;
  ASSERT_TRUE(Table().Describe(stream, &its).ok());
  EXPECT_EQ(its.device, 7);
  EXPECT_EQ(its.flags, unsigned{ringletStreamNonBlocking});
  EXPECT_EQ(its.priority, -3);
  StreamTable::Properties of_legacy;
  ASSERT_TRUE(Table().Describe(nullptr, &of_legacy).ok());
  EXPECT_NE(of_legacy.id, its.id);
  EXPECT_TRUE(Table().Destroy(stream).ok());
}

TEST(StreamTable, ArgumentsAreChecked) {
  ringletStream_t stream = nullptr;
  EXPECT_EQ(Table().Create(&stream, -1, 0, 0).code, ringletInvalidArgument);
  EXPECT_EQ(Table().Create(&stream, RINGLET_STREAM_DEVICES_MAX, 0, 0).code, ringletInvalidArgument);
  EXPECT_EQ(Table().Create(&stream, 0, 2, 0).code, ringletInvalidArgument);
  for (const ringletStream_t special :
       {ringletStream_t(nullptr), ringletStreamLegacy, ringletStreamPerThread})
    EXPECT_EQ(Table().Destroy(special).code, ringletInvalidArgument);
}

TEST(StreamTable, WorkOfADestroyedStreamStillRuns) {
  Trace trace;
  Gate gate;
  const EventForTest behind;
  {
    const StreamForTest stream;
    EXPECT_TRUE(Table().Launch(stream, gate.Wait()).ok());
    EXPECT_TRUE(Table().Launch(stream, trace.Write("ran")).ok());
    EXPECT_TRUE(Table().Record(behind, stream).ok());
  }
  EXPECT_EQ(Table().QueryEvent(behind).code, ringletNotReady);
  gate.Open();
  EXPECT_TRUE(Table().SynchronizeEvent(behind).ok());
  EXPECT_EQ(trace.text(), "ran");
}

// Simulates the end of a program, with one stream that still runs.
TEST(StreamTable, ThreadsOfFinishedStreamsAreJoined) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  Gate gate;
  Table().ReapLast();
  const auto before = threads();
  {
    const StreamForTest held;
    EXPECT_TRUE(Table().Launch(held, gate.Wait()).ok());
    for (int i = 0; i < 20; ++i) {
      const StreamForTest stream;
      EXPECT_TRUE(Table().Launch(stream, Task([] {})).ok());
      EXPECT_TRUE(Table().Synchronize(stream).ok());
    }
  }
  Table().ReapLast();
  EXPECT_LE(threads(), before + 1) << "the one that is held";
  gate.Open();
  EXPECT_TRUE(Table().AwaitDevice(0).ok());
}

TEST(StreamTable, ADeviceReportsTheFailureOfADestroyedStream) {
  constexpr int kDevice = 9;  // not used by other tests
  for (int i = 0; i < 2; ++i) {
    ringletStream_t stream = nullptr;
    ASSERT_TRUE(Table().Create(&stream, kDevice, ringletStreamNonBlocking, 0).ok());
    const TaskRef fails = Task([] { EXPECT_TRUE(FailRunningItem("no kernel").ok()); });
    EXPECT_TRUE(Table().Launch(stream, fails).ok());
    EXPECT_TRUE(Table().Destroy(stream).ok());
  }
  Table().ReapLast();
  const Answer answer = Table().AwaitDevice(kDevice);
  EXPECT_EQ(answer.code, ringletFailed);
  EXPECT_EQ(answer.why, "no kernel");
  EXPECT_TRUE(Table().AwaitDevice(kDevice).ok()) << "it is reported once";
}

TEST(StreamTable, EachThreadHasItsOwnPerThreadStream) {
  StreamTable::Properties mine, same, others;
  ASSERT_TRUE(Table().Describe(ringletStreamPerThread, &mine).ok());
  ASSERT_TRUE(Table().Describe(ringletStreamPerThread, &same).ok());
  {
    const std::jthread another([&] {
      EXPECT_TRUE(Table().Describe(ringletStreamPerThread, &others).ok());
      EXPECT_TRUE(Table().Launch(ringletStreamPerThread, Task([] {})).ok());
    });
  }
  EXPECT_EQ(mine.id, same.id);
  EXPECT_NE(mine.id, others.id);
  SetCurrentDevice(1);
  ASSERT_TRUE(Table().Describe(ringletStreamPerThread, &others).ok());
  EXPECT_EQ(others.device, 1);
  SetCurrentDevice(0);
}

TEST(StreamTable, AForkedChildRefusesStreamsOfItsParent) {
  const StreamForTest stream;
  ASSERT_TRUE(Table().Launch(stream, Task([] {})).ok());
  ASSERT_TRUE(Table().Synchronize(stream).ok());
  const pid_t child = fork();
  if (child == 0) {
    const Answer answer = Table().Query(stream);
    const bool said = answer.code == ringletInvalidHandle &&
                      answer.why.find("before fork()") != std::string::npos;
#if defined(__SANITIZE_THREAD__)
    _exit(said ? 0 : 1);  // prevents the start of a thread here
#endif
    ringletStream_t own = nullptr;
    bool ran = false;
    const bool works = Table().Create(&own, 0, 0, 0).ok() &&
                       Table().Launch(own, Task([&] { ran = true; })).ok() &&
                       Table().Synchronize(own).ok() && ran;
    _exit(said && works ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::stream
