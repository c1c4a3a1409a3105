// A connection of a machine above the byte level: a handshake first, then frames.
#pragma once
#include <optional>

#include "base/wire/frame.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"
#include "base/wire/record.hpp"

namespace ringlet {

/// The two directions of a connection. Push received data, send the bytes of TakeReply(), take
/// frames, and pass outgoing data through Seal().
///
///   wire.Push(event)  -> Status      on failure hang up: the connection is unusable
///   wire.TakeReply()  -> Bytes       handshake bytes to send, often empty; never sealed
///   wire.ConsumeOpened() -> bool        true once, when the handshake has just succeeded
///   wire.Next()       -> frame       only after the handshake
///   wire.Seal(slice)  -> Slice       only after the handshake
class Wire {
 public:
  static Wire Dialled(const Credentials& credentials, Purpose purpose, const Nonce& nonce,
                      std::size_t payload_bytes_max, const LineOptions& options = {}) {
    return Wire(Handshake::Dialler(credentials, purpose, nonce, options), payload_bytes_max, true);
  }
  static Wire Accepted(const Credentials& credentials, const Nonce& nonce,
                       std::size_t payload_bytes_max, const LineOptions& options = {}) {
    return Wire(Handshake::Acceptor(credentials, nonce, options), payload_bytes_max, false);
  }

  /// Keeps descriptors that arrive after the proof, at most kDescriptorsMax of them.
  Status Push(const Received& event);
  Status Push(const Slice& data);
  Bytes TakeReply() { return handshake_.TakeOutput(); }
  bool open() const { return handshake_.done(); }
  bool ConsumeOpened();
  Purpose purpose() const { return handshake_.purpose(); }
  Result<std::optional<Frame>> Next() { return frames_.Next(); }

  /// Converts `bytes`, which may be any part of the frame stream, for sending. Returns them without
  /// a copy on a plain connection. On an encrypted one returns sealed records, to be sent in the
  /// order of sealing, each once. Cost  a copy and about two nanoseconds a byte if it encrypts.
  Slice Seal(const Slice& bytes);
  bool encrypts() const { return handshake_.encrypts(); }

  /// The bytes after the frames taken so far, and their descriptors. For a handover; call last.
  Bytes TakeUnread() { return frames_.TakeUnread(); }
  Descriptors TakeDescriptors() { return std::move(descriptors_); }
  std::size_t descriptors() const { return descriptors_.size(); }
  static constexpr std::size_t kDescriptorsMax = 8;

 private:
  struct Records {
    RecordSealer out;
    RecordOpener in;
  };
  Wire(Handshake handshake, std::size_t payload_bytes_max, bool dialled)
      : handshake_(std::move(handshake)), frames_(payload_bytes_max), dialled_(dialled) {}
  void BeginRecords();

  Handshake handshake_;
  FrameReader frames_;
  Descriptors descriptors_;
  bool dialled_;
  std::optional<Records> records_;  // of an open encrypted connection
  bool announced_ = false;
};

}  // namespace ringlet
