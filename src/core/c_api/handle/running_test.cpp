#include "c_api/handle/running.hpp"

#include <gmock/gmock.h>

#include <latch>
#include <memory>
#include <stdexcept>

#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::c_api {
namespace {

TEST(Running, RunsBesideItsCaller) {
  std::latch go(1);
  Running running([&] {
    go.wait();
    return Ok();
  });
  ASSERT_TRUE(running.Start([](const Error&) { FAIL(); }).ok());
  EXPECT_FALSE(running.done());
  go.count_down();
  running.Wait();
  EXPECT_TRUE(running.done());
  EXPECT_FALSE(running.failure());
}

TEST(Running, ReportsItsFailureBeforeItIsDone) {
  bool done_when_told = true;
  Running running([] { return Status(Error{Code::kTimeout, "nobody came"}); });
  ASSERT_TRUE(running.Start([&](const Error&) { done_when_told = running.done(); }).ok());
  running.Wait();
  EXPECT_FALSE(done_when_told);
  ASSERT_TRUE(running.failure());
  EXPECT_EQ(running.failure()->message, "nobody came");
}

TEST(Running, ReturnsAnExceptionAsAnError) {
  Running running([]() -> Status { throw std::runtime_error("oh"); });
  ASSERT_TRUE(running.Start([](const Error&) {}).ok());
  running.Wait();
  ASSERT_TRUE(running.failure());
  EXPECT_THAT(running.failure()->message, testing::HasSubstr("oh"));
}

TEST(Running, ReleasesItsTaskBeforeItIsDone) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> known = held;
  Running running([held = std::move(held)] { return Ok(); });
  ASSERT_TRUE(running.Start([](const Error&) {}).ok());
  running.Wait();
  EXPECT_TRUE(known.expired());
}

TEST(Running, FailsIfNoThreadStarts) {
  bool ran = false;
  Running running([&] {
    ran = true;
    return Ok();
  });
  {
    const comm::NoThreadsStart limit;
    EXPECT_EQ(running.Start([](const Error&) { FAIL() << "the caller is told"; }).error().code,
              Code::kSystem);
  }
  running.Wait();
  EXPECT_TRUE(running.done());
  ASSERT_TRUE(running.failure());
  EXPECT_EQ(running.failure()->code, Code::kSystem);
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace ringlet::c_api
