#include "bootstrap/root_guests.hpp"

#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {

RootGuest& RootGuests::Add(RootGuest guest) {
  const LineId line = guest.line;
  return guests_.emplace(line, std::move(guest)).first->second;
}

RootGuest* RootGuests::Find(LineId line) {
  const auto it = guests_.find(line);
  return it == guests_.end() ? nullptr : &it->second;
}

std::optional<RootGuest> RootGuests::Take(LineId line) {
  auto node = guests_.extract(line);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

void RootGuests::Say(LineId line, Bytes frame) {
  if (RootGuest* const guest = Find(line)) Say(*guest, Slice(Share(std::move(frame))));
}

void RootGuests::SayToAll(const SharedBytes& frame, std::optional<LineId> but) {
  for (auto& [line, guest] : guests_)
    if (line != but) Say(guest, Slice(frame));
}

std::optional<LineId> RootGuests::Beat(Instant now, Instant silence_max, bool asleep) {
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::optional<LineId> silent;
  for (auto& [line, guest] : guests_) {
    if (asleep) guest.heard = now;
    if (now - guest.heard >= silence_max) silent = line;
    Say(guest, Slice(beat));
  }
  return silent;
}

std::set<std::uint32_t> RootGuests::HangUp(const SharedBytes& last_word) {
  std::set<std::uint32_t> ranks;
  for (auto& [line, guest] : guests_) {
    if (last_word) Say(guest, Slice(last_word));
    emit_(Hangup{line});
    ranks.insert(guest.ranks.begin(), guest.ranks.end());
  }
  guests_.clear();
  return ranks;
}

}  // namespace ringlet::bootstrap
