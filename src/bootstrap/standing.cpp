// Member: the groups that live on its connections. See member.hpp for the story.
#include <fmt/format.h>

#include <algorithm>

#include "base/value/digest.hpp"
#include "bootstrap/member.hpp"
#include "bootstrap/seat.hpp"

namespace ringlet::bootstrap {
namespace {

// The frames that may wait for groups that other ranks have formed earlier than this one.
constexpr std::size_t kEarlyFramesMax = 65'536;
constexpr std::size_t kEarlyBytesMax = std::size_t{64} << 20;

// In the place of how many that are gone those next to them are told of one failure: when nearly
// all have gone there are not many left to tell, and each would call all.
constexpr std::size_t kPassedMax = 64;

// A rank looks after those whose frame it waits for when it has waited so long, and again: a line
// within a site is made in less.
constexpr Instant kLookAfter = std::chrono::milliseconds(100);
// An awaited rank where no process listens is lost after this time, in which a neighbour that knows
// more may say it.
constexpr Instant kAbsentMax = std::chrono::milliseconds(200);

Slice GroupFrame(GroupId id, FrameType type, View head, View body) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(type));
  return Slice(Share(EndFrame(std::move(out.U64(id).Raw(head).Raw(body)))));
}

// The word of a rank that has formed a group of these ranks.
Slice FormFrame(GroupId id, std::uint64_t digest) {
  Writer payload;
  return GroupFrame(id, FrameType::kForm, {}, payload.U64(digest).view());
}

std::vector<std::uint32_t> AllOf(const TreePlace& place) {
  std::vector<std::uint32_t> all = place.children;
  if (place.parent) all.push_back(*place.parent);
  return all;
}

// Those next to any rank in the tree of the group. Cost  O(ranks)
std::vector<std::uint32_t> NextInTree(const Group& group, std::uint32_t rank, std::uint32_t arity) {
  std::vector<std::uint32_t> node_leaders;
  node_leaders.reserve(group.size());
  for (std::uint32_t one = 0; one < group.size(); ++one) {
    const auto node_leader = group.roster().NodeLeaderOf(Rank{one});
    node_leaders.push_back(node_leader.ok() ? Index(*node_leader) : one);
  }
  return AllOf(PlaceInGroup(rank, node_leaders, arity));
}

}  // namespace

const std::optional<Failure>& Member::failure(GroupId group) const {
  static const std::optional<Failure> kNone;
  if (const Over* const over = std::get_if<Over>(&state_); over && over->failure)
    return over->failure;
  const Seat* seat = FindSeat(group);
  return seat ? seat->group.failure() : kNone;
}

const Roster& Member::roster(GroupId group) const {
  const Seat* seat = group == kWorld ? nullptr : FindSeat(group);
  return seat ? seat->group.roster() : roster_;
}

std::string Member::Phase(GroupId group) const {
  if (joining()) return JoiningPhase();
  const Seat* seat = FindSeat(group);
  return seat ? seat->group.Phase() : "after having left";
}

Member::Seat* Member::FindSeat(GroupId id) {
  const auto it = seats_.find(id);
  return it == seats_.end() ? nullptr : it->second.get();
}
const Member::Seat* Member::FindSeat(GroupId id) const {
  const auto it = seats_.find(id);
  return it == seats_.end() ? nullptr : it->second.get();
}

bool Member::HasLeft(GroupId id) const {
  const Standing* const at = std::get_if<Standing>(&state_);
  return at && at->left.contains(id);
}

bool Member::IsLost(std::uint32_t peer) const {
  const Standing* const at = std::get_if<Standing>(&state_);
  return at && at->lost.contains(peer);
}

// ---- what arrives -----------------------------------------------------------------------------

void Member::OnGroupFrame(const Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  const std::uint32_t from = line.peer;
  Reader in(frame.payload.bytes);
  const GroupId id = in.U64();
  if (!in.ok()) return FailOn(from, Code::kProtocol, "sent a frame of no group");
  const Slice payload(frame.payload.bytes.subspan(8), frame.payload.owner);
  if (type == FrameType::kFailure && joining() && !FindSeat(id)) {
    const auto failure = ParseFailure(payload.bytes, self());
    return failure.ok() ? Fail(*failure)
                        : FailOn(from, Code::kProtocol, "sent a frame that does not parse");
  }
  if (HasLeft(id)) return AnswerForLeft(from, id, type, payload.bytes);
  Seat* const seat = FindSeat(id);
  if (!seat) return KeepEarly(id, {from, type, payload.Owned()});
  const auto rank = seat->FromWorld(from);
  if (!rank) return OnStranger(*seat, from, type);
  if (type == FrameType::kFailure) OnFailureFrame(*seat, *rank);
  seat->group.OnFrame(*rank, type, payload);
  Settle(*seat);
  if (type == FrameType::kLeave && seat->told && !Finished()) Flood(*seat);
}

// A rank that forms a group that this one has left must not wait for it: it hears of the group's
// failure, if there was one and it has the same ranks in mind. A rank that counts on this one to
// pass a failure on, or to answer, hears that this one does not.
void Member::AnswerForLeft(std::uint32_t from, GroupId id, FrameType type, View payload) {
  const GroupLeft& left = std::get<Standing>(state_).left.at(id);
  Reader in(payload);
  const bool forms = type == FrameType::kForm || type == FrameType::kGather;
  const std::uint64_t digest =
      type == FrameType::kForm ? in.U64() : DecodeGatherHeader(in).group_digest;
  if (forms && digest != left.digest) return PostTo(from, FormFrame(id, left.digest));
  if (forms && left.failure) return PostTo(from, *left.failure);
  if (forms || type == FrameType::kFailure || type == FrameType::kAsk)
    PostTo(from, GroupFrame(id, FrameType::kLeave, {}, {}));
}

// A rank that this one has left out takes part: it hears what list this one has.
void Member::OnStranger(Seat& seat, std::uint32_t from, FrameType type) {
  if (type == FrameType::kLeave || type == FrameType::kAnswer) return;
  const auto address = roster_.At(Rank{from});
  seat.group.Fail(
      {Code::kInvalidArgument, kNoOrigin,
       fmt::format("a rank that is not in this communicator takes part in it ({}): the "
                   "ranks were not given the same ranks to keep or to leave out",
                   address.ok() ? fmt::format("host {}, pid {}", address->host, address->pid)
                                : std::string("its address is not known"))});
  Settle(seat);
  PostTo(from, FormFrame(seat.group.id(), seat.group.digest()));
}

// A rank that tells of a failure stays until those that it tells have said so, too.
void Member::OnFailureFrame(Seat& seat, std::uint32_t from) {
  seat.knows.insert(from);
  if (seat.told && seat.called.insert(from).second)
    PostTo(seat.ToWorld(from), FailureFrameOf(seat));
}

Slice Member::FailureFrameOf(const Seat& seat) {
  Writer failure;
  Encode(failure, *seat.group.failure());
  return GroupFrame(seat.group.id(), FrameType::kFailure, {}, failure.view());
}

void Member::KeepEarly(GroupId id, Early early) {
  early_bytes_ += early.payload.bytes.size();
  if (++early_frames_ > kEarlyFramesMax || early_bytes_ > kEarlyBytesMax)
    return FailOn(
        early.from, Code::kProtocol,
        fmt::format("sends more to a communicator than may wait for rank {} to form it", self()));
  early_[id].push_back(std::move(early));
}

void Member::Replay(Seat& seat) {
  const auto it = early_.find(seat.group.id());
  if (it == early_.end()) return;
  const std::vector<Early> frames = std::move(it->second);
  early_.erase(it);
  for (const Early& early : frames) {
    --early_frames_;
    early_bytes_ -= early.payload.bytes.size();
    const auto rank = seat.FromWorld(early.from);
    if (!rank) {
      OnStranger(seat, early.from, early.type);
      continue;
    }
    if (early.type == FrameType::kFailure) OnFailureFrame(seat, *rank);
    seat.group.OnFrame(*rank, early.type, early.payload);
  }
  Settle(seat);
}

void Member::OnLost(std::uint32_t peer, Code code, const std::string& why) {
  if (joining()) return FailOn(peer, code, why);
  std::get<Standing>(state_).lost.emplace(peer, why);
  for (const auto& [id, seat] : seats_) {
    const auto rank = seat->FromWorld(peer);
    if (!rank) continue;
    const bool told = seat->told;
    seat->group.OnLost(*rank, code, why);
    Settle(*seat);
    if (told && id != kWorld) Flood(*seat);  // beyond this one, too
  }
}

// ---- commands ---------------------------------------------------------------------------------

Status Member::Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks,
                    Instant now) {
  now_ = now;
  const Seat* const above = FindSeat(parent);
  if (!standing() || !above || FindSeat(id) || HasLeft(id))
    return Error{
        Code::kInvalidArgument,
        "this child cannot be formed: the parent was left, or a child that has the same first "
        "rank and other ranks was shrunk from it; shrink that child, or split the parent"};
  RINGLET_TRY_ASSIGN(Roster roster, above->group.roster().Subset(ranks));
  if (config_.shelf) {
    RINGLET_TRY_ASSIGN(roster, config_.shelf->Adopt(roster.bytes()));
  }
  GroupConfig config{.id = id, .size = roster.size(), .mailbox = config_.mailbox};
  std::vector<std::uint32_t> world, node_leaders;
  Digest digest;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    world.push_back(above->ToWorld(ranks[rank]));
    digest.Add(std::uint64_t{world.back()});
    RINGLET_TRY_ASSIGN(const Rank node_leader, roster.NodeLeaderOf(Rank{rank}));
    node_leaders.push_back(Index(node_leader));
    if (world.back() == self()) config.self = rank;
  }
  config.digest = digest.value();
  config.place = PlaceInGroup(config.self, node_leaders, config_.arity);
  auto seat = std::make_unique<Seat>(std::move(config));
  seat->ranks = std::move(world);
  for (std::uint32_t rank = 0; rank < seat->ranks.size(); ++rank)
    seat->by_peer.emplace(seat->ranks[rank], rank);
  seat->group.set_roster(std::move(roster));
  Seat& formed = *seats_.emplace(id, std::move(seat)).first->second;
  for (const auto& [peer, why] : std::get<Standing>(state_).lost)
    if (const auto rank = formed.FromWorld(peer)) formed.group.OnLost(*rank, Code::kPeerLost, why);
  Settle(formed);
  // Ranks that were given other numbers would wait for each other in vain: those nearby hear ours.
  TellGroup(formed, FormFrame(id, formed.group.digest()));
  Replay(formed);
  return Ok();
}

void Member::Gather(bool barrier, Bytes payload, GroupId group) {
  Seat* const seat = FindSeat(group);
  if (!seat) return;
  RINGLET_ASSERT(standing());
  seat->group.Gather(barrier, std::move(payload));
  awaiting_[group] = Instant(0);  // from the next Tick on
  Settle(*seat);
}

// The lines of the world stand, and the end of one shows that a rank is lost. In another group a
// parent has no line to a child that does not call, and hears nothing of one that died before it
// did; and a child may call a parent that is dead.
void Member::LookForAwaited(Instant now) {
  for (auto it = awaiting_.begin(); it != awaiting_.end();) {
    const auto entry = it++;
    Instant& due = entry->second;
    Seat* const seat = FindSeat(entry->first);
    if (!seat || seat->group.failure() || !seat->group.gathering()) {
      awaiting_.erase(entry);
    } else if (due == Instant(0)) {
      due = now + kLookAfter;
    } else if (now >= due) {
      due = now + kLookAfter;
      if (!CallAwaited(*seat, now)) awaiting_.erase(entry);
      if (Finished()) return;
    }
  }
}

// False: there is nothing to look after any more.
bool Member::CallAwaited(Seat& seat, Instant now) {
  bool all_have_lines = true;
  for (const std::uint32_t rank : seat.group.AwaitedRanks()) {
    const std::uint32_t peer = seat.ToWorld(rank);
    if (route_to_.contains(peer)) continue;
    all_have_lines = false;
    const auto absent = absent_.find(peer);
    if (absent != absent_.end() && IsBeingCalled(peer) && now - absent->second >= kAbsentMax) {
      seat.group.OnLost(rank, Code::kPeerLost,
                        "has died, or has left: no process listens for it any more");
      Settle(seat);
      return false;
    }
    // A rank that is there learns nothing new from this frame.
    if (!IsBeingCalled(peer)) PostTo(peer, FormFrame(seat.group.id(), seat.group.digest()));
  }
  return !all_have_lines;
}

std::optional<Table> Member::TakeTable(GroupId group) {
  Seat* const seat = FindSeat(group);
  auto table = seat ? seat->group.TakeTable() : std::nullopt;
  if (table) awaiting_.erase(group);
  return table;
}

void Member::Post(Rank to, std::uint64_t tag, Bytes message, Instant now, GroupId group) {
  Seat* const seat = FindSeat(group);
  if (!seat) return;
  now_ = now;
  seat->group.Post(Index(to), tag, std::move(message));
  Settle(*seat);
}

std::optional<Bytes> Member::TakeMessage(Rank from, std::uint64_t tag, GroupId group) {
  Seat* const seat = FindSeat(group);
  return seat ? seat->group.TakeMessage(Index(from), tag) : std::nullopt;
}

std::optional<PushedMessage> Member::TakePushed(GroupId group) {
  Seat* const seat = FindSeat(group);
  return seat ? seat->group.TakePushed() : std::nullopt;
}

void Member::Ask(Rank whom, Instant now, GroupId group) {
  Seat* const seat = FindSeat(group);
  if (!seat) return;
  now_ = now;
  seat->group.Ask(Index(whom));
  Settle(*seat);
}

std::optional<Activity> Member::TakeAnswer(Rank from, GroupId group) {
  Seat* const seat = FindSeat(group);
  return seat ? seat->group.TakeAnswer(Index(from)) : std::nullopt;
}

// ---- what goes out ----------------------------------------------------------------------------

// Does what the group has decided. Called whenever it has been touched.
void Member::Settle(Seat& seat) {
  if (Finished()) return;
  while (const auto asker = seat.group.TakeQuestion())
    seat.group.Answer(*asker, config_.activity ? config_.activity(seat.group.id()) : Activity());
  for (Group::Out& out : seat.group.TakeOut()) {
    SendOut(seat, std::move(out));
    if (Finished()) return;
  }
  if (seat.group.failure() && !seat.told) {
    seat.told = true;
    if (joining()) return Fail(*seat.group.failure());
    Flood(seat);
  }
  if (!is_tree() && roster_.size() == 0) FinishRingRoster();
}

void Member::SendOut(Seat& seat, Group::Out out) {
  const std::uint32_t peer = seat.ToWorld(out.to);
  const auto way = route_to_.find(peer);
  constexpr std::size_t kWorthNoCopy = 4096;
  if (way == route_to_.end()) awaiting_.try_emplace(seat.group.id(), Instant(0));
  if (way == route_to_.end() || out.body.bytes.size() < kWorthNoCopy)
    return PostTo(peer, GroupFrame(seat.group.id(), out.type, out.head, out.body.bytes));
  Writer header;
  header.U32(static_cast<std::uint32_t>(8 + out.head.size() + out.body.bytes.size()));
  header.U8(static_cast<std::uint8_t>(out.type)).U64(seat.group.id()).Raw(out.head);
  SendFrame(way->second, header.Take());
  Say(way->second, out.body);
}

// To any rank: over the line that stands, or one that is made now and kept.
void Member::PostTo(std::uint32_t peer, const Slice& frame) {
  if (const auto way = route_to_.find(peer); way != route_to_.end()) {
    Say(way->second, frame);
    return;
  }
  auto it = FindCall(peer);
  if (it == outgoing_.end()) {
    if (roster_.size() == 0) return;  // the next in the ring is lost: its line has been told of
    const auto member_address = roster_.At(Rank{peer});
    if (!member_address.ok())
      return FailHere(member_address.error().code, member_address.error().message);
    Connect(Role::kPeerOut, peer, config_.roots.front().credentials, member_address->addresses,
            now_ + config_.timeout);
    absent_.erase(peer);
    it = std::prev(outgoing_.end());
  }
  it->waiting.push_back(frame);
}

// The line to a rank that is being made.
std::list<Member::Outgoing>::iterator Member::FindCall(std::uint32_t peer) {
  return std::ranges::find_if(outgoing_, [&](const Outgoing& one) {
    return one.peer == peer && one.role != Role::kRoot && one.role != Role::kNodeLeader;
  });
}

// Tells those next to this rank; in the place of one that is gone and did not know, those next to
// it, so that the parts into which the tree has fallen hear of each other. Called again when more
// are found to be gone.
void Member::Flood(Seat& seat) {
  const Slice failure = FailureFrameOf(seat);
  if (seat.called.empty())
    for (const std::uint32_t rank : TellGroup(seat, failure)) seat.called.insert(rank);
  const std::uint32_t me = seat.group.self(), size = seat.group.size();
  const bool ring = !is_tree() && seat.group.id() == kWorld;
  const auto next_to = [&](std::uint32_t rank) {
    if (ring) return std::vector{(rank + 1) % size, (rank + size - 1) % size};
    return rank == me ? AllOf(seat.group.place()) : NextInTree(seat.group, rank, config_.arity);
  };
  seat.called.insert(me);
  std::vector<std::uint32_t> next = next_to(me);
  std::set<std::uint32_t> passed_now;
  while (!next.empty() && !Finished()) {
    const std::uint32_t rank = next.back();
    next.pop_back();
    const bool left = seat.group.HasLeft(rank);
    if (left && seat.knows.contains(rank)) continue;
    // Those next to a lost rank have lost their lines to it, and know. In a group that is being
    // formed they may have none yet.
    const bool lost = seat.group.id() != kWorld && IsLost(seat.ToWorld(rank));
    if (left || lost || seat.absent.contains(rank)) {
      const bool may_pass = seat.passed.contains(rank) || seat.passed.size() < kPassedMax;
      if (!may_pass || !passed_now.insert(rank).second) continue;
      seat.passed.insert(rank);
      for (const std::uint32_t beyond : next_to(rank)) next.push_back(beyond);
      continue;
    }
    if (seat.called.insert(rank).second && !IsLost(seat.ToWorld(rank)))
      PostTo(seat.ToWorld(rank), failure);
  }
}

Member::Presence Member::PresenceOf(Rank whom, GroupId group) const {
  const Seat* const seat = FindSeat(group);
  if (!seat) return Presence::kUnknown;
  if (seat->group.HasLeft(Index(whom))) return Presence::kLeft;
  const bool absent = absent_.contains(seat->ToWorld(Index(whom)));
  return absent ? Presence::kAbsent : Presence::kUnknown;
}

// No process listens there (for now): it may have left, and no rank that knows that has told us.
void Member::OnUnanswered(std::uint32_t peer) {
  absent_.try_emplace(peer, now_);
  for (const auto& [id, seat] : seats_) {
    const auto rank = seat->FromWorld(peer);
    if (!rank || !seat->called.contains(*rank)) continue;
    seat->absent.insert(*rank);
    Flood(*seat);
  }
}

std::vector<std::uint32_t> Member::TellGroup(const Seat& seat, const Slice& frame) {
  // On the line that all else took, behind all else.
  std::vector<std::uint32_t> told;
  for (const auto& [peer, line] : route_to_) {
    const auto rank = seat.FromWorld(peer);
    if (!rank || seat.group.HasLeft(*rank)) continue;
    Say(line, frame);
    told.push_back(*rank);
  }
  return told;
}

// A rank that is just calling must not take our hanging up for a loss: it knows whom it has called.
void Member::TellCallers() {
  for (const auto& [group, left] : std::get<Standing>(state_).left)
    acceptor_.TellProven(Purpose::kPeer, GroupFrame(group, FrameType::kLeave, {}, {}));
}

// ---- endings ----------------------------------------------------------------------------------

void Member::Abort(Code code, const std::string& why, GroupId group) {
  if (Finished()) return;
  if (joining()) return FailHere(code, why);
  Seat* const seat = FindSeat(group);
  if (!seat) return;
  seat->group.FailHere(code, why);
  Settle(*seat);
}

bool Member::OwesNews(GroupId group) const {
  const Seat* const seat = FindSeat(group);
  if (!seat || !standing()) return false;
  return std::ranges::any_of(seat->called, [&](std::uint32_t rank) {
    const bool gone =
        seat->group.HasLeft(rank) || seat->absent.contains(rank) || IsLost(seat->ToWorld(rank));
    return rank != seat->group.self() && !gone && !seat->knows.contains(rank);
  });
}

void Member::Leave(GroupId group) {
  if (Finished()) return;
  if (joining())
    return FailHere(Code::kAborted, fmt::format("{} gave up {}", Name(self()), Phase()));
  const auto it = seats_.find(group);
  if (it == seats_.end()) return;
  const Seat& seat = *it->second;
  TellGroup(seat, GroupFrame(group, FrameType::kLeave, {}, {}));
  GroupLeft& left = std::get<Standing>(state_).left[group];
  left.digest = seat.group.digest();
  if (seat.group.failure()) left.failure = FailureFrameOf(seat);
  seats_.erase(it);
  if (!seats_.empty()) return;
  TellCallers();
  state_ = Over();
  // A root that has not heard yet that all are connected must not take this for a loss.
  CloseAll(nullptr, is_tree() ? Share(ToFrame(FrameType::kReady)) : nullptr);
}

}  // namespace ringlet::bootstrap
