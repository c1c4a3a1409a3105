#include "frontends/cli/frame_switch.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;

constexpr Instant kStart = std::chrono::hours(1);
constexpr std::size_t kHeaders = 24;  // virtio's and Ethernet's

Bytes FrameTo(unsigned last_of_mac, std::size_t cable_bytes, unsigned first_of_mac = 2) {
  Bytes frame(cable_bytes + 10);
  frame[10] = static_cast<std::byte>(first_of_mac);
  frame[15] = static_cast<std::byte>(last_of_mac);
  return frame;
}

TEST(FrameSwitchTest, AFrameTakesTheDelayAndItsTimeOnTheLinkOnce) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000, .delay = microseconds(100)});
  one.Arrive(0, FrameTo(2, 500), kStart);
  EXPECT_EQ(one.NextDue(), kStart + microseconds(600));
  EXPECT_FALSE(one.TakeDue(kStart + microseconds(599)).has_value());
  const auto frame = one.TakeDue(kStart + microseconds(600));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->port, 1u);
  EXPECT_EQ(frame->bytes.size(), 510u);
  EXPECT_FALSE(one.NextDue().has_value());
}

TEST(FrameSwitchTest, FramesOfOneHostFollowEachOther) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000});
  one.Arrive(0, FrameTo(2, 100), kStart);
  one.Arrive(0, FrameTo(3, 100), kStart);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(100))->port, 1u);
  EXPECT_EQ(one.NextDue(), kStart + microseconds(200));
}

TEST(FrameSwitchTest, FramesForOneHostShareItsLink) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000});
  one.Arrive(0, FrameTo(3, 100), kStart);
  one.Arrive(1, FrameTo(3, 100), kStart);
  ASSERT_TRUE(one.TakeDue(kStart + microseconds(100)).has_value());
  EXPECT_EQ(one.NextDue(), kStart + microseconds(200));
}

TEST(FrameSwitchTest, WhatIsForAllGoesToAllOthers) {
  FrameSwitch one({.ports = 3});
  one.Arrive(1, FrameTo(255, 60, 255), kStart);
  EXPECT_EQ(one.TakeDue(kStart)->port, 0u);
  EXPECT_EQ(one.TakeDue(kStart)->port, 2u);
  EXPECT_FALSE(one.TakeDue(kStart).has_value());
}

TEST(FrameSwitchTest, FramesForNobodyAndFramesThatAreNoneAreDropped) {
  FrameSwitch one({.ports = 2});
  one.Arrive(0, FrameTo(9, 60), kStart);
  one.Arrive(0, FrameTo(1, 60), kStart);  // to itself
  one.Arrive(0, FrameTo(0, 60), kStart);
  one.Arrive(0, Bytes(kHeaders - 1), kStart);
  one.Arrive(0, {}, kStart);
  EXPECT_FALSE(one.NextDue().has_value());
}

TEST(FrameSwitchTest, ManyPacketsInOneFrameCountWithTheirHeaders) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Bytes frame = FrameTo(2, 66 + 3 * 1000);
  frame[1] = std::byte{1};   // TCP over IPv4
  frame[2] = std::byte{66};  // headers
  frame[4] = std::byte{0xe8};
  frame[5] = std::byte{0x03};  // 1000 bytes a packet
  one.Arrive(0, frame, kStart);
  EXPECT_EQ(one.NextDue(), kStart + microseconds(3 * 1066));
}

TEST(FrameSwitchTest, ALinkHoldsSoMuchAndNoMore) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000'000});
  const std::size_t bytes = std::size_t{1} << 20;
  for (int i = 0; i < 40; ++i) one.Arrive(0, FrameTo(2, bytes), kStart);
  EXPECT_GT(one.dropped(), 20u);
  EXPECT_LT(one.dropped(), 25u);
}

}  // namespace
}  // namespace ringlet::cli
