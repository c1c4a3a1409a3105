#include "frontends/cli/frame_switch.hpp"

#include <algorithm>

namespace ringlet::cli {
namespace {

// struct virtio_net_hdr of linux/virtio_net.h, whose numbers are little-endian on the machines that
// this runs on: u8 flags, u8 gso_type, u16 hdr_len, u16 gso_size, u16 csum_start, u16 csum_offset.
constexpr std::size_t kVirtioHeader = 10;
constexpr std::size_t kEthernetHeader = 14;

std::uint32_t U16At(View bytes, std::size_t at) {
  return std::to_integer<std::uint32_t>(bytes[at]) | std::to_integer<std::uint32_t>(bytes[at + 1])
                                                         << 8;
}

// What all its packets are on the cable.
std::uint64_t CableBytes(View frame) {
  const std::uint64_t bytes = frame.size() - kVirtioHeader;
  const std::uint64_t header = U16At(frame, 2), piece = U16At(frame, 4);
  if (frame[1] == std::byte{0} || piece == 0 || bytes <= header) return bytes;
  const std::uint64_t packets = (bytes - header + piece - 1) / piece;
  return bytes + (packets - 1) * header;
}

// The last byte of the MAC is the number of its host; ports count from 0, hosts from 1.
std::optional<std::uint32_t> PortOf(View frame) {
  const auto group = std::to_integer<unsigned>(frame[kVirtioHeader]) & 1;  // many, or all
  if (group != 0) return std::nullopt;
  return std::to_integer<std::uint32_t>(frame[kVirtioHeader + 5]) - 1;
}

}  // namespace

FrameSwitch::FrameSwitch(const FrameSwitchOptions& options)
    : options_(options), up_free_(options.ports), down_free_(options.ports) {}

void FrameSwitch::Arrive(std::uint32_t port, Bytes frame, Instant now) {
  if (frame.size() < kVirtioHeader + kEthernetHeader) return;
  if (const auto to = PortOf(frame)) {
    if (*to < options_.ports && *to != port) Send(port, *to, std::move(frame), now);
    return;
  }
  for (std::uint32_t to = 0; to < options_.ports; ++to)
    if (to != port) Send(port, to, frame, now);
}

Instant FrameSwitch::TimeFor(std::uint64_t bytes) const {
  if (options_.bytes_per_s == 0) return Instant(0);
  return Instant(bytes * 1'000'000'000 / options_.bytes_per_s);
}

void FrameSwitch::Send(std::uint32_t from, std::uint32_t to, Bytes frame, Instant now) {
  const Instant takes = TimeFor(CableBytes(frame));
  const Instant patience = TimeFor(kBacklogBytesMax);
  const Instant leaves = std::max(now, up_free_[from]);
  const Instant arrives = std::max(leaves + options_.delay, down_free_[to]);
  if (leaves - now > patience || arrives - leaves - options_.delay > patience) {
    ++dropped_;
    return;
  }
  up_free_[from] = leaves + takes;
  down_free_[to] = arrives + takes;
  waiting_.push({arrives + takes, order_++, {to, std::move(frame)}});
}

std::optional<Instant> FrameSwitch::NextDue() const {
  if (waiting_.empty()) return std::nullopt;
  return waiting_.top().due;
}

std::optional<Frame> FrameSwitch::TakeDue(Instant now) {
  if (waiting_.empty() || waiting_.top().due > now) return std::nullopt;
  // The queue shows its first element as const; it goes at once.
  Frame frame = std::move(const_cast<Waiting&>(waiting_.top()).frame);
  waiting_.pop();
  return frame;
}

}  // namespace ringlet::cli
