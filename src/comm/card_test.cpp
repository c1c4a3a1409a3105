#include "comm/card.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bootstrap/roster.hpp"

namespace ringlet::comm {
namespace {

Card Example() {
  Card card{.host_hash = 1,
            .process_hash = 2,
            .network_namespace = 3,
            .host_shape_digest = 4,
            .settings_digest = 5,
            .device = 6,
            .names_device = true,
            .gpu = topology::BusId::Of(1, 2, 3, 4),
            .half = 1,
            .numa = 7,
            .cpus = topology::CpuSet::Of(8, 9),
            .tcp = {},
            .near = 2,
            .unix_socket = {}};
  card.tcp = {Address::Ipv4(10, 0, 0, 1, 80), *ParseAddress("[fd00::1]:81")};
  card.unix_socket = Address::Unix("ringlet-1");
  return card;
}

TEST(Card, SurvivesTheTrip) {
  EXPECT_EQ(*DecodeCard(Encode(Example())), Example());
  Card card = Example();
  card.half.reset();
  EXPECT_EQ(*DecodeCard(Encode(card)), card);
  card.gpu.reset();
  EXPECT_EQ(*DecodeCard(Encode(card)), card);
  card.names_device = false;
  EXPECT_EQ(*DecodeCard(Encode(card)), card);
}

TEST(Card, FitsTheRosterWhateverItHolds) {
  Card card = Example();
  card.tcp.assign(100, *ParseAddress("[fd00::1%7]:81"));
  card.unix_socket = Address::Unix(std::string(kUnixPathBytesMax, 'x'));
  for (std::uint32_t cpu = 0; cpu < 1000; cpu += 2)
    card.cpus = card.cpus.JoinedWith(topology::CpuSet::Of(cpu, cpu));
  const Bytes bytes = Encode(card);
  EXPECT_LE(bytes.size(), bootstrap::kCardBytesMax);
  EXPECT_EQ(DecodeCard(bytes)->tcp.size(), kCardAddressesMax);
  card.near = 100;
  EXPECT_EQ(DecodeCard(Encode(card))->near, kCardAddressesMax);
  EXPECT_EQ(DecodeCard(bytes)->cpus.ranges().size(), kCardCpuRangesMax);
}

TEST(Card, RefusesMoreNearAddressesThanThereAre) {
  Card card = Example();
  card.near = 1;
  Bytes bytes = Encode(card);
  const Bytes other = Encode(Example());
  const auto at = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first;
  *at = std::byte{3};
  EXPECT_FALSE(DecodeCard(bytes).ok());
}

TEST(Card, RefusesWhatIsCutOrTooLong) {
  Bytes bytes = Encode(Example());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(DecodeCard(View(bytes).first(i)).ok());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeCard(bytes).ok());
  constexpr std::size_t kFlags = 5 * 8 + 2 * 4;
  for (const std::uint8_t flags : {std::uint8_t{4}, std::uint8_t{8}}) {
    Bytes odd = Encode(Card());
    odd[kFlags] = std::byte{flags};
    odd.insert(odd.end(), 9, std::byte{0});
    EXPECT_FALSE(DecodeCard(odd).ok());
  }
}

}  // namespace
}  // namespace ringlet::comm
