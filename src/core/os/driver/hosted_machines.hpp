// The machines of a driver: their events, actions and deadlines, and their removal if memory runs
// out.
//
// Callbacks of an owner may add and remove machines, so references into this object do not outlive
// one.
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

/// The work that machines leave to the driver.
class MachineActions {
 public:
  virtual void Apply(MachineId id, Action action) = 0;
  /// `accepting` is true if callers of the machine are accepted, false if they wait.
  virtual void SetAccepting(MachineId id, bool accepting) = 0;

 protected:
  ~MachineActions() = default;
};

class HostedMachines {
 public:
  explicit HostedMachines(MachineActions& actions);

  MachineId Add(Hosted hosted);
  /// Removes the machine and returns the argument of Add. Empty if it is not here.
  std::optional<Hosted> Take(MachineId id);
  bool Contains(MachineId id) const { return states_.contains(id); }
  const Hosted& At(MachineId id) const { return states_.at(id).hosted; }
  bool IsAccepting(MachineId id) const { return states_.at(id).accepting; }

  /// Delivers an event to the machine and applies its actions. Ignores a machine that is not here.
  void Deliver(MachineId id, const Event& event);
  /// Delivers an event later in this turn. For callers in the middle of an action of the machine.
  void Defer(MachineId id, Event event) { deferred_.emplace_back(id, std::move(event)); }
  /// Give the owner a line for the log, or the socket of a detached connection.
  void Log(MachineId id, const Note& note);
  void HandOver(MachineId id, LineId line, Fd socket);

  bool HasDeferred() const { return !deferred_.empty(); }
  void DeliverDeferred();
  /// Delivers a Tick to each machine with an expired deadline.
  void DeliverDue(Instant now);
  std::optional<Instant> NextDue() const;
  bool HasChanged() const { return !changed_.empty(); }
  /// Calls `changed` of each machine with events since the last call.
  void ReportChanged();

  /// Marks all machines that can fail, because memory ran out for an unknown one.
  void MarkAllFailed();
  bool HasFailed() const { return any_failed_; }
  /// Calls `failed` of machines that have failed, and `remove` to remove them. If memory is
  /// insufficient, some stay for the next call.
  void RemoveFailed(const std::function<void(MachineId)>& remove);

 private:
  struct HostedState {
    Hosted hosted;
    std::optional<Instant> deadline;
    bool changed = false;   // in `changed_`
    bool accepting = true;  // callers are accepted
    bool failed = false;    // out of memory; removed at the end of the turn
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
  std::unique_ptr<std::byte[]> reserve_;  // released to report a failure
};

}  // namespace ringlet::os
