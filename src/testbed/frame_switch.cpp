#include "testbed/frame_switch.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::testbed {
namespace {

// struct virtio_net_hdr of linux/virtio_net.h: u8 flags, u8 gso_type, u16 hdr_len, u16 gso_size,
// u16 csum_start, u16 csum_offset. Its numbers are little-endian on the supported machines.
constexpr std::size_t kVirtioHeader = 10;
constexpr std::size_t kEthernetHeader = 14;

std::uint32_t U16At(View bytes, std::size_t at) {
  return std::to_integer<std::uint32_t>(bytes[at]) | std::to_integer<std::uint32_t>(bytes[at + 1])
                                                         << 8;
}

// Total size of the frame's packets on the cable.
std::uint64_t CableBytes(View frame) {
  const std::uint64_t bytes = frame.size() - kVirtioHeader;
  const std::uint64_t header = U16At(frame, 2), piece = U16At(frame, 4);
  if (frame[1] == std::byte{0} || piece == 0 || bytes <= header) return bytes;
  const std::uint64_t packets = (bytes - header + piece - 1) / piece;
  return bytes + (packets - 1) * header;
}

// The last byte of the MAC is the number of its host. Ports count from 0, hosts from 1.
std::optional<std::uint32_t> PortOf(View frame) {
  const auto group = std::to_integer<unsigned>(frame[kVirtioHeader]) & 1;  // multicast or broadcast
  if (group != 0) return std::nullopt;
  return std::to_integer<std::uint32_t>(frame[kVirtioHeader + 5]) - 1;
}

constexpr std::uint64_t kPacketBytes = 1514;  // the longest Ethernet frame
constexpr std::size_t kFlowsMax = 256;        // per link, before finished flows are forgotten

// Frames of one flow have the same number. A flow is an ordered stream: for TCP over IPv4, the
// number covers ports and addresses. Two flows may collide.
std::uint64_t FlowOf(View frame) {
  constexpr std::size_t kIp = kVirtioHeader + kEthernetHeader, kIpBytes = 20, kPortsBytes = 4;
  std::uint64_t flow = U16At(frame, kIp - 2);
  if (frame.size() < kIp + kIpBytes + kPortsBytes) return flow;
  const std::size_t header = (std::to_integer<std::size_t>(frame[kIp]) & 15) * 4;
  const auto mix = [&](View bytes) {
    for (const std::byte byte : bytes)
      flow = (flow ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;  // FNV's prime
  };
  mix(frame.subspan(kIp + 9, 1));   // the protocol
  mix(frame.subspan(kIp + 12, 8));  // the addresses
  if (frame.size() >= kIp + header + kPortsBytes) mix(frame.subspan(kIp + header, kPortsBytes));
  return flow;
}

}  // namespace

FrameSwitch::FrameSwitch(const FrameSwitchOptions& options)
    : options_(options), up_(options.ports), down_free_(options.ports) {}

void FrameSwitch::Arrive(std::uint32_t port, Bytes memory, std::size_t size, Instant now) {
  RINGLET_ASSERT(size <= memory.size());
  if (size < kVirtioHeader + kEthernetHeader) return;
  const View frame = View(memory).first(size);
  if (const auto to = PortOf(frame)) {
    if (*to < options_.ports && *to != port) Send(port, {*to, std::move(memory), size}, now);
    return;
  }
  for (std::uint32_t to = 0; to < options_.ports; ++to)
    if (to != port) Send(port, {to, Bytes(frame.begin(), frame.end()), size}, now);
}

Instant FrameSwitch::TimeFor(std::uint64_t bytes) const {
  if (options_.bytes_per_s == 0) return Instant(0);
  return Instant(bytes * 1'000'000'000 / options_.bytes_per_s);
}

void FrameSwitch::Send(std::uint32_t from, EthernetFrame frame, Instant now) {
  const std::uint64_t bytes = CableBytes(frame.bytes());
  const Instant leaves = DepartureTime(up_[from], FlowOf(frame.bytes()), bytes, now);
  if (leaves - now > TimeFor(kBacklogBytesMax)) {
    ++dropped_;
    return;
  }
  crossing_.push({leaves + options_.delay, order_++, std::move(frame), TimeFor(bytes)});
}

// Returns the time at which the frame begins to leave its host. Dropped frames take no time.
Instant FrameSwitch::DepartureTime(Uplink& link, std::uint64_t flow, std::uint64_t bytes,
                                   Instant now) const {
  const Instant takes = TimeFor(bytes);
  if (link.bulk.size() > kFlowsMax)
    std::erase_if(link.bulk, [&](const auto& entry) { return entry.second <= now; });
  const auto large = link.bulk.find(flow);
  const bool waits = large != link.bulk.end() && large->second > now;
  if (bytes <= kPacketBytes && !waits) {
    const Instant on_the_cable = std::min(link.free, now + TimeFor(kPacketBytes));
    const Instant leaves = std::max({now, on_the_cable, link.thin_free});
    link.thin_free = leaves + takes;
    link.free = std::max(link.free + takes, link.thin_free);
    return leaves;
  }
  const Instant leaves = std::max(now, link.free);
  if (leaves - now > TimeFor(kBacklogBytesMax)) return leaves;
  link.free = leaves + takes;
  link.bulk[flow] = link.free;
  return leaves;
}

// The first bit is at the link of the receiver.
void FrameSwitch::DeliverToPort(Waiting crossing) {
  Instant& free = down_free_[crossing.frame.port];
  const Instant arrives = std::max(crossing.due, free);
  if (arrives - crossing.due > TimeFor(kBacklogBytesMax)) {
    ++dropped_;
    return;
  }
  free = arrives + crossing.takes;
  waiting_.push({free, order_++, std::move(crossing.frame)});
}

std::optional<Instant> FrameSwitch::NextDue() const {
  if (waiting_.empty() && crossing_.empty()) return std::nullopt;
  if (waiting_.empty()) return crossing_.top().due;
  if (crossing_.empty()) return waiting_.top().due;
  return std::min(waiting_.top().due, crossing_.top().due);
}

std::optional<EthernetFrame> FrameSwitch::TakeDue(Instant now) {
  // Packets land as soon as they have left their host. No later packet can arrive before them, so
  // the caller waits for one time instead of two. std::priority_queue returns its top as const, but
  // the element is about to be popped.
  while (!crossing_.empty() && crossing_.top().due <= now + options_.delay) {
    Waiting next = std::move(const_cast<Waiting&>(crossing_.top()));
    crossing_.pop();
    DeliverToPort(std::move(next));
  }
  if (waiting_.empty() || waiting_.top().due > now) return std::nullopt;
  EthernetFrame frame = std::move(const_cast<Waiting&>(waiting_.top()).frame);
  waiting_.pop();
  return frame;
}

}  // namespace ringlet::testbed
