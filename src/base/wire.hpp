// One line of a machine once it is more than bytes: handshake first, then frames.
#pragma once
#include <optional>

#include "base/frame.hpp"
#include "base/handshake.hpp"

namespace ringlet {

/// The reading half of a line. Feed it what arrives; send what TakeReply() gives; take frames.
///
///   wire.Push(slice)  -> Status      a failure means: hang up, the line is unusable
///   wire.TakeReply()  -> Bytes       handshake bytes to send, often empty
///   wire.JustOpened() -> bool        true once, when the handshake has just succeeded
///   wire.Next()       -> frame       only after the handshake
class Wire {
 public:
  static Wire Dialled(const Credentials& credentials, Purpose purpose, const Nonce& nonce,
                      std::size_t payload_bytes_max) {
    return Wire(Handshake::Dialler(credentials, purpose, nonce), payload_bytes_max);
  }
  static Wire Accepted(const Credentials& credentials, const Nonce& nonce,
                       std::size_t payload_bytes_max) {
    return Wire(Handshake::Acceptor(credentials, nonce), payload_bytes_max);
  }

  Status Push(const Slice& data);
  Bytes TakeReply() { return handshake_.TakeOutput(); }
  bool open() const { return handshake_.done(); }
  bool JustOpened();
  Purpose purpose() const { return handshake_.purpose(); }
  Result<std::optional<Frame>> Next() { return frames_.Next(); }

 private:
  Wire(Handshake handshake, std::size_t payload_bytes_max)
      : handshake_(std::move(handshake)), frames_(payload_bytes_max) {}

  Handshake handshake_;
  FrameReader frames_;
  bool announced_ = false;
};

}  // namespace ringlet
