#include "os/driver/entrance_callers.hpp"

#include <utility>

namespace ringlet::os {
namespace {

constexpr std::size_t kWaitingMax = 4096;  // callers of one machine

}  // namespace

EntranceCallers::~EntranceCallers() {
  for (auto& [id, visited] : entrances_) visited.entrance->Close(visited.visit);
}

void EntranceCallers::Open(MachineId id, std::shared_ptr<Entrance> entrance,
                           std::function<void(Caller)> admit) {
  entrances_[id].entrance = entrance;  // set first, because callers may arrive before Open returns
  entrances_[id].visit = entrance->Open(std::move(admit));
}

void EntranceCallers::Close(MachineId id) {
  called_.erase(id);
  const auto visited = entrances_.extract(id);
  if (visited) visited.mapped().entrance->Close(visited.mapped().visit);
}

void EntranceCallers::Put(MachineId id, Caller caller) {
  const auto it = entrances_.find(id);
  if (it == entrances_.end() || it->second.waiting.size() >= kWaitingMax) return;
  it->second.waiting.push_back(std::move(caller));
  called_.insert(id);
}

void EntranceCallers::AdmitWaiting() {
  const std::set<MachineId> ids = called_;
  for (const MachineId id : ids)
    while (AdmitNext(id)) continue;
}

// Returns false if the machine cannot take a further caller.
bool EntranceCallers::AdmitNext(MachineId id) {
  const auto it = entrances_.find(id);
  if (it == entrances_.end()) return false;
  std::deque<Caller>& waiting = it->second.waiting;
  if (waiting.empty()) called_.erase(id);
  if (waiting.empty() || !machines_.IsAccepting(id)) return false;
  Caller caller = std::move(waiting.front());
  waiting.pop_front();
  const bool is_unix = caller.from.kind == Address::Kind::kUnix;
  lines_.Admit(id, std::move(caller), is_unix);
  return true;
}

}  // namespace ringlet::os
