#include "comm/peers/peer_info.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bootstrap/roster.hpp"

namespace ringlet::comm {
namespace {

PeerInfo Example() {
  PeerInfo peer_info{.host_hash = 1,
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
                     .preferred = 2,
                     .unix_socket = {}};
  peer_info.tcp = {Address::Ipv4(10, 0, 0, 1, 80), *ParseAddress("[fd00::1]:81")};
  peer_info.unix_socket = Address::Unix("ringlet-1");
  return peer_info;
}

TEST(PeerInfo, RoundTrips) {
  EXPECT_EQ(*DecodePeerInfo(Encode(Example())), Example());
  PeerInfo peer_info = Example();
  peer_info.half.reset();
  EXPECT_EQ(*DecodePeerInfo(Encode(peer_info)), peer_info);
  peer_info.gpu.reset();
  EXPECT_EQ(*DecodePeerInfo(Encode(peer_info)), peer_info);
  peer_info.names_device = false;
  peer_info.knows_devices = false;
  EXPECT_EQ(*DecodePeerInfo(Encode(peer_info)), peer_info);
  peer_info.nonce.emplace().fill(std::byte{7});
  EXPECT_EQ(*DecodePeerInfo(Encode(peer_info)), peer_info);
  peer_info.arena = {.pid = 1, .descriptor = 2, .device = 3, .inode = 4};
  EXPECT_EQ(*DecodePeerInfo(Encode(peer_info)), peer_info);
}

TEST(PeerInfo, FitsTheRosterWithAnyContents) {
  PeerInfo peer_info = Example();
  peer_info.tcp.assign(100, *ParseAddress("[fd00::1%7]:81"));
  peer_info.unix_socket = Address::Unix(std::string(kUnixPathBytesMax, 'x'));
  for (std::uint32_t cpu = 0; cpu < 1000; cpu += 2)
    peer_info.cpus = peer_info.cpus.JoinedWith(topology::CpuSet::Of(cpu, cpu));
  peer_info.nonce.emplace();
  peer_info.arena.emplace();
  const Bytes bytes = Encode(peer_info);
  EXPECT_LE(bytes.size(), bootstrap::kPeerInfoBytesMax);
  EXPECT_EQ(DecodePeerInfo(bytes)->tcp.size(), kPeerInfoAddressesMax);
  peer_info.preferred = 100;
  EXPECT_EQ(DecodePeerInfo(Encode(peer_info))->preferred, kPeerInfoAddressesMax);
  EXPECT_EQ(DecodePeerInfo(bytes)->cpus.ranges().size(), kPeerInfoCpuRangesMax);
}

TEST(PeerInfo, RefusesMorePreferredAddressesThanItHas) {
  PeerInfo peer_info = Example();
  peer_info.preferred = 1;
  Bytes bytes = Encode(peer_info);
  const Bytes other = Encode(Example());
  const auto at = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first;
  *at = std::byte{3};
  EXPECT_FALSE(DecodePeerInfo(bytes).ok());
}

TEST(PeerInfo, RefusesTruncationAndExcessBytes) {
  Bytes bytes = Encode(Example());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    EXPECT_FALSE(DecodePeerInfo(View(bytes).first(i)).ok());
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodePeerInfo(bytes).ok());
  constexpr std::size_t kFlags = 5 * 8 + 2 * 4;
  for (const std::uint8_t flags : {std::uint8_t{4}, std::uint8_t{8}}) {
    Bytes odd = Encode(PeerInfo());
    odd[kFlags] = std::byte{flags};
    odd.insert(odd.end(), 9, std::byte{0});
    EXPECT_FALSE(DecodePeerInfo(odd).ok());
  }
}

}  // namespace
}  // namespace ringlet::comm
