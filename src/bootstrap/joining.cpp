// Member: from the first dial to standing. See member.hpp for the story.
#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/difference.hpp"
#include "bootstrap/member.hpp"
#include "bootstrap/root.hpp"
#include "bootstrap/seat.hpp"

namespace ringlet::bootstrap {

void Member::Begin(Instant now) {
  milestones_.started = now;
  joining()->root_lines.assign(roots(), 0);
  joining()->root_seen.assign(roots(), false);
  if (config_.node_leader && !config_.speaks) {
    Connect(Role::kNodeLeader, kNoOrigin, config_.roots.front().credentials, {*config_.node_leader},
            now + config_.timeout);
    return;
  }
  CallRootsFor(self());
}

// ---- checking in ------------------------------------------------------------------------------

void Member::CallRoot(std::uint32_t root) {
  const bool called =
      joining()->root_lines[root] != 0 || std::ranges::any_of(outgoing_, [&](const Outgoing& one) {
        return one.role == Role::kRoot && one.peer == root;
      });
  if (!called)
    Connect(Role::kRoot, root, config_.roots[root].credentials, config_.roots[root].addresses,
            milestones_.started + config_.timeout);
}

// The member that brings the first rank of a root's share is its root delegate: it carries the
// others' records to the first root, and failures between the two.
void Member::CallRootsFor(std::uint32_t rank) {
  const std::uint32_t root = RootOfRank(rank, config_.size, roots());
  CallRoot(root);
  if (RanksOfRoot({root, roots()}, config_.size).first == rank) CallRoot(0);
}

bool Member::IsRootDelegateOf(std::uint32_t root) const {
  const std::uint32_t first = RanksOfRoot({root, roots()}, config_.size).first;
  return first == self() || std::ranges::count(joining()->local_ranks, first, &CheckIn::rank) > 0;
}

void Member::CheckInAt(LineId id, std::uint32_t root) {
  const Instant left = std::max(milestones_.started + config_.timeout - now_, Instant(0));
  const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
  CheckIn check_in;
  check_in.rank = self();
  check_in.size = config_.size;
  check_in.shape = config_.shape;
  check_in.arity = config_.arity;
  check_in.timeout_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(left_ms, 0xffffffff));
  check_in.root = {root, roots()};
  check_in.member_address = config_.member_address;
  SendFrame(id, ToFrame(check_in));
  if (joining()->step == MemberState::kCalling) joining()->step = MemberState::kCheckedIn;
  if (milestones_.called == Instant(0)) milestones_.called = now_;
}

void Member::OnRootOpened(LineId id, std::uint32_t root) {
  joining()->root_lines[root] = id;
  joining()->root_seen[root] = true;
  CheckInAt(id, root);
  for (const CheckIn& local_rank : joining()->local_ranks)
    if (local_rank.root.index == root) SendLocalRank(id, local_rank);
}

void Member::OnLocalRank(const Acceptor::FirstFrame& caller) {
  const LineId id = caller.line;
  auto check_in = ParseCheckIn(caller.frame.payload.bytes);
  if (!check_in.ok()) return acceptor_.TurnAway(id, check_in.error().message);
  Joining* const at = joining();
  if (!config_.speaks || !at || at->step == MemberState::kReported)
    return acceptor_.Dismiss(
        id, ToFrame(FrameType::kReject,
                    {Code::kInvalidArgument, check_in->rank,
                     fmt::format("{} has joined with this unique id already: make a new one for "
                                 "each communicator",
                                 Name(self()))}));
  Adopt(id, Role::kChild, check_in->rank).local_rank = true;
  Writer node_leader = BeginFrame(static_cast<std::uint8_t>(FrameType::kNodeLeader));
  SendFrame(id, EndFrame(std::move(node_leader.U32(self()))));
  if (at->welcome) SendFrame(id, ToFrame(*at->welcome));
  // An impossible rank or size is for the root to refuse: it names both sides.
  const bool fits = check_in->rank < config_.size && check_in->size == config_.size &&
                    check_in->root.count == roots();
  check_in->root.index = fits ? RootOfRank(check_in->rank, config_.size, roots()) : own_root();
  at->local_ranks.push_back(std::move(*check_in));
  const CheckIn& local_rank = at->local_ranks.back();
  if (fits) CallRootsFor(local_rank.rank);
  if (const LineId root = at->root_lines[local_rank.root.index]; root != 0)
    SendLocalRank(root, local_rank);
}

void Member::SendLocalRank(LineId line, const CheckIn& local_rank) {
  Writer own, theirs;
  Encode(own, config_.member_address);
  Encode(theirs, local_rank.member_address);
  SendFrame(line, ToFrame(LocalRankCheckIn{local_rank, DifferenceOf(own.view(), theirs.view())}));
}

// ---- what the root says -----------------------------------------------------------------------

void Member::OnRootFrame(LineId id, Line& line, const Frame& frame) {
  const View payload = frame.payload.bytes;
  if (standing()) return;
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kWelcome) {
    if (auto welcome = ParseWelcome(payload); welcome.ok()) {
      line.ready = true;
      if (line.peer == own_root()) OnWelcome(*welcome);
      return;
    }
  } else if (type == FrameType::kReject) {
    if (const auto failure = ParseFailure(payload, self()); failure.ok()) return Fail(*failure);
  } else if (type == FrameType::kRoster) {
    if (line.peer == 0 && joining()->upper == 0) return OnRosterPiece(frame);
  } else if (type == FrameType::kSection) {
    if (line.peer > 0 && IsRootDelegateOf(line.peer)) return OnSectionPiece(frame);
  } else if (type == FrameType::kNeighbour) {
    if (!FindSeat(kWorld)) OnNeighbour(frame);
    return;
  } else if (type == FrameType::kDone) {
    return OnRootDone(line);
  }
  OnMisfit(id, frame);
}

void Member::OnWelcome(const Welcome& welcome) {
  joining()->welcome = welcome;
  const SharedBytes frame = Share(ToFrame(welcome));
  for (auto& [id, line] : lines_)
    if (line.local_rank) Say(id, line, Slice(frame));
}

void Member::OnRootDone(Line& line) {
  line.done = true;
  if (!is_tree()) Go();
}

void Member::OnRootClosed(std::uint32_t root, const std::string& why) {
  if (standing()) return;
  joining()->root_lines[root] = 0;
  const std::optional<Welcome>& welcome = joining()->welcome;
  const bool own = root == own_root() && welcome;
  const std::string where = own ? fmt::format("host {}, pid {}", welcome->host, welcome->pid)
                                : ToString(config_.roots[root].addresses.front());
  const std::string which = roots() > 1 ? fmt::format("root {} of {}", root, roots()) : "the root";
  if (own && welcome->hosted_rank && *welcome->hosted_rank != self())
    return Fail({Code::kPeerLost, *welcome->hosted_rank,
                 fmt::format("rank {} ({}), which also runs {}, was lost while rank {} was {}: {}",
                             *welcome->hosted_rank, where, which, self(), Phase(), why)});
  Fail({Code::kPeerLost, kNoOrigin,
        fmt::format("the process that runs {} ({}) was lost while rank {} was {}: {}", which, where,
                    self(), Phase(), why)});
}

void Member::OnSectionPiece(const Frame& frame) {
  const Slice piece = frame.payload.Owned();
  if (const LineId line = joining()->root_lines[0]; line != 0)
    return SendPayload(line, FrameType::kSection, piece);
  const auto first = std::ranges::find_if(
      outgoing_, [](const Outgoing& one) { return one.role == Role::kRoot && one.peer == 0; });
  if (first == outgoing_.end()) return;  // it was lost, which has been told
  Writer header;
  header.U32(static_cast<std::uint32_t>(piece.bytes.size()));
  header.U8(static_cast<std::uint8_t>(FrameType::kSection));
  first->waiting.emplace_back(Share(header.Take()));
  first->waiting.push_back(piece);
}

// ---- along the tree ---------------------------------------------------------------------------

void Member::OnUpperFrame(LineId id, Line& line, const Frame& frame) {
  const View payload = frame.payload.bytes;
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kNodeLeader && payload.size() == 4) {
    if (line.peer == kNoOrigin) line.peer = Reader(payload).U32();
    if (line.peer < config_.size) return;
  } else if (type == FrameType::kWelcome) {
    if (auto welcome = ParseWelcome(payload); welcome.ok()) {
      joining()->welcome = std::move(*welcome);
      return;
    }
  } else if (type == FrameType::kReject) {
    if (const auto failure = ParseFailure(payload, self()); failure.ok()) return Fail(*failure);
  } else if (type == FrameType::kRoster && line.peer != kNoOrigin) {
    joining()->upper = id;
    return OnRosterPiece(frame);
  } else if (type == FrameType::kGo) {
    return Go();
  }
  OnMisfit(id, frame);
}

void Member::OnRosterPiece(const Frame& frame) {
  Joining& at = *joining();
  const Slice piece = frame.payload.Owned();
  if (const Status pushed = at.inbox.Push(piece); !pushed.ok())
    return FailHere(pushed.error().code, pushed.error().message);
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kChild) SendPayload(id, FrameType::kRoster, piece);
  if (at.upper == 0 && at.inbox.node_leader_count())
    at.subtree = PlaceRange{0, *at.inbox.node_leader_count()};
  if (at.subtree && at.below.empty()) at.below = ChildrenOf(*at.subtree, config_.arity);
  if (!at.below.empty()) at.pieces.push_back(piece);
  ConnectToChildren();
  if (!Finished() && at.inbox.complete()) FinishRoster();
}

Instant Member::ChildDeadline() const {
  // Two steps below the own deadline: the rank that knows which connection fails speaks before the
  // root, which knows only that something does.
  return milestones_.started + config_.timeout - 2 * LadderStep(config_.timeout);
}

void Member::ConnectToChildren() {
  Joining& at = *joining();
  while (at.dialled < at.below.size()) {
    const PlaceRange& subtree = at.below[at.dialled];
    const auto found = at.inbox.FindNodeLeader(subtree.first);
    if (!found.ok()) return FailHere(found.error().code, found.error().message);
    if (!*found) return;
    const auto& [rank, member_address] = **found;
    Connect(Role::kChild, Index(rank), config_.roots.front().credentials, member_address.addresses,
            ChildDeadline())
        .subtree = subtree;
    ++at.dialled;
  }
}

void Member::OnChildOpened(LineId id) {
  Joining& at = *joining();
  for (const Slice& piece : at.pieces) SendPayload(id, FrameType::kRoster, piece);
  if (++at.opened == at.below.size() && roster_.size() != 0) at.pieces.clear();
}

void Member::FinishRoster() {
  Joining& at = *joining();
  auto roster = at.inbox.Finish(config_.shelf.get());
  Status fits = roster.ok() ? CheckPlace(*roster) : Status(roster.error());
  if (!fits.ok()) return FailHere(fits.error().code, fits.error().message);
  at.inbox = RosterInbox();
  at.step = MemberState::kConnecting;
  roster_ = std::move(*roster);
  milestones_.roster = now_;
  if (at.opened == at.below.size()) at.pieces.clear();
  TreePlace place;
  if (at.upper != 0) {
    Line& upper = lines_.at(at.upper);
    upper.role = Role::kParent;
    Register(at.upper, upper);
    place.parent = upper.peer;
  }
  for (const PlaceRange& child : at.below)
    place.children.push_back(Index(roster_.NodeLeader(child.first)));
  for (const CheckIn& local_rank : at.local_ranks) place.children.push_back(local_rank.rank);
  OpenWorld(std::move(place));
  ReportIfReady();
}

Status Member::CheckPlace(const Roster& roster) const {
  if (roster.first() != 0 || roster.size() != config_.size)
    return Error{Code::kProtocol,
                 fmt::format("the roster has {} ranks, not {}", roster.size(), config_.size)};
  RINGLET_TRY_ASSIGN(const Rank node_leader, roster.NodeLeaderOf(config_.rank));
  const std::optional<PlaceRange>& subtree = joining()->subtree;
  const bool mine = subtree ? subtree->first < roster.node_leader_count() &&
                                  roster.NodeLeader(subtree->first) == config_.rank
                            : Index(node_leader) == lines_.at(joining()->upper).peer;
  if (!mine)
    return Error{Code::kProtocol, fmt::format("the roster gives rank {} another place in the tree "
                                              "than the one that called it",
                                              self())};
  return Ok();
}

void Member::OnChildReady(Line& line) {
  if (std::exchange(line.ready, true)) return;
  ++joining()->ready;
  ReportIfReady();
}

void Member::ReportIfReady() {
  Joining* const at = joining();
  if (!at || at->step != MemberState::kConnecting ||
      at->ready < at->below.size() + at->local_ranks.size())
    return;
  at->step = MemberState::kReported;
  milestones_.connected = now_;
  if (at->upper != 0) return SendFrame(at->upper, ToFrame(FrameType::kReady));
  SendFrame(at->root_lines[0], ToFrame(FrameType::kReady));
  Go();
}

void Member::Go() {
  milestones_.standing = now_;
  const SharedBytes go = Share(ToFrame(FrameType::kGo));
  for (auto& [id, line] : lines_)
    if (line.role == Role::kChild) Say(id, line, Slice(go));
  // The other roots' work is done when the first one's is.
  for (std::uint32_t root = 1; root < roots(); ++root)
    if (const LineId line = joining()->root_lines[root]; line != 0 && IsRootDelegateOf(root))
      SendFrame(line, ToFrame(FrameType::kReady));
  // A root that has not been reached by now is not needed any more.
  for (Outgoing& outgoing : outgoing_)
    if (outgoing.role == Role::kRoot) outgoing.dialler.Stop();
  outgoing_.remove_if([](const Outgoing& one) { return one.role == Role::kRoot; });
  state_ = Standing();
}

// ---- around the ring --------------------------------------------------------------------------

void Member::OnNeighbour(const Frame& frame) {
  const auto next = ParseMemberAddress(frame.payload.bytes);
  if (!next.ok()) return FailHere(Code::kProtocol, "the root sent a malformed neighbour frame");
  Writer own;
  Encode(own, config_.member_address);
  if (config_.size > 1)
    Connect(Role::kNext, (self() + 1) % config_.size, config_.roots.front().credentials,
            next->addresses, ChildDeadline());
  OpenWorld({});
  Seat* const world = FindSeat(kWorld);
  world->group.Gather(false, own.Take());
  Settle(*world);
}

void Member::FinishRingRoster() {
  Seat& world = *FindSeat(kWorld);
  const auto table = world.group.TakeTable();
  if (!table) return;
  std::vector<RankRecord> records;
  for (std::uint32_t rank = 0; rank < table->size(); ++rank) {
    const View record = table->At(Rank{rank});
    if (!ParseMemberAddress(record).ok())
      return FailOn(rank, Code::kProtocol, "sent a member address that cannot be read");
    records.push_back({Bytes(record.begin(), record.end()), rank});
  }
  roster_ = Roster::Build(0, records);
  world.group.set_roster(roster_);
  milestones_.roster = milestones_.connected = now_;
  joining()->step = MemberState::kReported;
  SendFrame(joining()->root_lines[0], ToFrame(FrameType::kReady));
}

// ---- together ---------------------------------------------------------------------------------

void Member::OpenWorld(TreePlace place) {
  auto seat = std::make_unique<Seat>(GroupConfig{.id = kWorld,
                                                 .self = self(),
                                                 .size = config_.size,
                                                 .digest = 0,
                                                 .shape = config_.shape,
                                                 .place = std::move(place),
                                                 .mailbox = config_.mailbox});
  seat->group.set_roster(roster_);
  Seat& world = *seats_.emplace(kWorld, std::move(seat)).first->second;
  Replay(world);
}

Failure Member::FailureOf(std::uint32_t peer, Code code, const std::string& what) const {
  return {code, peer,
          fmt::format("{} {}; {} noticed it while {}", Name(peer), what, Name(self()), Phase())};
}

void Member::FailOn(std::uint32_t peer, Code code, const std::string& what) {
  Fail(FailureOf(peer, code, what));
}

void Member::Fail(const Failure& failure) {
  if (Finished()) return;
  if (standing()) {  // a protocol's breach on a line that no group could mend
    for (const auto& [id, seat] : seats_) seat->group.Fail(failure);
    for (const auto& [id, seat] : seats_) Settle(*seat);
    return;
  }
  state_ = Over{failure};
  Writer to_members = BeginFrame(static_cast<std::uint8_t>(FrameType::kFailure));
  to_members.U64(kWorld);
  Encode(to_members, failure);
  CloseAll(Share(EndFrame(std::move(to_members))), Share(ToFrame(FrameType::kFailure, failure)));
}

std::string Member::JoiningPhase() const {
  if (state() == MemberState::kCalling) {
    if (outgoing_.empty()) return "beginning to join";
    const Outgoing& first = outgoing_.front();
    const std::string to =
        first.role == Role::kNodeLeader ? "the rank that speaks for this host" : "the root";
    const std::string stopped =
        StoppedText(config_.is_stopped, config_.member_address.host, first.dialler.pid());
    return fmt::format(
        "connecting to {}{}", to,
        stopped.empty() ? fmt::format(" ({})", first.dialler.Reasons()) : ", which " + stopped);
  }
  if (!is_tree() && roster_.size() == 0 && FindSeat(kWorld))
    return fmt::format("gathering the ring's addresses, waiting for {}",
                       FindSeat(kWorld)->group.Awaited());
  if (joining()->inbox.node_leader_count()) return "receiving the roster";
  if (roster_.size() == 0)
    return joining()->welcome ? "checked in and waiting for the other ranks"
                              : "checked in and waiting for the first answer of the root";
  std::vector<std::uint32_t> missing;
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kChild && !line.ready) missing.push_back(line.peer);
  for (const Outgoing& one : outgoing_)
    if (one.role == Role::kChild) missing.push_back(one.peer);
  if (missing.empty()) return "connected and waiting for the other ranks to connect";
  std::ranges::sort(missing);
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(missing.size(), 8); ++i) {
    const std::string stopped = WhyStopped(missing[i]);
    names += (i == 0 ? "" : ", ") + Name(missing[i]) + (stopped.empty() ? "" : " " + stopped);
  }
  return "connecting to the ranks below: " + names + (missing.size() > 8 ? ", ..." : "");
}

}  // namespace ringlet::bootstrap
