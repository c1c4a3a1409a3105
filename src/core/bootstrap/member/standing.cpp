#include "bootstrap/member/standing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {
namespace {

// Interval at which a rank checks on the ranks that it waits for. Connecting within a site is
// faster.
constexpr Instant kLookAfter = std::chrono::milliseconds(100);
// An awaited rank without a listening process is lost after this time. Until then a neighbour that
// knows more may report the reason.
constexpr Instant kAbsentMax = std::chrono::milliseconds(200);
// A reformed group does not need the reason of a loss, so it waits for a shorter time: until each
// address of the rank has been refused several times.
constexpr Instant kAbsentMaxOfReformed = std::chrono::milliseconds(10);
constexpr std::uint32_t kRefusalsOfReformed = 3;
// A reformed group often contains dead ranks. Living ranks below this one usually connect within
// this time, even if all ranks share two cores.
Instant FirstLookAt(const GroupMembership& membership) {
  if (!membership.reformed_from) return kLookAfter;
  constexpr Instant kBase = std::chrono::milliseconds(10),
                    kPerRank = std::chrono::microseconds(500);
  return std::min(kLookAfter, kBase + kPerRank * std::ssize(membership.group.place().children));
}
// If a top rank in the tree refuses a connection, its host may have died. The ranks that would
// replace it one after the other are called at once: this many for the top rank, and this many for
// each rank of its host that is left out already.
constexpr std::size_t kSuccessorsPerLost = 4;
std::vector<std::uint32_t> SuccessorsToCall(const GroupMembership& membership, std::uint32_t rank) {
  Successors next = membership.group.roster().SuccessorsOf(Rank{rank});
  const std::size_t most = kSuccessorsPerLost * (next.left_out + 1);
  if (next.ranks.size() > most) next.ranks.resize(most);
  return next.ranks;
}

Slice FailureFrameOf(const GroupMembership& membership) {
  return GroupFailureFrame(membership.group.id(), *membership.group.failure());
}

Slice FormFrameOf(const GroupMembership& membership, bool answers = false) {
  return FormFrame(membership.group.id(), membership.Announcement(answers));
}

}  // namespace

StandingMember::StandingMember(MemberCommon& common, std::unique_ptr<GroupMembership> world,
                               EarlyFrames early)
    : common_(&common), early_(std::move(early)) {
  memberships_.emplace(kWorld, std::move(world));
}

GroupMembership* StandingMember::FindMembership(GroupId id) const {
  const auto it = memberships_.find(id);
  return it == memberships_.end() ? nullptr : it->second.get();
}

GroupProtocol* StandingMember::Find(GroupId group) const {
  GroupMembership* const membership = FindMembership(group);
  return membership ? &membership->group : nullptr;
}

std::string StandingMember::WhyStopped(const Line& line) const {
  return line.role == MemberLine::kRoot ? std::string() : common_->WhyStopped(line.peer);
}

FailureSpread::IsLost StandingMember::LostIn(const GroupMembership& membership) const {
  return [this, &membership](std::uint32_t rank) { return IsLost(membership.ToWorld(rank)); };
}

// ---- input ------------------------------------------------------------------------------------

void StandingMember::OnFrame(LineId, const Line& line, const Frame& frame) {
  if (line.role == MemberLine::kRoot) return;  // a standing member does not need the root
  const auto received = ReadGroupFrame(frame);
  if (!received) return FailOn(line.peer, Code::kProtocol, "sent a frame without a group");
  if (left_.Contains(received->group)) {
    for (const Slice& answer : left_.AnswerTo(*received)) PostTo(line.peer, answer);
    return;
  }
  GroupMembership* const membership = FindMembership(received->group);
  if (!membership) {
    if (RefuseLostRank(line.peer, *received)) return;
    if (!early_.Keep(received->group, {line.peer, received->type, received->payload.Owned()}))
      FailOn(line.peer, Code::kProtocol, EarlyFrames::TooMany(common_->self()));
    return;
  }
  if (!membership->FromWorld(line.peer))
    return OnUnexpectedSender(*membership, line.peer, *received);
  OnGroupFrame(*membership, line.peer, *received);
  Settle(*membership);
  if (received->type == FrameType::kLeave && membership->news.begun())
    NotifyNeighbours(*membership);
}

// A living rank that the others have lost may be ahead with its attempts to reform the group. It
// receives their lost ranks.
bool StandingMember::RefuseLostRank(std::uint32_t from, const ReceivedInGroup& received) {
  const auto theirs = ReadFormation(received);
  if (!theirs || !theirs->lost) return false;
  const auto without_it = [&](const auto& entry) {
    const GroupMembership& one = *entry.second;
    return one.reformed_from && one.lineage == theirs->lost->lineage && one.lost.Contains(from);
  };
  const auto reformed = std::ranges::find_if(memberships_, without_it);
  if (reformed == memberships_.end()) return false;
  FormAnnouncement answer{.lost = reformed->second->Announcement(/*answers=*/true).lost};
  if (!theirs->lost->answers) PostTo(from, FormFrame(received.group, answer));
  return true;
}

void StandingMember::OnGroupFrame(GroupMembership& membership, std::uint32_t from,
                                  const ReceivedInGroup& received) {
  const std::uint32_t rank = *membership.FromWorld(from);
  const FrameType type = received.type;
  if (membership.reformed_from) {
    const auto theirs = ReadFormation(received);
    if (theirs) OnFormationOfReformed(membership, from, *theirs);
    if (type == FrameType::kForm && theirs) return;
  }
  if (type == FrameType::kFailure && membership.news.RecordReceived(rank))
    PostTo(from, FailureFrameOf(membership));
  membership.group.OnFrame(rank, type, received.payload);
}

// A reformed group works only if its ranks know of the same lost ranks. If they do not, they
// exchange their lists, the group fails on all of them, and they form the next one.
void StandingMember::OnFormationOfReformed(GroupMembership& membership, std::uint32_t from,
                                           const FormAnnouncement& theirs) {
  const bool differs = theirs.digest != membership.group.digest();
  const std::uint32_t sender = *membership.FromWorld(from);
  if (membership.group.failure() && !(theirs.lost && theirs.lost->answers)) {
    PostTo(from, FormFrameOf(membership, /*answers=*/true));
    if (!differs) PostTo(from, FailureFrameOf(membership));
  }
  if (theirs.lost) RecordLostOf(membership, sender, *theirs.lost);
  if (differs && !membership.group.failure())
    membership.group.Fail({Code::kPeerLost, kNoOrigin,
                           fmt::format("{} and {} know of different lost ranks",
                                       membership.group.Name(membership.group.self()),
                                       membership.group.Name(sender))});
}

// Merges the lost ranks that another rank of the group knows into those of this rank.
void StandingMember::RecordLostOf(GroupMembership& membership, std::uint32_t sender,
                                  const LostRanks& theirs) {
  std::vector<std::uint32_t> ranks = theirs.ranks;
  ranks.erase(std::ranges::lower_bound(ranks, common_->config.size), ranks.end());
  const std::vector<std::uint32_t> added = membership.lost.Merge(ranks);
  GroupMembership* const above = FindMembership(*membership.reformed_from);
  if (above) above->lost.Merge(ranks);
  const auto in_group = [&](std::uint32_t peer) { return membership.FromWorld(peer).has_value(); };
  const auto first = std::ranges::find_if(added, in_group);
  if (membership.group.failure() || first == added.end()) return;
  const std::uint32_t rank = *membership.FromWorld(*first);
  membership.group.Fail({Code::kPeerLost, rank,
                         fmt::format("{} is lost, as {} reports", membership.group.Name(rank),
                                     membership.group.Name(sender))});
}

void StandingMember::RecordLost(GroupMembership& membership, std::uint32_t peer) {
  membership.lost.Insert(peer);
  if (!membership.reformed_from) return;
  if (GroupMembership* const above = FindMembership(*membership.reformed_from))
    above->lost.Insert(peer);
}

// The origin of a failure is the lost rank, if there is one.
void StandingMember::RecordLostOrigin(GroupMembership& membership) {
  const auto& failure = membership.group.failure();
  if (failure->code == Code::kPeerLost && failure->origin < membership.group.size())
    RecordLost(membership, membership.ToWorld(failure->origin));
}

// A rank outside this rank's list takes part. It receives this rank's list.
void StandingMember::OnUnexpectedSender(GroupMembership& membership, std::uint32_t from,
                                        const ReceivedInGroup& received) {
  const FrameType type = received.type;
  if (type == FrameType::kLeave || type == FrameType::kAnswer) return;
  if (membership.reformed_from) {
    const auto theirs = ReadFormation(received);
    if (!theirs || !theirs->lost || !theirs->lost->answers)
      PostTo(from, FormFrameOf(membership, /*answers=*/true));
    return;
  }
  const auto address = common_->roster.At(Rank{from});
  membership.group.Fail(
      {Code::kInvalidArgument, kNoOrigin,
       fmt::format("a rank that is not in this communicator takes part in it ({}): the calls of "
                   "all ranks must name the same ranks to keep or to leave out",
                   address.ok() ? fmt::format("host {}, pid {}", address->host, address->pid)
                                : std::string("its address is not known"))});
  Settle(membership);
  PostTo(from, FormFrameOf(membership));
}

void StandingMember::Replay(GroupMembership& membership) {
  const std::vector<EarlyFrame> frames = early_.Take(membership.group.id());
  if (frames.empty()) return;
  for (const EarlyFrame& early : frames) {
    const ReceivedInGroup received{membership.group.id(), early.type, early.payload};
    if (membership.FromWorld(early.from))
      OnGroupFrame(membership, early.from, received);
    else
      OnUnexpectedSender(membership, early.from, received);
  }
  Settle(membership);
}

void StandingMember::OnBroken(LineId id, const std::string& why) {
  common_->connections.Hangup(id);
  const auto line = common_->connections.Remove(id);
  // A standing member does not need the root.
  if (line && line->role != MemberLine::kRoot) OnLost(line->peer, Code::kProtocol, "sent " + why);
}

void StandingMember::OnLost(std::uint32_t peer, Code code, const std::string& why) {
  lost_.emplace(peer, why);
  for (const auto& [id, membership] : memberships_) {
    const auto rank = membership->FromWorld(peer);
    if (!rank) continue;
    const bool told = membership->news.begun();
    membership->lost.Insert(peer);
    // The ranks of a reformed group reform it after any loss.
    membership->group.OnLost(*rank, membership->reformed_from ? Code::kPeerLost : code, why);
    Settle(*membership);
    if (told && id != kWorld)
      NotifyNeighbours(*membership);  // also notify the ranks behind the lost one
  }
}

void StandingMember::OnAllAddressesWrong(CallInProgress& call) {
  call.expires = common_->now;  // OnExpired then reports it to the groups
  // Another communicator listens at its address now, so its own process does not.
  if (call.role != MemberLine::kPeerOut) return;
  replaced_.insert(call.peer);
  OnUnanswered(call.peer);
}

void StandingMember::OnExpired(const CallInProgress& call, const std::string& reasons) {
  // No group has needed the rank.
  if (called_ahead_.erase(call.peer) > 0) return;
  // If no process listens, that rank has left, or its neighbours know that it has died.
  if (common_->connections.AbsentSince(call.peer)) return;
  const std::string stopped = common_->WhyStopped(call.peer);
  OnLost(call.peer, Code::kTimeout, stopped.empty() ? "cannot be reached: " + reasons : stopped);
}

// A rank may have died before it spoke on a connection. Reformed groups check that soon, and check
// the ranks that would replace it as well.
void StandingMember::OnDoubt(std::uint32_t peer) {
  for (const auto& [id, membership] : memberships_) {
    const auto rank = membership->FromWorld(peer);
    if (!membership->reformed_from || !rank || membership->group.failure()) continue;
    if (membership->group.gathering()) awaiting_[id] = {common_->now, kAbsentMaxOfReformed};
    CallSuccessors(*membership, *rank);
  }
}

void StandingMember::CallSuccessors(GroupMembership& membership, std::uint32_t rank) {
  for (const std::uint32_t next : SuccessorsToCall(membership, rank))
    if (next != membership.group.self() && Call(membership, next))
      called_ahead_.insert(membership.ToWorld(next));
}

// Connects to a rank by announcing the group to it. Returns false if it has a connection or a call.
bool StandingMember::Call(GroupMembership& membership, std::uint32_t rank) {
  const std::uint32_t peer = membership.ToWorld(rank);
  if (common_->connections.RouteTo(peer) != 0 || common_->connections.CallTo(peer)) return false;
  membership.announced.insert(peer);
  PostTo(peer, FormFrameOf(membership));
  return true;
}

// Returns true if no process listens for a called rank any more.
bool StandingMember::IsDead(const GroupMembership& membership, std::uint32_t peer) const {
  if (membership.reformed_from && replaced_.contains(peer)) return true;
  const auto absent = common_->connections.AbsentSince(peer);
  if (!absent || !common_->connections.CallTo(peer)) return false;
  const bool is_refused = membership.reformed_from && IsRefusedOften(peer);
  return common_->now - *absent >= (is_refused ? kAbsentMaxOfReformed : kAbsentMax);
}

bool StandingMember::IsRefusedOften(std::uint32_t peer) const {
  const auto* const call = common_->connections.CallTo(peer);
  return call && call->dialler.failures() >= kRefusalsOfReformed;
}

// Records an awaited rank as lost. In a reformed group, records the dead ranks right behind it as
// well. The first living one replaces it, and the ranks behind that one matter to no other host.
void StandingMember::RecordDead(GroupMembership& membership, std::uint32_t rank) {
  const auto record = [&](std::uint32_t peer) {
    RecordLost(membership, peer);
    auto* const call = common_->connections.CallTo(peer);
    if (membership.reformed_from && call) call->expires = common_->now;
  };
  record(membership.ToWorld(rank));
  if (!membership.reformed_from) return;
  for (const std::uint32_t next : SuccessorsToCall(membership, rank)) {
    const std::uint32_t peer = membership.ToWorld(next);
    const bool is_absent = common_->connections.AbsentSince(peer) && IsRefusedOften(peer);
    if (common_->connections.RouteTo(peer) != 0 || !(is_absent || replaced_.contains(peer))) return;
    record(peer);
  }
}

// No process listens there at present. The rank may have left without notice to this one.
void StandingMember::OnUnanswered(std::uint32_t peer) {
  common_->connections.MarkAbsent(peer, common_->now);
  for (const auto& [id, membership] : memberships_) {
    const auto rank = membership->FromWorld(peer);
    if (rank && membership->news.MarkAbsent(*rank)) NotifyNeighbours(*membership);
  }
}

// ---- ranks that are awaited -------------------------------------------------------------------

std::optional<Instant> StandingMember::Deadline() const {
  const auto first =
      std::ranges::min_element(awaiting_, {}, [](const auto& entry) { return entry.second.due; });
  return first == awaiting_.end() ? std::nullopt : std::optional(first->second.due);
}

// The world has connections, and the end of one shows that a rank is lost. A parent in another
// group lacks a connection to a child that has not called, so it does not notice the death of such
// a child. A child may also call a dead parent.
void StandingMember::CheckAwaitedRanks() {
  const Instant now = common_->now;
  for (auto it = awaiting_.begin(); it != awaiting_.end();) {
    const auto entry = it++;
    NextLook& look = entry->second;
    GroupMembership* const membership = FindMembership(entry->first);
    if (!membership || membership->group.failure() || !membership->group.gathering()) {
      awaiting_.erase(entry);
    } else if (look.due == Instant(0)) {
      look = AwaitsDoubtedRank(*membership) ? NextLook{now, kAbsentMaxOfReformed}
                                            : NextLook{now + FirstLookAt(*membership), kLookAfter};
    } else if (now >= look.due) {
      // A dead rank in a reformed group delays all others, so it is looked at often.
      const Instant longest = membership->reformed_from ? kAbsentMaxOfReformed : kLookAfter;
      look.period = std::min(2 * look.period, longest);
      look.due = now + look.period;
      if (!CallAwaitedRanks(*membership)) awaiting_.erase(entry);
    }
  }
}

// A rank may have been doubted before this one began to wait for it.
bool StandingMember::AwaitsDoubtedRank(const GroupMembership& membership) const {
  const auto is_doubted = [&](std::uint32_t rank) {
    return common_->connections.AbsentSince(membership.ToWorld(rank)).has_value();
  };
  return membership.reformed_from &&
         std::ranges::any_of(membership.group.AwaitedRanks(), is_doubted);
}

// Returns false if no rank needs further checks.
bool StandingMember::CallAwaitedRanks(GroupMembership& membership) {
  bool all_have_lines = true;
  std::vector<std::uint32_t> dead;
  for (const std::uint32_t rank : membership.group.AwaitedRanks()) {
    const std::uint32_t peer = membership.ToWorld(rank);
    if (common_->connections.RouteTo(peer) != 0) {
      // The connection may be newer than the announcement.
      if (membership.reformed_from && membership.announced.insert(peer).second)
        PostTo(peer, FormFrameOf(membership));
      continue;
    }
    all_have_lines = false;
    called_ahead_.erase(peer);
    if (IsDead(membership, peer)) {
      dead.push_back(rank);
      RecordDead(membership, rank);
    } else if (!common_->connections.CallTo(peer)) {
      // In a group that is not reformed, a living rank learns nothing new from this frame.
      PostTo(peer, FormFrameOf(membership));
    }
  }
  if (dead.empty()) return !all_have_lines;
  membership.group.OnLost(dead.front(), Code::kPeerLost,
                          "has died, or has left: no process listens for it any more");
  Settle(membership);
  return false;
}

// ---- commands ---------------------------------------------------------------------------------

Error StandingMember::CannotForm() {
  return {Code::kInvalidArgument,
          "this child cannot be formed: its parent was left, or was already shrunk to a child with "
          "the same first rank and other ranks; shrink that child, or split the parent"};
}

void StandingMember::Enter(std::unique_ptr<GroupMembership> membership) {
  const GroupId id = membership->group.id();
  GroupMembership& formed = *memberships_.emplace(id, std::move(membership)).first->second;
  for (const auto& [peer, why] : lost_)
    if (const auto rank = formed.FromWorld(peer)) {
      formed.lost.Insert(peer);
      formed.group.OnLost(*rank, Code::kPeerLost, why);
    }
  Settle(formed);
  // Ranks with different lists would wait for each other in vain, so the neighbours receive ours.
  for (const std::uint32_t rank : SendToGroup(formed, FormFrameOf(formed)))
    if (formed.reformed_from) formed.announced.insert(formed.ToWorld(rank));
  if (formed.reformed_from) CallNewTopRanks(formed);
  Replay(formed);
}

// A top rank next to this one that replaces a lost rank may be dead as well. If it is below this
// one, it is called at once. The other ranks below this one are on its host, and call it soon.
void StandingMember::CallNewTopRanks(GroupMembership& membership) {
  const auto& roster = membership.group.roster();
  const auto check = [&](std::uint32_t rank) {
    if (common_->connections.AbsentSince(membership.ToWorld(rank)))
      CallSuccessors(membership, rank);
  };
  if (const auto parent = membership.group.place().parent) check(*parent);
  for (const std::uint32_t child : membership.group.place().children)
    if (const auto top = roster.NodeLeaderOf(Rank{child}); top.ok() && Index(*top) == child) {
      Call(membership, child);
      check(child);
    }
}

Status StandingMember::Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks,
                            Instant now) {
  common_->now = now;
  const GroupMembership* const above = FindMembership(parent);
  if (!above || FindMembership(id) || left_.Contains(id)) return CannotForm();
  RINGLET_TRY_ASSIGN(auto membership, CreateMembership(id, *above, ranks, common_->config));
  Enter(std::move(membership));
  return Ok();
}

Result<std::vector<std::uint32_t>> StandingMember::Reform(GroupId id, GroupId parent, Instant now) {
  common_->now = now;
  const GroupMembership* const above = FindMembership(parent);
  if (!above || FindMembership(id) || left_.Contains(id))
    return Error{Code::kInvalidArgument,
                 "this communicator was left, or it was reformed and the new one was reformed as "
                 "well: reform the newest one"};
  if (above->lost.Contains(common_->self()))
    return Error{.code = Code::kPeerLost,
                 .message = above->group.Name(above->group.self()) +
                            " is alive, but other ranks have lost it and continue without it",
                 .lost_rank = static_cast<int>(above->group.self())};
  std::vector<std::uint32_t> lost;
  for (const std::uint32_t peer : above->lost.ranks())
    if (const auto rank = above->FromWorld(peer)) lost.push_back(*rank);
  std::ranges::sort(lost);
  Enter(CreateReformed(id, *above, common_->config));
  return lost;
}

void StandingMember::Gather(bool barrier, Bytes payload, GroupId group) {
  GroupMembership* const membership = FindMembership(group);
  if (!membership) return;
  membership->group.Gather(barrier, std::move(payload));
  awaiting_[group] = {};  // checked from the next Tick on
  Settle(*membership);
}

std::optional<Table> StandingMember::TakeTable(GroupId group) {
  GroupProtocol* const found = Find(group);
  auto table = found ? found->TakeTable() : std::nullopt;
  if (table) awaiting_.erase(group);
  return table;
}

void StandingMember::Post(std::uint32_t to, std::uint64_t tag, Bytes message, Instant now,
                          GroupId group) {
  GroupMembership* const membership = FindMembership(group);
  if (!membership) return;
  common_->now = now;
  membership->group.Post(to, tag, std::move(message));
  Settle(*membership);
}

void StandingMember::Ask(std::uint32_t whom, Instant now, GroupId group) {
  GroupMembership* const membership = FindMembership(group);
  if (!membership) return;
  common_->now = now;
  membership->group.Ask(whom);
  Settle(*membership);
}

RankAbsence StandingMember::AbsenceOf(std::uint32_t rank, GroupId group) const {
  const GroupMembership* const membership = FindMembership(group);
  if (!membership) return RankAbsence::kUnknown;
  if (membership->group.HasLeft(rank)) return RankAbsence::kLeft;
  const bool absent = common_->connections.AbsentSince(membership->ToWorld(rank)).has_value();
  return absent ? RankAbsence::kAbsent : RankAbsence::kUnknown;
}

// ---- output -----------------------------------------------------------------------------------

// Carries out the decisions of the group. Called after every change to it.
void StandingMember::Settle(GroupMembership& membership) {
  common_->AnswerQuestions(membership.group);
  for (GroupProtocol::OutgoingFrame& out : membership.group.TakeOutgoing()) {
    const std::uint32_t peer = membership.ToWorld(out.to);
    if (common_->connections.RouteTo(peer) == 0) {
      awaiting_.try_emplace(membership.group.id());
      called_ahead_.erase(peer);
    }
    Require(common_->SendOut(membership, std::move(out)));
  }
  if (!membership.group.failure() || !membership.news.Begin()) return;
  RecordLostOrigin(membership);
  NotifyNeighbours(membership);
}

void StandingMember::PostTo(std::uint32_t peer, const Slice& frame) {
  called_ahead_.erase(peer);
  Require(common_->PostTo(peer, frame));
}

// Without the address of a rank no group can continue.
void StandingMember::Require(const Status& sent) {
  if (!sent.ok()) Fail({sent.error().code, common_->self(), sent.error().message});
}

// Notifies the neighbours of this rank and of absent ranks. Called again when more become absent.
void StandingMember::NotifyNeighbours(GroupMembership& membership) {
  if (!membership.news.has_notified()) {
    if (membership.reformed_from) SendToGroup(membership, FormFrameOf(membership, true));
    for (const std::uint32_t rank : SendToGroup(membership, FailureFrameOf(membership)))
      membership.news.MarkNotified(rank);
  }
  for (const std::uint32_t rank :
       membership.news.Next(membership.group, common_->config.arity, LostIn(membership)))
    SendFailureTo(membership, membership.ToWorld(rank));
}

// In a reformed group, sends the known lost ranks as well.
void StandingMember::SendFailureTo(const GroupMembership& membership, std::uint32_t peer) {
  if (membership.reformed_from) PostTo(peer, FormFrameOf(membership, /*answers=*/true));
  PostTo(peer, FailureFrameOf(membership));
}

// A rank that has just connected must not take the failure for a departure.
void StandingMember::NotifyUnnotified(const GroupMembership& membership) {
  if (!membership.group.failure()) return;
  std::vector<std::uint32_t> peers;
  for (const auto& [peer, line] : common_->connections.routes()) {
    const auto rank = membership.FromWorld(peer);
    if (rank && !membership.group.HasLeft(*rank) && !membership.news.IsNotified(*rank))
      peers.push_back(peer);
  }
  for (const std::uint32_t peer : peers) SendFailureTo(membership, peer);
}

std::vector<std::uint32_t> StandingMember::SendToGroup(const GroupMembership& membership,
                                                       const Slice& frame) {
  // Sent on the connection of all earlier frames, after them.
  std::vector<std::uint32_t> told;
  for (const auto& [peer, line] : common_->connections.routes()) {
    const auto rank = membership.FromWorld(peer);
    if (!rank || membership.group.HasLeft(*rank)) continue;
    common_->connections.Transmit(line, frame);
    told.push_back(*rank);
  }
  return told;
}

// ---- endings ----------------------------------------------------------------------------------

void StandingMember::Fail(const Failure& failure) {
  for (const auto& [id, membership] : memberships_) membership->group.Fail(failure);
  for (const auto& [id, membership] : memberships_) Settle(*membership);
}

void StandingMember::FailOn(std::uint32_t peer, Code code, const std::string& what) {
  Fail({code, peer,
        fmt::format("{} {}; {} noticed it while {}", common_->Name(peer), what,
                    common_->Name(common_->self()), Phase(kWorld))});
}

void StandingMember::Abort(Code code, const std::string& why, GroupId group, std::uint32_t lost) {
  GroupMembership* const membership = FindMembership(group);
  if (!membership) return;
  membership->group.FailHere(code, why, lost);
  Settle(*membership);
}

bool StandingMember::AwaitsFailureAnswers(GroupId group) const {
  const GroupMembership* const membership = FindMembership(group);
  return membership && membership->news.AwaitsAnswers(membership->group, LostIn(*membership));
}

void StandingMember::Leave(GroupId group) {
  const auto it = memberships_.find(group);
  if (it == memberships_.end()) return;
  const GroupMembership& membership = *it->second;
  NotifyUnnotified(membership);
  SendToGroup(membership, GroupFrame(group, FrameType::kLeave));
  left_.Add(membership);
  memberships_.erase(it);
}

MemberOver StandingMember::End() && {
  // A rank that is just calling must not mistake this hangup for a loss. It knows the called rank.
  for (const Slice& farewell : left_.LeaveFrames())
    common_->connections.callers().SendToProven(Purpose::kPeer, farewell);
  // A root that does not know yet that all ranks are connected must not mistake this for a loss.
  std::optional<Slice> to_roots;
  if (common_->is_tree()) to_roots = Slice(Share(ToFrame(FrameType::kReady)));
  common_->connections.CloseAll(std::nullopt, to_roots);
  return {};
}

}  // namespace ringlet::bootstrap
