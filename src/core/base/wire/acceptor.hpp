// The other side of a Dialler: takes the calls of a machine's peers, until each has proven that it
// knows the secret and has said its first frame.
#pragma once
#include <optional>

#include "base/wire/callers.hpp"
#include "base/wire/wire.hpp"

namespace ringlet {

struct AcceptorConfig {
  Credentials credentials;
  std::size_t payload_bytes_max = 0;  ///< of the frames on its lines
  LineOptions options = {};
  CallersConfig callers = {};
};

/// A part of a Machine, not one itself; no I/O. The first frame of a caller settles what it is: the
/// machine then takes it over (Take), turns it away as a stranger, or dismisses it with an answer.
class Acceptor : public Callers<Wire> {
 public:
  /// A frame with which a caller introduces itself.
  struct FirstFrame {
    LineId line;
    Purpose purpose;
    Frame frame;
  };

  Acceptor(AcceptorConfig config, NonceSource& nonces, Emit emit)
      : Callers(config.callers, std::move(emit)), config_(std::move(config)), nonces_(&nonces) {}

  void OnAccepted(const Accepted& event, Instant now);
  /// Nothing for lines that it does not have. A caller that cannot be read is turned away.
  std::optional<FirstFrame> OnReceived(const Received& event);
  using Callers::TurnAway;
  /// With a last word, for one that knows the secret.
  void TurnAway(LineId line, const std::string& why, Bytes last_word);
  /// A last word to a caller that knows the secret, then hangs up; not noted.
  void Dismiss(LineId line, Bytes frame);
  /// The same to all that may be waiting for one, without hanging up.
  void TellProven(Purpose purpose, const Slice& frame);

 private:
  AcceptorConfig config_;
  NonceSource* nonces_;
};

}  // namespace ringlet
