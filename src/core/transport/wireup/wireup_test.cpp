#include "transport/wireup/wireup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transport/wireup/wireup_pump_for_test.hpp"

namespace ringlet::transport {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr Instant kDeadline = seconds(61);  // the pump begins at 1 s

Address At(std::uint8_t rank, std::uint16_t port = 7) {
  return Address::Ipv4(10, 0, 0, rank, port);
}

Bytes Text(std::string_view text) {
  const View view = AsView(text);
  return Bytes(view.begin(), view.end());
}

Credentials Shared() {
  Credentials credentials;
  credentials.magic = 0x1234;
  credentials.secret[0] = std::byte{99};
  return credentials;
}

// Configures rank `self` with `peers`, each at At(rank). The lower rank dials.
WireupConfig Config(std::uint32_t self, const std::vector<std::uint32_t>& peers) {
  WireupConfig config;
  config.self = static_cast<Rank>(self);
  config.credentials = Shared();
  config.nonce_seed[0] = static_cast<std::byte>(self + 1);
  config.deadline = kDeadline;
  for (const std::uint32_t peer : peers) {
    WireupPeer it;
    it.rank = static_cast<Rank>(peer);
    it.host = "host" + std::to_string(peer);
    it.role = self < peer ? WireupPeer::Role::kDial : WireupPeer::Role::kAccept;
    it.addresses = {At(static_cast<std::uint8_t>(peer))};
    it.offer = Text("offer of " + std::to_string(self) + " to " + std::to_string(peer));
    config.peers.push_back(it);
  }
  return config;
}

std::string OfferOf(const Wireup& wireup, std::size_t i) {
  if (!wireup.outcome() || !wireup.outcome()->ok()) return "no outcome";
  return std::string(AsText((**wireup.outcome())[i].offer));
}

std::string ErrorOf(const Wireup& wireup) {
  if (!wireup.outcome() || wireup.outcome()->ok()) return "no error";
  return wireup.outcome()->error().message;
}

TEST(Wireup, EndsAtOnceWithoutPeers) {
  Wireup alone(Config(0, {}));
  WireupPump pump;
  pump.Add(alone, {});
  pump.Run(kDeadline);
  ASSERT_TRUE(alone.Finished());
  EXPECT_TRUE(alone.outcome()->ok());
}

TEST(Wireup, ExchangesOffersAndDetachesTheSockets) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Wireup a(Config(0, {1, 2})), b(Config(1, {0, 2})), c(Config(2, {0, 1}));
    WireupPump pump(seed);
    pump.Add(a, {At(0)});
    pump.Add(b, {At(1)});
    pump.Add(c, {At(2)});
    pump.Run(kDeadline);
    EXPECT_EQ(OfferOf(a, 0), "offer of 1 to 0") << "seed " << seed;
    EXPECT_EQ(OfferOf(a, 1), "offer of 2 to 0");
    EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
    EXPECT_EQ(OfferOf(c, 1), "offer of 1 to 2");
    for (std::size_t host = 0; host < 3; ++host) EXPECT_THAT(pump.detached(host), SizeIs(2));
    EXPECT_THAT(pump.notes(), IsEmpty());
  }
}

TEST(Wireup, PassesDescriptors) {
  WireupConfig from = Config(0, {1}), to = Config(1, {0});
  from.peers[0].purpose = to.peers[0].purpose = Purpose::kMemory;
  from.peers[0].descriptors = {Descriptor{41, {}}, Descriptor{42, {}}};
  to.peers[0].descriptors = {Descriptor{43, {}}};
  Wireup a(std::move(from)), b(std::move(to));
  WireupPump pump(3);
  pump.Add(a, {});
  pump.Add(b, {At(1)});
  pump.Run(kDeadline);
  ASSERT_TRUE(a.Finished() && a.outcome()->ok() && b.Finished() && b.outcome()->ok());
  EXPECT_EQ((**a.outcome())[0].descriptors.at(0).value, 43);
  EXPECT_EQ((**b.outcome())[0].descriptors.at(1).value, 42);
}

TEST(Wireup, TheFirstAddressThatAnswersWins) {
  WireupConfig config = Config(0, {1});
  config.peers[0].addresses = {At(1, 1), At(1, 2), At(1), At(1, 8)};
  Wireup a(std::move(config)), b(Config(1, {0}));
  WireupPump pump;
  pump.Blackhole(At(1, 1));
  pump.Add(a, {});
  pump.Add(b, {At(1), At(1, 8)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(a, 0), "offer of 1 to 0");
  EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
  EXPECT_THAT(pump.detached(1), SizeIs(1));
  EXPECT_EQ(pump.open_lines(0), 1u);
  EXPECT_THAT(pump.notes(), IsEmpty()) << "a dial that lost the race is no stranger";
}

// Configures `self` with `peer`, over three lines.
WireupConfig WithStrands(std::uint32_t self, std::uint32_t peer) {
  WireupConfig config = Config(self, {peer, peer, peer});
  for (std::uint8_t strand = 0; strand < 3; ++strand) {
    config.peers[strand].strand = strand;
    config.peers[strand].offer = Text("strand " + std::to_string(strand));
  }
  return config;
}

TEST(Wireup, StrandsConnectToTheirCounterparts) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Wireup a(WithStrands(0, 1)), b(WithStrands(1, 0));
    WireupPump pump(seed);
    pump.Add(a, {});
    pump.Add(b, {At(1)});
    pump.Run(kDeadline);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(OfferOf(a, i), "strand " + std::to_string(i)) << "seed " << seed;
      EXPECT_EQ(OfferOf(b, i), "strand " + std::to_string(i));
    }
    EXPECT_THAT(pump.detached(0), SizeIs(3));
  }
}

TEST(Wireup, AnUnmatchedStrandIsRefusedAndItsRankIsNamedOnce) {
  Wireup a(WithStrands(0, 1)), b(Config(1, {0}));
  WireupPump pump;
  pump.Add(a, {});
  pump.Add(b, {At(1)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(b, 0), "strand 0");
  EXPECT_THAT(ErrorOf(a), HasSubstr("not connected with 1 of 1 peers"));
}

TEST(Wireup, UsesTheBestReachableAddress) {
  WireupConfig config = Config(0, {1, 2});
  config.peers[0].addresses = {At(1, 2), At(1, 1)};
  config.peers[1].addresses = {At(2, 2), At(2, 1)};
  config.peers[0].best_first = config.peers[1].best_first = true;
  Wireup a(std::move(config)), b(Config(1, {0})), c(Config(2, {0}));
  WireupPump pump;
  std::vector<Address> dialled;
  pump.WatchDials(dialled);
  pump.Blackhole(At(2, 2));
  pump.Add(a, {});
  pump.Add(b, {At(1, 1), At(1, 2)});
  pump.Add(c, {At(2, 1)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(a, 0), "offer of 1 to 0");
  EXPECT_EQ(OfferOf(a, 1), "offer of 2 to 0");
  EXPECT_THAT(dialled, testing::ElementsAre(At(1, 2), At(2, 2), At(2, 1)));
}

TEST(Wireup, DialsAgainUntilThePeerListens) {
  Wireup a(Config(0, {1})), b(Config(1, {0}));
  WireupPump pump;
  pump.Add(a, {});
  pump.Run(seconds(30));
  EXPECT_FALSE(a.Finished());
  pump.Add(b, {At(1)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(a, 0), "offer of 1 to 0");
  EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
}

// Random retry times keep ranks that are refused together from returning together.
TEST(Wireup, RetriesARefusedDialAtRandomizedDoublingTimes) {
  constexpr Instant kFirst = seconds(2);
  Instant earliest = kDeadline, latest{};
  for (std::uint8_t seed = 1; seed <= 40; ++seed) {
    WireupConfig config = Config(0, {1});
    config.nonce_seed[0] = std::byte{seed};
    config.limits.dialling.retry_first = kFirst;
    config.limits.dialling.retry_most = 2 * kFirst;
    Wireup wireup(std::move(config));
    Instant now = seconds(1);
    wireup.Handle(Tick{}, now);
    for (const Instant retry : {kFirst, 2 * kFirst, 2 * kFirst}) {
      const auto dial = wireup.PollAction();
      ASSERT_TRUE(dial && std::holds_alternative<Dial>(*dial));
      wireup.Handle(Closed{std::get<Dial>(*dial).line, "connection refused"}, now);
      const Instant waits = *wireup.Deadline() - now;
      EXPECT_GE(waits, retry * 3 / 4) << "seed " << int{seed};
      EXPECT_LE(waits, retry * 5 / 4) << "seed " << int{seed};
      earliest = std::min(earliest, waits / (retry / kFirst));
      latest = std::max(latest, waits / (retry / kFirst));
      now += waits;
      wireup.Handle(Tick{}, now);
    }
  }
  EXPECT_LT(earliest, kFirst * 9 / 10);
  EXPECT_GT(latest, kFirst * 11 / 10);
}

TEST(Wireup, RefusesAnotherRankAtAnAddress) {
  WireupConfig config = Config(0, {1});
  config.peers[0].addresses = {At(2), At(1)};  // the first address belongs to rank 2
  Wireup a(std::move(config)), b(Config(1, {0})), c(Config(2, {0}));
  WireupPump pump;
  pump.Add(a, {});
  pump.Add(b, {At(1)});
  pump.Add(c, {At(2)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(a, 0), "offer of 1 to 0");
  EXPECT_THAT(ErrorOf(c), HasSubstr("connection for rank 1 reached rank 2 (stale address?)"));
}

TEST(Wireup, KeepsBytesAfterTheWireupHello) {
  Wireup b(Config(1, {0}));
  Handshake caller = Handshake::Dialler(Shared(), Purpose::kData, Nonce{});
  WireupPump pump;
  const std::size_t host = pump.Add(b, {});
  const LineId line = pump.Call(host);
  b.Handle(Accepted{line, {}}, seconds(1));
  const auto say = [&](View bytes) { b.Handle(Received{line, Slice(bytes), {}}, seconds(1)); };
  say(caller.TakeOutput());
  const auto challenge = b.PollAction();
  View reply = std::get<Send>(*challenge).data.bytes;
  ASSERT_TRUE(caller.Push(reply).ok());
  Bytes last = caller.TakeOutput();
  const Bytes hello = Encode(WireupHello{Rank{0}, Rank{1}, 0, Text("hello")});
  last.insert(last.end(), hello.begin(), hello.end());
  last.push_back(std::byte{'x'});
  say(last);
  ASSERT_TRUE(b.Finished() && b.outcome()->ok());
  EXPECT_EQ((**b.outcome())[0].unread, Text("x"));
}

TEST(Wireup, LogsEachStrangerOnce) {
  Wireup a(Config(0, {1})), b(Config(1, {0}));
  WireupPump pump;
  const std::size_t host = pump.Add(b, {At(1)});
  const LineId garbage = pump.Call(host), silent = pump.Call(host), gone = pump.Call(host);
  pump.Push(host, Received{garbage, Slice(Share(Bytes(100, std::byte{'G'}))), {}});
  pump.Push(host, Closed{gone, "connection closed by the peer"});
  pump.Run(seconds(5));
  EXPECT_THAT(pump.notes(), SizeIs(1));
  pump.Run(seconds(20));
  EXPECT_THAT(pump.notes(), SizeIs(2)) << silent << " was silent for too long";
  EXPECT_THAT(pump.notes(), Each(HasSubstr("192.0.2.1")));
  pump.Add(a, {});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
}

TEST(Wireup, ManySilentStrangersDoNotBlockThePeer) {
  WireupConfig config = Config(1, {0});
  config.limits.callers_max = 10;
  Wireup a(Config(0, {1})), b(std::move(config));
  WireupPump pump;
  const std::size_t host = pump.Add(b, {At(1)});
  for (int i = 0; i < 500; ++i) pump.Call(host);
  pump.Add(a, {});
  pump.Run(seconds(2));
  EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
  EXPECT_LE(pump.notes().size(), 33u) << "a line each for the first, and their number";
}

TEST(Wireup, AnotherSecretIsRefusedOnBothSides) {
  WireupConfig config = Config(0, {1});
  config.credentials.secret[0] = std::byte{1};
  Wireup a(std::move(config)), b(Config(1, {0}));
  WireupPump pump;
  pump.Add(a, {});
  pump.Add(b, {At(1)});
  pump.Run(kDeadline);
  EXPECT_THAT(ErrorOf(a), HasSubstr("the secrets differ"));
  EXPECT_THAT(ErrorOf(b), HasSubstr("hung up before they introduced themselves"));
  EXPECT_EQ(a.outcome()->error().code, Code::kTimeout);
}

TEST(Wireup, TheDeadlineNamesTheMissingRankAndTheReason) {
  WireupConfig config = Config(1, {0, 2, 3});
  config.peers[1].addresses = {At(2), At(2, 8)};
  Wireup b(std::move(config));
  WireupPump pump;
  pump.Blackhole(At(3));
  pump.Add(b, {});
  pump.Run(kDeadline);
  EXPECT_EQ(ErrorOf(b),
            "rank 1 is not connected with 3 of 3 peers in time: rank 0 on host0 (it has not "
            "called); rank 2 on host2 (10.0.0.2:7: connection refused, 10.0.0.2:8: connection "
            "refused); rank 3 on host3 (10.0.0.3:7: no answer)");
}

TEST(Wireup, AnErrorNamesAFewAndCountsTheRest) {
  std::vector<std::uint32_t> peers;
  for (std::uint32_t peer = 0; peer < 20; ++peer) peers.push_back(peer);
  Wireup last(Config(20, peers));
  WireupPump pump;
  pump.Add(last, {});
  pump.Run(kDeadline);
  EXPECT_THAT(ErrorOf(last), HasSubstr("; and 12 more"));
  EXPECT_THAT(ErrorOf(last), Not(HasSubstr("rank 8 ")));
  Wireup few(Config(20, {0, 1, 2, 3, 4, 5, 6, 7}));
  pump.Add(few, {});
  pump.Run(2 * kDeadline);
  EXPECT_THAT(ErrorOf(few), AllOf(HasSubstr("rank 7 "), Not(HasSubstr("more"))));
}

TEST(Wireup, RedialsABrokenConnection) {
  WireupConfig config = Config(1, {0, 2});  // rank 2 is late, so the wireup continues
  Wireup a(Config(0, {1})), b(std::move(config)), c(Config(2, {1}));
  WireupPump pump;
  pump.Add(a, {});
  const std::size_t host = pump.Add(b, {At(1)});
  pump.Run(seconds(2));
  ASSERT_THAT(pump.detached(host), SizeIs(1));
  pump.Push(host, Closed{pump.detached(host)[0], "reset"});
  Wireup again(Config(0, {1}));
  pump.Add(again, {});
  pump.Run(seconds(3));
  EXPECT_THAT(pump.detached(host), SizeIs(2));
  pump.Add(c, {At(2)});
  pump.Run(kDeadline);
  EXPECT_EQ(OfferOf(b, 0), "offer of 0 to 1");
  EXPECT_EQ(OfferOf(b, 1), "offer of 2 to 1");
}

TEST(Wireup, AConnectionThatBreaksAfterTheEndIsALostPeer) {
  Wireup a(Config(0, {1})), b(Config(1, {0}));
  WireupPump pump;
  pump.Add(a, {});
  const std::size_t host = pump.Add(b, {At(1)});
  pump.Run(seconds(2));
  ASSERT_TRUE(b.Finished() && b.outcome()->ok());
  b.Handle(Closed{pump.detached(host)[0], "reset"}, seconds(2));
  EXPECT_EQ(b.outcome()->error().code, Code::kPeerLost);
  EXPECT_THAT(ErrorOf(b), HasSubstr("rank 0 on host0"));
}

}  // namespace
}  // namespace ringlet::transport
