#include "comm/machine/paced.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "collective/call/run.hpp"
#include "comm/machine/machines_for_test.hpp"
#include "comm/machine/traffic.hpp"
#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

using std::chrono::microseconds;

/// A waiter that advances the clock.
class PacedWaiter final : public transport::Waiter {
 public:
  Ticket Prepare() override { return ++ticket_; }
  void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override {
    EXPECT_EQ(ticket, ticket_);
    waits.push_back(timeout);
    now += woken ? Instant(0) : timeout;
  }
  void Wake() override { woken = true; }
  bool in_memory() const override { return false; }
  int descriptor() const override { return -1; }
  void PrepareDescriptor() override {}
  void Acknowledge() override {}

  std::vector<std::chrono::nanoseconds> waits;
  Instant now{0};
  bool woken = false;

 private:
  Ticket ticket_ = 0;
};

/// Done after so many turns of a microsecond each.
class TurnsForTest final : public collective::Operation {
 public:
  TurnsForTest(int turns, PacedWaiter& waiter) : turns_(turns), waiter_(waiter) {}
  Result<bool> Advance() override {
    waiter_.now += microseconds(1);
    if (turns_ < 0) return Error{Code::kPeerLost, "gone"};
    return --turns_ < 0;
  }
  bool moved() const override { return true; }
  std::string WaitingFor() const override { return "turns"; }
  std::optional<Rank> Awaits() const override { return Rank{7}; }

 private:
  int turns_;
  PacedWaiter& waiter_;
};

class PacedOperationTest : public testing::Test {
 protected:
  PacedOperation Paced(int turns, Instant until, Instant spin = Instant(0)) {
    return {std::make_unique<TurnsForTest>(turns, waiter_),
            waiter_,
            {.until = until,
             .now = [this] { return waiter_.now += tick_; },
             .on_late = [this] { ++late_; },
             .spin = spin}};
  }
  Status Run(PacedOperation& operation) {
    return collective::RunToEnd(operation, waiter_, {.check = [this] { return checked_; }});
  }
  PacedWaiter waiter_;
  Instant tick_{0};
  Status checked_ = Ok();
  int late_ = 0;
};

TEST_F(PacedOperationTest, AFasterOperationLastsAsLongAsPredicted) {
  PacedOperation operation = Paced(3, microseconds(100));
  EXPECT_TRUE(Run(operation).ok());
  EXPECT_EQ(waiter_.now, microseconds(100));
  EXPECT_EQ(late_, 0);
  EXPECT_EQ(waiter_.waits.size(), 1u);
}

TEST_F(PacedOperationTest, ASlowerOperationEndsAtOnceAndIsCounted) {
  PacedOperation operation = Paced(300, microseconds(100));
  EXPECT_TRUE(Run(operation).ok());
  EXPECT_EQ(waiter_.now, microseconds(301));
  EXPECT_EQ(late_, 1);
  EXPECT_TRUE(waiter_.waits.empty());
}

TEST_F(PacedOperationTest, PollsTheClockBeforeTheEnd) {
  tick_ = microseconds(1);
  PacedOperation operation = Paced(3, microseconds(1000), microseconds(50));
  EXPECT_TRUE(Run(operation).ok());
  EXPECT_LE(waiter_.waits.size(), 2u);
  EXPECT_GE(waiter_.now, microseconds(1000));
  EXPECT_LE(waiter_.now, microseconds(1001));
}

TEST_F(PacedOperationTest, SleepsAreAsShortAsThoseOfTheDriver) {
  PacedOperation operation = Paced(0, std::chrono::seconds(1));
  EXPECT_TRUE(Run(operation).ok());
  EXPECT_EQ(waiter_.waits.size(), 10u) << "of 100 ms each, before which check is asked";
}

TEST_F(PacedOperationTest, AnAbortEndsThePause) {
  PacedOperation operation = Paced(0, std::chrono::hours(1));
  EXPECT_FALSE(*operation.Advance());
  EXPECT_EQ(operation.Awaits(), std::nullopt);
  checked_ = Error{Code::kAborted, "by a test"};
  EXPECT_EQ(Run(operation).error().code, Code::kAborted);
  EXPECT_LT(waiter_.now, std::chrono::seconds(1));
}

TEST_F(PacedOperationTest, ForwardsToItsOperationWhileThatRuns) {
  PacedOperation operation = Paced(1, microseconds(100));
  EXPECT_FALSE(*operation.Advance());
  EXPECT_TRUE(operation.moved());
  EXPECT_EQ(operation.WaitingFor(), "turns");
  EXPECT_EQ(operation.Awaits(), Rank{7});
  EXPECT_EQ(operation.place(), nullptr);
}

TEST_F(PacedOperationTest, AnErrorIsReturnedWithoutAPause) {
  PacedOperation operation = Paced(-1, std::chrono::hours(1));
  EXPECT_EQ(Run(operation).error().code, Code::kPeerLost);
  EXPECT_EQ(late_, 0);
}

/// Hosts with one GPU each, on a network of 125 MB/s, which is slower than the test's host.
class PaceTest : public OnMachine {
 protected:
  PaceTest() {
    files_.Write(
        "slow.xml",
        ToXml(topology::ParseSynthetic("(numa: (switch: 1 gpu a100-sxm4, 1 nic 1g))").value()));
  }
};

TEST_F(PaceTest, ACollectiveLastsAsLongAsPredictedForTheMachine) {
  constexpr std::size_t kFloats = 250'000;
  RunOn(2, 2, {{"RINGLET_MACHINE", PathOf("slow.xml")}, {"RINGLET_PACE", "1"}},
        [&](std::uint32_t, auto communicator) {
          ASSERT_TRUE(communicator.ok()) << communicator.error().message;
          const auto way =
              (*communicator)->backend().machine()->AlgorithmNamesOf({.count = kFloats});
          ASSERT_TRUE(way.ok());
          const Instant predicted(static_cast<std::int64_t>(way->predicted_ns()));
          EXPECT_GT(predicted, std::chrono::milliseconds(5));
          const Instant begin = os::Now();
          EXPECT_TRUE(SumOfRanks(**communicator, kFloats).ok());
          EXPECT_GE(os::Now() - begin, predicted);
        });
}

TEST_F(PaceTest, CountsASlowerCallOnce) {
  std::shared_ptr<const GpuMachine> machine;
  RunOn(1, 2, {}, [&](std::uint32_t rank, auto communicator) {
    ASSERT_TRUE(communicator.ok());
    if (rank == 0) machine = GpuMachine::Plan({}, (*communicator)->peer_table(), {}).value();
  });
  MachineTraffic traffic(machine, Rank{0});
  const Call call{.count = 1000};
  const MachineAlgorithm way = machine->AlgorithmNamesOf(call).value();
  traffic.Began(call, {Rank{0}, 2}, way);
  EXPECT_FALSE(nlohmann::json::parse(traffic.ToJson(7, ""))["calls"][0].contains("slower_calls"));
  traffic.WasSlower(call, way);
  EXPECT_EQ(nlohmann::json::parse(traffic.ToJson(7, ""))["calls"][0]["slower_calls"], 1);
}

}  // namespace
}  // namespace ringlet::comm
