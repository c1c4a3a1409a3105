// Reaches one peer that may be reachable at several addresses, only some of which work.
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
  /// How long an address may hesitate before the next one is tried beside it. Zero: all at once.
  Instant hesitation = std::chrono::milliseconds(100);
  Instant retry_first = std::chrono::milliseconds(2);  ///< doubled each time, to retry_most
  Instant retry_most = std::chrono::milliseconds(500);
  /// A connection that was accepted but whose handshake does not end by then is given up.
  Instant attempt = std::chrono::seconds(10);
};

struct DiallerConfig {
  std::vector<Address> addresses;
  Credentials credentials;
  Purpose purpose = Purpose::kCheckIn;
  std::size_t payload_bytes_max = 0;  ///< of the frames on the line that wins
  LineOptions options = {};
  DialTiming timing = {};
};

/// Dials the addresses best first, the next one as soon as the one before fails or hesitates, again
/// and again until stopped; the first whose handshake succeeds wins and the others are hung up.
/// "Connection refused" is tried again (the peer may not listen yet), after a pause that differs
/// from rank to rank by a quarter, so that those refused together do not come again together; an
/// address where another process answers, or where the secret is not known, is not. Pure: a part of
/// a Machine, not one itself.
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

  /// Begins, or does what has become due.
  void Advance(Instant now);

  bool Owns(LineId line) const { return attempts_.contains(line); }
  /// A peer listens at the other end of a line that this rank owns.
  bool Reached(LineId line) const {
    const auto it = attempts_.find(line);
    return it != attempts_.end() && it->second.wire.has_value();
  }
  void OnConnected(const Connected& event);
  void OnClosed(LineId line, const std::string& why, Instant now);
  /// The winner, once. Bytes behind the handshake are already in its wire.
  std::optional<Opened> OnReceived(const Received& event, Instant now);

  /// Hangs up all that is under way.
  void Stop();
  /// Begins again, after the line that had won came to nothing: at its address after a pause, at
  /// the others now.
  void Resume(const Address& address, const std::string& why, Instant now);

  std::optional<Instant> Deadline() const;

  /// Every address was answered by another process, or by one with another secret.
  bool hopeless() const;
  /// "10.0.0.5:7: connection refused, 10.1.0.5:7: no answer"
  std::string Reasons() const;
  /// So many dials of each address, one after the other, have met no process that listens.
  std::uint32_t failures() const;
  /// Of the process that listens at one of the addresses; 0: not known.
  std::uint32_t pid() const { return pid_; }

 private:
  struct Target {
    Instant due{0};    // when to dial (again)
    Instant pause{0};  // before the next try
    std::string reason = "not tried";
    bool busy = false;
    bool hopeless = false;
    std::uint32_t failures = 0;  // since a process was reached
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
