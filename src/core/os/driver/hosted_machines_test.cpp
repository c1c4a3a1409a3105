#include "os/driver/hosted_machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "os/driver/parts_for_test.hpp"

namespace ringlet::os {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(DriverTest, NudgesAtAnyTimeAreSafe) {
  const auto puppet = std::make_shared<ScriptedMachine>();
  driver->RequestTick(1);  // before any machine exists
  const SocketDriver::Id id = Host(puppet);
  driver->RequestTick(id);
  driver->RequestTick(id);
  driver->RequestTick(id + 7);
  driver->Step(Instant(0));
  EXPECT_GE(puppet->ticks, 3);
  const int before = puppet->ticks;
  driver->RequestTick(id);
  driver->Remove(id);
  driver->Remove(id);
  driver->RequestTick(id);
  Settle();
  EXPECT_EQ(puppet->ticks, before);
}

TEST_F(DriverTest, AMachineTicksAtItsDeadlineOnly) {
  const auto puppet = std::make_shared<ScriptedMachine>(),
             idle = std::make_shared<ScriptedMachine>();
  const Instant due = SocketDriver::Now() + milliseconds(5);
  puppet->deadline = due;
  puppet->on_event = [&](const Event&) {
    if (SocketDriver::Now() >= due) puppet->deadline.reset();
  };
  Host(puppet);
  Host(idle);
  Await("the deadline", [&] { return !puppet->deadline.has_value(); });
  EXPECT_EQ(puppet->ticks, 2);
  EXPECT_EQ(idle->ticks, 1);
}

TEST_F(DriverTest, ChangedRunsAfterEveryBatchAndMayRemoveTheMachine) {
  const auto puppet = std::make_shared<ScriptedMachine>();
  int changed = 0;
  SocketDriver::Id id = 0;
  id = driver->Add({.machine = puppet, .listeners = {}, .changed = [&] {
                      if (++changed == 2) driver->Remove(id);
                    }});
  driver->Step(Instant(0));
  EXPECT_EQ(changed, 1);
  driver->RequestTick(id);
  driver->RequestTick(id);
  driver->Step(Instant(0));
  EXPECT_EQ(changed, 2) << "one call for a batch";
  EXPECT_EQ(puppet.use_count(), 1);
}

TEST_F(DriverTest, NotesReachTheLogAndMayRemoveTheMachine) {
  const auto puppet = std::make_shared<ScriptedMachine>();
  std::vector<std::string> notes;
  SocketDriver::Id id = 0;
  id = driver->Add({.machine = puppet,
                    .listeners = {},
                    .changed = {},
                    .detached = {},
                    .note = [&](const Note& note) {
                      notes.push_back(note.text);
                      if (notes.size() == 2) driver->Remove(id);
                    }});
  puppet->Perform(Note{LogLevel::kWarn, "one"});
  puppet->Perform(Note{LogLevel::kWarn, "two"});
  puppet->Perform(Note{LogLevel::kWarn, "three"});
  Settle();
  EXPECT_EQ(notes, (std::vector<std::string>{"one", "two"}));
}

TEST_F(DriverTest, AMachineWithoutMemoryFailsAlone) {
  const auto starved = std::make_shared<ScriptedMachine>(),
             other = std::make_shared<ScriptedMachine>();
  starved->on_event = [](const Event&) { throw std::bad_alloc(); };
  std::vector<std::string> told;
  driver->Add({.machine = starved, .listeners = {}, .failed = [&](const Error& error) {
                 told.push_back(error.message);
               }});
  const SocketDriver::Id second = Host(other);
  Settle();
  EXPECT_THAT(told, testing::ElementsAre(HasSubstr("no memory")));
  EXPECT_EQ(starved->ticks, 1);
  EXPECT_EQ(starved.use_count(), 1) << "it is removed";
  const int before = other->ticks;
  driver->RequestTick(second);
  Settle();
  EXPECT_EQ(other->ticks, before + 1);
}

TEST_F(DriverTest, AFailureIsReportedLaterIfMemoryIsMissing) {
  const auto starved = std::make_shared<ScriptedMachine>();
  starved->on_event = [](const Event&) { throw std::bad_alloc(); };
  int told = 0;
  driver->Add({.machine = starved, .listeners = {}, .failed = [&](const Error&) {
                 if (++told < 3) throw std::bad_alloc();
               }});
  Settle();
  EXPECT_EQ(told, 3);
  EXPECT_EQ(starved.use_count(), 1);
}

TEST_F(DriverTest, AMachineWithoutAFailureHandlerStaysAndOthersFail) {
  const auto puppet = std::make_shared<ScriptedMachine>(),
             other = std::make_shared<ScriptedMachine>();
  int told = 0;
  driver->Add({.machine = other, .listeners = {}, .failed = [&](const Error&) { ++told; }});
  Settle();
  puppet->on_event = [](const Event&) { throw std::bad_alloc(); };
  const SocketDriver::Id id = Host(puppet);
  Settle();
  puppet->on_event = nullptr;
  driver->RequestTick(id);
  Settle();
  EXPECT_EQ(puppet->ticks, 2);
  EXPECT_EQ(told, 1);
}

using Machines = DriverParts;

TEST_F(Machines, AnEventTriggersTheActionsOfItsMachine) {
  const MachineId id = Host(puppet);
  puppet->on_event = [&](const Event&) {
    puppet->Perform(Hangup{3});
    puppet->Perform(Detach{4});
  };
  machines.Deliver(id, Connected{1});
  EXPECT_EQ(puppet->connected, std::vector<LineId>{1});
  ASSERT_EQ(applied.size(), 2u);
  EXPECT_EQ(applied[0].first, id);
  EXPECT_EQ(std::get<Hangup>(applied[0].second).line, 3u);
  EXPECT_EQ(std::get<Detach>(applied[1].second).line, 4u);
}

TEST_F(Machines, DeferredEventsKeepTheirOrderAndMayDeferMore) {
  const MachineId id = Host(puppet);
  puppet->on_event = [&](const Event& event) {
    if (std::holds_alternative<Connected>(event)) machines.Defer(id, Tick{});
  };
  machines.Defer(id, Connected{1});
  machines.Defer(id, Connected{2});
  machines.Defer(id + 7, Tick{});  // of a missing machine
  EXPECT_TRUE(puppet->connected.empty());
  EXPECT_TRUE(machines.HasDeferred());
  machines.DeliverDeferred();
  EXPECT_EQ(puppet->connected, (std::vector<LineId>{1, 2}));
  EXPECT_EQ(puppet->ticks, 2);
  EXPECT_FALSE(machines.HasDeferred());
}

TEST_F(Machines, TheDeadlineIsTheEarliestOfAllMachines) {
  const auto other = std::make_shared<ScriptedMachine>();
  const MachineId id = Host(puppet), other_id = Host(other);
  puppet->deadline = Instant(20);
  other->deadline = Instant(10);
  machines.Deliver(id, Tick{});
  machines.Deliver(other_id, Tick{});
  EXPECT_EQ(machines.NextDue(), Instant(10));
  machines.DeliverDue(Instant(9));
  EXPECT_EQ(other->ticks, 1);
  other->deadline.reset();
  machines.DeliverDue(Instant(15));
  EXPECT_EQ(other->ticks, 2);
  EXPECT_EQ(machines.NextDue(), Instant(20));
  EXPECT_TRUE(machines.Take(id).has_value());
  EXPECT_FALSE(machines.Take(id).has_value());
  EXPECT_EQ(machines.NextDue(), std::nullopt);
}

TEST_F(Machines, AChangeOfAcceptanceIsAppliedOnce) {
  const MachineId id = Host(puppet);
  EXPECT_TRUE(machines.IsAccepting(id));
  puppet->accepting = false;
  machines.Deliver(id, Tick{});
  machines.Deliver(id, Tick{});
  EXPECT_FALSE(machines.IsAccepting(id));
  EXPECT_EQ(accepting_set, (std::vector<std::pair<MachineId, bool>>{{id, false}}));
}

TEST_F(Machines, AFailedMachineReceivesNoEventsAndIsRemoved) {
  int told = 0;
  const MachineId id =
      machines.Add({.machine = puppet, .listeners = {}, .failed = [&](const Error&) { ++told; }});
  puppet->on_event = [](const Event&) { throw std::bad_alloc(); };
  machines.Deliver(id, Tick{});
  EXPECT_TRUE(machines.HasFailed());
  machines.Deliver(id, Tick{});
  EXPECT_EQ(puppet->ticks, 1);
  EXPECT_EQ(told, 0) << "only marked so far";
  machines.RemoveFailed([&](MachineId failed) { machines.Take(failed); });
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(machines.Contains(id));
  EXPECT_FALSE(machines.HasFailed());
}

}  // namespace
}  // namespace ringlet::os
