#include "os/driver/entrance_callers.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "os/driver/parts_for_test.hpp"

namespace ringlet::os {
namespace {

// An entrance that the test controls.
class Hall final : public Entrance {
 public:
  Visit Open(std::function<void(Caller)> to) override {
    admit = std::move(to);
    return ++visits;
  }
  void Close(Visit visit) override { closed.push_back(visit); }

  std::function<void(Caller)> admit;
  Visit visits = 0;
  std::vector<Visit> closed;
};

// A machine with callers from an entrance. A note removes it.
class Guests : public DriverTest {
 protected:
  Guests() {
    id = driver->Add(
        {.machine = host, .listeners = {}, .entrance = hall, .note = [this](const Note&) {
           driver->Remove(id);
         }});
  }
  // Adds a caller that has sent `words` so far. Returns the caller's end.
  Fd Come(std::string_view words) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    const View said = AsView(words);
    hall->admit({Fd(ends[0]), Address::Unix("somebody"), Bytes(said.begin(), said.end())});
    return Fd(ends[1]);
  }
  void Accept() {
    host->accepting = true;
    driver->RequestTick(id);
    Settle();
  }
  void AcceptNobody() {
    host->accepting = false;
    driver->RequestTick(id);
    Settle();
  }

  std::shared_ptr<ScriptedMachine> host = std::make_shared<ScriptedMachine>();
  std::shared_ptr<Hall> hall = std::make_shared<Hall>();
  SocketDriver::Id id = 0;
};

TEST_F(Guests, AreReadFromTheirFirstByteAndAnswered) {
  const Fd caller = Come("hello");
  ASSERT_EQ(::write(caller.get(), ", you", 5), 5);
  Await("words",
        [&] { return !host->accepted.empty() && host->Heard(host->accepted[0]) == "hello, you"; });
  ASSERT_EQ(::write(caller.get(), "!", 1), 1);
  Await("one more", [&] { return host->Heard(host->accepted[0]) == "hello, you!"; });
  host->SendText(host->accepted[0], "welcome");
  driver->RequestTick(id);
  Settle();
  std::array<char, 16> answer{};
  EXPECT_EQ(::read(caller.get(), answer.data(), answer.size()), 7);
}

TEST_F(Guests, AreAdmittedFromAnyThread) {
  Settle();
  const Fd here = Come("here");  // on the driver's own thread
  Fd there;
  std::thread other([&] { there = Come("there"); });
  other.join();
  Await("both", [&] { return host->heard.size() == 2; });
}

TEST_F(Guests, WaitWhileTheMachineIsNotAccepting) {
  AcceptNobody();
  std::vector<Fd> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(Come("word"));
  Settle();
  EXPECT_TRUE(host->accepted.empty());
  host->on_event = [&](const Event& event) {  // has room for one caller
    if (std::holds_alternative<Accepted>(event)) host->accepting = false;
  };
  Accept();
  EXPECT_EQ(host->accepted.size(), 1u);
  host->on_event = {};
  Accept();
  EXPECT_EQ(host->accepted.size(), 3u);
  EXPECT_EQ(host->heard.size(), 3u);
}

TEST_F(Guests, AreClosedIfTheirMachineEnds) {
  AcceptNobody();
  std::vector<Fd> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(Come("word"));
  host->on_event = [&](const Event& event) {
    if (std::holds_alternative<Accepted>(event)) host->Perform(Note{LogLevel::kInfo, "and goes"});
  };
  Accept();
  EXPECT_EQ(host->accepted.size(), 1u);
  EXPECT_EQ(hall->closed, std::vector<Entrance::Visit>{1});
  callers.push_back(Come("too late"));
  Settle();
  for (const Fd& caller : callers) {
    char byte = 0;
    EXPECT_EQ(::read(caller.get(), &byte, 1), 0) << "hung up on";
  }
}

TEST_F(Guests, AreRefusedAfterTheDriverEnds) {
  driver.reset();
  EXPECT_EQ(hall->closed, std::vector<Entrance::Visit>{1});
}

using EntranceAlone = DriverParts;

TEST_F(EntranceAlone, CallersAreAdmittedWhenTheirMachineAccepts) {
  EntranceCallers callers(machines, lines);
  const auto hall = std::make_shared<Hall>();
  const MachineId id = Host(puppet);
  callers.Put(id, {SocketPair().first, Address::Unix("early"), Bytes(1)});
  callers.Open(id, hall, [&](Caller caller) { callers.Put(id, std::move(caller)); });
  hall->admit({SocketPair().first, Address::Unix("a caller"), Bytes(2)});
  EXPECT_TRUE(puppet->accepted.empty());
  puppet->accepting = false;
  machines.Deliver(id, Tick{});
  callers.AdmitWaiting();
  EXPECT_TRUE(puppet->accepted.empty());
  puppet->accepting = true;
  machines.Deliver(id, Tick{});
  callers.AdmitWaiting();
  EXPECT_EQ(puppet->accepted.size(), 1u) << "the first came before the entrance was open";
  callers.Close(id);
  EXPECT_EQ(hall->closed, std::vector<Entrance::Visit>{1});
}

}  // namespace
}  // namespace ringlet::os
