#include "comm/control/control.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <latch>
#include <thread>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Bytes Of(std::uint32_t value) {
  Writer out;
  out.U32(value);
  return out.Take();
}

class ControlOver : public testing::TestWithParam<const char*> {
 protected:
  EnvMap Environment() const {
    return {{"RINGLET_BOOTSTRAP", GetParam()}, {"RINGLET_TREE_ARITY", "2"}};
  }
};
INSTANTIATE_TEST_SUITE_P(Shapes, ControlOver, testing::Values("tree", "ring"),
                         [](const auto& shape) { return std::string(shape.param); });

TEST_P(ControlOver, GathersAndSendsInAnyOrder) {
  constexpr std::uint32_t kSize = 6;
  RunRanks(kSize, Environment(),
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             Control& control = (*communicator)->control();
             for (std::uint32_t round = 0; round < 10; ++round) {
               const auto table = control.AllGather(Of(rank * 100 + round));
               ASSERT_TRUE(table.ok()) << table.error().message;
               for (std::uint32_t r = 0; r < kSize; ++r)
                 EXPECT_EQ(Reader(table->At(Rank{r})).U32(), r * 100 + round);
               ASSERT_TRUE(control.Barrier().ok());
             }
             for (std::uint32_t r = 0; r < kSize; ++r)
               for (const std::uint32_t tag : {2u, 1u})
                 ASSERT_TRUE(control.Send(Rank{r}, tag, Of(rank * 10 + tag)).ok());
             for (std::uint32_t r = 0; r < kSize; ++r)
               for (const std::uint32_t tag : {1u, 2u}) {
                 const auto message = control.Receive(Rank{r}, tag);
                 ASSERT_TRUE(message.ok()) << message.error().message;
                 EXPECT_EQ(Reader(*message).U32(), r * 10 + tag);
               }
             EXPECT_TRUE(control.Barrier().ok());
           });
}

TEST_P(ControlOver, RequireEqualNamesDifferingRanks) {
  RunRanks(5, Environment(),
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             EXPECT_TRUE((*communicator)->control().RequireEqual(7, "lucky number").ok());
             const Status differs =
                 (*communicator)->control().RequireEqual(rank == 3 ? 8 : 7, "lucky number");
             ASSERT_FALSE(differs.ok());
             EXPECT_THAT(differs.error().message,
                         AllOf(HasSubstr("lucky number"), HasSubstr("on rank 0-2,4"),
                               HasSubstr("0000000000000008 on rank 3")));
           });
}

TEST_P(ControlOver, ASharedFailureFailsAllRanks) {
  RunRanks(7, Environment(),
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             Control& control = (*communicator)->control();
             // Waits until all ranks have formed the communicator.
             ASSERT_TRUE(control.Send(Rank{4}, 1, {}).ok());
             if (rank == 4) {
               for (std::uint32_t r = 0; r < 7; ++r) ASSERT_TRUE(control.Receive(Rank{r}, 1).ok());
               EXPECT_FALSE(
                   control.Share(Status(Error{Code::kSystem, "rank 4 has no memory left"})).ok());
             }
             const auto failure = control.AwaitFailure(std::chrono::seconds(20));
             ASSERT_TRUE(failure.has_value());
             EXPECT_EQ(failure->code, Code::kSystem);
             EXPECT_EQ(failure->message, "rank 4 has no memory left");
             EXPECT_FALSE(control.Barrier().ok());
             EXPECT_FALSE(control.Receive(Rank{0}, 1).ok());
           });
}

TEST_P(ControlOver, ABarrierTimesOutForAMissingRank) {
  RunRanks(3, Environment(),
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok());
             Control& control = (*communicator)->control();
             control.set_operation_timeout(std::chrono::milliseconds(200));
             const auto failure = rank == 2 ? control.AwaitFailure(std::chrono::seconds(20))
                                            : std::optional<Error>(control.Barrier().error());
             ASSERT_TRUE(failure.has_value());
             EXPECT_EQ(failure->code, Code::kTimeout);
             EXPECT_THAT(failure->message, HasSubstr("timed out after 200 ms"));
           });
}

TEST_P(ControlOver, CallsAfterLeaveAreRefused) {
  RunRanks(2, Environment(), [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    Control& control = (*communicator)->control();
    ASSERT_TRUE(control.Barrier().ok());
    control.Leave();
    for (const Status& status :
         {control.Barrier(), Status(control.Receive(Rank{0}, 1).error()),
          Status(control.Split(0, 0).error()), Status(control.Shrink({}).error())}) {
      EXPECT_EQ(status.error().code, Code::kInvalidArgument);
      EXPECT_THAT(status.error().message, HasSubstr("left"));
    }
    EXPECT_FALSE(control.failure().has_value());
  });
}

TEST_P(ControlOver, ARankReportsItsActivityWhenQueried) {
  constexpr std::chrono::seconds kTimeout(60);  // longer than a test may take
  const collective::Fingerprint kCall{.sequence = 6, .count = 8};
  RunRanks(3, Environment(),
           [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             Control& control = (*communicator)->control();
             if (rank == 1) {
               control.doing().Begin(kCall, 32);
               control.doing().WaitsFor(Rank{0}, os::Now());
             }
             ASSERT_TRUE(control.Barrier().ok());
             if (rank == 0) {
               const Control::Answer nothing = control.Ask(Rank{2}, kTimeout);
               EXPECT_EQ(nothing.presence, Control::Reachability::kHere);
               EXPECT_EQ(nothing.activity, bootstrap::Activity{}) << "it is at nothing";
               const Control::Answer answer = control.Ask(Rank{1}, kTimeout);
               EXPECT_EQ(answer.presence, Control::Reachability::kHere);
               EXPECT_EQ(answer.activity.operations, 7u);
               EXPECT_EQ(answer.activity.waits_for, 0u);
               const auto header = collective::EncodeHeader(kCall, Rank{1});
               EXPECT_EQ(answer.activity.call, Bytes(header.begin(), header.end()));
             }
             ASSERT_TRUE(control.Barrier().ok());
           });
}

TEST_P(ControlOver, ShrinkRefusesAnUnknownRank) {
  RunRanks(3, Environment(),
           [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
             ASSERT_TRUE(communicator.ok()) << communicator.error().message;
             Control& control = (*communicator)->control();
             const auto beyond = control.Shrink({3});
             ASSERT_FALSE(beyond.ok());
             EXPECT_THAT(beyond.error().message, HasSubstr("rank 3 cannot be left out"));
             EXPECT_FALSE(control.Shrink({rank}).ok());
             const auto all = control.Shrink({});
             ASSERT_TRUE(all.ok()) << all.error().message;
             EXPECT_EQ((*all)->roster().size(), 3u);
             EXPECT_EQ((*all)->rank(), Rank{rank});
             EXPECT_NE((*all)->id(), control.id());
             EXPECT_TRUE((*all)->Barrier().ok());
           });
}

TEST_P(ControlOver, ALateFailureHandlerRunsAtOnce) {
  RunRanks(
      2, Environment(), [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        Control& control = (*communicator)->control();
        std::promise<void> told;
        control.OnFailure([&] { told.set_value(); });
        if (rank == 1) control.Fail(Error{Code::kSystem, "no memory"});
        EXPECT_EQ(told.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
        bool at_once = false;
        control.OnFailure([&] { at_once = true; });
        EXPECT_TRUE(at_once);
        control.OnFailure(nullptr);
        ASSERT_TRUE(control.failure().has_value());
        EXPECT_EQ(control.Explain(Error{Code::kPeerLost, "a link broke"})->message, "no memory");
        EXPECT_EQ(control.Send(Rank{0}, 1, {}).error().message, "no memory");
      });
}

// If the neighbour of a failing rank has left, only the failing rank can call the ranks behind it.
// It may fail and leave at once.
TEST_P(ControlOver, AFailureReachesTheRanksBehindADepartedRank) {
  constexpr std::uint32_t kSize = 7;
  for (const std::uint32_t leaves : {0u, 1u, 2u})
    for (const std::uint32_t fails : {0u, 1u, 3u, 5u}) {
      if (leaves == fails) continue;
      SCOPED_TRACE(fmt::format("rank {} leaves, rank {} fails", leaves, fails));
      std::promise<void> left;
      const std::shared_future<void> has_left = left.get_future().share();
      RunRanks(kSize, Environment(),
               [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
                 ASSERT_TRUE(communicator.ok()) << communicator.error().message;
                 Control& control = (*communicator)->control();
                 if (rank == leaves) {
                   control.Leave();
                   return left.set_value();
                 }
                 has_left.wait();
                 if (rank == fails) {
                   control.Fail(Error{Code::kSystem, "no memory"});
                   return control.Leave();
                 }
                 const auto failure = control.AwaitFailure(std::chrono::seconds(20));
                 ASSERT_TRUE(failure.has_value()) << "rank " << rank << " heard nothing";
                 EXPECT_EQ(failure->message, "no memory");
               });
    }
}

/// Waits until the thread sleeps, which means that it waits.
void AwaitSleep(pid_t thread) {
  const std::string file = "/proc/self/task/" + std::to_string(thread) + "/stat";
  for (std::string line; line.find(") S ") == std::string::npos;) {
    std::ifstream in(file);
    std::getline(in, line);
    std::this_thread::yield();
  }
}

// The process may end as soon as the rank has left. So Leave must not return before the service
// thread has sent the message. Otherwise the others would take the end for a crash.
TEST_P(ControlOver, LeaveReturnsAfterItsMessageIsSent) {
  std::latch done(2);
  const std::vector processes = {ProcessWith(Environment()), ProcessWith(Environment())};
  RunRanks(
      2, [&](std::uint32_t rank) { return processes[rank]; },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        if (rank == 0) return done.arrive_and_wait();
        os::SocketDriver& driver = processes[rank]->driver();
        std::promise<void> go, left;
        std::future<void> has_left = left.get_future();
        std::promise<std::future_status> seen;
        std::promise<void> stands_still;
        driver.Post([&] {
          stands_still.set_value();
          go.get_future().wait();
        });
        stands_still.get_future().wait();
        std::promise<pid_t> number;
        std::thread leaver([&] {
          number.set_value(static_cast<pid_t>(::syscall(SYS_gettid)));
          (*communicator)->control().Leave();
          left.set_value();
        });
        AwaitSleep(number.get_future().get());
        // Runs in the same turn as the message, and before any data is sent.
        driver.Post([&] { seen.set_value(has_left.wait_for(std::chrono::milliseconds(300))); });
        go.set_value();
        EXPECT_EQ(seen.get_future().get(), std::future_status::timeout);
        leaver.join();
        done.arrive_and_wait();
      });
}

// Another thread serves three of the six ranks, if cores are available.
TEST_P(ControlOver, RanksOnSeveralServiceThreadsFormACommunicator) {
  constexpr std::uint32_t kSize = 6;
  const auto process = ProcessWith(Environment());
  std::vector<Services::ServiceSlot> others;
  while (others.size() + kSize / 2 < kRanksOfAThread)
    others.push_back(process->services().ReserveService());
  RunRanks(
      kSize, [&](std::uint32_t) { return process; },
      [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        Control& control = (*communicator)->control();
        const auto half = control.Split(rank % 2, 0);
        ASSERT_TRUE(half.ok()) << half.error().message;
        for (std::uint32_t round = 0; round < 10; ++round) {
          ASSERT_TRUE((*half)->Barrier().ok());
          ASSERT_TRUE(control.Send(Rank{(rank + 1) % kSize}, round, Of(rank)).ok());
          const Rank before{(rank + kSize - 1) % kSize};
          const auto message = control.Receive(before, round);
          ASSERT_TRUE(message.ok()) << message.error().message;
          EXPECT_EQ(Reader(*message).U32(), Index(before));
        }
        ASSERT_TRUE(Barrier(**communicator).ok());
        if (rank == 4) control.Fail(Error{Code::kSystem, "rank 4 has no memory left"});
        const auto failure = control.AwaitFailure(std::chrono::seconds(20));
        ASSERT_TRUE(failure.has_value());
        EXPECT_EQ(failure->message, "rank 4 has no memory left");
      });
}

}  // namespace
}  // namespace ringlet::comm
