// Reaches one peer at several addresses. Some of them may not work.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/machine.hpp"
#include "base/wire/wire.hpp"

namespace ringlet {

struct DialTiming {
  /// The time that an address may hesitate before the next one is tried too. Zero: all at once.
  Instant hesitation = std::chrono::milliseconds(100);
  Instant retry_first = std::chrono::milliseconds(2);  ///< doubled each time, to retry_most
  Instant retry_most = std::chrono::milliseconds(500);
  /// Time limit of one attempt, from the dial to the end of the handshake.
  Instant attempt = std::chrono::seconds(10);
};

struct DiallerConfig {
  std::vector<Address> addresses;
  Credentials credentials;
  Purpose purpose = Purpose::kCheckIn;
  std::size_t payload_bytes_max = 0;  ///< of the frames on the winning connection
  LineOptions options = {};
  DialTiming timing = {};
};

/// Dials the addresses best first, and the next one as soon as the one before fails or hesitates,
/// until it is stopped. The first successful handshake wins, and the dialler hangs up the others.
/// After "connection refused" it dials again (the peer may not listen yet), after a pause that
/// varies by a quarter between ranks, so that refused ranks do not dial again together. It gives up
/// an address if another process answers there or the secrets differ. Pure: a part of a Machine,
/// not one itself.
class Dialler {
 public:
  using Emit = std::function<void(Action)>;

  Dialler(DiallerConfig config, NonceSource& nonces, LineId& next_line, Emit emit)
      : config_(std::move(config)),
        nonces_(&nonces),
        next_line_(&next_line),
        emit_(std::move(emit)) {
    targets_.resize(config_.addresses.size());
  }

  struct Opened {
    LineId line;
    Wire wire;
    Address address;
  };

  /// Begins, or carries out due actions.
  void Advance(Instant now);

  bool Owns(LineId line) const { return attempts_.contains(line); }
  /// Returns true if a peer listens at the other end of a connection of this dialler.
  bool Reached(LineId line) const {
    const auto it = attempts_.find(line);
    return it != attempts_.end() && it->second.wire.has_value();
  }
  void OnConnected(const Connected& event);
  void OnClosed(LineId line, const std::string& why, Instant now);
  /// Returns the winner, once. Its wire already contains the bytes after the handshake.
  std::optional<Opened> OnReceived(const Received& event, Instant now);

  /// Hangs up all attempts.
  void Stop();
  /// Begins again after the winner has failed: at its address after a pause, at the others now.
  void Resume(const Address& address, const std::string& why, Instant now);

  std::optional<Instant> Deadline() const;

  /// True if every address was answered by another process, or by one with another secret.
  bool hopeless() const;
  /// "10.0.0.5:7: connection refused, 10.1.0.5:7: no answer"
  std::string Reasons() const;
  /// The number of consecutive dials of each address that reached no listening process. Ignores
  /// addresses where another process answers, because the system may reuse the port of a dead one.
  std::uint32_t failures() const;
  /// Process id of the listener at one of the addresses; 0: unknown.
  std::uint32_t pid() const { return pid_; }

 private:
  struct Target {
    Instant due{0};    // time of the next dial
    Instant pause{0};  // pause before that dial
    std::string reason = "not tried";
    bool busy = false;
    bool hopeless = false;
    std::uint32_t failures = 0;  // number since a process was reached
  };
  struct Attempt {
    std::size_t target;
    Instant expires;
    std::optional<Wire> wire;
  };
  void Fail(LineId line, const std::string& why, bool hopeless, Instant now);
  void Postpone(Target& target, const std::string& why, Instant now);
  void DialTarget(std::size_t index, Instant now);

  DiallerConfig config_;
  NonceSource* nonces_;
  LineId* next_line_;
  Emit emit_;
  std::vector<Target> targets_;
  std::map<LineId, Attempt> attempts_;
  std::uint32_t pid_ = 0;
  bool started_ = false;
  bool stopped_ = false;
};

}  // namespace ringlet
