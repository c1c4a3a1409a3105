#include "os/driver/socket_driver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <filesystem>
#include <future>
#include <map>
#include <thread>

#include "os/error.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// A machine without a will of its own: the test says what it does, and asks what it was told.
class Puppet final : public Machine {
 public:
  void Handle(const Event& event, Instant) override {
    std::visit(Overloaded{
                   [&](const Connected& e) { connected.push_back(e.line); },
                   [&](const Accepted& e) { accepted.push_back(e.line); },
                   [&](const Received& e) {
                     heard[e.line].insert(heard[e.line].end(), e.data.bytes.begin(),
                                          e.data.bytes.end());
                     for (const Descriptor& one : e.descriptors) descriptors.push_back(one);
                   },
                   [&](const Closed& e) { closed[e.line] = e.why; },
                   [&](const Tick&) { ++ticks; },
               },
               event);
    if (on_event) on_event(event);
  }
  std::optional<Instant> Deadline() const override { return deadline; }
  bool Finished() const override { return false; }
  bool Accepting() const override { return accepting; }

  void Do(Action action) { Emit(std::move(action)); }
  void Say(LineId line, std::string_view text) {
    const View bytes = AsView(text);
    Do(Send{line, Slice(Share(Bytes(bytes.begin(), bytes.end())))});
  }
  std::string Heard(LineId line) const {
    const auto it = heard.find(line);
    return it == heard.end() ? "" : std::string(AsText(it->second));
  }

  std::function<void(const Event&)> on_event = {};
  std::vector<LineId> connected, accepted;
  std::map<LineId, Bytes> heard;
  std::map<LineId, std::string> closed;
  Descriptors descriptors;
  int ticks = 0;
  bool accepting = true;
  std::optional<Instant> deadline;
};

constexpr std::size_t kMuch = std::size_t{24} << 20;  // more than all buffers of the kernel hold

Bytes Much() {
  Bytes bytes(kMuch);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 131 >> 7);
  return bytes;
}

std::size_t OpenDescriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd"), end;
  return static_cast<std::size_t>(std::distance(all, end));
}

class Driven : public testing::Test {
 protected:
  Driven() {
    auto created = SocketDriver::Create();
    EXPECT_TRUE(created.ok());
    driver = *std::move(created);
  }

  // Serves events until `ready`. The bound is for a broken driver only: it looks again when it is
  // woken and not before, so that an event that wakes no thread is noticed.
  template <typename Ready>
  void Await(const char* what, Ready ready) {
    const Instant give_up = SocketDriver::Now() + seconds(60);
    while (!ready() && SocketDriver::Now() < give_up) driver->Step(give_up - SocketDriver::Now());
    ASSERT_TRUE(ready()) << "waited for: " << what;
  }

  SocketDriver::Id Host(const std::shared_ptr<Puppet>& puppet) {
    return driver->Add({.machine = puppet, .listeners = {}});
  }
  // Serves what is ready now, without waiting for more.
  void Settle() {
    for (int i = 0; i < 20; ++i) driver->Step(Instant(0));
  }

  std::unique_ptr<SocketDriver> driver;
};

class Talk : public Driven, public testing::WithParamInterface<bool> {
 protected:
  bool over_unix() const { return GetParam(); }
  Listener Open() {
    static int count = 0;
    auto listener =
        Listen(over_unix() ? Address::Unix(fmt::format("ringlet driver {} {}", ::getpid(), ++count))
                           : Address::Ipv4(127, 0, 0, 1, 0));
    EXPECT_TRUE(listener.ok()) << listener.error().message;
    return *std::move(listener);
  }
  // Two machines; `caller` has line 1 to `host`.
  void Introduce() {
    Listener listener = Open();
    address = listener.address;
    std::vector<Listener> listeners;
    listeners.push_back(std::move(listener));
    host_id = driver->Add({.machine = host,
                           .listeners = std::move(listeners),
                           .changed = {},
                           .detached =
                               [this](LineId id, Fd fd) {
                                 if (on_detached) on_detached(id);
                                 detached[id] = std::move(fd);
                               },
                           .note = {}});
    caller->Do(Dial{1, address});
    caller_id = Host(caller);
    Await("a connection", [&] { return !caller->connected.empty() && !host->accepted.empty(); });
    line = host->accepted.front();
  }
  // A socket of the test's own that has called `host`; not served by the driver.
  Fd Raw(int room_bytes = 0) {
    const SocketAddress to = ToSocketAddress(address);
    Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (room_bytes > 0) {
      EXPECT_EQ(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &room_bytes, sizeof room_bytes), 0);
    }
    EXPECT_EQ(::connect(fd.get(), to.get(), to.bytes), 0);
    const std::size_t before = host->accepted.size();
    Await("a raw caller", [&] { return host->accepted.size() > before; });
    return fd;
  }

  Address address;
  std::shared_ptr<Puppet> host = std::make_shared<Puppet>(), caller = std::make_shared<Puppet>();
  SocketDriver::Id host_id = 0, caller_id = 0;
  LineId line = 0;  // the host's end
  std::map<LineId, Fd> detached;
  std::function<void(LineId)> on_detached = {};
};

INSTANTIATE_TEST_SUITE_P(Over, Talk, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(Talk, BytesGoBothWaysInOrder) {
  Introduce();
  EXPECT_GE(line, kFirstAcceptedLine);
  host->on_event = [&](const Event& event) {
    if (const auto* received = std::get_if<Received>(&event))
      host->Say(received->line, AsText(received->data.bytes));
  };
  std::string all;
  for (int i = 0; i < 500; ++i) {
    const std::string word = fmt::format("word {} ", i);
    all += word;
    caller->Say(1, word);
  }
  driver->Nudge(caller_id);
  Await("the echo", [&] { return caller->Heard(1).size() >= all.size(); });
  EXPECT_EQ(caller->Heard(1), all);
  EXPECT_EQ(driver->counters().lines_dialled, 1u);
  EXPECT_EQ(driver->counters().lines_accepted, 1u);
  EXPECT_EQ(driver->counters().dials_failed, 0u);
  EXPECT_EQ(driver->counters().strangers_refused, 0u);
  EXPECT_EQ(driver->counters().bytes_sent, 2 * all.size());
  EXPECT_EQ(driver->counters().bytes_received, 2 * all.size());
}

TEST_P(Talk, ALineOverAUnixSocketKnowsTheProcessAtItsEnd) {
  std::uint32_t pid = 1;
  caller->on_event = [&](const Event& event) {
    if (const auto* connected = std::get_if<Connected>(&event)) pid = connected->pid;
  };
  Introduce();
  EXPECT_EQ(pid, over_unix() ? static_cast<std::uint32_t>(::getpid()) : 0);
}

TEST_P(Talk, CallersWaitWhileTheMachineAcceptsNone) {
  Introduce();
  host->accepting = false;
  driver->Nudge(host_id);
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
  host->on_event = [&](const Event& event) {  // has room for one
    if (std::holds_alternative<Accepted>(event)) host->accepting = false;
  };
  host->accepting = true;
  driver->Nudge(host_id);
  Settle();
  ASSERT_EQ(host->accepted.size(), 2u);
  EXPECT_EQ(host->Heard(host->accepted.back()), "word");
  host->on_event = {};
  host->accepting = true;
  driver->Nudge(host_id);
  Await("the others",
        [&] { return host->accepted.size() == 4 && host->Heard(host->accepted.back()) == "word"; });
}

TEST_P(Talk, MuchMoreThanTheKernelHoldsArrivesWhole) {
  Introduce();
  const Bytes much = Much();
  caller->Do(Send{1, Slice(Share(Bytes(much)))});
  caller->Say(1, "end");
  driver->Nudge(caller_id);
  Await("24 MiB", [&] { return host->heard[line].size() >= kMuch + 3; });
  EXPECT_TRUE(std::equal(much.begin(), much.end(), host->heard[line].begin()));
  EXPECT_EQ(AsText(View(host->heard[line]).last(3)), "end");
}

TEST_P(Talk, AHangupComesAfterTheLastWords) {
  Introduce();
  const std::size_t descriptors = OpenDescriptors();
  const Bytes much = Much();
  caller->Do(Send{1, Slice(Share(Bytes(much)))});
  caller->Do(Hangup{1});
  caller->Say(1, "never");
  driver->Nudge(caller_id);
  Await("the end of the line", [&] { return host->closed.contains(line); });
  EXPECT_EQ(host->heard[line].size(), kMuch);
  EXPECT_TRUE(host->heard[line] == much);
  EXPECT_EQ(host->closed[line], "connection closed by the peer");
  EXPECT_TRUE(caller->closed.empty()) << "who hangs up hears no more of the line";
  const std::uint64_t calls = driver->counters().system_calls;
  Await("both ends to be closed", [&] { return OpenDescriptors() + 2 == descriptors; });
  EXPECT_LT(driver->counters().system_calls - calls, 100u) << "it does not wait, and does not spin";
}

TEST_P(Talk, AHangupWithNothingToSayKeepsNoDescriptor) {
  Introduce();
  const Fd raw = Raw();  // stays
  const std::size_t descriptors = OpenDescriptors();
  host->Do(Hangup{host->accepted.back()});
  driver->Nudge(host_id);
  driver->Step(Instant(0));
  EXPECT_EQ(OpenDescriptors() + 1, descriptors);
}

TEST_P(Talk, LastWordsArriveAlthoughThePeerWasSpeaking) {
  Introduce();
  caller->Do(Send{1, Slice(Share(Much()))});
  caller->Do(Hangup{1});
  host->Say(line, "words that nobody will read");
  driver->Nudge(host_id);
  driver->Nudge(caller_id);
  Await("the end of the line", [&] { return host->closed.contains(line); });
  EXPECT_EQ(host->heard[line].size(), kMuch) << host->closed[line];
  EXPECT_EQ(caller->Heard(1), "");
}

// Our bytes are with our kernel, and the peer has no room for them yet.
TEST_P(Talk, LastWordsReachAPeerThatGoesOnSpeaking) {
  if (over_unix()) return;  // there is one kernel, and what it has has arrived
  Introduce();
  const Fd raw = Raw(4096);
  const std::string words(64 << 10, 'w');
  host->Say(host->accepted.back(), words);
  host->Do(Hangup{host->accepted.back()});
  driver->Nudge(host_id);
  Settle();
  ASSERT_EQ(driver->counters().bytes_sent, words.size());
  const Bytes more = Much();
  for (std::size_t said = 0; said < more.size() / 4;) {
    const ssize_t now =
        ::send(raw.get(), more.data(), more.size() / 4 - said, MSG_DONTWAIT | MSG_NOSIGNAL);
    ASSERT_TRUE(now > 0 || errno == EAGAIN) << ErrnoText(errno) << " after " << said;
    said += now > 0 ? static_cast<std::size_t>(now) : 0;
    driver->Step(Instant(0));
  }
  std::string heard(words.size(), '\0');
  EXPECT_EQ(::recv(raw.get(), heard.data(), heard.size(), MSG_WAITALL),
            static_cast<ssize_t>(words.size()));
  EXPECT_EQ(heard, words);
  EXPECT_EQ(::recv(raw.get(), heard.data(), 1, 0), 0);
}

// The peer speaks and hangs up after the driver has looked, and before it sends what we have to
// say.
TEST_P(Talk, LastWordsAreHeardByAPeerThatWasAboutToSpeak) {
  Introduce();
  Fd raw = Raw();
  const LineId to_raw = host->accepted.back();
  driver->Post([&] {
    ASSERT_EQ(::write(raw.get(), "because", 7), 7);
    raw.Close();
    host->Say(to_raw, "why?");
    driver->Nudge(host_id);
  });
  Await("the end of the line", [&] { return host->closed.contains(to_raw); });
  EXPECT_EQ(AsText(host->heard[to_raw]), "because") << host->closed[to_raw];
}

TEST_P(Talk, AMachineThatHasHungUpIsNotToldThatTheLineBroke) {
  Introduce();
  Fd raw = Raw();  // reads nothing
  host->Do(Send{host->accepted.back(), Slice(Share(Much()))});
  host->Do(Hangup{host->accepted.back()});
  driver->Nudge(host_id);
  driver->Step(Instant(0));
  const std::size_t descriptors = OpenDescriptors();
  raw.Close();
  Await("the end of the line", [&] { return OpenDescriptors() + 2 == descriptors; });
  Settle();
  EXPECT_TRUE(host->closed.empty());
}

TEST_P(Talk, APeerThatClosesIsHeardOnce) {
  Introduce();
  Fd raw = Raw();
  const LineId its_line = host->accepted.back();
  ASSERT_EQ(::write(raw.get(), "bye", 3), 3);
  raw.Close();
  Await("the end of the line", [&] { return host->closed.contains(its_line); });
  EXPECT_EQ(host->Heard(its_line), "bye");
  EXPECT_EQ(host->closed.size(), 1u);
  host->Say(its_line, "into the void");
  host->Do(Hangup{its_line});
  driver->Nudge(host_id);
  Settle();
  EXPECT_EQ(host->closed.size(), 1u);
}

TEST_P(Talk, BytesOfAHungUpPeerAreNotHeard) {
  Introduce();
  host->Do(Hangup{line});
  driver->Nudge(host_id);
  Await("the hang-up", [&] { return caller->closed.contains(1); });
  EXPECT_EQ(host->Heard(line), "");
  EXPECT_TRUE(host->closed.empty());
}

TEST_P(Talk, ADetachedSocketIsConnectedQuietAndOurs) {
  Introduce();
  host->Say(line, "last words");
  host->Do(Detach{line});
  driver->Nudge(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  const int fd = detached[line].get();
  EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  ASSERT_EQ(::write(fd, ", and more", 10), 10);
  Await("both", [&] { return caller->Heard(1).size() >= 20; });
  EXPECT_EQ(caller->Heard(1), "last words, and more");

  caller->Say(1, "to the new owner");
  driver->Nudge(caller_id);
  Settle();
  EXPECT_EQ(host->Heard(line), "") << "the machine has nothing to do with the line any more";
  char buffer[64];
  pollfd ready{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
  EXPECT_EQ(::read(fd, buffer, sizeof buffer), 16);
  detached.clear();
  Await("the end", [&] { return caller->closed.contains(1); });
}

TEST_P(Talk, AnAcceptedLineIsTunedForControl) {
  Introduce();
  const auto option = [](int fd, int level, int name) {
    int value = 0;
    socklen_t bytes = sizeof value;
    EXPECT_EQ(::getsockopt(fd, level, name, &value, &bytes), 0);
    return value;
  };
  host->Do(Detach{line});
  driver->Nudge(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  if (over_unix()) return;  // there is nothing to tune
  const int fd = detached[line].get();
  EXPECT_NE(option(fd, IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_NE(option(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
  EXPECT_EQ(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 30'000);
}

TEST_P(Talk, ADetachWaitsForWhatIsUnsent) {
  Introduce();
  host->Do(Send{line, Slice(Share(Much()))});
  host->Do(Detach{line});
  driver->Nudge(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  ASSERT_EQ(::write(detached[line].get(), "x", 1) == 1 || errno == EAGAIN, true);
  detached.clear();
  Await("all of it", [&] { return caller->closed.contains(1); });
  EXPECT_GE(caller->heard[1].size(), kMuch);
}

TEST_P(Talk, RemoveLingersForWhatIsUnsent) {
  Introduce();
  host->Do(Send{line, Slice(Share(Much()))});
  host->on_event = [&](const Event&) { host->on_event = {}; };
  driver->Nudge(host_id);
  driver->Step(Instant(0));
  driver->Remove(host_id, seconds(60));
  host->Say(line, "from the grave");
  driver->Nudge(host_id);
  Await("the end", [&] { return caller->closed.contains(1); });
  EXPECT_EQ(caller->heard[1].size(), kMuch);
  EXPECT_EQ(host.use_count(), 1) << "the driver has forgotten the machine";
}

TEST_P(Talk, RemoveHangsUpAtOnceWhereNothingIsUnsent) {
  Introduce();
  driver->Remove(host_id, std::chrono::hours(1));
  Await("the end", [&] { return caller->closed.contains(1); });
}

TEST_P(Talk, RemoveWithoutLingerHangsUpAtOnce) {
  Introduce();
  const Fd raw = Raw();  // reads nothing
  host->Do(Send{host->accepted.back(), Slice(Share(Much()))});
  driver->Nudge(host_id);
  driver->Step(Instant(0));
  const std::size_t descriptors = OpenDescriptors();
  driver->Remove(host_id);
  EXPECT_EQ(OpenDescriptors() + 3, descriptors) << "the listener and both lines";
  Await("the end", [&] { return caller->closed.contains(1); });
  const Fd second(::socket(over_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = ToSocketAddress(address);
  EXPECT_NE(::connect(second.get(), to.get(), to.bytes), 0) << "the listener is closed too";
}

TEST_P(Talk, LingeringEndsInTimeForAPeerThatSpeaksAndDoesNotRead) {
  Introduce();
  const Fd raw = Raw();
  host->Do(Send{host->accepted.back(), Slice(Share(Much()))});
  driver->Nudge(host_id);
  driver->Step(Instant(0));
  ASSERT_EQ(::write(raw.get(), "but I was speaking", 18), 18);
  const std::size_t descriptors = OpenDescriptors();
  driver->Remove(host_id, milliseconds(20));
  const std::uint64_t calls = driver->counters().system_calls;
  // The listener, both ends of the line of `caller`, and the end of `raw`.
  Await("the end of lingering", [&] { return OpenDescriptors() + 4 == descriptors; });
  EXPECT_LT(driver->counters().system_calls - calls, 100u) << "it waits and does not spin";
}

TEST_P(Talk, ManyLinesAtOnce) {
  Introduce();
  constexpr LineId kLines = 200;
  host->on_event = [&](const Event& event) {
    if (const auto* received = std::get_if<Received>(&event))
      host->Say(received->line, AsText(received->data.bytes));
  };
  caller->on_event = [&](const Event& event) {
    if (const auto* up = std::get_if<Connected>(&event))
      caller->Say(up->line, fmt::format("I am {}", up->line));
    if (const auto* down = std::get_if<Closed>(&event)) caller->Do(Dial{down->line, address});
  };
  for (LineId id = 2; id < 2 + kLines; ++id) caller->Do(Dial{id, address});
  driver->Nudge(caller_id);
  Await("all echoes", [&] {
    for (LineId id = 2; id < 2 + kLines; ++id)
      if (caller->Heard(id) != fmt::format("I am {}", id)) return false;
    return true;
  });
  for (LineId id = 2; id < 2 + kLines; ++id) caller->Do(Hangup{id});
  driver->Nudge(caller_id);
  Await("all hang-ups", [&] { return host->closed.size() == kLines; });
  EXPECT_FALSE(host->closed.contains(line));
}

TEST_P(Talk, ACallbackMayRemoveItsOwnMachine) {
  Introduce();
  on_detached = [this](LineId) { driver->Remove(host_id); };
  host->Do(Detach{line});
  host->Do(Note{LogLevel::kInfo, "after its own end"});
  driver->Nudge(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  Settle();
  EXPECT_EQ(host.use_count(), 1);
}

TEST_F(Driven, ADescriptorTravelsWithItsMessageOverAUnixSocket) {
  auto listener = Listen(Address::Unix(fmt::format("ringlet driver fds {}", ::getpid())));
  ASSERT_TRUE(listener.ok());
  const Address address = listener->address;
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<Puppet>(), caller = std::make_shared<Puppet>();
  driver->Add({.machine = host, .listeners = std::move(listeners)});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  caller->Do(Dial{1, address});
  caller->Say(1, "before ");
  caller->Do(Send{1, Slice(Share(Bytes(4, std::byte{'F'}))), {Keep(Fd(ends[1]))}});
  caller->Say(1, " after");
  const SocketDriver::Id caller_id = Host(caller);
  Await("the message", [&] {
    return !host->accepted.empty() && host->Heard(host->accepted[0]) == "before FFFF after";
  });
  ASSERT_EQ(host->descriptors.size(), 1u);
  const int writing = host->descriptors[0].value;
  EXPECT_NE(::fcntl(writing, F_GETFD) & FD_CLOEXEC, 0);
  ASSERT_EQ(::write(writing, "through", 7), 7);
  char buffer[16];
  EXPECT_EQ(::read(reading.get(), buffer, sizeof buffer), 7);
  host->descriptors.clear();
  EXPECT_EQ(::read(reading.get(), buffer, sizeof buffer), 0) << "ours was the last copy";

  // With a message that leaves in many pieces it goes once.
  caller->Do(Send{1, Slice(Share(Much())), {Keep(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)))}});
  driver->Nudge(caller_id);
  Await("a long message", [&] { return host->heard[host->accepted[0]].size() >= kMuch + 17; });
  EXPECT_EQ(host->descriptors.size(), 1u);
}

TEST_F(Driven, ADialThatIsRefusedSaysWhy) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const Address nobody = listener->address;
  listener->fd.Close();
  const auto caller = std::make_shared<Puppet>();
  caller->Do(Dial{1, nobody});
  caller->Do(Dial{2, Address::Unix("ringlet nobody is here")});
  caller->Do(Dial{3, Address()});
  caller->Do(Dial{4, nobody});
  caller->Do(Hangup{.line = 4, .of_stranger = true});
  Host(caller);
  Await("three refusals", [&] { return caller->closed.size() >= 3; });
  EXPECT_EQ(caller->closed[1], "connection refused (ECONNREFUSED 111)");
  EXPECT_EQ(caller->closed[2], "connection refused (ECONNREFUSED 111)");
  EXPECT_GE(driver->counters().dials_failed, 3u);
  EXPECT_EQ(driver->counters().strangers_refused, 1u);
  EXPECT_NE(caller->closed[3], "");
  EXPECT_TRUE(caller->connected.empty());
}

TEST_F(Driven, PostedWorkRunsInOrderFromAnyThread) {
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

TEST_F(Driven, WorkPostedForLaterRunsInTheOrderOfItsTimes) {
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

TEST_F(Driven, PostedWorkMayAddAMachineWhichTicksAtOnce) {
  const auto puppet = std::make_shared<Puppet>();
  puppet->on_event = [&](const Event&) { driver->Stop(); };
  std::thread other([&] { driver->Post([&] { Host(puppet); }); });
  driver->Run();
  other.join();
  EXPECT_EQ(puppet->ticks, 1);
}

TEST_F(Driven, NudgesAtAnyTimeAreHarmless) {
  const auto puppet = std::make_shared<Puppet>();
  driver->Nudge(1);  // before there is any caller
  const SocketDriver::Id id = Host(puppet);
  driver->Nudge(id);
  driver->Nudge(id);
  driver->Nudge(id + 7);
  driver->Step(Instant(0));
  EXPECT_GE(puppet->ticks, 3);
  const int before = puppet->ticks;
  driver->Nudge(id);
  driver->Remove(id);
  driver->Remove(id);
  driver->Nudge(id);
  Settle();
  EXPECT_EQ(puppet->ticks, before);
}

TEST_F(Driven, ADeadlineBringsATickAndNoneBringsNone) {
  const auto puppet = std::make_shared<Puppet>(), idle = std::make_shared<Puppet>();
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

TEST_F(Driven, ChangedComesAfterEveryBatchAndMayRemove) {
  const auto puppet = std::make_shared<Puppet>();
  int changed = 0;
  SocketDriver::Id id = 0;
  id = driver->Add({.machine = puppet, .listeners = {}, .changed = [&] {
                      if (++changed == 2) driver->Remove(id);
                    }});
  driver->Step(Instant(0));
  EXPECT_EQ(changed, 1);
  driver->Nudge(id);
  driver->Nudge(id);
  driver->Step(Instant(0));
  EXPECT_EQ(changed, 2) << "one call for a batch";
  EXPECT_EQ(puppet.use_count(), 1);
}

TEST_F(Driven, AMachineForWhichThereIsNoMemoryFailsAlone) {
  const auto starved = std::make_shared<Puppet>(), other = std::make_shared<Puppet>();
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
  driver->Nudge(second);
  Settle();
  EXPECT_EQ(other->ticks, before + 1);
}

TEST_F(Driven, AFailureThatCannotBeToldForWantOfMemoryIsToldLater) {
  const auto starved = std::make_shared<Puppet>();
  starved->on_event = [](const Event&) { throw std::bad_alloc(); };
  int told = 0;
  driver->Add({.machine = starved, .listeners = {}, .failed = [&](const Error&) {
                 if (++told < 3) throw std::bad_alloc();
               }});
  Settle();
  EXPECT_EQ(told, 3);
  EXPECT_EQ(starved.use_count(), 1);
}

TEST_F(Driven, AMachineThatCannotFailStaysAndTheOthersFail) {
  const auto puppet = std::make_shared<Puppet>(), other = std::make_shared<Puppet>();
  int told = 0;
  driver->Add({.machine = other, .listeners = {}, .failed = [&](const Error&) { ++told; }});
  Settle();
  puppet->on_event = [](const Event&) { throw std::bad_alloc(); };
  const SocketDriver::Id id = Host(puppet);
  Settle();
  puppet->on_event = nullptr;
  driver->Nudge(id);
  Settle();
  EXPECT_EQ(puppet->ticks, 2);
  EXPECT_EQ(told, 1);
}

TEST_F(Driven, PostedWorkWithoutMemoryFailsAllMachinesItMayHaveBeenFor) {
  const auto puppet = std::make_shared<Puppet>();
  int told = 0, later = 0;
  driver->Add({.machine = puppet, .listeners = {}, .failed = [&](const Error&) { ++told; }});
  driver->Post([] { throw std::bad_alloc(); });
  driver->Post([&] { ++later; });
  Await("the failure", [&] { return told > 0; });
  EXPECT_EQ(told, 1);
  EXPECT_EQ(later, 1);
  EXPECT_EQ(puppet.use_count(), 1);
}

TEST_F(Driven, NotesReachTheLogAndMayRemove) {
  const auto puppet = std::make_shared<Puppet>();
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
  puppet->Do(Note{LogLevel::kWarn, "one"});
  puppet->Do(Note{LogLevel::kWarn, "two"});
  puppet->Do(Note{LogLevel::kWarn, "three"});
  Settle();
  EXPECT_EQ(notes, (std::vector<std::string>{"one", "two"}));
}

TEST_F(Driven, CallersWithoutADescriptorAreTurnedAway) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const SocketAddress to = ToSocketAddress(listener->address);
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<Puppet>();
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

// As a rank holds its listeners for those who connect later.
TEST_F(Driven, AListenerThatOthersHoldWakesOnlyThem) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const SocketAddress to = ToSocketAddress(listener->address);
  const Fd copy(::fcntl(listener->fd.get(), F_DUPFD_CLOEXEC, 0));
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<Puppet>(), alarm = std::make_shared<Puppet>();
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

// A way in that the test holds.
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

// A machine whose callers come from an entrance. A note of it removes it.
class Guests : public Driven {
 protected:
  Guests() {
    id = driver->Add(
        {.machine = host, .listeners = {}, .entrance = hall, .note = [this](const Note&) {
           driver->Remove(id);
         }});
  }
  // A caller that has said `words` so far: gives its own end.
  Fd Come(std::string_view words) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    const View said = AsView(words);
    hall->admit({Fd(ends[0]), Address::Unix("somebody"), Bytes(said.begin(), said.end())});
    return Fd(ends[1]);
  }
  void Accept() {
    host->accepting = true;
    driver->Nudge(id);
    Settle();
  }
  void AcceptNobody() {
    host->accepting = false;
    driver->Nudge(id);
    Settle();
  }

  std::shared_ptr<Puppet> host = std::make_shared<Puppet>();
  std::shared_ptr<Hall> hall = std::make_shared<Hall>();
  SocketDriver::Id id = 0;
};

TEST_F(Guests, AreHeardFromTheirFirstWordOnAndAnswered) {
  const Fd caller = Come("hello");
  ASSERT_EQ(::write(caller.get(), ", you", 5), 5);
  Await("words",
        [&] { return !host->accepted.empty() && host->Heard(host->accepted[0]) == "hello, you"; });
  ASSERT_EQ(::write(caller.get(), "!", 1), 1);
  Await("one more", [&] { return host->Heard(host->accepted[0]) == "hello, you!"; });
  host->Say(host->accepted[0], "welcome");
  driver->Nudge(id);
  Settle();
  std::array<char, 16> answer{};
  EXPECT_EQ(::read(caller.get(), answer.data(), answer.size()), 7);
}

TEST_F(Guests, ComeOnAnyThread) {
  Settle();
  const Fd here = Come("here");  // on the driver's own
  Fd there;
  std::thread other([&] { there = Come("there"); });
  other.join();
  Await("both", [&] { return host->heard.size() == 2; });
}

TEST_F(Guests, WaitWhileTheMachineAcceptsNone) {
  AcceptNobody();
  std::vector<Fd> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(Come("word"));
  Settle();
  EXPECT_TRUE(host->accepted.empty());
  host->on_event = [&](const Event& event) {  // has room for one
    if (std::holds_alternative<Accepted>(event)) host->accepting = false;
  };
  Accept();
  EXPECT_EQ(host->accepted.size(), 1u);
  host->on_event = {};
  Accept();
  EXPECT_EQ(host->accepted.size(), 3u);
  EXPECT_EQ(host->heard.size(), 3u);
}

TEST_F(Guests, OfAMachineThatHasGoneAreHungUpOn) {
  AcceptNobody();
  std::vector<Fd> callers;
  for (int i = 0; i < 3; ++i) callers.push_back(Come("word"));
  host->on_event = [&](const Event& event) {
    if (std::holds_alternative<Accepted>(event)) host->Do(Note{LogLevel::kInfo, "and goes"});
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

TEST_F(Guests, ComeNoMoreOnceTheDriverHasGone) {
  driver.reset();
  EXPECT_EQ(hall->closed, std::vector<Entrance::Visit>{1});
}

// A TCP listener whose callers begin with "ping", and who calls there.
class Greeted : public Driven {
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
    Say(caller, words);
    return caller;
  }
  void Say(const Fd& caller, std::string_view words) {
    EXPECT_EQ(::write(caller.get(), words.data(), words.size()),
              static_cast<ssize_t>(words.size()));
  }
  // Serves until the last caller that was accepted has said so much.
  void AwaitBytes(std::size_t bytes) {
    Await("words", [&] {
      return !host->accepted.empty() && host->heard[host->accepted.back()].size() == bytes;
    });
  }

  std::shared_ptr<Puppet> host = std::make_shared<Puppet>();
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
  Say(caller, "and more");  // it is watched from now on
  AwaitBytes(12);
  EXPECT_EQ(host->accepted.size(), 1u);
}

TEST_F(Greeted, OfVeryManyStrangersTheKernelKeepsTheRestAway) {
  for (int i = 0; i < 40; ++i) Call("GET /");
  Await("a note", [&] { return !notes.empty(); });
  EXPECT_THAT(notes.front(), HasSubstr("did not begin with Ringlet's protocol"));
  Settle();
  const std::size_t strangers = host->accepted.size();
  Call("GET /");
  Call("pin");
  Call("ping");  // behind the two, in one queue
  AwaitBytes(4);
  EXPECT_EQ(host->accepted.size(), strangers + 1);
  Say(callers.back(), "and more");  // it is heard as any caller is
  AwaitBytes(12);
  EXPECT_EQ(host->accepted.size(), strangers + 1);
  EXPECT_EQ(notes.size(), 1u);
}

// A driver whose thread starts when it is needed, and counts how often that was tried.
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
  // Posts work that says which thread runs it.
  std::shared_future<std::thread::id> Ask() {
    auto told = std::make_shared<std::promise<std::thread::id>>();
    driver->Post([told] { told->set_value(std::this_thread::get_id()); });
    return told->get_future().share();
  }
  void RunUntilReady(const std::shared_future<std::thread::id>& answer) {
    driver->RunUntil([&] { return answer.wait_for(seconds(0)) == std::future_status::ready; },
                     SocketDriver::Now() + kHang);
  }
  // The thread that ran the work.
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

TEST_F(Lent, TheBorrowerRunsItWhileItWaits) {
  SocketDriver::Loan loan(*driver);
  const auto answer = Ask();
  RunUntilReady(answer);
  EXPECT_EQ(Answer(answer), std::this_thread::get_id());
  EXPECT_EQ(starts, 0);
  const auto later = Ask();  // for the thread that comes after
  EXPECT_TRUE(loan.End().ok());
  EXPECT_TRUE(loan.End().ok());
  EXPECT_EQ(Answer(later), own);
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, TimeEndsTheWaitAndATurnIsAlwaysMade) {
  SocketDriver::Loan loan(*driver);
  bool ran = false;
  driver->Post([&] { ran = true; });
  driver->RunUntil([] { return false; }, SocketDriver::Now() - seconds(1));
  EXPECT_TRUE(ran);
}

TEST_F(Lent, TheBorrowerLooksAgainAndAgainBeforeItSleeps) {
  SocketDriver::Loan loan(*driver, seconds(1));
  // Without spinning each wait is one look, or two. Beside other programs a yield may take most of
  // a wait, so that some waits have little more.
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

TEST_F(Lent, TheBorrowerSleepsAtOnceUnlessItIsToSpin) {
  SocketDriver::Loan loan(*driver);
  const std::uint64_t before = driver->counters().system_calls;
  driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::milliseconds(5));
  EXPECT_LE(driver->counters().system_calls - before, 4u);
}

TEST_F(Lent, WorkOfAnotherThreadStartsItsOwnAndTheBorrowerMakesRoom) {
  SocketDriver::Loan loan(*driver);
  std::thread other([&] { Answer(Ask()); });  // in the turn under way, or on its own thread
  // It never becomes true: what ends the wait is the driver's thread.
  const Instant hang = SocketDriver::Now() + kHang;
  driver->RunUntil([] { return false; }, hang);
  EXPECT_LT(SocketDriver::Now(), hang) << "the borrower holds on to it";
  other.join();
  EXPECT_EQ(Answer(Ask()), own) << "of the borrower, too";
  RunUntilReady(std::promise<std::thread::id>().get_future().share());  // returns at once
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, WithoutALoanWorkStartsIt) {
  EXPECT_EQ(Answer(Ask()), own);
  SocketDriver::Loan late(*driver);
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(starts, 1);
}

TEST_F(Lent, OnlyOneThreadBorrowsIt) {
  SocketDriver::Loan loan(*driver);
  std::thread([&] {
    SocketDriver::Loan second(*driver);
    driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::hours(1));
    EXPECT_TRUE(second.End().ok());
  }).join();
  EXPECT_EQ(starts, 0);
}

TEST_F(Lent, AThreadThatDoesNotStartIsToldAndTriedAgain) {
  refuses = true;
  SocketDriver::Loan loan(*driver);
  const auto answer = Ask();
  const Status ended = loan.End();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "no thread is left");
  refuses = false;
  EXPECT_EQ(Answer(Ask()), own);
  EXPECT_EQ(Answer(answer), own) << "what was posted before is not lost";
  EXPECT_EQ(starts, 2);
}

TEST_F(Driven, IsNotLentWhereItsOwnerRunsIt) {
  SocketDriver::Loan loan(*driver);
  driver->RunUntil([] { return false; }, SocketDriver::Now() + std::chrono::hours(1));
  bool ran = false;
  driver->Post([&] { ran = true; });
  Await("work", [&] { return ran; });
  EXPECT_TRUE(loan.End().ok());
}

TEST(Counters, AddUp) {
  SocketDriver::Counters sum{.bytes_sent = 1,
                             .bytes_received = 2,
                             .lines_dialled = 3,
                             .lines_accepted = 4,
                             .system_calls = 5};
  sum += sum;
  EXPECT_EQ(sum.bytes_sent, 2u);
  EXPECT_EQ(sum.bytes_received, 4u);
  EXPECT_EQ(sum.lines_dialled, 6u);
  EXPECT_EQ(sum.lines_accepted, 8u);
  EXPECT_EQ(sum.system_calls, 10u);
}

TEST_F(Greeted, AFewStrangersAreTheMachinesAffair) {
  for (int i = 0; i < 10; ++i) Call("GET /");
  Await("the callers", [&] { return host->heard.size() == 10; });
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace ringlet::os
