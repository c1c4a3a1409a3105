// The connections of a member in all its states: the lines that stand, the calls that are to become
// lines, and the callers that have not said yet which rank they are. It knows no state; what an
// event means is for the owner to decide.
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
    std::uint32_t peer;  ///< rank; of kRoot: which one
    Wire wire;
    Address from{};
    Instant heard{0};
    bool local_rank = false;  ///< kChild: called us, and checked in through us
    bool ready = false;       ///< kChild: all below it are connected; kRoot: it has welcomed us
    bool done = false;        ///< kRoot: its work is done
    bool spoke = false;       ///< a frame has come on it
  };
  struct CallInProgress {  ///< a line that is still being made
    Role role;
    std::uint32_t peer;
    Dialler dialler;
    Instant expires;
    PlaceRange subtree = {};
    std::vector<Slice> waiting = {};  ///< to send as soon as it stands
  };
  using Calls = std::list<CallInProgress>;

  /// \param config  outlives this, as `emit` does, which takes what there is to do
  Connections(const MemberConfig& config, Dialler::Emit emit);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // ---- Callers.
  Acceptor& callers() { return callers_; }
  const Acceptor& callers() const { return callers_; }
  /// A caller that has said what it is.
  Line& Adopt(LineId id, Role role, std::uint32_t peer, Instant now);

  // ---- Lines.
  std::map<LineId, Line>& lines() { return lines_; }
  const std::map<LineId, Line>& lines() const { return lines_; }
  /// Null: there is none.
  Line* Find(LineId id);
  /// 0: there is none.
  LineId LineOf(Role role, std::uint32_t peer) const;
  bool HasLineTo(std::uint32_t peer) const;
  /// The line that takes all that is sent to a rank: one is used as long as it stands, so that the
  /// messages keep their order. 0: there is none.
  LineId RouteTo(std::uint32_t peer) const;
  const std::unordered_map<std::uint32_t, LineId>& routes() const { return route_to_; }
  /// The node leader's line is the parent's from now on.
  Line& MakeParent(LineId id, Instant now);
  /// The line is gone.
  std::optional<Line> Remove(LineId id);
  void Hangup(LineId id) { emit_(ringlet::Hangup{id}); }
  /// Hangs up on all, with a last word where one is given.
  void CloseAll(const std::optional<Slice>& to_members, const std::optional<Slice>& to_roots);

  // ---- What is sent. Nothing, where the line is gone: its end is being told in its own way.
  void Say(LineId id, const Slice& frame);
  void Say(LineId id, Line& line, const Slice& frame) { emit_(Send{id, line.wire.Seal(frame)}); }
  void SendFrame(LineId id, Bytes frame) { Say(id, Slice(Share(std::move(frame)))); }
  void SendPayload(LineId id, FrameType type, const Slice& payload);

  // ---- Calls.
  Calls& calls() { return calls_; }
  const Calls& calls() const { return calls_; }
  /// \param peer  a rank; of kRoot: which one
  CallInProgress& Connect(Role role, std::uint32_t peer, const std::vector<Address>& addresses,
                          Instant expires, Instant now);
  /// The call that dials on this line; calls().end(): there is none.
  Calls::iterator CallOn(LineId line);
  void OnConnected(const Connected& event);
  /// The call of a rank as a member; null: there is none.
  CallInProgress* CallTo(std::uint32_t peer);
  /// The call of a root; null: there is none.
  CallInProgress* CallToRoot(std::uint32_t root);
  /// No root is needed any more.
  void StopCallingRoots();
  /// The call has come through.
  Line& Open(const CallInProgress& call, Dialler::Opened opened, Instant now);

  /// Ranks where no process listens, since when.
  void MarkAbsent(std::uint32_t peer, Instant now) { absent_.try_emplace(peer, now); }
  std::optional<Instant> AbsentSince(std::uint32_t peer) const;

  // ---- Time.
  std::optional<Instant> Deadline(Instant now) const;
  bool BeatIsDue(Instant now) const { return beat_due_ != Instant(0) && now >= beat_due_; }
  /// Says a word on every line, and gives those on which none has come for too long.
  std::vector<LineId> Beat(Instant now);

 private:
  void Register(LineId id, const Line& line, Instant now);

  const MemberConfig* config_;
  Dialler::Emit emit_;
  NonceSource nonces_;
  Acceptor callers_;
  LineId next_line_ = 1;
  Instant beat_due_{0};
  std::map<LineId, Line> lines_;
  std::unordered_map<std::uint32_t, LineId> route_to_;  // to a rank: the line that is used
  Calls calls_;
  std::unordered_map<std::uint32_t, Instant> absent_;
};

}  // namespace ringlet::bootstrap
