// The machines of a driver: the events that each is given, the actions that each then wants done,
// its deadline, and its end for want of memory.
//
// Callbacks of an owner may add and remove machines, so no reference into this outlives one.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "os/driver/hosted.hpp"

namespace ringlet::os {

/// The work that machines leave to the driver around them.
class MachineActions {
 public:
  virtual void Apply(MachineId id, Action action) = 0;
  /// From now on callers of the machine are accepted, or wait.
  virtual void SetAccepting(MachineId id, bool accepting) = 0;

 protected:
  ~MachineActions() = default;
};

class HostedMachines {
 public:
  explicit HostedMachines(MachineActions& actions);

  MachineId Add(Hosted hosted);
  /// Takes the machine out, and gives what was added. Empty: it is not here.
  std::optional<Hosted> Take(MachineId id);
  bool Contains(MachineId id) const { return states_.contains(id); }
  const Hosted& At(MachineId id) const { return states_.at(id).hosted; }
  bool IsAccepting(MachineId id) const { return states_.at(id).accepting; }

  /// Gives the machine an event and has its actions applied. Without effect where it is not here.
  void Deliver(MachineId id, const Event& event);
  /// The same later in this turn: for code in the middle of an action of the machine.
  void Defer(MachineId id, Event event) { deferred_.emplace_back(id, std::move(event)); }
  /// Gives its owner a line for the log, and the socket of a line that it detached.
  void Log(MachineId id, const Note& note);
  void HandOver(MachineId id, LineId line, Fd socket);

  bool HasDeferred() const { return !deferred_.empty(); }
  void DeliverDeferred();
  /// Gives a Tick to each machine whose deadline has come.
  void DeliverDue(Instant now);
  std::optional<Instant> NextDue() const;
  bool HasChanged() const { return !changed_.empty(); }
  /// Calls `changed` of the machines that had events since the last call.
  void ReportChanged();

  /// There was no memory, and it is not known for which machine: all that can fail will.
  void MarkAllFailed();
  bool HasFailed() const { return any_failed_; }
  /// Tells the owners of machines that have failed, and has `remove` remove these. Some stay for
  /// the next call if there is no memory for that either.
  void RemoveFailed(const std::function<void(MachineId)>& remove);

 private:
  struct HostedState {
    Hosted hosted;
    std::optional<Instant> deadline;
    bool changed = false;   // it is in `changed_`
    bool accepting = true;  // callers are taken in
    bool failed = false;    // there was no memory; to be removed at the end of the turn
  };

  void Drain(MachineId id);
  void SetDeadline(MachineId id, HostedState& state, std::optional<Instant> deadline);
  void MarkFailed(MachineId id);

  MachineActions& actions_;
  MachineId next_id_ = 1;
  std::unordered_map<MachineId, HostedState> states_;
  std::set<std::pair<Instant, MachineId>> due_;
  std::deque<std::pair<MachineId, Event>> deferred_;
  std::vector<MachineId> changed_;
  bool any_failed_ = false;
  std::unique_ptr<std::byte[]> reserve_;  // given up to tell of a failure
};

}  // namespace ringlet::os
