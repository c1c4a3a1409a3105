#include "os/driver/hosted_machines.hpp"

#include <algorithm>
#include <new>

#include "os/clock.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kReserveBytes = 64 * 1024;  // released to report that memory ran out

}  // namespace

HostedMachines::HostedMachines(MachineActions& actions)
    : actions_(actions), reserve_(std::make_unique_for_overwrite<std::byte[]>(kReserveBytes)) {}

MachineId HostedMachines::Add(Hosted hosted) {
  const MachineId id = next_id_++;
  states_[id].hosted = std::move(hosted);
  return id;
}

std::optional<Hosted> HostedMachines::Take(MachineId id) {
  const auto it = states_.find(id);
  if (it == states_.end()) return std::nullopt;
  SetDeadline(id, it->second, std::nullopt);
  return std::move(states_.extract(it).mapped().hosted);
}

void HostedMachines::Deliver(MachineId id, const Event& event) {
  const auto it = states_.find(id);
  if (it == states_.end() || it->second.failed) return;
  try {
    it->second.hosted.machine->Handle(event, Now());
    Drain(id);
  } catch (const std::bad_alloc&) {
    MarkFailed(id);
  }
}

void HostedMachines::Drain(MachineId id) {
  const auto it = states_.find(id);
  if (it == states_.end()) return;
  const std::shared_ptr<Machine> machine = it->second.hosted.machine;
  while (auto action = machine->PollAction()) {
    actions_.Apply(id, std::move(*action));
    if (!states_.contains(id)) return;  // a callback has removed it
  }
  HostedState& state = states_.at(id);
  SetDeadline(id, state, machine->Deadline());
  if (state.accepting != machine->Accepting()) {
    state.accepting = !state.accepting;
    actions_.SetAccepting(id, state.accepting);
  }
  if (!state.changed) changed_.push_back(id);
  state.changed = true;
}

void HostedMachines::SetDeadline(MachineId id, HostedState& state,
                                 std::optional<Instant> deadline) {
  if (deadline == state.deadline) return;
  if (state.deadline) due_.erase({*state.deadline, id});
  if (deadline) due_.emplace(*deadline, id);
  state.deadline = deadline;
}

void HostedMachines::Log(MachineId id, const Note& note) {
  // A copy, because the callback may remove the machine and with it the callback itself.
  if (const auto sink = states_.at(id).hosted.note) sink(note);
}

void HostedMachines::HandOver(MachineId id, LineId line, Fd socket) {
  const auto it = states_.find(id);
  if (it == states_.end()) return;
  if (const auto detached = it->second.hosted.detached) detached(line, std::move(socket));
}

void HostedMachines::DeliverDeferred() {
  while (!deferred_.empty()) {
    const auto [id, event] = std::move(deferred_.front());
    deferred_.pop_front();
    Deliver(id, event);
  }
}

void HostedMachines::DeliverDue(Instant now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const MachineId id = due_.begin()->second;
    due_.erase(due_.begin());
    const auto it = states_.find(id);
    if (it == states_.end()) continue;
    it->second.deadline.reset();
    Deliver(id, Tick{});
  }
}

std::optional<Instant> HostedMachines::NextDue() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void HostedMachines::ReportChanged() {
  for (const MachineId id : std::exchange(changed_, {})) {
    const auto it = states_.find(id);
    if (it == states_.end()) continue;
    it->second.changed = false;
    try {
      if (const auto changed = it->second.hosted.changed) changed();
    } catch (const std::bad_alloc&) {
      MarkFailed(id);
    }
  }
}

// Marking takes no memory. The code that delivers may still use data of the machine.
void HostedMachines::MarkFailed(MachineId id) {
  const auto it = states_.find(id);
  if (it == states_.end()) return;
  if (!it->second.hosted.failed) return MarkAllFailed();
  it->second.failed = any_failed_ = true;
}

void HostedMachines::MarkAllFailed() {
  for (auto& [id, state] : states_)
    if (state.hosted.failed) state.failed = any_failed_ = true;
}

void HostedMachines::RemoveFailed(const std::function<void(MachineId)>& remove) {
  reserve_.reset();
  try {
    while (true) {
      const auto it =
          std::ranges::find_if(states_, [](const auto& state) { return state.second.failed; });
      if (it == states_.end()) break;
      const MachineId id = it->first;
      const auto tell = it->second.hosted.failed;
      tell(Error{Code::kSystem,
                 "no memory for data from control connections; see ulimit -v and the memory limit "
                 "of the container"});
      remove(id);
    }
    any_failed_ = false;
  } catch (const std::bad_alloc&) {
    // The next turn retries the machines that are still marked.
  }
  reserve_.reset(new (std::nothrow) std::byte[kReserveBytes]);
}

}  // namespace ringlet::os
