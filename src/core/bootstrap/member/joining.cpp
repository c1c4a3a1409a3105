#include "bootstrap/member/joining.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/member/group_frames.hpp"
#include "bootstrap/member/joining_phase.hpp"
#include "bootstrap/member/standing.hpp"
#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {
namespace {

// JoiningMember::state() depends on the order of the steps.
static_assert(static_cast<int>(MemberState::kReported) == 3);

constexpr Instant kNodeLeaderTimeout = std::chrono::milliseconds(250);

}  // namespace

void JoiningMember::Begin() {
  const MemberConfig& config = common_->config;
  if (!config.node_leader || config.speaks) return roots_.CallFor(common_->self());
  common_->connections.Connect(MemberLine::kNodeLeader, kNoOrigin, {*config.node_leader},
                               common_->join_deadline(), common_->now);
}

Instant JoiningMember::Deadline() const {
  // The root gives up before its members and names the missing ranks. On a busy host its kReject
  // may arrive late, so a member that has checked in waits a step longer.
  const bool calling = state() == MemberState::kCalling;
  return common_->join_deadline() + (calling ? Instant(0) : LadderStep(common_->config.timeout));
}

void JoiningMember::OnTick() {
  if (common_->now >= Deadline())
    Fail({Code::kTimeout, kNoOrigin,
          fmt::format("{} timed out {}", roots_.Name(common_->self()), Phase())});
}

// ---- connections and calls --------------------------------------------------------------------

void JoiningMember::OnOpened(LineId id, MemberLine role, std::uint32_t peer) {
  if (role == MemberLine::kChild) {
    if (auto* const at = std::get_if<MemberCheckedIn>(&step_))
      at->below.OnOpened(id, false, common_->connections);
    if (auto* const at = std::get_if<MemberConnecting>(&step_))
      at->below.OnOpened(id, true, common_->connections);
    return;
  }
  if (role == MemberLine::kRoot) {
    roots_.OnOpened(id, peer);
  } else if (role == MemberLine::kNodeLeader) {
    roots_.CheckInAt(id, 0);
  } else {
    return;
  }
  if (std::holds_alternative<MemberCalling>(step_)) step_ = MemberCheckedIn();
  if (common_->milestones.called == Instant(0)) common_->milestones.called = common_->now;
}

void JoiningMember::OnBroken(LineId id, const std::string& why) {
  const Line& line = common_->connections.lines().at(id);
  if (line.role == MemberLine::kRoot) return FailHere(Code::kProtocol, "the root sent " + why);
  OnLost(line.peer, Code::kProtocol, "sent " + why);
}

void JoiningMember::OnUpwardClosed(const Line& line, const std::string& why) {
  // The node leader is lost, so this rank checks in at the root itself. If the node leader had
  // already checked it in, the root reports more.
  if (line.role == MemberLine::kNodeLeader) return roots_.CallFor(common_->self());
  if (line.done) return;
  if (line.ready) return Fail(roots_.FailureOfRoot(line.peer, Phase(), why));
  roots_.CallAgain(line.peer);
}

void JoiningMember::OnDialClosed(CallInProgress& call, bool reached, const std::string& why) {
  if (call.role == MemberLine::kRoot && !reached && roots_.IsGone(call))
    return Fail(roots_.FailureOfRoot(call.peer, Phase(), why));
  if (call.role == MemberLine::kPeerOut && !reached)
    common_->connections.MarkAbsent(call.peer, common_->now);
  // A UNIX socket without a listener rarely gets one again. The member tries a little longer,
  // because the listener's queue may have been full.
  if (call.role == MemberLine::kNodeLeader)
    call.expires = std::min(call.expires, common_->now + kNodeLeaderTimeout);
}

void JoiningMember::OnAllAddressesWrong(CallInProgress& call) {
  if (call.role == MemberLine::kNodeLeader) {
    call.expires = common_->now;  // OnExpired then calls the root instead
    return;
  }
  const bool root = call.role == MemberLine::kRoot;
  Fail({Code::kProtocol, root ? kNoOrigin : call.peer,
        fmt::format("{} cannot be reached by {}: {}", root ? "the root" : roots_.Name(call.peer),
                    roots_.Name(common_->self()), call.dialler.Reasons())});
}

void JoiningMember::OnExpired(const CallInProgress& call, const std::string& reasons) {
  // The node leader is absent, so this rank checks in at the root itself.
  if (call.role == MemberLine::kNodeLeader) return roots_.CallFor(common_->self());
  const std::string stopped = roots_.WhyStopped(call.peer);
  if (!stopped.empty()) return OnLost(call.peer, Code::kTimeout, stopped);
  Fail({Code::kTimeout, call.peer,
        fmt::format("{} cannot be reached by {}: {}", roots_.Name(call.peer),
                    roots_.Name(common_->self()), reasons)});
}

// ---- frames -----------------------------------------------------------------------------------

void JoiningMember::OnFrame(LineId id, Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  const bool of_group =
      (type >= FrameType::kGather && type <= FrameType::kAnswer) || type == FrameType::kForm;
  const bool of_root = line.role == MemberLine::kRoot;
  if (of_group && !of_root) return OnGroupFrame(line, frame);
  if (line.role == MemberLine::kChild) return OnChildReady(line);
  const bool fits = of_root ? TakeRootFrame(line, frame) : HandleUpperFrame(id, line, frame);
  if (!fits) OnBroken(id, fmt::format("an unexpected frame of type {}", frame.type));
}

bool JoiningMember::TakeRootFrame(Line& line, const Frame& frame) {
  const View payload = frame.payload.bytes;
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kReject) return TakeReject(payload);
  if (type == FrameType::kWelcome) {
    const auto welcome = ParseWelcome(payload);
    if (!welcome.ok()) return false;
    line.ready = true;
    if (line.peer == common_->own_root()) roots_.ForwardWelcome(*welcome);
  } else if (type == FrameType::kRoster) {
    if (line.peer != 0 || std::get<MemberCheckedIn>(step_).upper != 0) return false;
    OnRosterPiece(frame.payload.Owned(), 0);
  } else if (type == FrameType::kSection) {
    if (line.peer == 0 || !roots_.IsDelegateOf(line.peer)) return false;
    roots_.ForwardToFirst(frame.payload.Owned());
  } else if (type == FrameType::kNeighbour) {
    OnNeighbour(payload);
  } else if (type == FrameType::kDone) {
    line.done = true;
    if (!common_->is_tree()) std::get<MemberReported>(step_).may_go = true;
  } else {
    return false;
  }
  return true;
}

bool JoiningMember::TakeReject(View payload) {
  const auto failure = ParseFailure(payload, common_->self(), common_->config.size);
  if (failure.ok()) Fail(*failure);
  return failure.ok();
}

bool JoiningMember::HandleUpperFrame(LineId id, Line& line, const Frame& frame) {
  const View payload = frame.payload.bytes;
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kReject) return TakeReject(payload);
  if (type == FrameType::kNodeLeader) {
    if (payload.size() != 4) return false;
    if (line.peer == kNoOrigin) line.peer = Reader(payload).U32();
    return line.peer < common_->config.size;
  }
  if (type == FrameType::kWelcome) {
    auto welcome = ParseWelcome(payload);
    if (welcome.ok()) roots_.set_welcome(std::move(*welcome));
    return welcome.ok();
  }
  if (type == FrameType::kGo) {
    std::get<MemberReported>(step_).may_go = true;
    return true;
  }
  if (type != FrameType::kRoster || line.peer == kNoOrigin) return false;
  OnRosterPiece(frame.payload.Owned(), id);
  return true;
}

void JoiningMember::OnGroupFrame(const Line& line, const Frame& frame) {
  const auto received = ReadGroupFrame(frame);
  if (!received) return OnLost(line.peer, Code::kProtocol, "sent a frame without a group");
  if (received->group == kWorld && world_) {
    world_->group.OnFrame(line.peer, received->type, received->payload);
    return Settle();
  }
  if (received->type == FrameType::kFailure) {
    if (!TakeReject(received->payload.bytes))
      OnLost(line.peer, Code::kProtocol, "sent a frame that does not parse");
    return;
  }
  if (!early_.Keep(received->group, {line.peer, received->type, received->payload.Owned()}))
    OnLost(line.peer, Code::kProtocol, EarlyFrames::TooMany(common_->self()));
}

// ---- along the tree ---------------------------------------------------------------------------

void JoiningMember::OnRosterPiece(const Slice& piece, LineId upper) {
  MemberCheckedIn& at = std::get<MemberCheckedIn>(step_);
  at.upper = upper;
  if (const Status pushed = at.inbox.Push(piece); !pushed.ok())
    return FailHere(pushed.error().code, pushed.error().message);
  for (const auto& [id, line] : common_->connections.lines())
    if (line.role == MemberLine::kChild)
      common_->connections.SendPayload(id, FrameType::kRoster, piece);
  if (upper == 0 && at.inbox.node_leader_count())
    subtree_ = PlaceRange{0, *at.inbox.node_leader_count()};
  if (subtree_) at.below.Define(*subtree_, common_->config.arity);
  at.below.Keep(piece);
  if (const Status called = at.below.Call(at.inbox, *common_); !called.ok())
    return FailHere(called.error().code, called.error().message);
  if (at.inbox.complete()) FinishRoster();
}

void JoiningMember::FinishRoster() {
  MemberCheckedIn& at = std::get<MemberCheckedIn>(step_);
  auto roster = at.inbox.Finish(common_->config.roster_cache.get());
  const Line* const upper = common_->connections.Find(at.upper);
  const Status fits =
      roster.ok() ? CheckPlace(*roster, common_->config, subtree_, upper ? upper->peer : kNoOrigin)
                  : Status(roster.error());
  if (!fits.ok()) return FailHere(fits.error().code, fits.error().message);
  common_->roster = std::move(*roster);
  common_->milestones.roster = common_->now;
  step_ = MemberConnecting{at.upper, std::move(at.below)};
  MemberConnecting& next = std::get<MemberConnecting>(step_);
  next.below.Complete();
  TreePlace place;
  if (next.upper != 0)
    place.parent = common_->connections.MakeParent(next.upper, common_->now).peer;
  for (const PlaceRange& child : next.below.ranges())
    place.children.push_back(Index(common_->roster.NodeLeader(child.first)));
  roots_.AddLocalRanksTo(place);
  OpenWorld(std::move(place));
  ReportIfReady();
}

void JoiningMember::OnChildReady(Line& line) {
  if (std::exchange(line.ready, true)) return;
  ++std::get<MemberConnecting>(step_).ready;
  ReportIfReady();
}

void JoiningMember::ReportIfReady() {
  const auto* const at = std::get_if<MemberConnecting>(&step_);
  if (failure_ || !at || at->ready < at->below.size() + roots_.local_ranks()) return;
  const LineId upper = at->upper;
  step_ = MemberReported{.may_go = upper == 0};
  common_->milestones.connected = common_->now;
  if (upper == 0) return roots_.SendToFirst(FrameType::kReady);
  common_->connections.SendFrame(upper, ToFrame(FrameType::kReady));
}

// ---- around the ring --------------------------------------------------------------------------

void JoiningMember::OnNeighbour(View payload) {
  if (world_) return;
  const MemberConfig& config = common_->config;
  const auto next = ParseMemberAddress(payload);
  if (!next.ok()) return FailHere(Code::kProtocol, "the root sent a malformed neighbour frame");
  Writer own;
  Encode(own, config.member_address);
  if (config.size > 1)
    common_->connections.Connect(MemberLine::kNext, (common_->self() + 1) % config.size,
                                 next->addresses, common_->neighbour_deadline(), common_->now);
  OpenWorld({});
  world_->group.Gather(false, own.Take());
  Settle();
}

void JoiningMember::FinishRingRoster() {
  const auto table = world_->group.TakeTable();
  if (!table) return;
  std::vector<RankRecord> records;
  for (std::uint32_t rank = 0; rank < table->size(); ++rank) {
    const View record = table->At(Rank{rank});
    if (!ParseMemberAddress(record).ok())
      return OnLost(rank, Code::kProtocol, "sent a member address that cannot be read");
    records.push_back({Bytes(record.begin(), record.end()), rank});
  }
  common_->roster = Roster::Build(0, records);
  world_->group.set_roster(common_->roster);
  common_->milestones.roster = common_->milestones.connected = common_->now;
  step_ = MemberReported();
  roots_.SendToFirst(FrameType::kReady);
}

// ---- both shapes -----------------------------------------------------------------------------

void JoiningMember::OpenWorld(TreePlace place) {
  world_ = CreateWorldMembership(common_->config, std::move(place), common_->roster);
  const std::vector<EarlyFrame> frames = early_.Take(kWorld);
  if (frames.empty()) return;
  for (const EarlyFrame& early : frames)
    world_->group.OnFrame(early.from, early.type, early.payload);
  Settle();
}

// Carries out the decisions of the world. Called after every change to it.
void JoiningMember::Settle() {
  if (failure_) return;
  common_->AnswerQuestions(world_->group);
  for (GroupProtocol::OutgoingFrame& out : world_->group.TakeOutgoing())
    if (const Status sent = common_->SendOut(*world_, std::move(out)); !sent.ok())
      return FailHere(sent.error().code, sent.error().message);
  if (const auto& failure = world_->group.failure()) return Fail(*failure);
  if (!common_->is_tree() && std::holds_alternative<MemberCheckedIn>(step_)) FinishRingRoster();
}

void JoiningMember::OnLost(std::uint32_t peer, Code code, const std::string& what) {
  Fail({code, peer,
        fmt::format("{} {}; {} noticed it while {}", roots_.Name(peer), what,
                    roots_.Name(common_->self()), Phase())});
}

void JoiningMember::Fail(const Failure& failure) {
  if (!failure_) failure_ = failure;
}

void JoiningMember::Leave(GroupId) {
  FailHere(Code::kAborted, fmt::format("{} gave up {}", roots_.Name(common_->self()), Phase()));
}

StandingMember JoiningMember::BecomeStanding() && {
  common_->milestones.standing = common_->now;
  const Slice go(Share(ToFrame(FrameType::kGo)));
  for (auto& [id, line] : common_->connections.lines())
    if (line.role == MemberLine::kChild) common_->connections.Transmit(id, line, go);
  roots_.Dismiss();
  return StandingMember(*common_, std::move(world_), std::move(early_));
}

MemberOver JoiningMember::End() && {
  common_->connections.CloseAll(GroupFailureFrame(kWorld, *failure_),
                                Slice(Share(ToFrame(FrameType::kFailure, *failure_))));
  return MemberOver{std::move(failure_)};
}

// ---- texts for messages ----------------------------------------------------------------------

std::string JoiningMember::Phase(GroupId) const {
  if (state() == MemberState::kCalling) return CallingPhase(*common_);
  const auto* const at = std::get_if<MemberCheckedIn>(&step_);
  if (!at) return ConnectingPhase(*common_, roots_);
  if (world_)
    return fmt::format("gathering the ring's addresses, waiting for {}", world_->group.Awaited());
  if (at->inbox.node_leader_count()) return "receiving the roster";
  return roots_.welcome() ? "checked in and waiting for the other ranks"
                          : "checked in and waiting for the first answer of the root";
}

}  // namespace ringlet::bootstrap
