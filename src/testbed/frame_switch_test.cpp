#include "testbed/frame_switch.hpp"

#include <gtest/gtest.h>

namespace ringlet::testbed {
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

void Arrive(FrameSwitch& at, std::uint32_t port, Bytes frame, Instant now) {
  const std::size_t size = frame.size();
  frame.resize(size + 7);  // its memory is longer
  at.Arrive(port, std::move(frame), size, now);
}

/// Takes all frames and returns the time of the last one.
Instant Drain(FrameSwitch& from) {
  Instant last{0};
  while (const auto due = from.NextDue()) {
    last = *due;
    while (from.TakeDue(*due)) {
    }
  }
  return last;
}

TEST(FrameSwitchTest, AFrameTakesTheDelayPlusItsTransmissionTime) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000, .delay = microseconds(100)});
  Arrive(one, 0, FrameTo(2, 500), kStart);
  EXPECT_EQ(one.NextDue(), kStart + microseconds(100)) << "its first bit comes";
  EXPECT_FALSE(one.TakeDue(kStart + microseconds(599)).has_value());
  const auto frame = one.TakeDue(kStart + microseconds(600));
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->port, 1u);
  EXPECT_EQ(frame->bytes().size(), 510u);
  EXPECT_FALSE(one.NextDue().has_value());
}

TEST(FrameSwitchTest, TheNextDueTimeIncludesDelayAndTransmission) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000, .delay = microseconds(100)});
  Arrive(one, 0, FrameTo(2, 500), kStart);
  EXPECT_FALSE(one.TakeDue(kStart).has_value());
  EXPECT_EQ(one.NextDue(), kStart + microseconds(600));
}

TEST(FrameSwitchTest, FramesOfOneSenderFollowEachOther) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000});
  Arrive(one, 0, FrameTo(2, 100), kStart);
  Arrive(one, 0, FrameTo(3, 100), kStart);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(100))->port, 1u);
  EXPECT_EQ(Drain(one), kStart + microseconds(200));
}

TEST(FrameSwitchTest, FramesToOneReceiverShareItsLink) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000});
  Arrive(one, 0, FrameTo(3, 100), kStart);
  Arrive(one, 1, FrameTo(3, 100), kStart);
  ASSERT_TRUE(one.TakeDue(kStart + microseconds(100)).has_value());
  EXPECT_EQ(Drain(one), kStart + microseconds(200));
}

TEST(FrameSwitchTest, ABroadcastFrameReachesAllOtherPorts) {
  FrameSwitch one({.ports = 3});
  Arrive(one, 1, FrameTo(255, 60, 255), kStart);
  EXPECT_EQ(one.TakeDue(kStart)->port, 0u);
  EXPECT_EQ(one.TakeDue(kStart)->port, 2u);
  EXPECT_FALSE(one.TakeDue(kStart).has_value());
}

TEST(FrameSwitchTest, DropsInvalidFramesAndFramesForUnknownHosts) {
  FrameSwitch one({.ports = 2});
  Arrive(one, 0, FrameTo(9, 60), kStart);
  Arrive(one, 0, FrameTo(1, 60), kStart);  // to itself
  Arrive(one, 0, FrameTo(0, 60), kStart);
  Arrive(one, 0, Bytes(kHeaders - 1), kStart);
  Arrive(one, 0, {}, kStart);
  EXPECT_FALSE(one.NextDue().has_value());
}

TEST(FrameSwitchTest, ChargesHeadersOfEachPacketInAFrame) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Bytes frame = FrameTo(2, 66 + 3 * 1000);
  frame[1] = std::byte{1};   // TCP over IPv4
  frame[2] = std::byte{66};  // headers
  frame[4] = std::byte{0xe8};
  frame[5] = std::byte{0x03};  // 1000 bytes per packet
  Arrive(one, 0, frame, kStart);
  EXPECT_EQ(Drain(one), kStart + microseconds(3 * 1066));
}

TEST(FrameSwitchTest, ChargesASinglePacketOnce) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Bytes frame = FrameTo(2, 3000);  // by its type it is one packet, regardless of the other words
  frame[2] = std::byte{66};
  frame[4] = std::byte{100};
  Arrive(one, 0, frame, kStart);
  EXPECT_EQ(Drain(one), kStart + microseconds(3000));
}

TEST(FrameSwitchTest, ALinkDropsFramesBeyondItsQueue) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000'000});
  const std::size_t bytes = std::size_t{1} << 20;
  for (int i = 0; i < 40; ++i) Arrive(one, 0, FrameTo(2, bytes), kStart);
  EXPECT_GT(one.dropped(), 20u);
  EXPECT_LT(one.dropped(), 25u);
}

/// A frame of TCP over IPv4, from one of several ports of a host to the host `to`.
Bytes TcpFrame(unsigned to, std::size_t cable_bytes, unsigned source_port) {
  Bytes frame = FrameTo(to, cable_bytes);
  frame[kHeaders - 2] = std::byte{8};
  frame[kHeaders] = std::byte{0x45};  // 20 bytes of header
  frame[kHeaders + 9] = std::byte{6};
  frame[kHeaders + 20] = static_cast<std::byte>(source_port);
  return frame;
}

TEST(FrameSwitchTest, APacketPrecedesTheDataOfOtherFlows) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000});
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(3, 100, 2), kStart);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(1514 + 100))->port, 2u)
      << "it waits for the packet on the cable alone";
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  EXPECT_EQ(Drain(one), kStart + microseconds(150'100)) << "and takes its time from what follows";
}

TEST(FrameSwitchTest, PortsDistinguishFlowsBetweenTwoHosts) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(2, 100, 2), kStart);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(51'000))->size, 50'010u);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(51'000))->size, 110u) << "before the second";
}

TEST(FrameSwitchTest, APacketDoesNotWaitForDepartedDataOfItsFlow) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  const Instant later = kStart + microseconds(60'000);
  EXPECT_EQ(one.TakeDue(later)->size, 50'010u);
  Arrive(one, 0, TcpFrame(2, 50'000, 2), later);
  Arrive(one, 0, TcpFrame(2, 50'000, 2), later);
  Arrive(one, 0, TcpFrame(2, 100, 1), later);
  EXPECT_EQ(one.TakeDue(later + microseconds(51'000))->size, 50'010u);
  EXPECT_EQ(one.TakeDue(later + microseconds(51'000))->size, 110u);
}

TEST(FrameSwitchTest, APacketDoesNotOvertakeItsOwnFlow) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(2, 50'000, 1), kStart);
  Arrive(one, 0, TcpFrame(2, 100, 1), kStart);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(50'000))->size, 50'010u);
  EXPECT_FALSE(one.TakeDue(kStart + microseconds(99'999)).has_value());
  EXPECT_EQ(one.TakeDue(kStart + microseconds(100'000))->size, 50'010u);
  EXPECT_EQ(one.TakeDue(kStart + microseconds(100'100))->size, 110u);
}

TEST(FrameSwitchTest, PacketsAloneDoNotExceedTheRate) {
  FrameSwitch one({.ports = 2, .bytes_per_s = 1'000'000});
  for (unsigned i = 0; i < 100; ++i) Arrive(one, 0, TcpFrame(2, 1000, i), kStart);
  EXPECT_EQ(Drain(one), kStart + microseconds(100'000));
}

TEST(FrameSwitchTest, ALaterFrameDoesNotHoldTheReceiversLink) {
  FrameSwitch one({.ports = 3, .bytes_per_s = 1'000'000, .delay = microseconds(100)});
  for (int i = 0; i < 4; ++i) Arrive(one, 0, TcpFrame(3, 10'000, 1), kStart);
  int taken = 0;
  while (one.TakeDue(kStart + microseconds(11'000))) ++taken;
  Arrive(one, 1, TcpFrame(3, 1000, 1), kStart + microseconds(12'000));
  const Instant before_the_third = kStart + microseconds(100 + 20'000 + 1000);
  while (one.TakeDue(before_the_third)) ++taken;
  EXPECT_EQ(taken, 3) << "two of the four, and the one that came between";
}

}  // namespace
}  // namespace ringlet::testbed
