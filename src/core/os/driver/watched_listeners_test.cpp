#include "os/driver/watched_listeners.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <deque>

#include "os/driver/parts_for_test.hpp"

namespace ringlet::os {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

using Callers = ConversationTest;

INSTANTIATE_TEST_SUITE_P(Over, Callers, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(Callers, WaitWhileTheMachineIsNotAccepting) {
  Introduce();
  host->accepting = false;
  driver->RequestTick(host_id);
  Settle();
  const SocketAddress to = ToSocketAddress(address);
  std::vector<Fd> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(callers.back().get(), to.get(), to.bytes), 0);
    ASSERT_EQ(::write(callers.back().get(), "word", 4), 4);
  }
  Settle();
  EXPECT_EQ(host->accepted.size(), 1u) << "they are in the kernel's queue";
  host->on_event = [&](const Event& event) {  // has room for one caller
    if (std::holds_alternative<Accepted>(event)) host->accepting = false;
  };
  host->accepting = true;
  driver->RequestTick(host_id);
  Settle();
  ASSERT_EQ(host->accepted.size(), 2u);
  EXPECT_EQ(host->Heard(host->accepted.back()), "word");
  host->on_event = {};
  host->accepting = true;
  driver->RequestTick(host_id);
  Await("the others",
        [&] { return host->accepted.size() == 4 && host->Heard(host->accepted.back()) == "word"; });
}

TEST_F(DriverTest, CallersAreClosedIfNoDescriptorIsFree) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const SocketAddress to = ToSocketAddress(listener->address);
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<ScriptedMachine>();
  std::vector<std::string> notes;
  driver->Add({.machine = host,
               .listeners = std::move(listeners),
               .changed = {},
               .detached = {},
               .note = [&](const Note& note) { notes.push_back(note.text); }});
  Settle();
  std::array<Fd, 3> callers;
  for (Fd& caller : callers) caller = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(callers.back().get()) + 1;
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    ASSERT_EQ(::connect(callers[i].get(), to.get(), to.bytes), 0);
    Await("a note", [&] { return notes.size() > i; });
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_THAT(notes[i], HasSubstr("out of file descriptors"));
    char byte = 0;
    EXPECT_LE(::read(callers[i].get(), &byte, 1), 0) << "hung up on";
    EXPECT_EQ(driver->shortages(), i + 1);
  }
  EXPECT_TRUE(host->accepted.empty());
  ASSERT_EQ(::connect(callers[2].get(), to.get(), to.bytes), 0);
  Await("the next caller", [&] { return host->accepted.size() == 1; });
}

// A rank holds its listeners this way for later connections.
TEST_F(DriverTest, AClosedListenerHeldByOthersDoesNotWakeTheDriver) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const SocketAddress to = ToSocketAddress(listener->address);
  const Fd copy(::fcntl(listener->fd.get(), F_DUPFD_CLOEXEC, 0));
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<ScriptedMachine>(),
             alarm = std::make_shared<ScriptedMachine>();
  const SocketDriver::Id id = driver->Add({.machine = host, .listeners = std::move(listeners)});
  Settle();
  driver->CloseListeners(id);
  const Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(caller.get(), to.get(), to.bytes), 0);
  const Instant due = SocketDriver::Now() + milliseconds(20);
  alarm->deadline = due;
  alarm->on_event = [&](const Event&) {
    if (SocketDriver::Now() >= due) alarm->deadline.reset();
  };
  Host(alarm);
  const std::uint64_t calls = driver->counters().system_calls;
  Await("the alarm", [&] { return !alarm->deadline.has_value(); });
  EXPECT_LT(driver->counters().system_calls - calls, 100u) << "it waits and does not spin";
  EXPECT_TRUE(host->accepted.empty());
  EXPECT_TRUE(Fd(::accept4(copy.get(), nullptr, nullptr, SOCK_CLOEXEC)).valid());
}

// A TCP listener with callers that begin with "ping", and its callers.
class Greeted : public DriverTest {
 protected:
  Greeted() {
    std::vector<Listener> listeners;
    listeners.push_back(*Listen(Address::Ipv4(127, 0, 0, 1, 0)));
    to = ToSocketAddress(listeners.front().address);
    copy = Fd(::dup(listeners.front().fd.get()));
    driver->Add({.machine = host,
                 .listeners = std::move(listeners),
                 .greeting = "ping",
                 .note = [this](const Note& note) { notes.push_back(note.text); }});
  }
  const Fd& Call(std::string_view words) {
    const Fd& caller = callers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(caller.get(), to.get(), to.bytes), 0);
    SendText(caller, words);
    return caller;
  }
  void SendText(const Fd& caller, std::string_view words) {
    EXPECT_EQ(::write(caller.get(), words.data(), words.size()),
              static_cast<ssize_t>(words.size()));
  }
  // Serves until the last accepted caller has sent `bytes` bytes.
  void AwaitBytes(std::size_t bytes) {
    Await("words", [&] {
      return !host->accepted.empty() && host->heard[host->accepted.back()].size() == bytes;
    });
  }

  std::shared_ptr<ScriptedMachine> host = std::make_shared<ScriptedMachine>();
  SocketAddress to;
  Fd copy;
  std::deque<Fd> callers;
  std::vector<std::string> notes;
};

TEST_F(Greeted, ASilentCallerIsLeftToTheKernel) {
  int seconds_max = 0;
  socklen_t bytes = sizeof seconds_max;
  EXPECT_EQ(::getsockopt(copy.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds_max, &bytes), 0);
  EXPECT_GT(seconds_max, 0);
  const Fd& caller = Call("ping");
  AwaitBytes(4);
  SendText(caller, "and more");  // watched from now on
  AwaitBytes(12);
  EXPECT_EQ(host->accepted.size(), 1u);
}

TEST_F(Greeted, TheKernelFiltersCallersAfterManyStrangers) {
  for (int i = 0; i < 40; ++i) Call("GET /");
  Await("a note", [&] { return !notes.empty(); });
  EXPECT_THAT(notes.front(), HasSubstr("did not begin with Ringlet's protocol"));
  Settle();
  const std::size_t strangers = host->accepted.size();
  Call("GET /");
  Call("pin");
  Call("ping");  // queued after the other two
  AwaitBytes(4);
  EXPECT_EQ(host->accepted.size(), strangers + 1);
  SendText(callers.back(), "and more");  // read like any other caller
  AwaitBytes(12);
  EXPECT_EQ(host->accepted.size(), strangers + 1);
  EXPECT_EQ(notes.size(), 1u);
}

TEST_F(Greeted, FewStrangersReachTheMachine) {
  for (int i = 0; i < 10; ++i) Call("GET /");
  Await("the callers", [&] { return host->heard.size() == 10; });
  EXPECT_TRUE(notes.empty());
}

using ListenersAlone = DriverParts;

TEST_F(ListenersAlone, ACallerBecomesAConnectionOfTheMachine) {
  WatchedListeners listeners(poller, machines, lines, tally);
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const SocketAddress to = ToSocketAddress(listener->address);
  const MachineId id = Host(puppet);
  std::vector<Listener> all;
  all.push_back(*std::move(listener));
  listeners.Open(id, std::move(all));
  const Fd caller(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::connect(caller.get(), to.get(), to.bytes), 0);
  std::array<epoll_event, 4> events{};
  ASSERT_EQ(poller.Await(events, std::chrono::hours(1), Instant(0)), 1);
  const Token token = events[0].data.u64;
  EXPECT_TRUE(listeners.Has(token));
  listeners.OnReady(token);
  EXPECT_EQ(puppet->accepted.size(), 1u);
  EXPECT_EQ(tally.counters.lines_accepted, 1u);
  listeners.Close(id);
  EXPECT_FALSE(listeners.Has(token));
  listeners.OnReady(token);
  EXPECT_EQ(puppet->accepted.size(), 1u);
}

}  // namespace
}  // namespace ringlet::os
