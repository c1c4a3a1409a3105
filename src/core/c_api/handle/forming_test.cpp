#include "c_api/handle/forming.hpp"

#include <gmock/gmock.h>

#include <latch>

#include "comm/run/no_threads_for_test.hpp"

namespace ringlet::c_api {
namespace {

Result<std::unique_ptr<comm::Communicator>> Fails() {
  return Error{Code::kTimeout, "nobody came"};
}

TEST(Forming, ReportsTheFailureBeforeTheOutcome) {
  bool known_when_told = true;
  std::string told;
  Forming forming([](const std::stop_token&) { return Fails(); });
  std::latch done(1);
  forming.Start([&](const Error& error) {
    told = error.message;
    known_when_told = forming.outcome().has_value();
    done.count_down();
  });
  done.wait();
  forming.Stop();
  EXPECT_EQ(told, "nobody came");
  EXPECT_FALSE(known_when_told);
  EXPECT_EQ(forming.outcome()->error().code, Code::kTimeout);
}

TEST(Forming, RunsUntilItIsStopped) {
  Forming forming([](const std::stop_token& abort) {
    std::latch stopped(1);
    const std::stop_callback told(abort, [&] { stopped.count_down(); });
    stopped.wait();
    return Fails();
  });
  forming.Start([](const Error&) {});
  EXPECT_FALSE(forming.outcome().has_value());
  forming.Stop();
  EXPECT_FALSE(forming.outcome()->ok());
}

TEST(Forming, ReturnsAbortedIfItNeverStarted) {
  Forming forming([](const std::stop_token&) { return Fails(); });
  EXPECT_FALSE(forming.outcome().has_value());
  forming.Stop();
  EXPECT_EQ(forming.outcome()->error().code, Code::kAborted);
}

TEST(Forming, FailsIfNoThreadStarts) {
  bool ran = false;
  Error told{Code::kTimeout, ""};
  Forming forming([&](const std::stop_token&) {
    ran = true;
    return Fails();
  });
  {
    const comm::NoThreadsStart limit;
    forming.Start([&](const Error& error) { told = error; });
  }
  EXPECT_EQ(told.code, Code::kSystem);
  ASSERT_TRUE(forming.outcome().has_value());
  EXPECT_EQ(forming.outcome()->error().code, Code::kSystem);
  EXPECT_FALSE(ran);
}

TEST(Forming, ReturnsAnExceptionAsAnError) {
  Forming forming([](const std::stop_token&) -> Result<std::unique_ptr<comm::Communicator>> {
    throw std::runtime_error("oh");
  });
  forming.Start([](const Error&) {});
  while (!forming.outcome()) std::this_thread::yield();
  EXPECT_THAT(forming.outcome()->error().message, testing::HasSubstr("oh"));
}

}  // namespace
}  // namespace ringlet::c_api
