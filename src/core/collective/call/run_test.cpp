#include "collective/call/run.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "collective/algorithm/ring.hpp"
#include "collective/exec/executor.hpp"
#include "collective/exec/fake_link_for_test.hpp"

namespace ringlet::collective {
namespace {

/// Runs the test's functions when it is used, and checks that its use follows the rules of Waiter.
class FakeWaiter final : public transport::Waiter {
 public:
  Ticket Prepare() override {
    if (on_prepare) on_prepare();
    return ++ticket_;
  }
  void Wait(Ticket ticket, std::chrono::nanoseconds) override {
    EXPECT_EQ(ticket, ticket_);
    ++waits;
    if (on_wait) on_wait();
  }
  void Wake() override {}
  bool in_memory() const override { return memory; }
  int descriptor() const override { return 42; }
  void PrepareDescriptor() override {
    prepared = true;
    if (on_prepare) on_prepare();
  }
  void Acknowledge() override {
    EXPECT_TRUE(prepared);
    prepared = false;
  }

  std::function<void()> on_prepare;
  std::function<void()> on_wait;
  int waits = 0;
  bool memory = false;
  bool prepared = false;

 private:
  Ticket ticket_ = 0;
};

/// Ranks that add up 1 + 2 + ... in their first element.
class RunTest : public testing::Test {
 protected:
  void Start(std::uint32_t ranks, std::size_t count) {
    std::vector<Rank> order;
    for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
    buffers_.resize(ranks);
    waiters_ = std::vector<FakeWaiter>(ranks);
    for (std::uint32_t i = 0; i < ranks; ++i) {
      buffers_[i].assign(count, i + 1);
      const auto bytes = std::as_writable_bytes(std::span(buffers_[i]));
      const Schedule schedule = RingAllReduce(order, Rank{i}, count);
      Task task{.flow = std::make_shared<const Flow>(Derive(schedule, Overlap(0))),
                .input = bytes,
                .output = bytes,
                .fingerprint = {.type = DataType::kUint32, .count = count},
                .self = Rank{i},
                .ranks = ranks};
      executions_.push_back(std::make_unique<Execution>(task, network_.LinksOf(Rank{i})));
    }
  }

  std::vector<Operation*> Executions(std::size_t count) {
    std::vector<Operation*> pointers;
    for (std::size_t i = 0; i < count; ++i) pointers.push_back(executions_[i].get());
    return pointers;
  }
  std::vector<transport::Waiter*> Waiters(std::size_t count) {
    std::vector<transport::Waiter*> pointers;
    for (std::size_t i = 0; i < count; ++i) pointers.push_back(&waiters_[i]);
    return pointers;
  }

  FakeNetwork network_{64, 1};
  std::vector<std::vector<std::uint32_t>> buffers_;
  std::vector<FakeWaiter> waiters_;
  std::vector<std::unique_ptr<Execution>> executions_;
  /// Fails only a run that would otherwise never end.
  const RunPolicy patient_{.check = [this]() -> Status {
    if (++looks_ < 100'000) return Ok();
    return Error{.code = Code::kTimeout, .message = executions_[0]->WaitingFor()};
  }};
  int looks_ = 0;
};

TEST_F(RunTest, SleepsWhileThePeerWorks) {
  Start(2, 100);
  waiters_[0].on_wait = [&] { EXPECT_TRUE(executions_[1]->Advance().ok()); };
  ASSERT_TRUE(RunToEnd(*executions_[0], waiters_[0], patient_).ok());
  EXPECT_GT(waiters_[0].waits, 0);
  EXPECT_EQ(buffers_[0], std::vector<std::uint32_t>(100, 3));
}

/// Ends at a certain turn and makes no progress earlier.
class Late final : public Operation {
 public:
  explicit Late(int turn) : left_(turn) {}
  Result<bool> Advance() override { return --left_ <= 0; }
  bool moved() const override { return false; }
  std::string WaitingFor() const override { return "a turn"; }
  std::optional<Rank> Awaits() const override { return std::nullopt; }

 private:
  int left_;
};

TEST_F(RunTest, PollsLinksInMemoryButNotOthersBeforeItSleeps) {
  Spinner spinner({.looks = 5, .yields = 5});
  const RunPolicy policy{.check = [] { return Ok(); }, .spinner = &spinner};
  Late soon(9), late(13), later(25), unseen(9);
  FakeWaiter memory, sockets;
  memory.memory = true;
  ASSERT_TRUE(RunToEnd(soon, memory, policy).ok());
  EXPECT_EQ(memory.waits, 0);
  ASSERT_TRUE(RunToEnd(late, memory, policy).ok());
  EXPECT_EQ(memory.waits, 1);
  ASSERT_TRUE(RunToEnd(later, memory, policy).ok());
  EXPECT_EQ(memory.waits, 1 + 2) << "after a sleep it looks as often as before";
  ASSERT_TRUE(RunToEnd(unseen, sockets, policy).ok());
  EXPECT_EQ(sockets.waits, 4);
}

/// Makes progress at one turn only, and ends at another.
class MovesOnce final : public Operation {
 public:
  MovesOnce(int moves_at, int done_at) : moves_at_(moves_at), done_at_(done_at) {}
  Result<bool> Advance() override { return ++turn_ == done_at_; }
  bool moved() const override { return turn_ == moves_at_; }
  std::string WaitingFor() const override { return "a turn"; }
  std::optional<Rank> Awaits() const override { return std::nullopt; }

 private:
  int moves_at_, done_at_, turn_ = 0;
};

TEST_F(RunTest, ProgressRestartsThePolling) {
  Spinner spinner({.looks = 5, .yields = 5});
  const RunPolicy policy{.check = [] { return Ok(); }, .spinner = &spinner};
  MovesOnce operation(8, 17);
  FakeWaiter memory;
  memory.memory = true;
  ASSERT_TRUE(RunToEnd(operation, memory, policy).ok());
  EXPECT_EQ(memory.waits, 0);
}

TEST_F(RunTest, RunsItsCheckWhilePolling) {
  int asked = 0;
  Spinner spinner({.looks = 1'000'000, .yields = 0});
  const RunPolicy policy{.check = [&]() -> Status {
                           if (++asked < 3) return Ok();
                           return Error{.code = Code::kTimeout, .message = "too late"};
                         },
                         .spinner = &spinner};
  Late never(1'000'000);
  FakeWaiter memory;
  memory.memory = true;
  EXPECT_FALSE(RunToEnd(never, memory, policy).ok());
  EXPECT_EQ(memory.waits, 0);
}

TEST_F(RunTest, DoesNotSleepWhenAllDataArePresent) {
  Start(1, 5);
  ASSERT_TRUE(RunToEnd(*executions_[0], waiters_[0], patient_).ok());
  EXPECT_EQ(waiters_[0].waits, 0);
}

TEST_F(RunTest, SeesProgressBetweenTheLastPollAndTheTicket) {
  Start(2, 100);
  waiters_[0].on_prepare = [&] { EXPECT_TRUE(executions_[1]->Advance().ok()); };
  ASSERT_TRUE(RunToEnd(*executions_[0], waiters_[0], patient_).ok());
  EXPECT_EQ(waiters_[0].waits, 0);
}

TEST_F(RunTest, AFailedCheckEndsTheRun) {
  Start(2, 100);
  int asked = 0;
  const RunPolicy policy{.check = [&]() -> Status {
    if (++asked < 4) return Ok();
    return Error{.code = Code::kTimeout, .message = executions_[0]->WaitingFor()};
  }};
  const Status status = RunToEnd(*executions_[0], waiters_[0], policy);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kTimeout);
  EXPECT_LE(waiters_[0].waits, 3);
}

TEST_F(RunTest, RanksOfASingleThreadFinishWithoutSleep) {
  Start(5, 300);
  int polls = 0;
  const PollReadable poll = [&](std::span<const int>, std::chrono::nanoseconds) { ++polls; };
  ASSERT_TRUE(RunAllToEnd(Executions(5), Waiters(5), poll, patient_).ok());
  EXPECT_EQ(polls, 0);
  for (const auto& buffer : buffers_) EXPECT_EQ(buffer, std::vector<std::uint32_t>(300, 15));
}

TEST_F(RunTest, AGroupSleepsOnAllItsDescriptorsForARankElsewhere) {
  Start(3, 300);
  int polls = 0;
  const PollReadable poll = [&](std::span<const int> descriptors, std::chrono::nanoseconds) {
    ++polls;
    EXPECT_LE(descriptors.size(), 2u);
    EXPECT_TRUE(waiters_[0].prepared || waiters_[1].prepared);
    EXPECT_TRUE(executions_[2]->Advance().ok());
  };
  ASSERT_TRUE(RunAllToEnd(Executions(2), Waiters(2), poll, patient_).ok());
  EXPECT_GT(polls, 0);
  EXPECT_FALSE(waiters_[0].prepared || waiters_[1].prepared);
  EXPECT_EQ(buffers_[0], std::vector<std::uint32_t>(300, 6));
  EXPECT_EQ(buffers_[1], std::vector<std::uint32_t>(300, 6));
}

TEST_F(RunTest, AGroupSeesProgressBetweenTheLastPollAndItsSleep) {
  Start(3, 300);
  for (FakeWaiter& waiter : waiters_) {
    waiter.on_prepare = [&] { EXPECT_TRUE(executions_[2]->Advance().ok()); };
  }
  int polls = 0;
  const PollReadable poll = [&](std::span<const int>, std::chrono::nanoseconds) { ++polls; };
  ASSERT_TRUE(RunAllToEnd(Executions(2), Waiters(2), poll, patient_).ok());
  EXPECT_EQ(polls, 0);
}

/// Like Late, with a separate waiting place.
class LateElsewhere final : public Operation {
 public:
  LateElsewhere(int turn, WaitPolicy wait_policy) : late_(turn), spinner_(wait_policy) {}
  Result<bool> Advance() override { return late_.Advance(); }
  bool moved() const override { return false; }
  std::string WaitingFor() const override { return "a turn"; }
  std::optional<Rank> Awaits() const override { return std::nullopt; }
  const WaitTarget* place() const override { return &place_; }

 private:
  Late late_;
  Spinner spinner_;
  WaitTarget place_{.waiter = nullptr, .spinner = &spinner_};
};

// Both are polled 6 times before the first sleep, the last time directly before it, and twice
// before each further one, because the sleeps bring no news.
TEST_F(RunTest, AGroupPollsAsOftenAsItsLeastPatientOperation) {
  LateElsewhere patient(15, {.looks = 1000}), impatient(15, {.looks = 4});
  FakeWaiter waiters[2];
  Operation* const operations[] = {&patient, &impatient};
  transport::Waiter* const places[] = {&waiters[0], &waiters[1]};
  std::vector<std::chrono::nanoseconds> sleeps;
  const PollReadable poll = [&](std::span<const int>, std::chrono::nanoseconds timeout) {
    sleeps.push_back(timeout);
  };
  ASSERT_TRUE(RunAllToEnd(operations, places, poll, patient_).ok());
  // No descriptor reports news there.
  EXPECT_EQ(sleeps, (std::vector<std::chrono::nanoseconds>(5, std::chrono::milliseconds(1))));
}

TEST_F(RunTest, AFailureInAGroupEndsItAndLeavesNoWaiterPrepared) {
  Start(3, 300);
  const PollReadable poll = [&](std::span<const int>, std::chrono::nanoseconds) {
    network_.Pipe(Rank{2}, Rank{0}).failure = "rank 2 is gone";
  };
  const Status status = RunAllToEnd(Executions(2), Waiters(2), poll, patient_);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "rank 2 is gone");
  EXPECT_FALSE(waiters_[0].prepared || waiters_[1].prepared);
}

}  // namespace
}  // namespace ringlet::collective
