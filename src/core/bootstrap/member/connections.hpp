// The connections of a member in all its states: open ones, calls in progress, and callers that
// have not identified their rank. It knows no state; the owner decides what an event means.
#pragma once
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/wire/acceptor.hpp"
#include "base/wire/dialler.hpp"
#include "base/wire/machine.hpp"
#include "bootstrap/member/config.hpp"
#include "bootstrap/states.hpp"

namespace ringlet::bootstrap {

/// A part of a Machine, not one itself; no I/O.
class Connections {
 public:
  using Role = MemberLine;
  struct Line {
    Role role;
    std::uint32_t peer;  ///< rank; for kRoot: index of the root
    Wire wire;
    Address from{};
    Instant heard{0};
    bool local_rank = false;  ///< kChild: it called us and checked in through us
    bool ready = false;  ///< kChild: all below it are connected; kRoot: it has sent its welcome
    bool done = false;   ///< kRoot: its work is done
    bool spoke = false;  ///< a frame has arrived on it
  };
  struct CallInProgress {  ///< a connection that is still being made
    Role role;
    std::uint32_t peer;
    Dialler dialler;
    Instant expires;
    PlaceRange subtree = {};
    std::vector<Slice> waiting = {};  ///< frames to send as soon as it is open
  };
  using Calls = std::list<CallInProgress>;

  /// \param config  outlives this object, as does `emit`, which receives the actions
  Connections(const MemberConfig& config, Dialler::Emit emit);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // ---- Callers.
  Acceptor& callers() { return callers_; }
  const Acceptor& callers() const { return callers_; }
  /// Turns a caller that has identified itself into a connection.
  Line& Adopt(LineId id, Role role, std::uint32_t peer, Instant now);

  // ---- Connections.
  std::map<LineId, Line>& lines() { return lines_; }
  const std::map<LineId, Line>& lines() const { return lines_; }
  /// Returns null if the connection is closed.
  Line* Find(LineId id);
  /// Returns 0 if no such connection exists.
  LineId LineOf(Role role, std::uint32_t peer) const;
  bool HasLineTo(std::uint32_t peer) const;
  /// The connection for all frames to a rank, or 0. It stays the same while it is open, so messages
  /// keep their order.
  LineId RouteTo(std::uint32_t peer) const;
  const std::unordered_map<std::uint32_t, LineId>& routes() const { return route_to_; }
  /// Turns the connection to the node leader into the one to the parent.
  Line& MakeParent(LineId id, Instant now);
  /// Removes a closed connection.
  std::optional<Line> Remove(LineId id);
  void Hangup(LineId id) { emit_(ringlet::Hangup{id}); }
  /// Closes all connections, after a last frame if one is given.
  void CloseAll(const std::optional<Slice>& to_members, const std::optional<Slice>& to_roots);

  // ---- Sending. Has no effect on a closed connection, because its end is reported separately.
  void Transmit(LineId id, const Slice& frame);
  void Transmit(LineId id, Line& line, const Slice& frame) {
    emit_(Send{id, line.wire.Seal(frame)});
  }
  void SendFrame(LineId id, Bytes frame) { Transmit(id, Slice(Share(std::move(frame)))); }
  void SendPayload(LineId id, FrameType type, const Slice& payload);

  // ---- Calls.
  Calls& calls() { return calls_; }
  const Calls& calls() const { return calls_; }
  /// \param peer  a rank; for kRoot: index of the root
  CallInProgress& Connect(Role role, std::uint32_t peer, const std::vector<Address>& addresses,
                          Instant expires, Instant now);
  /// The call that dials on this connection, or calls().end().
  Calls::iterator CallOn(LineId line);
  void OnConnected(const Connected& event);
  /// Returns the call to a rank as a member, or null.
  CallInProgress* CallTo(std::uint32_t peer);
  /// Returns the call to a root, or null.
  CallInProgress* CallToRoot(std::uint32_t root);
  /// Cancels the calls to roots.
  void StopCallingRoots();
  /// Turns a successful call into a connection.
  Line& Open(const CallInProgress& call, Dialler::Opened opened, Instant now);

  /// Records since when no process listens for a rank.
  void MarkAbsent(std::uint32_t peer, Instant now) { absent_.try_emplace(peer, now); }
  std::optional<Instant> AbsentSince(std::uint32_t peer) const;

  // ---- Time.
  std::optional<Instant> Deadline(Instant now) const;
  bool IsHeartbeatDue(Instant now) const { return beat_due_ != Instant(0) && now >= beat_due_; }
  /// Sends a beat on every connection. Returns the connections that have been silent for too long.
  std::vector<LineId> SendHeartbeats(Instant now);

 private:
  void Register(LineId id, const Line& line, Instant now);

  const MemberConfig* config_;
  Dialler::Emit emit_;
  NonceSource nonces_;
  Acceptor callers_;
  LineId next_line_ = 1;
  Instant beat_due_{0};
  std::map<LineId, Line> lines_;
  std::unordered_map<std::uint32_t, LineId> route_to_;  // to a rank: the connection in use
  Calls calls_;
  std::unordered_map<std::uint32_t, Instant> absent_;
};

}  // namespace ringlet::bootstrap
