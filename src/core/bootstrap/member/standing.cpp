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

Slice FailureFrameOf(const GroupSeat& seat) {
  return GroupFailureFrame(seat.group.id(), *seat.group.failure());
}

Slice FormFrameOf(const GroupSeat& seat) {
  return FormFrame(seat.group.id(), seat.group.digest());
}

}  // namespace

Standing::Standing(MemberCommon& common, std::unique_ptr<GroupSeat> world, EarlyFrames early)
    : common_(&common), early_(std::move(early)) {
  seats_.emplace(kWorld, std::move(world));
}

GroupSeat* Standing::FindSeat(GroupId id) const {
  const auto it = seats_.find(id);
  return it == seats_.end() ? nullptr : it->second.get();
}

Group* Standing::Find(GroupId group) const {
  GroupSeat* const seat = FindSeat(group);
  return seat ? &seat->group : nullptr;
}

std::string Standing::WhyStopped(const Line& line) const {
  return line.role == MemberLine::kRoot ? std::string() : common_->WhyStopped(line.peer);
}

FailureNews::IsLost Standing::LostIn(const GroupSeat& seat) const {
  return [this, &seat](std::uint32_t rank) { return IsLost(seat.ToWorld(rank)); };
}

// ---- input ------------------------------------------------------------------------------------

void Standing::OnFrame(LineId, const Line& line, const Frame& frame) {
  if (line.role == MemberLine::kRoot) return;  // a standing member does not need the root
  const auto received = ReadGroupFrame(frame);
  if (!received) return FailOn(line.peer, Code::kProtocol, "sent a frame without a group");
  if (left_.Contains(received->group)) {
    if (const auto answer = left_.AnswerTo(*received)) PostTo(line.peer, *answer);
    return;
  }
  GroupSeat* const seat = FindSeat(received->group);
  if (!seat) {
    if (!early_.Keep(received->group, {line.peer, received->type, received->payload.Owned()}))
      FailOn(line.peer, Code::kProtocol, EarlyFrames::TooMany(common_->self()));
    return;
  }
  if (!seat->FromWorld(line.peer)) return OnStranger(*seat, line.peer, received->type);
  OnGroupFrame(*seat, line.peer, received->type, received->payload);
  Settle(*seat);
  if (received->type == FrameType::kLeave && seat->news.begun()) Flood(*seat);
}

void Standing::OnGroupFrame(GroupSeat& seat, std::uint32_t from, FrameType type,
                            const Slice& payload) {
  const std::uint32_t rank = *seat.FromWorld(from);
  if (type == FrameType::kFailure && seat.news.Hear(rank)) PostTo(from, FailureFrameOf(seat));
  seat.group.OnFrame(rank, type, payload);
}

// A rank outside this rank's list takes part. It receives this rank's list.
void Standing::OnStranger(GroupSeat& seat, std::uint32_t from, FrameType type) {
  if (type == FrameType::kLeave || type == FrameType::kAnswer) return;
  const auto address = common_->roster.At(Rank{from});
  seat.group.Fail(
      {Code::kInvalidArgument, kNoOrigin,
       fmt::format("a rank that is not in this communicator takes part in it ({}): the calls of "
                   "all ranks must name the same ranks to keep or to leave out",
                   address.ok() ? fmt::format("host {}, pid {}", address->host, address->pid)
                                : std::string("its address is not known"))});
  Settle(seat);
  PostTo(from, FormFrameOf(seat));
}

void Standing::Replay(GroupSeat& seat) {
  const std::vector<EarlyFrame> frames = early_.Take(seat.group.id());
  if (frames.empty()) return;
  for (const EarlyFrame& early : frames) {
    if (seat.FromWorld(early.from))
      OnGroupFrame(seat, early.from, early.type, early.payload);
    else
      OnStranger(seat, early.from, early.type);
  }
  Settle(seat);
}

void Standing::OnBroken(LineId id, const std::string& why) {
  common_->connections.Hangup(id);
  const auto line = common_->connections.Remove(id);
  // A standing member does not need the root.
  if (line && line->role != MemberLine::kRoot) OnLost(line->peer, Code::kProtocol, "sent " + why);
}

void Standing::OnLost(std::uint32_t peer, Code code, const std::string& why) {
  lost_.emplace(peer, why);
  for (const auto& [id, seat] : seats_) {
    const auto rank = seat->FromWorld(peer);
    if (!rank) continue;
    const bool told = seat->news.begun();
    seat->group.OnLost(*rank, code, why);
    Settle(*seat);
    if (told && id != kWorld) Flood(*seat);  // also notify the ranks behind the lost one
  }
}

void Standing::OnHopeless(CallInProgress& call) {
  call.expires = common_->now;  // OnExpired then reports it to the groups
  // Another communicator listens at its address now, so its own process does not.
  if (call.role == MemberLine::kPeerOut) OnUnanswered(call.peer);
}

void Standing::OnExpired(const CallInProgress& call, const std::string& reasons) {
  // If no process listens, that rank has left, or its neighbours know that it has died.
  if (common_->connections.AbsentSince(call.peer)) return;
  const std::string stopped = common_->WhyStopped(call.peer);
  OnLost(call.peer, Code::kTimeout, stopped.empty() ? "cannot be reached: " + reasons : stopped);
}

// No process listens there at present. The rank may have left without notice to this one.
void Standing::OnUnanswered(std::uint32_t peer) {
  common_->connections.MarkAbsent(peer, common_->now);
  for (const auto& [id, seat] : seats_) {
    const auto rank = seat->FromWorld(peer);
    if (rank && seat->news.MarkAbsent(*rank)) Flood(*seat);
  }
}

// ---- ranks that are awaited -------------------------------------------------------------------

std::optional<Instant> Standing::Deadline() const {
  const auto first =
      std::ranges::min_element(awaiting_, {}, [](const auto& entry) { return entry.second; });
  return first == awaiting_.end() ? std::nullopt : std::optional(first->second);
}

// The world has connections, and the end of one shows that a rank is lost. A parent in another
// group lacks a connection to a child that has not called, so it does not notice the death of such
// a child. A child may also call a dead parent.
void Standing::LookForAwaited() {
  const Instant now = common_->now;
  for (auto it = awaiting_.begin(); it != awaiting_.end();) {
    const auto entry = it++;
    Instant& due = entry->second;
    GroupSeat* const seat = FindSeat(entry->first);
    if (!seat || seat->group.failure() || !seat->group.gathering()) {
      awaiting_.erase(entry);
    } else if (due == Instant(0)) {
      due = now + kLookAfter;
    } else if (now >= due) {
      due = now + kLookAfter;
      if (!CallAwaited(*seat)) awaiting_.erase(entry);
    }
  }
}

// Returns false if no rank needs further checks.
bool Standing::CallAwaited(GroupSeat& seat) {
  bool all_have_lines = true;
  for (const std::uint32_t rank : seat.group.AwaitedRanks()) {
    const std::uint32_t peer = seat.ToWorld(rank);
    if (common_->connections.RouteTo(peer) != 0) continue;
    all_have_lines = false;
    const bool is_called = common_->connections.CallTo(peer) != nullptr;
    const auto absent = common_->connections.AbsentSince(peer);
    if (absent && is_called && common_->now - *absent >= kAbsentMax) {
      seat.group.OnLost(rank, Code::kPeerLost,
                        "has died, or has left: no process listens for it any more");
      Settle(seat);
      return false;
    }
    // A live rank learns nothing new from this frame.
    if (!is_called) PostTo(peer, FormFrameOf(seat));
  }
  return !all_have_lines;
}

// ---- commands ---------------------------------------------------------------------------------

Error Standing::CannotForm() {
  return {Code::kInvalidArgument,
          "this child cannot be formed: its parent was left, or was already shrunk to a child with "
          "the same first rank and other ranks; shrink that child, or split the parent"};
}

Status Standing::Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks,
                      Instant now) {
  common_->now = now;
  const GroupSeat* const above = FindSeat(parent);
  if (!above || FindSeat(id) || left_.Contains(id)) return CannotForm();
  RINGLET_TRY_ASSIGN(auto seat, TakeSeat(id, *above, ranks, common_->config));
  GroupSeat& formed = *seats_.emplace(id, std::move(seat)).first->second;
  for (const auto& [peer, why] : lost_)
    if (const auto rank = formed.FromWorld(peer)) formed.group.OnLost(*rank, Code::kPeerLost, why);
  Settle(formed);
  // Ranks with different lists would wait for each other in vain, so the neighbours receive ours.
  TellGroup(formed, FormFrameOf(formed));
  Replay(formed);
  return Ok();
}

void Standing::Gather(bool barrier, Bytes payload, GroupId group) {
  GroupSeat* const seat = FindSeat(group);
  if (!seat) return;
  seat->group.Gather(barrier, std::move(payload));
  awaiting_[group] = Instant(0);  // checked from the next Tick on
  Settle(*seat);
}

std::optional<Table> Standing::TakeTable(GroupId group) {
  Group* const found = Find(group);
  auto table = found ? found->TakeTable() : std::nullopt;
  if (table) awaiting_.erase(group);
  return table;
}

void Standing::Post(std::uint32_t to, std::uint64_t tag, Bytes message, Instant now,
                    GroupId group) {
  GroupSeat* const seat = FindSeat(group);
  if (!seat) return;
  common_->now = now;
  seat->group.Post(to, tag, std::move(message));
  Settle(*seat);
}

void Standing::Ask(std::uint32_t whom, Instant now, GroupId group) {
  GroupSeat* const seat = FindSeat(group);
  if (!seat) return;
  common_->now = now;
  seat->group.Ask(whom);
  Settle(*seat);
}

Presence Standing::PresenceOf(std::uint32_t rank, GroupId group) const {
  const GroupSeat* const seat = FindSeat(group);
  if (!seat) return Presence::kUnknown;
  if (seat->group.HasLeft(rank)) return Presence::kLeft;
  const bool absent = common_->connections.AbsentSince(seat->ToWorld(rank)).has_value();
  return absent ? Presence::kAbsent : Presence::kUnknown;
}

// ---- output -----------------------------------------------------------------------------------

// Carries out the decisions of the group. Called after every change to it.
void Standing::Settle(GroupSeat& seat) {
  common_->AnswerQuestions(seat.group);
  for (Group::Out& out : seat.group.TakeOut()) {
    if (common_->connections.RouteTo(seat.ToWorld(out.to)) == 0)
      awaiting_.try_emplace(seat.group.id(), Instant(0));
    Require(common_->SendOut(seat, std::move(out)));
  }
  if (seat.group.failure() && seat.news.Begin()) Flood(seat);
}

void Standing::PostTo(std::uint32_t peer, const Slice& frame) {
  Require(common_->PostTo(peer, frame));
}

// Without the address of a rank no group can continue.
void Standing::Require(const Status& sent) {
  if (!sent.ok()) Fail({sent.error().code, common_->self(), sent.error().message});
}

// Notifies the neighbours of this rank and of absent ranks. Called again when more become absent.
void Standing::Flood(GroupSeat& seat) {
  const Slice failure = FailureFrameOf(seat);
  if (!seat.news.has_told())
    for (const std::uint32_t rank : TellGroup(seat, failure)) seat.news.MarkTold(rank);
  for (const std::uint32_t rank : seat.news.Next(seat.group, common_->config.arity, LostIn(seat)))
    PostTo(seat.ToWorld(rank), failure);
}

std::vector<std::uint32_t> Standing::TellGroup(const GroupSeat& seat, const Slice& frame) {
  // Sent on the connection of all earlier frames, after them.
  std::vector<std::uint32_t> told;
  for (const auto& [peer, line] : common_->connections.routes()) {
    const auto rank = seat.FromWorld(peer);
    if (!rank || seat.group.HasLeft(*rank)) continue;
    common_->connections.Say(line, frame);
    told.push_back(*rank);
  }
  return told;
}

// ---- endings ----------------------------------------------------------------------------------

void Standing::Fail(const Failure& failure) {
  for (const auto& [id, seat] : seats_) seat->group.Fail(failure);
  for (const auto& [id, seat] : seats_) Settle(*seat);
}

void Standing::FailOn(std::uint32_t peer, Code code, const std::string& what) {
  Fail({code, peer,
        fmt::format("{} {}; {} noticed it while {}", common_->Name(peer), what,
                    common_->Name(common_->self()), Phase(kWorld))});
}

void Standing::Abort(Code code, const std::string& why, GroupId group) {
  GroupSeat* const seat = FindSeat(group);
  if (!seat) return;
  seat->group.FailHere(code, why);
  Settle(*seat);
}

bool Standing::OwesNews(GroupId group) const {
  const GroupSeat* const seat = FindSeat(group);
  return seat && seat->news.Owes(seat->group, LostIn(*seat));
}

void Standing::Leave(GroupId group) {
  const auto it = seats_.find(group);
  if (it == seats_.end()) return;
  const GroupSeat& seat = *it->second;
  TellGroup(seat, GroupFrame(group, FrameType::kLeave));
  left_.Add(seat.group);
  seats_.erase(it);
}

MemberOver Standing::End() && {
  // A rank that is just calling must not mistake this hangup for a loss. It knows the called rank.
  for (const Slice& farewell : left_.Farewells())
    common_->connections.callers().TellProven(Purpose::kPeer, farewell);
  // A root that does not know yet that all ranks are connected must not mistake this for a loss.
  std::optional<Slice> to_roots;
  if (common_->is_tree()) to_roots = Slice(Share(ToFrame(FrameType::kReady)));
  common_->connections.CloseAll(std::nullopt, to_roots);
  return {};
}

}  // namespace ringlet::bootstrap
