// The ends of connections: hang-ups, last data, broken connections, removed machines.
#include <gtest/gtest.h>
#include <unistd.h>

#include "os/driver/lines.hpp"
#include "os/driver/parts_for_test.hpp"
#include "os/error.hpp"

namespace ringlet::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using LineEnd = ConversationTest;

INSTANTIATE_TEST_SUITE_P(Over, LineEnd, testing::Bool(),
                         [](const auto& over) { return over.param ? "unix" : "tcp"; });

TEST_P(LineEnd, AHangupFollowsTheUnsentData) {
  Introduce();
  const std::size_t descriptors = OpenDescriptors();
  const Bytes much = Much();
  caller->Perform(Send{1, Slice(Share(Bytes(much)))});
  caller->Perform(Hangup{1});
  caller->SendText(1, "never");
  driver->RequestTick(caller_id);
  Await("the end of the line", [&] { return host->closed.contains(line); });
  EXPECT_EQ(host->heard[line].size(), kMuch);
  EXPECT_TRUE(host->heard[line] == much);
  EXPECT_EQ(host->closed[line], "connection closed by the peer");
  EXPECT_TRUE(caller->closed.empty()) << "who hangs up hears no more of the line";
  const std::uint64_t calls = driver->counters().system_calls;
  Await("both ends to be closed", [&] { return OpenDescriptors() + 2 == descriptors; });
  EXPECT_LT(driver->counters().system_calls - calls, 100u) << "it does not wait, and does not spin";
}

TEST_P(LineEnd, AHangupWithoutUnsentDataClosesItsDescriptor) {
  Introduce();
  const Fd raw = Raw();  // stays open
  const std::size_t descriptors = OpenDescriptors();
  host->Perform(Hangup{host->accepted.back()});
  driver->RequestTick(host_id);
  driver->Step(Instant(0));
  EXPECT_EQ(OpenDescriptors() + 1, descriptors);
}

TEST_P(LineEnd, UnsentDataArriveAlthoughThePeerWasSending) {
  Introduce();
  caller->Perform(Send{1, Slice(Share(Much()))});
  caller->Perform(Hangup{1});
  host->SendText(line, "words that nobody will read");
  driver->RequestTick(host_id);
  driver->RequestTick(caller_id);
  Await("the end of the line", [&] { return host->closed.contains(line); });
  EXPECT_EQ(host->heard[line].size(), kMuch) << host->closed[line];
  EXPECT_EQ(caller->Heard(1), "");
}

// Our kernel has all data, and the peer lacks room for it.
TEST_P(LineEnd, UnsentDataReachAPeerThatContinuesToSend) {
  if (over_unix()) return;  // one kernel holds both ends, so the data has arrived
  Introduce();
  const Fd raw = Raw(4096);
  const std::string words(64 << 10, 'w');
  host->SendText(host->accepted.back(), words);
  host->Perform(Hangup{host->accepted.back()});
  driver->RequestTick(host_id);
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

// The peer sends and hangs up after the driver has polled, and before it sends our data.
TEST_P(LineEnd, ReceivesTheLastDataOfAPeerThatCloses) {
  Introduce();
  Fd raw = Raw();
  const LineId to_raw = host->accepted.back();
  driver->Post([&] {
    ASSERT_EQ(::write(raw.get(), "because", 7), 7);
    raw.Close();
    host->SendText(to_raw, "why?");
    driver->RequestTick(host_id);
  });
  Await("the end of the line", [&] { return host->closed.contains(to_raw); });
  EXPECT_EQ(AsText(host->heard[to_raw]), "because") << host->closed[to_raw];
}

TEST_P(LineEnd, AMachineReceivesNoClosedEventAfterItsHangup) {
  Introduce();
  Fd raw = Raw();  // reads no data
  host->Perform(Send{host->accepted.back(), Slice(Share(Much()))});
  host->Perform(Hangup{host->accepted.back()});
  driver->RequestTick(host_id);
  driver->Step(Instant(0));
  const std::size_t descriptors = OpenDescriptors();
  raw.Close();
  Await("the end of the line", [&] { return OpenDescriptors() + 2 == descriptors; });
  Settle();
  EXPECT_TRUE(host->closed.empty());
}

TEST_P(LineEnd, AClosingPeerIsReportedOnce) {
  Introduce();
  Fd raw = Raw();
  const LineId its_line = host->accepted.back();
  ASSERT_EQ(::write(raw.get(), "bye", 3), 3);
  raw.Close();
  Await("the end of the line", [&] { return host->closed.contains(its_line); });
  EXPECT_EQ(host->Heard(its_line), "bye");
  EXPECT_EQ(host->closed.size(), 1u);
  host->SendText(its_line, "into the void");
  host->Perform(Hangup{its_line});
  driver->RequestTick(host_id);
  Settle();
  EXPECT_EQ(host->closed.size(), 1u);
}

TEST_P(LineEnd, BytesReceivedAfterAHangupAreDropped) {
  Introduce();
  host->Perform(Hangup{line});
  driver->RequestTick(host_id);
  Await("the hang-up", [&] { return caller->closed.contains(1); });
  EXPECT_EQ(host->Heard(line), "");
  EXPECT_TRUE(host->closed.empty());
}

TEST_P(LineEnd, RemoveLingersForUnsentData) {
  Introduce();
  host->Perform(Send{line, Slice(Share(Much()))});
  host->on_event = [&](const Event&) { host->on_event = {}; };
  driver->RequestTick(host_id);
  driver->Step(Instant(0));
  driver->Remove(host_id, seconds(60));
  host->SendText(line, "from the grave");
  driver->RequestTick(host_id);
  Await("the end", [&] { return caller->closed.contains(1); });
  EXPECT_EQ(caller->heard[1].size(), kMuch);
  EXPECT_EQ(host.use_count(), 1) << "the driver has forgotten the machine";
}

TEST_P(LineEnd, RemoveClosesAtOnceWithoutUnsentData) {
  Introduce();
  driver->Remove(host_id, std::chrono::hours(1));
  Await("the end", [&] { return caller->closed.contains(1); });
}

TEST_P(LineEnd, RemoveWithoutALingerTimeClosesAtOnce) {
  Introduce();
  const Fd raw = Raw();  // reads no data
  host->Perform(Send{host->accepted.back(), Slice(Share(Much()))});
  driver->RequestTick(host_id);
  driver->Step(Instant(0));
  const std::size_t descriptors = OpenDescriptors();
  driver->Remove(host_id);
  EXPECT_EQ(OpenDescriptors() + 3, descriptors) << "the listener and both lines";
  Await("the end", [&] { return caller->closed.contains(1); });
  const Fd second(::socket(over_unix() ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = ToSocketAddress(address);
  EXPECT_NE(::connect(second.get(), to.get(), to.bytes), 0) << "the listener is closed too";
}

TEST_P(LineEnd, LingeringEndsInTimeForAPeerThatDoesNotRead) {
  Introduce();
  const Fd raw = Raw();
  host->Perform(Send{host->accepted.back(), Slice(Share(Much()))});
  driver->RequestTick(host_id);
  driver->Step(Instant(0));
  ASSERT_EQ(::write(raw.get(), "but I was speaking", 18), 18);
  const std::size_t descriptors = OpenDescriptors();
  driver->Remove(host_id, milliseconds(20));
  const std::uint64_t calls = driver->counters().system_calls;
  // The listener, both ends of the connection of `caller`, and the end of `raw`.
  Await("the end of lingering", [&] { return OpenDescriptors() + 4 == descriptors; });
  EXPECT_LT(driver->counters().system_calls - calls, 100u) << "it waits and does not spin";
}

using LineEndAlone = DriverParts;

TEST_F(LineEndAlone, AConnectionWithUnsentDataLingersForATime) {
  auto [ours, theirs] = SocketPair();
  const MachineId id = Host(puppet);
  lines.Admit(id, {std::move(ours), Address(), Bytes()}, true);
  lines.Perform(id, Send{kFirstAcceptedLine, Slice(AsView("words"))});
  machines.Take(id);
  lines.Abandon(id, std::chrono::hours(1));
  const auto due = lines.NextDue();
  ASSERT_TRUE(due.has_value());
  lines.EndLingering(*due - Instant(1));
  EXPECT_EQ(lines.NextDue(), due);
  lines.EndLingering(*due);
  EXPECT_EQ(lines.NextDue(), std::nullopt);
  char byte = 0;
  EXPECT_EQ(::read(theirs.get(), &byte, 1), 0);
}

}  // namespace
}  // namespace ringlet::os
