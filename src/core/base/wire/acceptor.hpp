// The counterpart of a Dialler: accepts the calls of a machine's peers, until each has proven the
// secret and sent its first frame.
#pragma once
#include <optional>

#include "base/wire/callers.hpp"
#include "base/wire/wire.hpp"

namespace ringlet {

struct AcceptorConfig {
  Credentials credentials;
  std::size_t payload_bytes_max = 0;  ///< of the frames on its connections
  LineOptions options = {};
  CallersConfig callers = {};
};

/// A part of a Machine, not one itself; no I/O. The first frame of a caller identifies it. The
/// machine then takes it over (Take), turns it away as a stranger, or dismisses it with an answer.
class Acceptor : public Callers<Wire> {
 public:
  /// The first frame of a caller, which identifies it.
  struct FirstFrame {
    LineId line;
    Purpose purpose;
    Frame frame;
  };

  Acceptor(AcceptorConfig config, NonceSource& nonces, Emit emit)
      : Callers(config.callers, std::move(emit)), config_(std::move(config)), nonces_(&nonces) {}

  void OnAccepted(const Accepted& event, Instant now);
  /// Ignores connections that are not its own. Turns away a caller with unreadable data.
  std::optional<FirstFrame> OnReceived(const Received& event);
  using Callers::RejectCaller;
  /// Sends a last frame first; for a caller that has proven the secret.
  void RejectCaller(LineId line, const std::string& why, Bytes last_word);
  /// Sends a last frame to a caller that has proven the secret, and hangs up. Does not log.
  void Dismiss(LineId line, Bytes frame);
  /// Sends a frame to all authenticated callers with this purpose, without hanging up.
  void SendToProven(Purpose purpose, const Slice& frame);

 private:
  AcceptorConfig config_;
  NonceSource* nonces_;
};

}  // namespace ringlet
