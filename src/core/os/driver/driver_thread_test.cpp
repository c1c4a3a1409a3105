#include "os/driver/driver_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "os/driver/driven_for_test.hpp"

namespace ringlet::os {
namespace {

using std::chrono::seconds;

// A driver with a thread that starts on demand, and a count of start attempts.
class Lent : public testing::Test {
 protected:
  Lent() {
    driver = *SocketDriver::Create([this]() -> Status {
      ++starts;
      if (refuses) return Error{Code::kSystem, "no thread is left"};
      thread = std::jthread([this] { driver->Run(); });
      own = thread.get_id();
      return Ok();
    });
  }
  ~Lent() override {
    if (thread.joinable()) driver->Post([this] { driver->Stop(); });
  }
  // Posts work that reports the thread that runs it.
  std::shared_future<std::thread::id> Ask() {
    auto told = std::make_shared<std::promise<std::thread::id>>();
    driver->Post([told] { told->set_value(std::this_thread::get_id()); });
    return told->get_future().share();
  }
  void RunUntilReady(const std::shared_future<std::thread::id>& answer) {
    driver->RunUntil([&] { return answer.wait_for(seconds(0)) == std::future_status::ready; },
                     SocketDriver::Now() + kHang);
  }
  // Returns the thread that ran the work.
  static std::thread::id Answer(const std::shared_future<std::thread::id>& answer) {
    if (answer.wait_for(kHang) == std::future_status::ready) return answer.get();
    ADD_FAILURE() << "nobody runs what was posted";
    return {};
  }

  static constexpr seconds kHang{60};  // longer than any turn takes
  std::unique_ptr<SocketDriver> driver;
  std::atomic<int> starts{0};
  std::atomic<bool> refuses{false};
  std::thread::id own;
  std::jthread thread;
};

TEST_F(Lent, TheBorrowerRunsTheDriverWhileItWaits) {
  SocketDriver::Lease lease(*driver);
  const auto answer = Ask();
  RunUntilReady(answer);
  EXPECT_EQ(Answer(answer), std::this_thread::get_id());
  EXPECT_EQ(starts, 0);
  const auto later = Ask();  // for the thread that runs next
  EXPECT_TRUE(lease.End().ok());
  EXPECT_TRUE(lease.End().ok());
  EXPECT_EQ(Answer(later), own);
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, ATimeoutEndsTheWaitAfterAtLeastATurn) {
  SocketDriver::Lease lease(*driver);
  bool ran = false;
  driver->Post([&] { ran = true; });
  driver->RunUntil([] { return false; }, SocketDriver::Now() - seconds(1));
  EXPECT_TRUE(ran);
}

TEST_F(Lent, TheBorrowerPollsRepeatedlyBeforeItSleeps) {
  SocketDriver::Lease lease(*driver, seconds(1));
  // Without spinning each wait polls once or twice. Beside other programs a yield may take most of
  // a wait, so some waits poll only a little more.
  std::uint64_t waits = 0, looks = 0;
  while (waits < 200 && looks <= 2 * waits + 20) {
    bool over = false;
    driver->PostAfter(std::chrono::milliseconds(30), [&] { over = true; });
    const std::uint64_t before = driver->counters().system_calls;
    driver->RunUntil([&] { return over; }, SocketDriver::Now() + kHang);
    looks += driver->counters().system_calls - before;
    ++waits;
  }
  EXPECT_GT(looks, 2 * waits + 20);
}

TEST_F(Lent, TheBorrowerSleepsAtOnceWithoutASpinTime) {
  SocketDriver::Lease lease(*driver);
  const std::uint64_t before = driver->counters().system_calls;
  driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::milliseconds(5));
  EXPECT_LE(driver->counters().system_calls - before, 4u);
}

TEST_F(Lent, WorkOfAnotherThreadStartsTheDriversThreadAndEndsTheLoan) {
  SocketDriver::Lease lease(*driver);
  std::thread other([&] { Answer(Ask()); });  // in the current turn, or on its own thread
  // The predicate never becomes true, so only the driver's thread ends the wait.
  const Instant hang = SocketDriver::Now() + kHang;
  driver->RunUntil([] { return false; }, hang);
  EXPECT_LT(SocketDriver::Now(), hang) << "the borrower holds on to it";
  other.join();
  EXPECT_EQ(Answer(Ask()), own) << "of the borrower, too";
  RunUntilReady(std::promise<std::thread::id>().get_future().share());  // returns at once
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, WorkStartsTheDriversThreadWithoutALoan) {
  EXPECT_EQ(Answer(Ask()), own);
  SocketDriver::Lease late(*driver);
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, OnlyASingleThreadBorrowsTheDriver) {
  SocketDriver::Lease lease(*driver);
  std::thread([&] {
    SocketDriver::Lease second(*driver);
    driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::hours(1));
    EXPECT_TRUE(second.End().ok());
  }).join();
  EXPECT_EQ(starts, 0);
}

TEST_F(Lent, AThreadThatDoesNotStartIsReportedAndRetried) {
  refuses = true;
  SocketDriver::Lease lease(*driver);
  const auto answer = Ask();
  const Status ended = lease.End();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "no thread is left");
  refuses = false;
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(Answer(answer), own) << "what was posted before is not lost";
  EXPECT_EQ(starts, 2);
}

TEST_F(DriverTest, IsNotLentIfItsOwnerRunsIt) {
  SocketDriver::Lease lease(*driver);
  driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::hours(1));
  bool ran = false;
  driver->Post([&] { ran = true; });
  Await("work", [&] { return ran; });
  EXPECT_TRUE(lease.End().ok());
}

// DriverThread alone: the test counts turns, and starts no real thread.
class LentThread : public testing::Test {
 protected:
  void RunUntil(int last_turn, Instant until) {
    thread.RunUntil([this](Instant wait) { waits.push_back(wait); },
                    [&] { return static_cast<int>(waits.size()) >= last_turn; }, until);
  }

  Status start_gives = Ok();
  int starts = 0, wakes = 0;
  std::vector<Instant> waits;  // of each turn
  DriverThread thread{[this] {
                        ++starts;
                        return start_gives;
                      },
                      [this] { ++wakes; }};
};

TEST_F(LentThread, ABorrowerMakesTurnsUntilItIsDone) {
  RunUntil(3, Instant::max());
  EXPECT_TRUE(waits.empty()) << "it is not lent yet";
  ASSERT_TRUE(thread.Borrow(Instant(7)));
  EXPECT_FALSE(thread.Borrow(Instant(8)));
  EXPECT_TRUE(thread.IsLeasedHere());
  EXPECT_EQ(thread.SpinHere(), Instant(7));
  RunUntil(3, Instant::max());
  EXPECT_EQ(waits.size(), 3u);
  RunUntil(9, Instant(1));
  ASSERT_EQ(waits.size(), 4u) << "a turn although the time is over";
  EXPECT_EQ(waits.back(), Instant(0));
}

TEST_F(LentThread, TheEndOfALoanStartsTheThreadOnce) {
  ASSERT_TRUE(thread.Borrow(Instant(7)));
  EXPECT_TRUE(thread.Return().ok());
  EXPECT_EQ(starts, 1);
  EXPECT_EQ(wakes, 0);
  thread.StartIfNeeded();
  EXPECT_EQ(starts, 1);
  EXPECT_FALSE(thread.Borrow(Instant(7)));
  EXPECT_EQ(thread.SpinHere(), Instant(0));
}

TEST_F(LentThread, AStartDuringALoanWakesTheBorrowerAndEndsTheLoan) {
  ASSERT_TRUE(thread.Borrow(Instant(0)));
  thread.StartIfNeeded();
  EXPECT_EQ(wakes, 1);
  EXPECT_FALSE(thread.IsLeasedHere());
  RunUntil(1, Instant::max());
  EXPECT_TRUE(waits.empty());
}

TEST_F(LentThread, AFailedStartIsRetried) {
  start_gives = Error{Code::kSystem, "no thread is left"};
  ASSERT_TRUE(thread.Borrow(Instant(0)));
  EXPECT_FALSE(thread.Return().ok());
  thread.StartIfNeeded();
  EXPECT_EQ(starts, 2);
  EXPECT_TRUE(thread.Borrow(Instant(0)));
}

TEST(DriverThreadWithoutAStart, IsNeverLent) {
  DriverThread thread(nullptr, nullptr);
  EXPECT_FALSE(thread.Borrow(Instant(0)));
  thread.StartIfNeeded();
  int turns = 0;
  thread.Run([&](Instant) {
    if (++turns == 3) thread.Stop();
  });
  EXPECT_EQ(turns, 3);
}

}  // namespace
}  // namespace ringlet::os
