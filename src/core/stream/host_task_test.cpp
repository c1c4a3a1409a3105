#include "stream/host_task.hpp"

#include <gtest/gtest.h>

#include <new>

namespace ringlet::stream {
namespace {

TEST(HostTask, ARunningItemIsRecognized) {
  EXPECT_FALSE(IsInsideItem());
  bool inside = false;
  EXPECT_TRUE(RunTask({.run = [&] {
                inside = IsInsideItem();
                return Ok();
              }}).ok());
  EXPECT_TRUE(inside);
  EXPECT_FALSE(IsInsideItem());
}

TEST(HostTask, ARunningItemReportsWhenItWasEnqueued) {
  std::uint64_t told = 0;
  const HostTask task{.run = [&] {
    told = RunningItemEnqueued();
    return Ok();
  }};
  EXPECT_TRUE(RunTask(task, 7).ok());
  EXPECT_EQ(told, 7u);
  EXPECT_EQ(RunningItemEnqueued(), 0u);
}

TEST(HostTask, TheFirstReportedFailureIsKept) {
  const Status status = RunTask({.run = [] {
    EXPECT_TRUE(FailRunningItem("first").ok());
    EXPECT_TRUE(FailRunningItem("second").ok());
    return Ok();
  }});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "first");
}

TEST(HostTask, OnlyARunningItemCanFail) {
  EXPECT_EQ(FailRunningItem("why").error().code, Code::kUnsupported);
}

TEST(HostTask, ReturnsAnExceptionAsAFailure) {
  const Status status = RunTask({.run = []() -> Status { throw std::bad_alloc(); }});
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(IsInsideItem());
}

}  // namespace
}  // namespace ringlet::stream
