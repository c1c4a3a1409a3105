#include "bootstrap/member/connections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {

using Line = Connections::Line;
using CallInProgress = Connections::CallInProgress;

Connections::Connections(const MemberConfig& config, Dialler::Emit emit)
    : config_(&config),
      emit_(std::move(emit)),
      nonces_(config.nonce_seed),
      callers_({.credentials = config.roots.at(0).credentials,
                .payload_bytes_max = kMemberFrameBytesMax,
                .options = config.lines,
                .callers = {.owner = fmt::format("rank {}", Index(config.rank)),
                            .half_open_max = config.half_open_max,
                            .timeout = config.handshake_timeout,
                            .noted_max = config.strangers_noted_max}},
               nonces_, emit_) {}

// ---- connections ------------------------------------------------------------------------------

Line& Connections::Adopt(LineId id, Role role, std::uint32_t peer, Instant now) {
  Acceptor::HeldCaller caller = callers_.Take(id);
  Line line{.role = role,
            .peer = peer,
            .wire = std::move(caller.line),
            .from = std::move(caller.from),
            .heard = now};
  Line& adopted = lines_.emplace(id, std::move(line)).first->second;
  Register(id, adopted, now);
  return adopted;
}

void Connections::Register(LineId id, const Line& line, Instant now) {
  if (beat_due_ == Instant(0) && config_->silence_max > Instant(0))
    beat_due_ = now + config_->silence_max / 4;
  if (line.role == Role::kRoot || line.role == Role::kNodeLeader) return;
  route_to_.emplace(line.peer, id);
}

Line* Connections::Find(LineId id) {
  const auto it = lines_.find(id);
  return it == lines_.end() ? nullptr : &it->second;
}

LineId Connections::LineOf(Role role, std::uint32_t peer) const {
  for (const auto& [id, line] : lines_)
    if (line.role == role && line.peer == peer) return id;
  return 0;
}

bool Connections::HasLineTo(std::uint32_t peer) const {
  return std::ranges::any_of(lines_, [&](const auto& one) {
    return one.second.peer == peer && one.second.role != Role::kRoot;
  });
}

LineId Connections::RouteTo(std::uint32_t peer) const {
  const auto way = route_to_.find(peer);
  return way == route_to_.end() ? 0 : way->second;
}

Line& Connections::MakeParent(LineId id, Instant now) {
  Line& line = lines_.at(id);
  line.role = Role::kParent;
  Register(id, line, now);
  return line;
}

std::optional<Line> Connections::Remove(LineId id) {
  auto node = lines_.extract(id);
  if (node.empty()) return std::nullopt;
  if (const auto way = route_to_.find(node.mapped().peer);
      way != route_to_.end() && way->second == id)
    route_to_.erase(way);
  return std::move(node.mapped());
}

void Connections::CloseAll(const std::optional<Slice>& to_members,
                           const std::optional<Slice>& to_roots) {
  for (auto& [id, line] : lines_) {
    const std::optional<Slice>& word = line.role == Role::kRoot ? to_roots : to_members;
    if (word) Transmit(id, line, *word);
    Hangup(id);
  }
  for (CallInProgress& call : calls_) call.dialler.Stop();
  lines_.clear();
  callers_.Clear();
  route_to_.clear();
  calls_.clear();
}

// ---- sending ----------------------------------------------------------------------------------

void Connections::Transmit(LineId id, const Slice& frame) {
  if (Line* const line = Find(id)) Transmit(id, *line, frame);
}

void Connections::SendPayload(LineId id, FrameType type, const Slice& payload) {
  Writer header;
  header.U32(static_cast<std::uint32_t>(payload.bytes.size())).U8(static_cast<std::uint8_t>(type));
  SendFrame(id, header.Take());
  Transmit(id, payload);
}

// ---- calls ------------------------------------------------------------------------------------

CallInProgress& Connections::Connect(Role role, std::uint32_t peer,
                                     const std::vector<Address>& addresses, Instant expires,
                                     Instant now) {
  static constexpr Purpose kPurpose[] = {Purpose::kCheckIn, Purpose::kCheckIn, Purpose::kCheckIn,
                                         Purpose::kTree,    Purpose::kTree,    Purpose::kRing,
                                         Purpose::kRing,    Purpose::kPeer,    Purpose::kPeer};
  const Credentials& credentials = config_->roots[role == Role::kRoot ? peer : 0].credentials;
  calls_.push_back(
      CallInProgress{role, peer,
                     Dialler({addresses, credentials, kPurpose[static_cast<std::size_t>(role)],
                              kMemberFrameBytesMax, config_->lines},
                             nonces_, next_line_, emit_),
                     expires});
  calls_.back().dialler.Advance(now);
  if (role == Role::kPeerOut) absent_.erase(peer);
  return calls_.back();
}

Connections::Calls::iterator Connections::CallOn(LineId line) {
  return std::ranges::find_if(calls_,
                              [&](const CallInProgress& one) { return one.dialler.Owns(line); });
}

void Connections::OnConnected(const Connected& event) {
  const auto call = CallOn(event.line);
  if (call != calls_.end()) call->dialler.OnConnected(event);
}

CallInProgress* Connections::CallTo(std::uint32_t peer) {
  const auto it = std::ranges::find_if(calls_, [&](const CallInProgress& one) {
    return one.peer == peer && one.role != Role::kRoot && one.role != Role::kNodeLeader;
  });
  return it == calls_.end() ? nullptr : &*it;
}

CallInProgress* Connections::CallToRoot(std::uint32_t root) {
  const auto it = std::ranges::find_if(calls_, [&](const CallInProgress& one) {
    return one.role == Role::kRoot && one.peer == root;
  });
  return it == calls_.end() ? nullptr : &*it;
}

void Connections::StopCallingRoots() {
  for (CallInProgress& call : calls_)
    if (call.role == Role::kRoot) call.dialler.Stop();
  calls_.remove_if([](const CallInProgress& one) { return one.role == Role::kRoot; });
}

Line& Connections::Open(const CallInProgress& call, Dialler::Opened opened, Instant now) {
  absent_.erase(call.peer);
  Line line{.role = call.role,
            .peer = call.peer,
            .wire = std::move(opened.wire),
            .from = std::move(opened.address),
            .heard = now};
  Line& made = lines_.emplace(opened.line, std::move(line)).first->second;
  Register(opened.line, made, now);
  return made;
}

std::optional<Instant> Connections::AbsentSince(std::uint32_t peer) const {
  const auto it = absent_.find(peer);
  return it == absent_.end() ? std::nullopt : std::optional(it->second);
}

// ---- time -------------------------------------------------------------------------------------

std::optional<Instant> Connections::Deadline(Instant now) const {
  std::optional<Instant> deadline = callers_.Deadline(now);
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  if (beat_due_ != Instant(0) && !lines_.empty()) include(beat_due_);
  for (const CallInProgress& call : calls_) {
    if (call.role != Role::kRoot) include(call.expires);  // roots are called until joining ends
    if (const auto due = call.dialler.Deadline()) include(*due);
  }
  return deadline;
}

std::vector<LineId> Connections::SendHeartbeats(Instant now) {
  const Instant interval = config_->silence_max / 4;
  // A rank that slept itself cannot judge the silence of others.
  const bool asleep = now - beat_due_ > config_->silence_max / 2;
  beat_due_ = now + interval;
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::vector<LineId> silent;
  for (auto& [id, line] : lines_) {
    if (asleep) line.heard = now;
    if (now - line.heard >= config_->silence_max) silent.push_back(id);
    Transmit(id, line, Slice(beat));
  }
  return silent;
}

}  // namespace ringlet::bootstrap
