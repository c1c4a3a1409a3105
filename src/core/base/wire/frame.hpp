// Cuts a byte stream into frames: u32 payload length, u8 type, payload. See docs/reference/wire.md.
#pragma once
#include <cstdint>
#include <optional>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet {

struct Frame {
  std::uint8_t type = 0;
  Slice payload;
};

inline constexpr std::size_t kFrameHeaderBytes = 5;

/// Begins a frame in a Writer; the payload follows. Finish with EndFrame.
Writer BeginFrame(std::uint8_t type);
Bytes EndFrame(Writer&& frame);

/// Turns any split of a stream back into frames. A frame that lies whole in one owned Slice is
/// handed on without a copy, and so is a payload behind a header that came alone. Memory grows with
/// what has arrived (at most four times that), never with what a length claims.
class FrameReader {
 public:
  /// \param payload_bytes_max  longer frames are refused before their payload is read
  explicit FrameReader(std::size_t payload_bytes_max) : payload_bytes_max_(payload_bytes_max) {}

  void Push(const Slice& data);

  /// The next whole frame, or nothing yet. Error: kProtocol; the stream cannot be read on.
  Result<std::optional<Frame>> Next();

  /// The bytes behind the frames taken so far; for a line that is handed on. Take last.
  Bytes TakeUnread();

  std::size_t buffered_bytes() const {
    return partial_.size() + current_.bytes.size() + (whole_ ? whole_->payload.bytes.size() : 0);
  }

 private:
  bool PushPayload(const Slice& data);
  void MakeRoom(std::size_t more);
  std::optional<Frame> CutCurrent(std::size_t payload_bytes);
  Result<std::optional<Frame>> NextFromPartial();

  std::size_t payload_bytes_max_;
  Slice current_;  // the unread rest of the last Push, when nothing partial came before it
  std::optional<Frame> whole_;  // comes before the other two
  Bytes partial_;               // the beginning of a frame whose rest has not arrived
};

}  // namespace ringlet
