#include "os/driver/lines.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "os/driver/parts_for_test.hpp"

namespace ringlet::os {
namespace {

INSTANTIATE_TEST_SUITE_P(Over, ConversationTest, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(ConversationTest, BytesPassInBothDirectionsInOrder) {
  Introduce();
  EXPECT_GE(line, kFirstAcceptedLine);
  host->on_event = [&](const Event& event) {
    if (const auto* received = std::get_if<Received>(&event))
      host->SendText(received->line, AsText(received->data.bytes));
  };
  std::string all;
  for (int i = 0; i < 500; ++i) {
    const std::string word = fmt::format("word {} ", i);
    all += word;
    caller->SendText(1, word);
  }
  driver->RequestTick(caller_id);
  Await("the echo", [&] { return caller->Heard(1).size() >= all.size(); });
  EXPECT_EQ(caller->Heard(1), all);
  EXPECT_EQ(driver->counters().lines_dialled, 1u);
  EXPECT_EQ(driver->counters().lines_accepted, 1u);
  EXPECT_EQ(driver->counters().dials_failed, 0u);
  EXPECT_EQ(driver->counters().strangers_refused, 0u);
  EXPECT_EQ(driver->counters().bytes_sent, 2 * all.size());
  EXPECT_EQ(driver->counters().bytes_received, 2 * all.size());
}

TEST_P(ConversationTest, AUnixSocketConnectionReportsThePidOfItsPeer) {
  std::uint32_t pid = 1;
  caller->on_event = [&](const Event& event) {
    if (const auto* connected = std::get_if<Connected>(&event)) pid = connected->pid;
  };
  Introduce();
  EXPECT_EQ(pid, over_unix() ? static_cast<std::uint32_t>(::getpid()) : 0);
}

TEST_P(ConversationTest, DataLargerThanKernelBuffersArriveComplete) {
  Introduce();
  const Bytes much = Much();
  caller->Perform(Send{1, Slice(Share(Bytes(much)))});
  caller->SendText(1, "end");
  driver->RequestTick(caller_id);
  Await("24 MiB", [&] { return host->heard[line].size() >= kMuch + 3; });
  EXPECT_TRUE(std::equal(much.begin(), much.end(), host->heard[line].begin()));
  EXPECT_EQ(AsText(View(host->heard[line]).last(3)), "end");
}

TEST_P(ConversationTest, ManyConnectionsRunConcurrently) {
  Introduce();
  constexpr LineId kLines = 200;
  host->on_event = [&](const Event& event) {
    if (const auto* received = std::get_if<Received>(&event))
      host->SendText(received->line, AsText(received->data.bytes));
  };
  caller->on_event = [&](const Event& event) {
    if (const auto* up = std::get_if<Connected>(&event))
      caller->SendText(up->line, fmt::format("I am {}", up->line));
    if (const auto* down = std::get_if<Closed>(&event)) caller->Perform(Dial{down->line, address});
  };
  for (LineId id = 2; id < 2 + kLines; ++id) caller->Perform(Dial{id, address});
  driver->RequestTick(caller_id);
  Await("all echoes", [&] {
    for (LineId id = 2; id < 2 + kLines; ++id)
      if (caller->Heard(id) != fmt::format("I am {}", id)) return false;
    return true;
  });
  for (LineId id = 2; id < 2 + kLines; ++id) caller->Perform(Hangup{id});
  driver->RequestTick(caller_id);
  Await("all hang-ups", [&] { return host->closed.size() == kLines; });
  EXPECT_FALSE(host->closed.contains(line));
}

TEST_P(ConversationTest, ADetachedSocketIsConnectedAndOwnedByTheCaller) {
  Introduce();
  host->SendText(line, "last words");
  host->Perform(Detach{line});
  driver->RequestTick(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  const int fd = detached[line].get();
  EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  ASSERT_EQ(::write(fd, ", and more", 10), 10);
  Await("both", [&] { return caller->Heard(1).size() >= 20; });
  EXPECT_EQ(caller->Heard(1), "last words, and more");

  caller->SendText(1, "to the new owner");
  driver->RequestTick(caller_id);
  Settle();
  EXPECT_EQ(host->Heard(line), "") << "the machine has nothing to do with the line any more";
  char buffer[64];
  pollfd ready{fd, POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 60'000), 1);
  EXPECT_EQ(::read(fd, buffer, sizeof buffer), 16);
  detached.clear();
  Await("the end", [&] { return caller->closed.contains(1); });
}

TEST_P(ConversationTest, ADetachWaitsForUnsentData) {
  Introduce();
  host->Perform(Send{line, Slice(Share(Much()))});
  host->Perform(Detach{line});
  driver->RequestTick(host_id);
  Await("the socket", [&] { return detached.contains(line); });
  ASSERT_EQ(::write(detached[line].get(), "x", 1) == 1 || errno == EAGAIN, true);
  detached.clear();
  Await("all of it", [&] { return caller->closed.contains(1); });
  EXPECT_GE(caller->heard[1].size(), kMuch);
}

TEST_F(DriverTest, ADescriptorIsPassedWithItsMessageOverAUnixSocket) {
  auto listener = Listen(Address::Unix(fmt::format("ringlet driver fds {}", ::getpid())));
  ASSERT_TRUE(listener.ok());
  const Address address = listener->address;
  std::vector<Listener> listeners;
  listeners.push_back(*std::move(listener));
  const auto host = std::make_shared<ScriptedMachine>(),
             caller = std::make_shared<ScriptedMachine>();
  driver->Add({.machine = host, .listeners = std::move(listeners)});
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd reading(ends[0]);
  caller->Perform(Dial{1, address});
  caller->SendText(1, "before ");
  caller->Perform(Send{1, Slice(Share(Bytes(4, std::byte{'F'}))), {Keep(Fd(ends[1]))}});
  caller->SendText(1, " after");
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

  // A message in many pieces carries the descriptor once.
  caller->Perform(
      Send{1, Slice(Share(Much())), {Keep(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)))}});
  driver->RequestTick(caller_id);
  Await("a long message", [&] { return host->heard[host->accepted[0]].size() >= kMuch + 17; });
  EXPECT_EQ(host->descriptors.size(), 1u);
}

TEST_F(DriverTest, ARefusedDialReportsTheReason) {
  auto listener = Listen(Address::Ipv4(127, 0, 0, 1, 0));
  ASSERT_TRUE(listener.ok());
  const Address nobody = listener->address;
  listener->fd.Close();
  const auto caller = std::make_shared<ScriptedMachine>();
  caller->Perform(Dial{1, nobody});
  caller->Perform(Dial{2, Address::Unix("ringlet nobody is here")});
  caller->Perform(Dial{3, Address()});
  caller->Perform(Dial{4, nobody});
  caller->Perform(Hangup{.line = 4, .of_stranger = true});
  Host(caller);
  Await("three refusals", [&] { return caller->closed.size() >= 3; });
  EXPECT_EQ(caller->closed[1], "connection refused (ECONNREFUSED 111)");
  EXPECT_EQ(caller->closed[2], "connection refused (ECONNREFUSED 111)");
  EXPECT_GE(driver->counters().dials_failed, 3u);
  EXPECT_EQ(driver->counters().strangers_refused, 1u);
  EXPECT_NE(caller->closed[3], "");
  EXPECT_TRUE(caller->connected.empty());
}

using LinesAlone = DriverParts;

TEST_F(LinesAlone, ACallerIsReadWhenItIsAdmitted) {
  auto [ours, theirs] = SocketPair();
  const MachineId id = machines.Add({.machine = puppet, .listeners = {}, .greeting = "ping"});
  ASSERT_EQ(::write(theirs.get(), "ping!", 5), 5);
  EXPECT_TRUE(lines.Admit(id, {std::move(ours), Address(), Bytes()}, true));
  EXPECT_EQ(puppet->accepted, std::vector<LineId>{kFirstAcceptedLine});
  EXPECT_EQ(puppet->Heard(kFirstAcceptedLine), "ping!");
  auto [silent, end] = SocketPair();
  EXPECT_FALSE(lines.Admit(id, {std::move(silent), Address(), Bytes(1)}, true));
  EXPECT_EQ(puppet->heard[kFirstAcceptedLine + 1].size(), 1u) << "what it had said before";
}

TEST_F(LinesAlone, OutputWaitsForAFlush) {
  auto [ours, theirs] = SocketPair();
  const MachineId id = Host(puppet);
  lines.Admit(id, {std::move(ours), Address(), Bytes()}, true);
  EXPECT_FALSE(lines.HasUnflushed());
  lines.Perform(id, Send{kFirstAcceptedLine, Slice(AsView("one "))});
  lines.Perform(id, Send{kFirstAcceptedLine, Slice(AsView("two"))});
  EXPECT_TRUE(lines.HasUnflushed());
  std::array<char, 16> heard{};
  EXPECT_LT(::read(theirs.get(), heard.data(), heard.size()), 0);
  lines.Flush();
  EXPECT_FALSE(lines.HasUnflushed());
  EXPECT_EQ(::read(theirs.get(), heard.data(), heard.size()), 7);
  EXPECT_EQ(tally.counters.bytes_sent, 7u);
}

TEST_F(LinesAlone, AConnectionThatReadsTooSlowlyIsLost) {
  auto [ours, theirs] = SocketPair();
  const MachineId id = Host(puppet);
  lines.Admit(id, {std::move(ours), Address(), Bytes()}, true);
  const SharedBytes piece = Share(Bytes(std::size_t{1} << 20));
  for (std::size_t bytes = 0; bytes < Lines::kUnsentBytesMax; bytes += piece->size())
    lines.Perform(id, Send{kFirstAcceptedLine, Slice(piece)});
  EXPECT_FALSE(machines.HasDeferred());
  lines.Perform(id, Send{kFirstAcceptedLine, Slice(AsView("."))});
  machines.DeliverDeferred();
  EXPECT_THAT(puppet->closed[kFirstAcceptedLine], testing::HasSubstr("reads too slowly"));
  char byte = 0;
  EXPECT_EQ(::read(theirs.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace ringlet::os
