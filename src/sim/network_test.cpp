#include "sim/network.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::sim {
namespace {

// Sends `count` bytes to the node it dials, or records received data.
class Talker final : public Machine {
 public:
  explicit Talker(std::optional<Address> to, std::size_t count = 0)
      : to_(std::move(to)), count_(count) {}
  void Handle(const Event& event, Instant now) override {
    if (std::holds_alternative<Tick>(event) && to_ && !dialled_) {
      dialled_ = true;
      Emit(Dial{1, *to_});
    }
    if (std::holds_alternative<Connected>(event)) {
      Bytes bytes(count_);
      for (std::size_t i = 0; i < count_; ++i) bytes[i] = static_cast<std::byte>(i);
      Emit(Send{1, Slice(Share(std::move(bytes)))});
      Emit(Hangup{1});
    }
    if (const auto* received = std::get_if<Received>(&event)) {
      pieces.insert(received->data.bytes.size());
      got.insert(got.end(), received->data.bytes.begin(), received->data.bytes.end());
    }
    if (const auto* closed = std::get_if<Closed>(&event)) {
      why = closed->why;
      closed_at = now;
    }
  }
  std::optional<Instant> Deadline() const override { return std::nullopt; }
  bool Finished() const override { return false; }
  Bytes got;
  std::set<std::size_t> pieces;  // their sizes
  std::string why;
  Instant closed_at{0};

 private:
  std::optional<Address> to_;
  std::size_t count_;
  bool dialled_ = false;
};

const Address kHome = Address::Ipv4(10, 0, 0, 1, 1);

TEST(Network, CarriesBytesInOrderInAnyPieces) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    Network network(seed, {.chunk_max = 1 + seed % 7});
    const NodeId home = network.Add(std::make_unique<Talker>(std::nullopt), kHome, Instant(0));
    network.Add(std::make_unique<Talker>(kHome, 300), {}, std::chrono::milliseconds(1));
    ASSERT_TRUE(network.Run(std::chrono::seconds(1)));
    const auto& talker = static_cast<Talker&>(network.machine(home));
    ASSERT_EQ(talker.got.size(), 300u) << "seed " << seed;
    for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(talker.got[i], static_cast<std::byte>(i));
    EXPECT_EQ(talker.why, "connection closed by the peer");
  }
}

TEST(Network, PiecesHaveEverySizeUpToTheLimit) {
  Network network(1, {.chunk_max = 5});
  const NodeId home = network.Add(std::make_unique<Talker>(std::nullopt), kHome, Instant(0));
  network.Add(std::make_unique<Talker>(kHome, 1000), {}, Instant(0));
  ASSERT_TRUE(network.Run(std::chrono::seconds(10)));
  const auto& talker = static_cast<Talker&>(network.machine(home));
  EXPECT_EQ(talker.pieces, (std::set<std::size_t>{1, 2, 3, 4, 5}));
}

TEST(Network, DrawsLatenciesFromTheWholeRange) {
  constexpr Instant kLeast(1000), kMost(1003);
  Network network(1, {.latency_min = kLeast, .latency_max = kMost});
  network.Add(std::make_unique<Talker>(std::nullopt), kHome, Instant(0));
  for (int i = 0; i < 100; ++i) network.Add(std::make_unique<Talker>(kHome), {}, Instant(0));
  std::set<Instant> heard;
  network.Observe([&](NodeId) { heard.insert(network.now() - Network::kOrigin); });
  ASSERT_TRUE(network.Run(kMost));
  EXPECT_EQ(heard, (std::set<Instant>{Instant(0), Instant(1000), Instant(1001), Instant(1002),
                                      Instant(1003)}));
}

// Requests another call at once, forever.
class Restless final : public Machine {
 public:
  void Handle(const Event&, Instant) override {}
  std::optional<Instant> Deadline() const override { return Network::kOrigin; }
  bool Finished() const override { return false; }
};

TEST(Network, ReportsANodeThatKeepsItselfBusy) {
  Network network(1, {});
  network.Add(std::make_unique<Restless>(), {}, Instant(0));
  EXPECT_FALSE(network.Run(std::chrono::seconds(100), 1000));
  EXPECT_EQ(network.events(), 1000u);
  EXPECT_EQ(network.now(), Network::kOrigin + Instant(999)) << "time passes nevertheless";
}

TEST(Network, ALimitEqualToTheNumberOfEventsSuffices) {
  Network network(1, {});
  for (int i = 0; i < 3; ++i)
    network.Add(std::make_unique<Talker>(std::nullopt), {}, std::chrono::seconds(i));
  EXPECT_TRUE(network.Run(std::chrono::seconds(5), 3));
  EXPECT_EQ(network.events(), 3u);
}

TEST(Network, EqualSeedsGiveEqualRuns) {
  const auto run = [](std::uint64_t seed) {
    Network network(seed, {.chunk_max = 5});
    network.Add(std::make_unique<Talker>(std::nullopt), kHome, Instant(0));
    network.Add(std::make_unique<Talker>(kHome, 100), {}, Instant(5));
    network.Run(std::chrono::seconds(1));
    return network.trace();
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_NE(run(7), run(8));
}

// Two nodes begin, and then another event happens.
TEST(Network, TheTraceCoversNodesEventsAndTimes) {
  constexpr Instant kLater(1000);
  const auto run = [&](NodeId nudged, bool dials, Instant when) {
    Network network(1, {.latency_min = kLater, .latency_max = kLater});
    network.Add(std::make_unique<Talker>(dials ? std::optional(kHome) : std::nullopt), {},
                Instant(0));
    network.Add(std::make_unique<Talker>(std::nullopt), {}, Instant(0));
    if (!dials) network.RequestTick(nudged, Network::kOrigin + when);
    network.Run(std::chrono::seconds(1));
    EXPECT_EQ(network.events(), 3u);
    return network.trace();
  };
  const std::uint64_t trace = run(0, false, kLater);
  EXPECT_EQ(run(0, false, kLater), trace);
  EXPECT_NE(run(1, false, kLater), trace) << "another node";
  EXPECT_NE(run(0, false, kLater * 2), trace) << "another time";
  EXPECT_NE(run(0, true, kLater), trace) << "a refusal, not a turn";
}

TEST(Network, ANodeListensNeitherBeforeItsStartNorAfterItsDeath) {
  Network network(1, {});
  const NodeId home =
      network.Add(std::make_unique<Talker>(std::nullopt), kHome, std::chrono::seconds(1));
  const NodeId early = network.Add(std::make_unique<Talker>(kHome, 1), {}, Instant(0));
  network.Kill(home, std::chrono::seconds(2));
  const NodeId late = network.Add(std::make_unique<Talker>(kHome, 1), {}, std::chrono::seconds(3));
  ASSERT_TRUE(network.Run(std::chrono::seconds(5)));
  EXPECT_EQ(static_cast<Talker&>(network.machine(early)).why, "connection refused");
  EXPECT_EQ(static_cast<Talker&>(network.machine(late)).why, "connection refused");
  EXPECT_FALSE(network.alive(home));
}

TEST(Network, ASilencedNodeNeitherSendsNorReceives) {
  Network network(1, {});
  const NodeId home = network.Add(std::make_unique<Talker>(std::nullopt), kHome, Instant(0));
  network.Isolate(home, Instant(1));
  const NodeId caller =
      network.Add(std::make_unique<Talker>(kHome, 10), {}, std::chrono::seconds(1));
  ASSERT_TRUE(network.Run(std::chrono::seconds(5)));
  EXPECT_TRUE(static_cast<Talker&>(network.machine(home)).got.empty());
  EXPECT_EQ(static_cast<Talker&>(network.machine(caller)).why, "");
}

}  // namespace
}  // namespace ringlet::sim
