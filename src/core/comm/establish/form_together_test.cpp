#include "comm/establish/form_together.hpp"

#include <gmock/gmock.h>

#include <barrier>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::comm {
namespace {

TEST(FormTogether, EachRankHasItsThreadUntilAllHaveFormed) {
  std::barrier<> all(3);
  std::vector<int> formed(3);
  const Status status = FormTogether(3, [&](std::size_t i, const std::stop_token&) {
    all.arrive_and_wait();
    ++formed[i];
    return Ok();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_THAT(formed, testing::Each(1));
}

TEST(FormTogether, ASingleRankFormsOnTheThreadOfTheCaller) {
  const NoThreadsStart limit;
  std::thread::id thread;
  const Status status = FormTogether(1, [&](std::size_t, const std::stop_token& abort) {
    thread = std::this_thread::get_id();
    EXPECT_FALSE(abort.stop_requested());
    return Ok();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(thread, std::this_thread::get_id());
}

TEST(FormTogether, TheFirstFailureStopsTheOthersAndIsTheResult) {
  const Status status = FormTogether(3, [](std::size_t i, const std::stop_token& abort) -> Status {
    if (i == 1) return Error{Code::kPeerLost, "rank 1 is gone"};
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    stopped.wait(lock, abort, [] { return false; });
    return Error{Code::kAborted, "stopped"};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "rank 1 is gone");
}

TEST(FormTogether, ReportsAnExceptionAsAFailure) {
  const Status status = FormTogether(
      2, [](std::size_t, const std::stop_token&) -> Status { throw std::bad_alloc(); });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kSystem);
}

TEST(FormTogether, FailsIfNoThreadStarts) {
  const NoThreadsStart limit;
  const Status status = FormTogether(2, [](std::size_t, const std::stop_token&) { return Ok(); });
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("to form a communicator"));
}

}  // namespace
}  // namespace ringlet::comm
