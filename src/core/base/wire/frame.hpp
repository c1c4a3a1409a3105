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

/// Reassembles frames from any split of a stream. A frame within one owned Slice is passed on
/// without a copy, and so is a payload after a header that arrived alone. Memory grows with the
/// received bytes (at most four times those), not with a claimed length.
class FrameReader {
 public:
  /// \param payload_bytes_max  longer frames are refused before their payload is read
  explicit FrameReader(std::size_t payload_bytes_max) : payload_bytes_max_(payload_bytes_max) {}

  void Push(const Slice& data);

  /// The next whole frame, or empty if it has not arrived yet.
  /// Errors  kProtocol  the rest of the stream cannot be read.
  Result<std::optional<Frame>> Next();

  /// The bytes after the frames taken so far, for a connection that is handed over. Call last.
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
  Slice current_;               // the unread rest of the last Push, if `partial_` is empty
  std::optional<Frame> whole_;  // precedes the other two
  Bytes partial_;               // the beginning of an incomplete frame
};

}  // namespace ringlet
