#include "bootstrap/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/root.hpp"
#include "bootstrap/seat.hpp"

namespace ringlet::bootstrap {
namespace {

constexpr Instant kNodeLeaderTimeout = std::chrono::milliseconds(250);
// Of a root that was there: some five seconds.
constexpr std::uint32_t kRootDialsMax = 18;

}  // namespace

Member::Member(MemberConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      acceptor_({.credentials = config_.roots.at(0).credentials,
                 .payload_bytes_max = kMemberFrameBytesMax,
                 .options = config_.lines,
                 .callers = {.owner = fmt::format("rank {}", Index(config_.rank)),
                             .half_open_max = config_.half_open_max,
                             .timeout = config_.handshake_timeout,
                             .noted_max = config_.strangers_noted_max}},
                nonces_, [this](Action action) { Emit(std::move(action)); }) {
  RINGLET_ASSERT(Index(config_.rank) < config_.size);
  if (is_tree()) return;
  // In a ring one root knows all neighbours; and all ranks must be reachable, so there is no node
  // leader.
  config_.roots.resize(1);
  config_.node_leader.reset();
  config_.speaks = false;
}

Member::~Member() = default;

MemberState Member::state() const {
  if (const Joining* const at = joining()) return at->step;
  return standing() ? MemberState::kStanding : MemberState::kOver;
}

// ---- events -----------------------------------------------------------------------------------

void Member::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  now_ = now;
  if (milestones_.started == Instant(0)) Begin(now);
  std::visit(Overloaded{
                 [&](const Connected& e) { OnConnected(e); },
                 [&](const Accepted& e) { acceptor_.OnAccepted(e, now); },
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
  if (joining()) include(JoinDeadline());
  for (const auto& [rank, suspicion] : suspicions_) include(suspicion.expires);
  for (const auto& [group, due] : awaiting_) include(due);
  if (beat_due_ != Instant(0) && !lines_.empty()) include(beat_due_);
  for (const Outgoing& outgoing : outgoing_) {
    if (outgoing.role != Role::kRoot) include(outgoing.expires);  // called until JoinDeadline
    if (const auto due = outgoing.dialler.Deadline()) include(*due);
  }
  if (const auto due = acceptor_.Deadline(now_)) include(*due);
  return deadline;
}

// The root gives up before its members and names the missing ranks. On a busy host its word may
// come late: a member that has checked in waits a step longer for it.
Instant Member::JoinDeadline() const {
  const Instant slack = state() == MemberState::kCalling ? Instant(0) : LadderStep(config_.timeout);
  return milestones_.started + config_.timeout + slack;
}

void Member::OnTick(Instant now) {
  for (auto it = suspicions_.begin(); it != suspicions_.end();) {
    const auto due = it++;
    if (now < due->second.expires) continue;
    const auto [rank, suspicion] = *due;
    suspicions_.erase(due);
    OnLost(rank, Code::kPeerLost, suspicion.what);
    if (Finished()) return;
  }
  if (joining() && now >= JoinDeadline())
    return Fail({Code::kTimeout, kNoOrigin, fmt::format("{} timed out {}", Name(self()), Phase())});
  LookForAwaited(now);
  acceptor_.Expire(now);
  ExpireOutgoing(now);
  if (Finished()) return;
  if (beat_due_ != Instant(0) && now >= beat_due_) Beat(now);
}

void Member::ExpireOutgoing(Instant now) {
  for (auto it = outgoing_.begin(); it != outgoing_.end();) {
    const auto outgoing = it++;
    if (now < outgoing->expires || outgoing->role == Role::kRoot) {
      outgoing->dialler.Advance(now);
      continue;
    }
    const std::uint32_t peer = outgoing->peer;
    const std::string reasons = outgoing->dialler.Reasons(), stopped = WhyStopped(peer);
    outgoing->dialler.Stop();
    const bool node_leader = outgoing->role == Role::kNodeLeader;
    outgoing_.erase(outgoing);
    if (node_leader) {
      CallRootsFor(self());  // the rank that was to speak is gone: speak for ourselves
    } else if (standing()) {
      // If no process listens, that rank has left, or its neighbours know that it has died.
      if (!absent_.contains(peer))
        OnLost(peer, Code::kTimeout, stopped.empty() ? "cannot be reached: " + reasons : stopped);
    } else {
      if (!stopped.empty()) return FailOn(peer, Code::kTimeout, stopped);
      return Fail(
          {Code::kTimeout, peer,
           fmt::format("{} cannot be reached by {}: {}", Name(peer), Name(self()), reasons)});
    }
  }
}

// Says a word on every line, and finds those on which none has come for too long.
void Member::Beat(Instant now) {
  const Instant interval = config_.silence_max / 4;
  // A rank that was itself asleep cannot tell which others were.
  const bool asleep = now - beat_due_ > config_.silence_max / 2;
  beat_due_ = now + interval;
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::vector<LineId> silent;
  for (auto& [id, line] : lines_) {
    if (asleep) line.heard = now;
    if (now - line.heard >= config_.silence_max) silent.push_back(id);
    Say(id, line, Slice(beat));
  }
  for (const LineId id : silent) {
    if (Finished() || !lines_.contains(id)) return;
    const std::string why = WhySilent(lines_.at(id));
    Emit(Hangup{id});
    OnClosed(Closed{id, why}, now);
  }
}

void Member::OnConnected(const Connected& event) {
  for (Outgoing& outgoing : outgoing_)
    if (outgoing.dialler.Owns(event.line)) return outgoing.dialler.OnConnected(event);
}

void Member::OnReceived(const Received& event, Instant now) {
  if (const auto caller = acceptor_.OnReceived(event)) {
    OnCaller(*caller);
    return Pump(event.line);
  }
  const auto it = lines_.find(event.line);
  if (it == lines_.end()) return OnOutgoingReceived(event, now);
  it->second.heard = now;
  const Status pushed = it->second.wire.Push(event);
  if (!pushed.ok()) return OnBrokenStream(event.line, pushed.error().message);
  Pump(event.line);
}

void Member::OnOutgoingReceived(const Received& event, Instant now) {
  const auto it = std::ranges::find_if(
      outgoing_, [&](const Outgoing& one) { return one.dialler.Owns(event.line); });
  if (it == outgoing_.end()) return;
  if (auto opened = it->dialler.OnReceived(event, now)) return OnOpened(it, std::move(*opened));
  if (!it->dialler.hopeless()) return;
  const bool root = it->role == Role::kRoot;
  const std::string why =
      fmt::format("cannot be reached by {}: {}", Name(self()), it->dialler.Reasons());
  if (it->role == Role::kNodeLeader || standing()) {
    it->expires = now;  // another way is tried, or the groups hear of it, in ExpireOutgoing
    // Another communicator listens at its address now: as if no process did.
    if (it->role == Role::kPeerOut) OnUnanswered(it->peer);
    return;
  }
  Fail({Code::kProtocol, root ? kNoOrigin : it->peer,
        (root ? std::string("the root") : Name(it->peer)) + " " + why});
}

void Member::OnClosed(const Closed& event, Instant now) {
  if (acceptor_.OnClosed(event.line)) return;
  if (const auto it = lines_.find(event.line); it != lines_.end()) {
    const Line line = std::move(it->second);
    lines_.erase(it);
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
    if (outgoing.role == Role::kRoot && !reached &&
        (joining()->root_seen[outgoing.peer] ||
         (config_.roots[outgoing.peer].was_there && outgoing.dialler.failures() >= kRootDialsMax)))
      return OnRootClosed(outgoing.peer, event.why);
    if (outgoing.role == Role::kPeerOut && !reached) return OnUnanswered(outgoing.peer);
    // A UNIX socket without a listener will hardly get one again: its queue may have been full, so
    // try a little longer.
    if (outgoing.role == Role::kNodeLeader)
      outgoing.expires = std::min(outgoing.expires, now + kNodeLeaderTimeout);
    return;
  }
}

void Member::OnLineClosed(const Line& line, const std::string& why) {
  if (line.role == Role::kRoot) {
    if (line.done || standing()) return;
    if (line.ready) return OnRootClosed(line.peer, why);
    // It hung up before it said a word: perhaps too many called at once.
    joining()->root_lines[line.peer] = 0;
    return CallRoot(line.peer);
  }
  // Gone before it said who it is: speak for ourselves. If it had passed us on the root knows more.
  if (line.role == Role::kNodeLeader && line.peer == kNoOrigin) return CallRootsFor(self());
  // Another line to it stands: if it is gone that one will close as well, and if it has left the
  // word of that may still be on its way there.
  if (std::ranges::any_of(lines_, [&](const auto& one) {
        return one.second.peer == line.peer && one.second.role != Role::kRoot;
      }))
    return;
  const std::string what = "was lost: " + why;
  const bool settled = standing() && (line.role != Role::kPeerOut || line.spoke);
  if (settled) return OnLost(line.peer, Code::kPeerLost, what);
  // Before there is a roster a rank of this host hears of nothing but through us.
  if (line.local_rank && roster_.size() == 0) return FailOn(line.peer, Code::kPeerLost, what);
  // The peer may have hung up because of a failure elsewhere before it knew us on this line. While
  // joining the root tells who really failed, later the tree does: wait a little for the true
  // story.
  const Instant expires =
      now_ + std::min<Instant>(LadderStep(config_.timeout), std::chrono::milliseconds(500));
  suspicions_.try_emplace(line.peer, Suspicion{what, expires});
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
  Line line{.role = made.role,
            .peer = made.peer,
            .wire = std::move(opened.wire),
            .from = opened.address,
            .heard = now_};
  Register(id, lines_.emplace(id, std::move(line)).first->second);
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

// A caller that has said what it is.
Member::Line& Member::Adopt(LineId id, Role role, std::uint32_t peer) {
  Acceptor::HeldCaller caller = acceptor_.Take(id);
  Line line{.role = role,
            .peer = peer,
            .wire = std::move(caller.line),
            .from = std::move(caller.from),
            .heard = now_};
  Line& adopted = lines_.emplace(id, std::move(line)).first->second;
  Register(id, adopted);
  return adopted;
}

void Member::Register(LineId id, const Line& line) {
  if (beat_due_ == Instant(0) && config_.silence_max > Instant(0))
    beat_due_ = now_ + config_.silence_max / 4;
  if (line.role == Role::kRoot || line.role == Role::kNodeLeader) return;
  // One line to a rank is used as long as it stands, so that its messages keep their order.
  route_to_.emplace(line.peer, id);
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

// A frame that came on a line cannot be read, or does not belong there.
void Member::OnBrokenStream(LineId id, const std::string& why) {
  const auto it = lines_.find(id);
  if (it == lines_.end()) return;
  const std::uint32_t peer = it->second.peer;
  const bool root = it->second.role == Role::kRoot;
  if (joining())
    return root ? FailHere(Code::kProtocol, "the root sent " + why)
                : FailOn(peer, Code::kProtocol, "sent " + why);
  Emit(Hangup{id});
  lines_.erase(it);
  if (root) return;  // it is not needed any more
  if (const auto way = route_to_.find(peer); way != route_to_.end() && way->second == id)
    route_to_.erase(way);
  OnLost(peer, Code::kProtocol, "sent " + why);
}

void Member::CloseAll(const SharedBytes& to_members, const SharedBytes& to_roots) {
  for (auto& [id, line] : lines_) {
    const SharedBytes& word = line.role == Role::kRoot ? to_roots : to_members;
    if (word) Say(id, line, Slice(word));
    Emit(Hangup{id});
  }
  for (Outgoing& outgoing : outgoing_) outgoing.dialler.Stop();
  lines_.clear();
  acceptor_.Clear();
  route_to_.clear();
  outgoing_.clear();
}

std::string Member::Name(std::uint32_t rank) const {
  const auto address = AddressOf(rank);
  return address ? Describe(Rank{rank}, *address) : roster_.DescribeRank(Rank{rank});
}

std::optional<MemberAddress> Member::AddressOf(std::uint32_t rank) const {
  if (rank == self()) return config_.member_address;
  if (const Joining* const at = joining())
    if (const auto it = std::ranges::find(at->local_ranks, rank, &CheckIn::rank);
        it != at->local_ranks.end())
      return it->member_address;
  if (rank >= roster_.size()) return std::nullopt;
  auto address = roster_.At(Rank{rank});
  return address.ok() ? std::optional(*std::move(address)) : std::nullopt;
}

// Empty: it is not known to be stopped.
std::string Member::WhyStopped(std::uint32_t rank) const {
  const auto address = AddressOf(rank);
  return address ? StoppedText(config_.is_stopped, address->host, address->pid) : std::string();
}

std::string Member::WhySilent(const Line& line) const {
  std::string stopped;
  if (line.role != Role::kRoot) {
    stopped = WhyStopped(line.peer);
  } else if (joining() && joining()->welcome && line.peer == own_root()) {
    const Welcome& welcome = *joining()->welcome;
    stopped = StoppedText(config_.is_stopped, welcome.host, welcome.pid);
  }
  return SilenceText(config_.silence_max, stopped);
}

// ---- frames -----------------------------------------------------------------------------------

void Member::Pump(LineId id) {
  while (!Finished()) {
    const auto it = lines_.find(id);
    if (it == lines_.end()) return;
    auto frame = it->second.wire.Next();
    if (!frame.ok()) return OnBrokenStream(id, frame.error().message);
    if (!*frame) return;
    OnFrame(id, it->second, **frame);
  }
}

bool Member::Accepts(Role role, std::uint8_t frame) const {
  return RuleFor(MemberRules(), state(), role, static_cast<FrameType>(frame), config_.shape) !=
         nullptr;
}

bool Member::IsLateFrame(Role role, std::uint8_t frame) const {
  return IsLate(MemberRules(), state(), role, static_cast<FrameType>(frame), config_.shape);
}

void Member::OnFrame(LineId id, Line& line, const Frame& frame) {
  if (!Accepts(line.role, frame.type)) {
    if (!IsLateFrame(line.role, frame.type)) OnMisfit(id, frame);
    return;
  }
  line.spoke = true;
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kBeat) return;
  if (line.role == Role::kRoot) return OnRootFrame(id, line, frame);
  const bool of_group = type >= FrameType::kGather && type <= FrameType::kAnswer;
  if (of_group || type == FrameType::kForm) return OnGroupFrame(line, frame);
  if (line.role == Role::kChild) return OnChildReady(line);
  OnUpperFrame(id, line, frame);
}

void Member::OnMisfit(LineId id, const Frame& frame) {
  OnBrokenStream(id, fmt::format("a frame of type {} that does not fit", frame.type));
}

void Member::OnCaller(const Acceptor::FirstFrame& caller) {
  const auto type = static_cast<FrameType>(caller.frame.type);
  const bool fits = Accepts(Role::kCaller, caller.frame.type);
  if (fits && type == FrameType::kCheckIn && caller.purpose == Purpose::kCheckIn)
    return OnLocalRank(caller);
  if (fits && type == FrameType::kIdentify) return OnIdentify(caller);
  acceptor_.TurnAway(caller.line, "a connection that does not identify its rank");
}

void Member::OnIdentify(const Acceptor::FirstFrame& caller) {
  const auto identify = ParseIdentify(caller.frame.payload.bytes);
  if (!identify.ok() || identify->rank >= config_.size || identify->rank == self())
    return acceptor_.TurnAway(caller.line, "a connection that does not identify its rank");
  const std::uint32_t peer = identify->rank;
  const std::uint32_t previous = (self() + config_.size - 1) % config_.size;
  Joining* const at = joining();
  Role role = Role::kCaller;
  const bool place = identify->subtree.count > 0 && identify->subtree.count <= config_.size;
  if (caller.purpose == Purpose::kTree && is_tree() && at && !at->subtree && place)
    role = Role::kParent;
  if (caller.purpose == Purpose::kRing && !is_tree() && peer == previous) role = Role::kPrevious;
  // A member that calls as a peer has been told to go; our own word to go may still be under way.
  if (caller.purpose == Purpose::kPeer && state() >= MemberState::kReported) role = Role::kPeerIn;
  const bool taken = role != Role::kPeerIn && LineOf(role, peer) != 0;
  if (role == Role::kCaller || taken)
    return acceptor_.TurnAway(caller.line,
                              fmt::format("rank {} calls where it has no place", peer));
  if (role == Role::kParent) at->subtree = identify->subtree;
  Adopt(caller.line, role, peer);
}

}  // namespace ringlet::bootstrap
