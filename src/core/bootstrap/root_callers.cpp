#include "bootstrap/root_callers.hpp"

#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {

RootCaller& RootCallers::Add(RootCaller root_caller) {
  const LineId line = root_caller.line;
  return root_callers_.emplace(line, std::move(root_caller)).first->second;
}

RootCaller* RootCallers::Find(LineId line) {
  const auto it = root_callers_.find(line);
  return it == root_callers_.end() ? nullptr : &it->second;
}

std::optional<RootCaller> RootCallers::Take(LineId line) {
  auto node = root_callers_.extract(line);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void RootCallers::Transmit(LineId line, Bytes frame) {
  if (RootCaller* const root_caller = Find(line))
    Transmit(*root_caller, Slice(Share(std::move(frame))));
}

void RootCallers::SendToAll(const SharedBytes& frame, std::optional<LineId> but) {
  for (auto& [line, root_caller] : root_callers_)
    if (line != but) Transmit(root_caller, Slice(frame));
}

std::optional<LineId> RootCallers::SendHeartbeats(Instant now, Instant silence_max, bool asleep) {
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::optional<LineId> silent;
  for (auto& [line, root_caller] : root_callers_) {
    if (asleep) root_caller.heard = now;
    if (now - root_caller.heard >= silence_max) silent = line;
    Transmit(root_caller, Slice(beat));
  }
  return silent;
}

std::set<std::uint32_t> RootCallers::HangUp(const SharedBytes& last_word) {
  std::set<std::uint32_t> ranks;
  for (auto& [line, root_caller] : root_callers_) {
    if (last_word) Transmit(root_caller, Slice(last_word));
    emit_(Hangup{line});
    ranks.insert(root_caller.ranks.begin(), root_caller.ranks.end());
  }
  root_callers_.clear();
  return ranks;
}

}  // namespace ringlet::bootstrap
