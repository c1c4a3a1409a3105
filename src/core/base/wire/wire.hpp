// One line of a machine once it is more than bytes: handshake first, then frames.
#pragma once
#include <optional>

#include "base/wire/frame.hpp"
#include "base/wire/handshake.hpp"
#include "base/wire/machine.hpp"
#include "base/wire/record.hpp"

namespace ringlet {

/// The two directions of a line. Feed it what arrives; send what TakeReply() gives; take frames;
/// pass what you send through Seal().
///
///   wire.Push(event)  -> Status      a failure means: hang up, the line is unusable
///   wire.TakeReply()  -> Bytes       handshake bytes to send, often empty; never sealed
///   wire.JustOpened() -> bool        true once, when the handshake has just succeeded
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

  /// Descriptors that come beside bytes are kept from the proof on, and no more than
  /// kDescriptorsMax of them.
  Status Push(const Received& event);
  Status Push(const Slice& data);
  Bytes TakeReply() { return handshake_.TakeOutput(); }
  bool open() const { return handshake_.done(); }
  bool JustOpened();
  Purpose purpose() const { return handshake_.purpose(); }
  Result<std::optional<Frame>> Next() { return frames_.Next(); }

  /// The bytes that make the other end read `bytes`, a piece of a frame or several: on a plain line
  /// the same, uncopied; on an encrypted one sealed records, to be sent in the order of sealing,
  /// each once. Cost a copy and about two nanoseconds a byte where it encrypts.
  Slice Seal(const Slice& bytes);
  bool encrypts() const { return handshake_.encrypts(); }

  /// For a line that is handed on, last: what came behind the frames taken so far, and beside them.
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
  std::optional<Records> records_;  // of an encrypted line that is open
  bool announced_ = false;
};

}  // namespace ringlet
