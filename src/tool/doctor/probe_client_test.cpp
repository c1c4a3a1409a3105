#include "tool/doctor/probe_client.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

using doctor::Contact;

const Address kHere = Address::Ipv4(127, 0, 0, 1, 0);

ProbeOptions ExaminedHost() {
  ProbeOptions options{.timeout = std::chrono::seconds(20)};
  options.token[0] = std::byte{5};
  return options;
}

TEST(ProbeClient, MeasuresAPeer) {
  const auto server = ProbeServer::Start({kHere}, ExaminedHost().token);
  ASSERT_TRUE(server.ok());
  const doctor::PairFacts pair = MeasurePair(
      {.from = 1, .to = 2, .nic = 3, .address = (*server)->endpoints().front()}, ExaminedHost());
  EXPECT_EQ(pair.reach, Contact::kConnected) << pair.why;
  EXPECT_EQ(pair.from, 1u);
  EXPECT_EQ(pair.to, 2u);
  EXPECT_EQ(pair.nic, 3u);
  EXPECT_GT(pair.latency_ns, 0u);
  EXPECT_GT(pair.bytes_per_s, 0u);
  EXPECT_FALSE(pair.stalled);
  EXPECT_EQ(pair.passed_bytes, pair.mtu_bytes);
  EXPECT_GT(pair.mtu_bytes, 1000u);
}

TEST(ProbeClient, DistinguishesPeersStrangersAndClosedPorts) {
  const auto server = ProbeServer::Start({kHere}, ExaminedHost().token);
  const auto stranger = ProbeServer::Start({kHere}, Secret{});
  ASSERT_TRUE(server.ok() && stranger.ok());
  Address closed;
  {
    const auto listener = os::Listen(kHere);
    ASSERT_TRUE(listener.ok());
    closed = listener->address;
  }
  std::vector<ProbeTarget> targets;
  for (const Address& address :
       {(*server)->endpoints().front(), (*stranger)->endpoints().front(), closed})
    targets.push_back({.to = 1, .address = address});
  const auto pairs = ProbeAll(targets, ExaminedHost());
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].reach, Contact::kConnected) << pairs[0].why;
  EXPECT_EQ(pairs[1].reach, Contact::kStranger);
  EXPECT_EQ(pairs[2].reach, Contact::kRefused);
  EXPECT_TRUE(ProbeAll({}, ExaminedHost()).empty());
}

TEST(ProbeClient, TimesOutOnAPeerThatDoesNotAnswer) {
  const auto silent = os::Listen(kHere);  // the kernel accepts connections, but no program answers
  ASSERT_TRUE(silent.ok());
  ProbeOptions hasty = ExaminedHost();
  hasty.timeout = std::chrono::milliseconds(20);
  const ProbeTarget target{.to = 1, .address = silent->address};
  EXPECT_EQ(ProbeAll({target}, hasty).front().reach, Contact::kTimeout);
  EXPECT_EQ(MeasurePair(target, hasty).reach, Contact::kTimeout);
}

}  // namespace
}  // namespace ringlet::cli
