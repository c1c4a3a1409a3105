#include "base/wire/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringlet {
namespace {

// Bound of the memory reserved for a claimed length, in multiples of the received bytes.
constexpr std::size_t kRoomAhead = 4;

std::uint32_t LengthAt(View bytes) {
  return Reader(bytes).U32();
}

}  // namespace

Writer BeginFrame(std::uint8_t type) {
  Writer frame;
  frame.U32(0).U8(type);
  return frame;
}

Bytes EndFrame(Writer&& frame) {
  frame.PatchU32(0, static_cast<std::uint32_t>(frame.size() - kFrameHeaderBytes));
  return frame.Take();
}

void FrameReader::Push(const Slice& data) {
  if (partial_.empty() && current_.bytes.empty()) {
    current_ = data;
    return;
  }
  if (PushPayload(data)) return;
  partial_.insert(partial_.end(), current_.bytes.begin(), current_.bytes.end());
  MakeRoom(data.bytes.size());
  partial_.insert(partial_.end(), data.bytes.begin(), data.bytes.end());
  current_ = Slice();
}

// A shared buffer is sent after its header, not copied together with it. A driver that passes on
// sent buffers (sim::Network) delivers the two separately.
bool FrameReader::PushPayload(const Slice& data) {
  if (whole_ || partial_.size() != kFrameHeaderBytes || !current_.bytes.empty() || !data.owner)
    return false;
  const std::size_t payload_bytes = LengthAt(partial_);
  if (payload_bytes > payload_bytes_max_ || payload_bytes > data.bytes.size()) return false;
  whole_ = Frame{std::to_integer<std::uint8_t>(partial_[4]),
                 Slice(data.bytes.first(payload_bytes), data.owner)};
  partial_ = Bytes();
  current_ = Slice(data.bytes.subspan(payload_bytes), data.owner);
  return true;
}

// Avoids moving a long frame whenever a piece arrives. Reserves memory only in proportion to the
// bytes that the peer has really sent.
void FrameReader::MakeRoom(std::size_t more) {
  const std::size_t arrived = partial_.size() + more;
  if (partial_.size() < kFrameHeaderBytes || arrived <= partial_.capacity()) return;
  const std::size_t claimed = kFrameHeaderBytes + LengthAt(partial_);
  partial_.reserve(std::max(arrived, std::min(claimed, kRoomAhead * arrived)));
}

Result<std::optional<Frame>> FrameReader::Next() {
  if (whole_) return std::exchange(whole_, std::nullopt);
  if (!partial_.empty()) return NextFromPartial();
  if (current_.bytes.size() >= kFrameHeaderBytes) {
    const std::size_t payload_bytes = LengthAt(current_.bytes);
    if (payload_bytes > payload_bytes_max_)
      return Error{Code::kProtocol,
                   fmt::format("a frame of {} bytes, more than the {} allowed here", payload_bytes,
                               payload_bytes_max_)};
    if (current_.bytes.size() >= kFrameHeaderBytes + payload_bytes)
      return CutCurrent(payload_bytes);
  }
  // Copies the beginning, because the caller's buffer may be invalid when the rest arrives.
  partial_.assign(current_.bytes.begin(), current_.bytes.end());
  current_ = Slice();
  return std::optional<Frame>();
}

Bytes FrameReader::TakeUnread() {
  RINGLET_ASSERT(!whole_);
  Bytes unread = std::exchange(partial_, Bytes());
  unread.insert(unread.end(), current_.bytes.begin(), current_.bytes.end());
  current_ = Slice();
  return unread;
}

std::optional<Frame> FrameReader::CutCurrent(std::size_t payload_bytes) {
  Frame frame;
  frame.type = std::to_integer<std::uint8_t>(current_.bytes[4]);
  frame.payload = Slice(current_.bytes.subspan(kFrameHeaderBytes, payload_bytes), current_.owner);
  current_.bytes = current_.bytes.subspan(kFrameHeaderBytes + payload_bytes);
  return frame;
}

Result<std::optional<Frame>> FrameReader::NextFromPartial() {
  if (partial_.size() < kFrameHeaderBytes) return std::optional<Frame>();
  const std::size_t payload_bytes = LengthAt(partial_);
  if (payload_bytes > payload_bytes_max_)
    return Error{Code::kProtocol, fmt::format("a frame of {} bytes, more than the {} allowed here",
                                              payload_bytes, payload_bytes_max_)};
  if (partial_.size() < kFrameHeaderBytes + payload_bytes) return std::optional<Frame>();
  // From now on frames are cut from one owned buffer, so many small frames cost one copy.
  current_ = Slice(Share(std::exchange(partial_, Bytes())));
  return CutCurrent(payload_bytes);
}

}  // namespace ringlet
