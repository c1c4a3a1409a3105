#include "bootstrap/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/root.hpp"
#include "bootstrap/seat.hpp"

namespace ringlet::bootstrap {
namespace {

constexpr Instant kNodeLeaderPatience = std::chrono::milliseconds(250);

}  // namespace

Member::Member(MemberConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      callers_(config_.half_open_max, config_.handshake_timeout) {
  RINGLET_ASSERT(!config_.roots.empty() && Index(config_.rank) < config_.size);
  if (is_tree()) return;
  // In a ring one root knows all neighbours; and everybody must be reachable, so nobody speaks.
  config_.roots.resize(1);
  config_.node_leader.reset();
  config_.speaks = false;
}

Member::~Member() = default;

// ---- events -----------------------------------------------------------------------------------

void Member::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  now_ = now;
  if (milestones_.started == Instant(0)) Begin(now);
  std::visit(Overloaded{
                 [&](const Connected& e) { OnConnected(e.line); },
                 [&](const Accepted& e) { OnAccepted(e, now); },
                 [&](const Received& e) { OnReceived(e, now); },
                 [&](const Closed& e) { OnClosed(e, now); },
                 [&](const Tick&) { OnTick(now); },
             },
             event);
}

std::optional<Instant> Member::Deadline() const {
  if (Finished()) return std::nullopt;
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  if (state_ == State::kJoining) include(milestones_.started + config_.timeout);
  if (suspicion_) include(suspicion_expires_);
  if (beat_due_ != Instant(0) && !lines_.empty()) include(beat_due_);
  for (const Outgoing& outgoing : outgoing_) {
    include(outgoing.expires);
    if (const auto due = outgoing.dialler.Deadline()) include(*due);
  }
  if (const auto due = callers_.Deadline(now_)) include(*due);
  return deadline;
}

void Member::OnTick(Instant now) {
  if (suspicion_ && now >= suspicion_expires_) {
    const std::string what = *std::exchange(suspicion_, std::nullopt);
    if (state_ == State::kJoining) return FailOn(suspect_, Code::kPeerLost, what);
    OnLost(suspect_, Code::kPeerLost, what);
  }
  while (const auto expired = callers_.Expired(now))
    DropCaller(*expired, "it did not prove itself in time");
  ExpireOutgoing(now);
  if (Finished()) return;
  if (beat_due_ != Instant(0) && now >= beat_due_) Beat(now);
  if (state_ == State::kJoining && now >= milestones_.started + config_.timeout)
    Fail({Code::kTimeout, kNoOrigin, fmt::format("{} timed out {}", Name(self()), Phase())});
}

void Member::ExpireOutgoing(Instant now) {
  for (auto it = outgoing_.begin(); it != outgoing_.end();) {
    const auto outgoing = it++;
    if (now < outgoing->expires || outgoing->role == Role::kRoot) {
      outgoing->dialler.Advance(now);
      continue;
    }
    const std::uint32_t peer = outgoing->peer;
    const std::string why =
        "cannot be reached by " + Name(self()) + ": " + outgoing->dialler.Reasons();
    outgoing->dialler.Stop();
    const bool node_leader = outgoing->role == Role::kNodeLeader;
    outgoing_.erase(outgoing);
    if (node_leader) {
      CallRootsFor(self());  // whoever was to speak is gone: speak for ourselves
    } else if (state_ == State::kStanding) {
      // Where nobody listens, that rank has left, or its neighbours know that it has died.
      if (!absent_.contains(peer)) OnLost(peer, Code::kTimeout, why);
    } else {
      return Fail({Code::kTimeout, peer, Name(peer) + " " + why});
    }
  }
}

// Says a word on every line, and looks who has not said one for too long.
void Member::Beat(Instant now) {
  const Instant interval = config_.silence_max / 4;
  // Who was itself asleep cannot tell who else was.
  const bool asleep = now - beat_due_ > config_.silence_max / 2;
  beat_due_ = now + interval;
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::vector<LineId> silent;
  for (auto& [id, line] : lines_) {
    if (line.role == Role::kCaller || !line.wire.open()) continue;
    if (asleep) line.heard = now;
    if (now - line.heard >= config_.silence_max) silent.push_back(id);
    Say(id, line, Slice(beat));
  }
  for (const LineId id : silent) {
    if (Finished() || !lines_.contains(id)) return;
    Emit(Hangup{id});
    OnClosed(Closed{id, fmt::format("nothing was heard of it for {} s: its process is stopped, or "
                                    "the network between is cut",
                                    std::chrono::duration<double>(config_.silence_max).count())},
             now);
  }
}

void Member::OnConnected(LineId line) {
  for (Outgoing& outgoing : outgoing_)
    if (outgoing.dialler.Owns(line)) return outgoing.dialler.OnConnected(line);
}

void Member::OnAccepted(const Accepted& event, Instant now) {
  if (const auto oldest = callers_.InTheWay())
    DropCaller(*oldest, "too many callers that do not prove themselves");
  Line line{.wire = Wire::Accepted(config_.roots.front().credentials, nonces_.Next(),
                                   kMemberFrameBytesMax, config_.lines),
            .from = event.from,
            .heard = now};
  lines_.emplace(event.line, std::move(line));
  callers_.Add(event.line, now);
}

void Member::OnReceived(const Received& event, Instant now) {
  const auto it = lines_.find(event.line);
  if (it == lines_.end()) return OnOutgoingReceived(event, now);
  it->second.heard = now;
  const Status pushed = it->second.wire.Push(event.data);
  if (Bytes reply = it->second.wire.TakeReply(); !reply.empty())
    Emit(Send{event.line, Slice(Share(std::move(reply)))});
  if (!pushed.ok()) return DropCaller(event.line, pushed.error().message);
  if (it->second.wire.JustOpened()) callers_.Prove(event.line);
  Pump(event.line);
}

void Member::OnOutgoingReceived(const Received& event, Instant now) {
  const auto it = std::ranges::find_if(
      outgoing_, [&](const Outgoing& one) { return one.dialler.Owns(event.line); });
  if (it == outgoing_.end()) return;
  if (auto opened = it->dialler.OnReceived(event.line, event.data, now))
    return OnOpened(it, std::move(*opened));
  if (!it->dialler.hopeless()) return;
  const bool root = it->role == Role::kRoot;
  const std::string why =
      fmt::format("cannot be reached by {}: {}", Name(self()), it->dialler.Reasons());
  if (it->role == Role::kNodeLeader || state_ == State::kStanding) {
    it->expires = now;  // another way is tried, or the groups hear of it, in ExpireOutgoing
    // Where it listened another communicator does: as if nobody did.
    if (it->role == Role::kPeerOut) OnUnanswered(it->peer);
    return;
  }
  Fail({Code::kProtocol, root ? kNoOrigin : it->peer,
        (root ? std::string("the root") : Name(it->peer)) + " " + why});
}

void Member::OnClosed(const Closed& event, Instant now) {
  if (const auto it = lines_.find(event.line); it != lines_.end()) {
    const Line line = std::move(it->second);
    lines_.erase(it);
    callers_.Remove(event.line);
    if (const auto way = route_to_.find(line.peer);
        way != route_to_.end() && way->second == event.line)
      route_to_.erase(way);
    return OnLineClosed(line, event.why);
  }
  for (Outgoing& outgoing : outgoing_) {
    if (!outgoing.dialler.Owns(event.line)) continue;
    const bool reached = outgoing.dialler.Reached(event.line);
    outgoing.dialler.OnClosed(event.line, event.why, now);
    // A root that was there and had no room for its callers is called again, one that is gone not.
    if (outgoing.role == Role::kRoot && root_seen_[outgoing.peer] && !reached)
      return OnRootClosed(outgoing.peer, event.why);
    if (outgoing.role == Role::kPeerOut && !reached) return OnUnanswered(outgoing.peer);
    // A UNIX socket on which nobody listens will hardly be listened on again: its queue may have
    // been full, so try a little longer.
    if (outgoing.role == Role::kNodeLeader)
      outgoing.expires = std::min(outgoing.expires, now + kNodeLeaderPatience);
    return;
  }
}

void Member::OnLineClosed(const Line& line, const std::string& why) {
  if (line.role == Role::kCaller) {
    ++strangers_;
    return;
  }
  if (line.role == Role::kRoot) {
    if (line.done || state_ == State::kStanding) return;
    if (line.ready) return OnRootClosed(line.peer, why);
    // It hung up before it said a word: perhaps too many called at once.
    root_lines_[line.peer] = 0;
    return CallRoot(line.peer);
  }
  // Gone before it said who it is: speak for ourselves. If it had passed us on the root knows more.
  if (line.role == Role::kNodeLeader && line.peer == kNoOrigin) return CallRootsFor(self());
  // Another line to it stands: if it is gone that one will close as well, and if it has left the
  // word of that may still be on its way there.
  if (std::ranges::any_of(lines_, [&](const auto& one) {
        return one.second.peer == line.peer && one.second.role != Role::kRoot &&
               one.second.role != Role::kCaller;
      }))
    return;
  const std::string what = "was lost: " + why;
  const bool settled = state_ == State::kStanding && line.role != Role::kPeerOut;
  if (settled) return OnLost(line.peer, Code::kPeerLost, what);
  // Before there is a roster a rank of this host hears of nothing but through us.
  if (line.local_rank && roster_.size() == 0) return FailOn(line.peer, Code::kPeerLost, what);
  // The peer may have hung up because of a failure elsewhere before it knew us on this line. While
  // joining the root tells who really failed, later the tree does: wait a little for the true
  // story.
  if (suspicion_) return;
  suspicion_ = what;
  suspect_ = line.peer;
  suspicion_expires_ =
      now_ + std::min<Instant>(LadderStep(config_.timeout), std::chrono::milliseconds(500));
}

// ---- lines ------------------------------------------------------------------------------------

Member::Outgoing& Member::Connect(Role role, std::uint32_t peer, const Credentials& credentials,
                                  const std::vector<Address>& addresses, Instant expires) {
  static constexpr Purpose kPurpose[] = {Purpose::kCheckIn, Purpose::kCheckIn, Purpose::kCheckIn,
                                         Purpose::kTree,    Purpose::kTree,    Purpose::kRing,
                                         Purpose::kRing,    Purpose::kPeer,    Purpose::kPeer};
  outgoing_.push_back(
      Outgoing{role, peer,
               Dialler({addresses, credentials, kPurpose[static_cast<std::size_t>(role)],
                        kMemberFrameBytesMax, config_.lines},
                       nonces_, next_line_, [this](Action action) { Emit(std::move(action)); }),
               expires});
  outgoing_.back().dialler.Advance(now_);
  return outgoing_.back();
}

void Member::OnOpened(std::list<Outgoing>::iterator outgoing, Dialler::Opened opened) {
  const LineId id = opened.line;
  const Outgoing made = std::move(*outgoing);
  outgoing_.erase(outgoing);
  absent_.erase(made.peer);
  Line& line =
      lines_
          .emplace(id, Line{.wire = std::move(opened.wire), .from = opened.address, .heard = now_})
          .first->second;
  Register(id, line, made.role, made.peer);
  if (made.role == Role::kRoot) {
    OnRootOpened(id, made.peer);
  } else if (made.role == Role::kNodeLeader) {
    CheckInAt(id, 0);
  } else {
    SendFrame(id, ToFrame(Identify{self(), made.subtree}));
  }
  if (made.role == Role::kChild) OnChildOpened(id);
  for (const Slice& frame : made.waiting) Say(id, frame);
  Pump(id);
}

void Member::Register(LineId id, Line& line, Role role, std::uint32_t peer) {
  line.role = role;
  line.peer = peer;
  callers_.Remove(id);
  if (beat_due_ == Instant(0) && config_.silence_max > Instant(0))
    beat_due_ = now_ + config_.silence_max / 4;
  if (role == Role::kRoot || role == Role::kNodeLeader) return;
  // One line to a rank is used as long as it stands, so that its messages keep their order.
  route_to_.emplace(peer, id);
}

LineId Member::LineOf(Role role, std::uint32_t peer) const {
  for (const auto& [id, line] : lines_)
    if (line.role == role && line.peer == peer) return id;
  return 0;
}

void Member::SendPayload(LineId line, FrameType type, const Slice& payload) {
  Writer header;
  header.U32(static_cast<std::uint32_t>(payload.bytes.size())).U8(static_cast<std::uint8_t>(type));
  SendFrame(line, header.Take());
  Say(line, payload);
}

void Member::DropCaller(LineId id, const std::string& why) {
  const auto it = lines_.find(id);
  if (it == lines_.end()) return;
  if (it->second.role == Role::kRoot && state_ == State::kStanding) {  // it is not needed any more
    root_lines_[it->second.peer] = 0;
    Emit(Hangup{id});
    lines_.erase(it);
    return;
  }
  if (it->second.role == Role::kRoot) return FailHere(Code::kProtocol, "the root sent " + why);
  if (it->second.role != Role::kCaller) {
    const std::uint32_t peer = it->second.peer;
    if (state_ == State::kJoining) return FailOn(peer, Code::kProtocol, "sent " + why);
    Emit(Hangup{id});
    if (const auto way = route_to_.find(peer); way != route_to_.end() && way->second == id)
      route_to_.erase(way);
    lines_.erase(it);
    return OnLost(peer, Code::kProtocol, "sent " + why);
  }
  if (++strangers_ <= config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn, fmt::format("rank {}: turned away a caller from {}: {}", self(),
                                           ToString(it->second.from), why)});
  Emit(Hangup{id});
  lines_.erase(it);
  callers_.Remove(id);
}

void Member::CloseAll(const SharedBytes& to_members, const SharedBytes& to_roots) {
  for (auto& [id, line] : lines_) {
    const SharedBytes& word = line.role == Role::kRoot ? to_roots : to_members;
    if (word && line.wire.open() && line.role != Role::kCaller) Say(id, line, Slice(word));
    Emit(Hangup{id});
  }
  for (Outgoing& outgoing : outgoing_) outgoing.dialler.Stop();
  lines_.clear();
  callers_.Clear();
  route_to_.clear();
  outgoing_.clear();
}

std::string Member::Name(std::uint32_t rank) const {
  if (rank == self()) return Describe(config_.rank, config_.member_address);
  if (const auto it = std::ranges::find(local_ranks_, rank, &CheckIn::rank);
      it != local_ranks_.end())
    return Describe(Rank{rank}, it->member_address);
  return roster_.DescribeRank(Rank{rank});
}

// ---- frames -----------------------------------------------------------------------------------

void Member::Pump(LineId id) {
  while (!Finished()) {
    const auto it = lines_.find(id);
    if (it == lines_.end() || !it->second.wire.open()) return;
    auto frame = it->second.wire.Next();
    if (!frame.ok()) return DropCaller(id, frame.error().message);
    if (!*frame) return;
    OnFrame(id, it->second, **frame);
  }
}

void Member::OnFrame(LineId id, Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (line.role == Role::kCaller) return OnCallerFrame(id, line, frame);
  if (type == FrameType::kBeat) return;
  if (line.role == Role::kRoot) return OnRootFrame(line, frame);
  const bool of_group = type >= FrameType::kGather && type <= FrameType::kAnswer;
  if (of_group || type == FrameType::kForm) return OnGroupFrame(line, frame);
  if (line.role == Role::kParent || line.role == Role::kNodeLeader)
    return OnUpperFrame(id, line, frame);
  if (type == FrameType::kReady && line.role == Role::kChild && !line.ready)
    return OnChildReady(line);
  DropCaller(id, fmt::format("a frame of type {} that does not fit", frame.type));
}

void Member::OnCallerFrame(LineId id, Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kCheckIn && line.wire.purpose() == Purpose::kCheckIn)
    return OnLocalRank(id, line, frame);
  if (type == FrameType::kIdentify) return OnIdentify(id, line, frame);
  DropCaller(id, "a connection that does not identify its rank");
}

void Member::OnIdentify(LineId id, Line& line, const Frame& frame) {
  const auto identify = ParseIdentify(frame.payload.bytes);
  if (!identify.ok() || identify->rank >= config_.size || identify->rank == self())
    return DropCaller(id, "a connection that does not identify its rank");
  const std::uint32_t peer = identify->rank;
  const Purpose purpose = line.wire.purpose();
  // The addresses of a rank are known to others only after it has checked in.
  if (!checked_in_) return DropCaller(id, fmt::format("rank {} calls too early", peer));
  const std::uint32_t previous = (self() + config_.size - 1) % config_.size;
  Role role = Role::kCaller;
  const bool place = identify->subtree.count > 0 && identify->subtree.count <= config_.size;
  if (purpose == Purpose::kTree && is_tree() && !subtree_ && place) role = Role::kParent;
  if (purpose == Purpose::kRing && !is_tree() && peer == previous) role = Role::kPrevious;
  // Whoever calls as a peer has been told to go; our own word to go may still be under way.
  if (purpose == Purpose::kPeer && reported_) role = Role::kPeerIn;
  const bool taken = role != Role::kPeerIn && LineOf(role, peer) != 0;
  if (role == Role::kCaller || taken)
    return DropCaller(id, fmt::format("rank {} calls where it has no place", peer));
  if (role == Role::kParent) subtree_ = identify->subtree;
  Register(id, line, role, peer);
}

}  // namespace ringlet::bootstrap
