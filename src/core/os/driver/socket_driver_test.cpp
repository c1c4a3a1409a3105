#include "os/driver/socket_driver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <thread>

#include "os/driver/driven_for_test.hpp"

namespace ringlet::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(DriverTest, PostedWorkRunsInOrderFromAnyThread) {
  std::vector<int> order;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) driver->Post([&order, i] { order.push_back(i); });
    driver->Post([this] { driver->Post([this] { driver->Stop(); }); });
  });
  driver->Run();
  other.join();
  ASSERT_EQ(order.size(), 1000u);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

TEST_F(DriverTest, WorkPostedForLaterRunsInTheOrderOfItsTimes) {
  std::vector<int> order;
  const Instant begun = SocketDriver::Now();
  driver->PostAfter(milliseconds(20), [&] {
    order.push_back(2);
    driver->Stop();
  });
  driver->PostAfter(milliseconds(10), [&] { order.push_back(1); });
  driver->PostAfter(seconds(3600), [&] { order.push_back(3); });
  driver->Run();
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
  EXPECT_GE(SocketDriver::Now() - begun, milliseconds(20));
}

TEST_F(DriverTest, PostedWorkMayAddAMachineWhichTicksAtOnce) {
  const auto puppet = std::make_shared<ScriptedMachine>();
  puppet->on_event = [&](const Event&) { driver->Stop(); };
  std::thread other([&] { driver->Post([&] { Host(puppet); }); });
  driver->Run();
  other.join();
  EXPECT_EQ(puppet->ticks, 1);
}

TEST_F(DriverTest, PostedWorkWithoutMemoryFailsAllMachines) {
  const auto puppet = std::make_shared<ScriptedMachine>();
  int told = 0, later = 0;
  driver->Add({.machine = puppet, .listeners = {}, .failed = [&](const Error&) { ++told; }});
  driver->Post([] { throw std::bad_alloc(); });
  driver->Post([&] { ++later; });
  Await("the failure", [&] { return told > 0; });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(later, 1);
  EXPECT_EQ(puppet.use_count(), 1);
}

using Callbacks = ConversationTest;

INSTANTIATE_TEST_SUITE_P(Over, Callbacks, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(Callbacks, MayRemoveItsOwnMachine) {
  Introduce();
  on_detached = [this](LineId) { driver->Remove(host_id); };
  host->Perform(Detach{line});
  host->Perform(Note{LogLevel::kInfo, "after its own end"});
  driver->RequestTick(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  Settle();
  EXPECT_EQ(host.use_count(), 1);
}

}  // namespace
}  // namespace ringlet::os
