#include "base/wire/dialler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace ringlet {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

const Credentials kDiallerCredentials{77, {}};

// A dialler for `count` addresses, its clock, and its actions.
class Bench {
 public:
  explicit Bench(std::uint8_t count, bool encrypt = false, const DialTiming& timing = {})
      : nonces_(Secret{}) {
    DiallerConfig config{{},   kDiallerCredentials,  Purpose::kTree,
                         1000, {.encrypt = encrypt}, timing};
    for (std::uint8_t i = 0; i < count; ++i)
      config.addresses.push_back(Address::Ipv4(10, i, 0, 1, 7));
    dialler.emplace(std::move(config), nonces_, next_line_, [this](Action action) {
      if (const auto* dial = std::get_if<Dial>(&action)) dials.push_back(*dial);
      if (const auto* send = std::get_if<Send>(&action)) sent = *send;
      if (const auto* hangup = std::get_if<Hangup>(&action)) hung_up.insert(hangup->line);
    });
    dialler->Advance(now);
  }

  void Refuse(LineId line) { dialler->OnClosed(line, "connection refused", now); }
  /// Advances to the next deadline.
  void Wait() {
    now = *dialler->Deadline();
    dialler->Advance(now);
  }
  Bytes TakeSent() {
    const Bytes bytes(sent.data.bytes.begin(), sent.data.bytes.end());
    sent = {};
    return bytes;
  }
  /// The peer at the end of `line` answers with these credentials.
  std::optional<Dialler::Opened> Answer(LineId line, const Credentials& credentials, View more = {},
                                        bool encrypt = false) {
    dialler->OnConnected({line});
    Handshake peer = Handshake::Acceptor(credentials, {}, {.encrypt = encrypt});
    const Bytes hello = TakeSent();
    View in(hello);
    [[maybe_unused]] const Status known = peer.Push(in);  // a stranger answers too
    Bytes answer = peer.TakeOutput();
    answer.insert(answer.end(), more.begin(), more.end());
    return dialler->OnReceived({line, Slice(Share(std::move(answer)))}, now);
  }

  Instant now = seconds(1);
  std::optional<Dialler> dialler;
  std::vector<Dial> dials;
  Send sent{};
  std::set<LineId> hung_up;

 private:
  NonceSource nonces_;
  LineId next_line_ = 1;
};

TEST(Dialler, FollowsItsEncryptionSetting) {
  Bench alike(1, true);
  const auto opened = alike.Answer(alike.dials[0].line, kDiallerCredentials, {}, true);
  ASSERT_TRUE(opened.has_value());
  EXPECT_TRUE(opened->wire.encrypts());
  Bench plain(1);
  EXPECT_FALSE(plain.Answer(plain.dials[0].line, kDiallerCredentials, {}, true));
  EXPECT_TRUE(plain.dialler->hopeless());
  EXPECT_THAT(plain.dialler->Reasons(), HasSubstr("it requires encryption"));
}

TEST(Dialler, DialsTheNextAddressWhenTheBestIsSlow) {
  Bench bench(3);
  ASSERT_EQ(bench.dials.size(), 1u);
  EXPECT_EQ(bench.dials[0].to, Address::Ipv4(10, 0, 0, 1, 7));
  EXPECT_EQ(*bench.dialler->Deadline(), bench.now + DialTiming().hesitation);
  bench.Wait();
  ASSERT_EQ(bench.dials.size(), 2u);
  EXPECT_EQ(bench.dials[1].to, Address::Ipv4(10, 1, 0, 1, 7));
  bench.Wait();
  EXPECT_EQ(bench.dials.size(), 3u);
}

TEST(Dialler, DialsTheNextAddressAtOnceWhenADialFails) {
  Bench bench(3);
  bench.Refuse(bench.dials[0].line);
  bench.dialler->Advance(bench.now);
  ASSERT_EQ(bench.dials.size(), 2u);
  EXPECT_EQ(bench.dials[1].to, Address::Ipv4(10, 1, 0, 1, 7));
}

TEST(Dialler, KeepsTheFirstAuthenticatedConnectionAndClosesTheOthers) {
  Bench bench(3);
  bench.Wait();
  bench.Wait();
  EXPECT_FALSE(bench.dialler->Reached(bench.dials[0].line));
  bench.dialler->OnConnected({bench.dials[0].line});
  EXPECT_TRUE(bench.dialler->Reached(bench.dials[0].line));
  EXPECT_FALSE(bench.dialler->Reached(bench.dials[2].line + 1)) << "no line of its own";
  Writer frame = BeginFrame(9);
  const Bytes behind = EndFrame(std::move(frame));
  auto opened = bench.Answer(bench.dials[1].line, kDiallerCredentials, behind);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->line, bench.dials[1].line);
  EXPECT_EQ(opened->address, Address::Ipv4(10, 1, 0, 1, 7));
  EXPECT_EQ(bench.TakeSent().size(), 32u) << "the proof";
  EXPECT_EQ((*opened->wire.Next())->type, 9) << "what came behind the handshake is kept";
  EXPECT_EQ(bench.hung_up, (std::set<LineId>{bench.dials[0].line, bench.dials[2].line}));
  EXPECT_FALSE(bench.dialler->Deadline());
  bench.dialler->Advance(bench.now + seconds(100));
  EXPECT_EQ(bench.dials.size(), 3u) << "no dial after the end";
  EXPECT_FALSE(bench.dialler->Owns(opened->line));
}

TEST(Dialler, RetriesARefusedDialWithGrowingDelays) {
  Bench bench(1);
  Instant pause = DialTiming().retry_first;
  for (int i = 0; i < 12; ++i) {
    bench.Refuse(bench.dials.back().line);
    EXPECT_GE(*bench.dialler->Deadline() - bench.now, pause * 3 / 4);
    EXPECT_LE(*bench.dialler->Deadline() - bench.now, pause * 5 / 4);
    bench.dialler->Advance(bench.now);
    ASSERT_EQ(bench.dials.size(), static_cast<std::size_t>(i) + 1) << "not before its time";
    bench.Wait();
    ASSERT_EQ(bench.dials.size(), static_cast<std::size_t>(i) + 2);
    pause = std::min(pause * 2, DialTiming().retry_most);
  }
  EXPECT_FALSE(bench.dialler->hopeless());
  EXPECT_EQ(bench.dialler->Reasons(), "10.0.0.1:7: connection refused");
}

TEST(Dialler, RetriesAPeerThatDoesNotAnswer) {
  Bench bench(1);
  bench.dialler->OnConnected({bench.dials[0].line});
  EXPECT_EQ(*bench.dialler->Deadline(), bench.now + DialTiming().attempt);
  bench.Wait();
  EXPECT_TRUE(bench.hung_up.contains(bench.dials[0].line));
  EXPECT_EQ(bench.dialler->Reasons(),
            "10.0.0.1:7: connected, but it did not answer: its process may be stopped");
  bench.Wait();
  EXPECT_EQ(bench.dials.size(), 2u);
}

// The system may give the port of a dead process to another communicator, for one of its addresses.
TEST(Dialler, CountsRefusalsBesideAnAddressOfAnotherCommunicator) {
  Bench bench(2);
  EXPECT_FALSE(bench.Answer(bench.dials[0].line, {5, {}}));
  EXPECT_EQ(bench.dialler->failures(), 0u) << "the other address may be right";
  bench.dialler->Advance(bench.now);
  for (std::uint32_t refusals = 1; refusals <= 3; ++refusals) {
    bench.Refuse(bench.dials.back().line);
    EXPECT_EQ(bench.dialler->failures(), refusals);
    bench.Wait();
  }
  EXPECT_FALSE(bench.dialler->hopeless());
}

TEST(Dialler, DoesNotRetryAfterAWrongSecret) {
  Bench bench(2);
  Credentials other = kDiallerCredentials;
  other.secret[0] = std::byte{1};
  EXPECT_FALSE(bench.Answer(bench.dials[0].line, other));
  EXPECT_TRUE(bench.hung_up.contains(bench.dials[0].line));
  EXPECT_FALSE(bench.dialler->hopeless()) << "the other address may be right";
  bench.dialler->Advance(bench.now);
  EXPECT_FALSE(bench.Answer(bench.dials[1].line, {5, {}}));
  EXPECT_TRUE(bench.dialler->hopeless());
  EXPECT_FALSE(bench.dialler->Deadline());
  bench.dialler->Advance(bench.now + seconds(100));
  EXPECT_EQ(bench.dials.size(), 2u);
  EXPECT_THAT(bench.dialler->Reasons(), HasSubstr("10.0.0.1:7: the secrets differ"));
  EXPECT_THAT(bench.dialler->Reasons(), HasSubstr("10.1.0.1:7: it serves another communicator"));
}

TEST(Dialler, IgnoresUnknownConnectionsAndEarlyBytes) {
  Bench bench(1);
  EXPECT_FALSE(bench.dialler->Owns(77));
  bench.dialler->OnClosed(77, "?", bench.now);
  EXPECT_FALSE(bench.dialler->OnReceived({77, Slice(AsView("x"))}, bench.now));
  EXPECT_FALSE(bench.dialler->OnReceived({bench.dials[0].line, Slice(AsView("x"))}, bench.now));
  EXPECT_TRUE(bench.dialler->Owns(bench.dials[0].line));
}

TEST(Dialler, RetriesAResumedAddressAfterTheOthers) {
  Bench bench(2);
  const auto opened = bench.Answer(bench.dials[0].line, kDiallerCredentials);
  ASSERT_TRUE(opened);
  bench.dialler->Resume(opened->address, "it refused", bench.now);
  EXPECT_EQ(bench.dialler->Reasons(), "10.0.0.1:7: it refused, 10.1.0.1:7: not tried");
  bench.dialler->Advance(bench.now);
  ASSERT_EQ(bench.dials.size(), 2u);
  EXPECT_EQ(bench.dials[1].to, Address::Ipv4(10, 1, 0, 1, 7));
  bench.Wait();
  ASSERT_EQ(bench.dials.size(), 3u);
  EXPECT_EQ(bench.dials[2].to, Address::Ipv4(10, 0, 0, 1, 7));
}

TEST(Dialler, DialsAllAddressesAtOnceIfTheHesitationIsZero) {
  Bench bench(3, false, {.hesitation = Instant(0)});
  EXPECT_EQ(bench.dials.size(), 3u);
}

TEST(Dialler, StopClosesPendingDials) {
  Bench bench(3);
  bench.Wait();
  bench.dialler->Stop();
  EXPECT_EQ(bench.hung_up.size(), 2u);
  EXPECT_FALSE(bench.dialler->Deadline());
  bench.dialler->Advance(bench.now + seconds(100));
  EXPECT_EQ(bench.dials.size(), 2u) << "the third is not dialled any more";
}

TEST(Dialler, ReportsAMissingAddress) {
  Bench bench(0);
  EXPECT_EQ(bench.dialler->Reasons(), "it has no address");
  EXPECT_TRUE(bench.dialler->hopeless());
}

}  // namespace
}  // namespace ringlet
