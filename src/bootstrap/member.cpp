#include "bootstrap/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {

Member::Member(MemberConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      place_(PlaceInTree(config_.rank, config_.size, config_.arity)),
      mailbox_(config_.mailbox) {
  if (is_tree())
    tree_.emplace(place_, config_.size);
  else
    ring_.emplace(config_.rank, config_.size);
}

// ---- events -----------------------------------------------------------------------------------

void Member::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  now_ = now;
  if (started_ == Instant(0)) Begin(now);
  std::visit(Overloaded{
                 [&](const Connected& e) { OnConnected(e.line); },
                 [&](const Accepted& e) { OnAccepted(e, now); },
                 [&](const Received& e) { OnReceived(e, now); },
                 [&](const Closed& e) { OnClosed(e, now); },
                 [&](const Tick&) { OnTick(now); },
             },
             event);
}

void Member::Begin(Instant now) {
  started_ = now;
  Connect(Role::kRoot, 0, config_.roots, now + config_.timeout);
}

std::optional<Instant> Member::Deadline() const {
  if (Finished()) return std::nullopt;
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  if (state_ == State::kJoining) include(started_ + config_.timeout);
  if (suspicion_) include(suspicion_expires_);
  for (const Outgoing& outgoing : outgoing_) {
    include(outgoing.expires);
    if (const auto due = outgoing.dialler.Deadline()) include(*due);
  }
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kCaller) include(line.expires);
  return deadline;
}

void Member::OnTick(Instant now) {
  if (suspicion_ && now >= suspicion_expires_) return Fail(*suspicion_);
  std::vector<LineId> expired;
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kCaller && now >= line.expires) expired.push_back(id);
  for (const LineId id : expired) DropCaller(id, "it did not prove itself in time");
  for (Outgoing& outgoing : outgoing_) {
    if (now >= outgoing.expires && outgoing.role != Role::kRoot)
      return Fail({Code::kTimeout, outgoing.peer,
                   fmt::format("{} cannot be reached by {}: {}", Name(outgoing.peer),
                               Name(Index(config_.rank)), outgoing.dialler.Reasons())});
    outgoing.dialler.Advance(now);
  }
  if (state_ == State::kJoining && now >= started_ + config_.timeout)
    Fail({Code::kTimeout, kNoOrigin,
          fmt::format("{} timed out {}", Name(Index(config_.rank)), Phase())});
}

void Member::OnConnected(LineId line) {
  for (Outgoing& outgoing : outgoing_)
    if (outgoing.dialler.Owns(line)) return outgoing.dialler.OnConnected(line);
}

void Member::OnAccepted(const Accepted& event, Instant now) {
  LineId oldest = 0;
  std::size_t callers = 0;
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kCaller && callers++ == 0) oldest = id;
  if (callers >= config_.half_open_max)
    DropCaller(oldest, "too many callers that do not prove themselves");
  lines_.emplace(event.line, Line{.wire = Wire::Accepted(config_.credentials, nonces_.Next(),
                                                         kMemberFrameBytesMax),
                                  .from = event.from,
                                  .expires = now + config_.handshake_timeout});
}

void Member::OnReceived(const Received& event, Instant now) {
  if (const auto it = lines_.find(event.line); it != lines_.end()) {
    const Status pushed = it->second.wire.Push(event.data);
    if (Bytes reply = it->second.wire.TakeReply(); !reply.empty())
      SendFrame(event.line, std::move(reply));
    if (!pushed.ok()) return DropCaller(event.line, pushed.error().message);
    return Pump(event.line);
  }
  for (auto it = outgoing_.begin(); it != outgoing_.end(); ++it) {
    if (!it->dialler.Owns(event.line)) continue;
    if (auto opened = it->dialler.OnReceived(event.line, event.data, now))
      return OnOpened(it, std::move(*opened));
    if (!it->dialler.hopeless()) return;
    const bool root = it->role == Role::kRoot;
    return Fail({Code::kProtocol, root ? kNoOrigin : it->peer,
                 fmt::format("{} cannot be reached by {}: {}", root ? "the root" : Name(it->peer),
                             Name(Index(config_.rank)), it->dialler.Reasons())});
  }
}

void Member::OnClosed(const Closed& event, Instant now) {
  if (const auto it = lines_.find(event.line); it != lines_.end()) {
    if (it->second.left && IsNeeded(it->second)) return;  // RequirePresent will want to know
    const Line line = std::move(it->second);
    lines_.erase(it);
    return OnLineClosed(line, event.why);
  }
  for (Outgoing& outgoing : outgoing_)
    if (outgoing.dialler.Owns(event.line))
      return outgoing.dialler.OnClosed(event.line, event.why, now);
}

void Member::OnLineClosed(const Line& line, const std::string& why) {
  if (line.role == Role::kCaller) {
    ++strangers_;
    return;
  }
  if (line.role == Role::kRoot) return OnRootClosed(why);
  if (line.left) return;
  const Failure failure = FailureOf(line.peer, Code::kPeerLost, fmt::format("was lost: {}", why));
  // The peer may have hung up because of a failure elsewhere before it knew us on this line. While
  // joining the root tells who really failed, later the tree does: wait a little for the true
  // story.
  const bool settled = state_ == State::kStanding && line.role != Role::kPeerOut;
  if (settled) return Fail(failure);
  if (suspicion_) return;
  suspicion_ = failure;
  suspicion_expires_ =
      now_ + std::min<Instant>(LadderStep(config_.timeout), std::chrono::milliseconds(500));
}

void Member::OnRootClosed(const std::string& why) {
  if (root_done_ || state_ == State::kStanding) return;
  const std::string where = welcome_ ? fmt::format("host {}, pid {}", welcome_->host, welcome_->pid)
                                     : ToString(config_.roots.front());
  if (welcome_ && welcome_->hosted_rank && *welcome_->hosted_rank != Index(config_.rank))
    return Fail(
        {Code::kPeerLost, *welcome_->hosted_rank,
         fmt::format("rank {} ({}), which also runs the root, was lost while this rank was {}: {}",
                     *welcome_->hosted_rank, where, Phase(), why)});
  Fail({Code::kPeerLost, kNoOrigin,
        fmt::format("the process that runs the root ({}) was lost while this rank was {}: {}",
                    where, Phase(), why)});
}

void Member::OnOpened(std::list<Outgoing>::iterator outgoing, Dialler::Opened opened) {
  const Role role = outgoing->role;
  const LineId id = opened.line;
  std::vector<Bytes> waiting = std::move(outgoing->waiting);
  lines_.emplace(id, Line{.role = role,
                          .peer = outgoing->peer,
                          .wire = std::move(opened.wire),
                          .from = opened.address});
  outgoing_.erase(outgoing);
  if (role == Role::kRoot) {
    const Instant left = std::max(started_ + config_.timeout - now_, Instant(0));
    const auto left_ms = std::chrono::duration_cast<std::chrono::milliseconds>(left).count();
    SendFrame(
        id, ToFrame(CheckIn{Index(config_.rank), config_.size, config_.shape, config_.arity,
                            static_cast<std::uint32_t>(std::min<std::int64_t>(left_ms, 0xffffffff)),
                            config_.introduction}));
    checked_in_ = true;
  } else {
    Writer identify = BeginFrame(static_cast<std::uint8_t>(FrameType::kIdentify));
    identify.U32(Index(config_.rank));
    SendFrame(id, EndFrame(std::move(identify)));
  }
  if (role == Role::kChild) SendPayload(id, FrameType::kRoster, roster_.bytes());
  for (Bytes& frame : waiting) SendFrame(id, std::move(frame));
  if (role == Role::kNext) AdvanceGather(Ok(), 0);
  Pump(id);
}

// ---- frames -----------------------------------------------------------------------------------

void Member::Pump(LineId id) {
  while (!Finished()) {
    const auto it = lines_.find(id);
    if (it == lines_.end() || !it->second.wire.open()) return;
    auto frame = it->second.wire.Next();
    if (!frame.ok()) {
      if (it->second.role == Role::kCaller) return DropCaller(id, frame.error().message);
      if (it->second.role == Role::kRoot)
        return FailHere(Code::kProtocol, "the root sent " + frame.error().message);
      return FailOn(it->second.peer, Code::kProtocol, "sent " + frame.error().message);
    }
    if (!*frame) return;
    OnFrame(id, it->second, **frame);
  }
}

void Member::OnFrame(LineId id, Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (line.role == Role::kCaller) return OnIdentify(id, line, frame);
  if (line.role == Role::kRoot) return OnRootFrame(line, frame);
  if (type == FrameType::kFailure) {
    const auto failure = ParseFailure(frame.payload.bytes);
    if (failure.ok()) return Fail(*failure);
    return FailOn(line.peer, Code::kProtocol, "sent " + failure.error().message);
  }
  if (type == FrameType::kLeave) {
    line.left = true;
    return RequirePresent();
  }
  switch (line.role) {
    case Role::kParent: return OnParentFrame(frame);
    case Role::kChild: return OnChildFrame(line, frame);
    case Role::kPrevious: return OnPreviousFrame(frame);
    case Role::kPeerIn: return OnPeerFrame(line, frame);
    default: break;
  }
  FailOn(line.peer, Code::kProtocol,
         fmt::format("sent a frame of type {} where none is due", frame.type));
}

void Member::OnIdentify(LineId id, Line& line, const Frame& frame) {
  Reader in(frame.payload.bytes);
  const std::uint32_t peer = in.U32();
  if (static_cast<FrameType>(frame.type) != FrameType::kIdentify || !in.AtEnd() ||
      peer >= config_.size)
    return DropCaller(id, "a member that does not say who it is");
  const Purpose purpose = line.wire.purpose();
  const std::uint32_t previous = (Index(config_.rank) + config_.size - 1) % config_.size;
  Role role = Role::kCaller;
  // The addresses of a rank are known to others only after it has checked in.
  if (!checked_in_) return DropCaller(id, fmt::format("rank {} calls too early", peer));
  if (purpose == Purpose::kTree && is_tree() && place_.parent == Rank{peer}) role = Role::kParent;
  if (purpose == Purpose::kRing && !is_tree() && peer == previous) role = Role::kPrevious;
  // Whoever calls as a peer has been told to go; our own word to go may still be under way.
  if (purpose == Purpose::kPeer && reported_) role = Role::kPeerIn;
  const bool taken = role != Role::kPeerIn && LineOf(role, peer) != 0;
  if (role == Role::kCaller || taken)
    return DropCaller(id, fmt::format("rank {} calls where it has no place", peer));
  line.role = role;
  line.peer = peer;
}

void Member::OnRootFrame(Line& line, const Frame& frame) {
  const View payload = frame.payload.bytes;
  switch (static_cast<FrameType>(frame.type)) {
    case FrameType::kWelcome:
      if (auto welcome = ParseWelcome(payload); welcome.ok()) {
        welcome_ = std::move(*welcome);
        return;
      }
      break;
    case FrameType::kReject:
      if (const auto failure = ParseFailure(payload); failure.ok()) return Fail(*failure);
      break;
    case FrameType::kRoster:
      if (is_tree() && Index(config_.rank) == 0 && roster_.size() == 0) return OnRoster(frame);
      break;
    case FrameType::kNeighbour:
      if (!is_tree() && roster_.size() == 0 && !ring_->running()) return OnNeighbour(frame);
      break;
    case FrameType::kDone:
      if (!is_tree() && !reported_) break;
      root_done_ = true;
      line.left = true;
      if (!is_tree()) state_ = State::kStanding;
      return;
    default: break;
  }
  FailHere(Code::kProtocol,
           fmt::format("the root sent a frame of type {} that does not fit", frame.type));
}

void Member::OnRoster(const Frame& frame) {
  auto roster = Roster::Parse(frame.payload, config_.size);
  if (!roster.ok()) return FailHere(roster.error().code, roster.error().message);
  roster_ = std::move(*roster);
  ConnectToChildren();
  ReportIfReady();
}

void Member::ConnectToChildren() {
  // Two steps below the own deadline: whoever knows which connection fails speaks before the root,
  // which knows only that something does.
  const Instant expires = started_ + config_.timeout - 2 * LadderStep(config_.timeout);
  for (const RankRange& child : place_.children) {
    auto introduction = roster_.At(Rank{child.first});
    if (!introduction.ok())
      return FailHere(introduction.error().code, introduction.error().message);
    Connect(Role::kChild, child.first, introduction->addresses, expires);
  }
}

void Member::OnNeighbour(const Frame& frame) {
  Reader in(frame.payload.bytes);
  const Introduction next = DecodeIntroduction(in);
  if (!in.AtEnd()) return FailHere(Code::kProtocol, "the root sent a malformed neighbour frame");
  Writer own;
  Encode(own, config_.introduction);
  if (config_.size > 1)
    Connect(Role::kNext, (Index(config_.rank) + 1) % config_.size, next.addresses,
            started_ + config_.timeout - 2 * LadderStep(config_.timeout));
  AdvanceGather(ring_->Start(false, own.Take()), Index(config_.rank));
}

void Member::FinishRingRoster(const Table& table) {
  std::vector<Bytes> records;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const View record = table.At(Rank{rank});
    records.emplace_back(record.begin(), record.end());
  }
  roster_ = Roster::Build(records);
  reported_ = true;
  SendFrame(LineOf(Role::kRoot, 0), ToFrame(FrameType::kReady));
}

void Member::OnParentFrame(const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kRoster && roster_.size() == 0) return OnRoster(frame);
  if (type == FrameType::kGo && reported_ && state_ == State::kJoining) return Go();
  if (type == FrameType::kTable && state_ == State::kStanding)
    return AdvanceGather(tree_->OnParent(frame.payload), Index(*place_.parent));
  FailOn(Index(*place_.parent), Code::kProtocol,
         fmt::format("sent a frame of type {} that does not fit", frame.type));
}

void Member::OnChildFrame(Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (type == FrameType::kReady && !line.ready) {
    line.ready = true;
    return ReportIfReady();
  }
  if (type == FrameType::kGather && state_ == State::kStanding) {
    const auto child = std::ranges::find(place_.children, line.peer, &RankRange::first);
    const auto index = static_cast<std::size_t>(child - place_.children.begin());
    return AdvanceGather(tree_->OnChild(index, frame.payload), line.peer);
  }
  FailOn(line.peer, Code::kProtocol,
         fmt::format("sent a frame of type {} that does not fit", frame.type));
}

void Member::OnPreviousFrame(const Frame& frame) {
  const std::uint32_t previous = (Index(config_.rank) + config_.size - 1) % config_.size;
  if (static_cast<FrameType>(frame.type) != FrameType::kBlock)
    return FailOn(previous, Code::kProtocol,
                  fmt::format("sent a frame of type {} that does not fit", frame.type));
  AdvanceGather(ring_->OnPrevious(frame.payload), previous);
}

void Member::OnPeerFrame(const Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  const Rank peer{line.peer};
  Reader in(frame.payload.bytes);
  if (type == FrameType::kMessage && in.remaining() >= 8) {
    const std::uint64_t tag = in.U64();
    const View message = in.Raw(in.remaining());
    const Status put = mailbox_.Put(peer, tag, Bytes(message.begin(), message.end()));
    if (!put.ok()) FailHere(put.error().code, put.error().message);
    return;
  }
  if (type == FrameType::kAsk && in.AtEnd())
    return PostFrame(peer, ToFrame(config_.activity ? config_.activity() : Activity()));
  const auto answer = ParseActivity(frame.payload.bytes);
  const auto asked = answers_.find(line.peer);
  if (type == FrameType::kAnswer && answer.ok() && asked != answers_.end()) {
    asked->second = *answer;
    return;
  }
  FailOn(line.peer, Code::kProtocol,
         fmt::format("sent a frame of type {} that does not fit", frame.type));
}

// ---- joining ----------------------------------------------------------------------------------

void Member::Connect(Role role, std::uint32_t peer, const std::vector<Address>& addresses,
                     Instant expires) {
  static constexpr Purpose kPurpose[] = {Purpose::kCheckIn, Purpose::kCheckIn, Purpose::kTree,
                                         Purpose::kTree,    Purpose::kRing,    Purpose::kRing,
                                         Purpose::kPeer,    Purpose::kPeer};
  outgoing_.push_back(
      Outgoing{role,
               peer,
               Dialler({addresses, config_.credentials, kPurpose[static_cast<std::size_t>(role)],
                        kMemberFrameBytesMax},
                       nonces_, next_line_, [this](Action action) { Emit(std::move(action)); }),
               expires,
               {}});
  outgoing_.back().dialler.Advance(now_);
}

void Member::ReportIfReady() {
  if (reported_ || roster_.size() == 0) return;
  std::size_t ready = 0;
  for (const auto& [id, line] : lines_) ready += line.role == Role::kChild && line.ready;
  if (ready < place_.children.size()) return;
  reported_ = true;
  if (place_.parent)
    return SendFrame(LineOf(Role::kParent, Index(*place_.parent)), ToFrame(FrameType::kReady));
  SendFrame(LineOf(Role::kRoot, 0), ToFrame(FrameType::kReady));
  Go();
}

void Member::Go() {
  state_ = State::kStanding;
  const SharedBytes go = Share(ToFrame(FrameType::kGo));
  for (const auto& [id, line] : lines_)
    if (line.role == Role::kChild) Emit(Send{id, Slice(go)});
}

// ---- standing ---------------------------------------------------------------------------------

void Member::Gather(bool barrier, Bytes payload) {
  if (Finished()) return;
  RINGLET_ASSERT(state_ == State::kStanding);
  ++gathers_;
  AdvanceGather(is_tree() ? tree_->Start(barrier, std::move(payload))
                          : ring_->Start(barrier, std::move(payload)),
                Index(config_.rank));
  if (!Finished()) RequirePresent();
}

void Member::AdvanceGather(const Status& status, std::uint32_t peer) {
  if (!status.ok())
    return FailOn(peer, status.error().code, "does not fit: " + status.error().message);
  if (ring_) {
    if (const LineId next = LineOf(Role::kNext, (Index(config_.rank) + 1) % config_.size);
        next != 0)
      for (Bytes& block : ring_->TakeForward()) {
        Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kBlock));
        out.Raw(block);
        SendFrame(next, EndFrame(std::move(out)));
      }
    auto table = ring_->TakeResult();
    if (table && roster_.size() == 0) return FinishRingRoster(*table);
    if (table) table_ = std::move(table);
    return;
  }
  if (const auto up = tree_->TakeUpward())
    SendPayload(LineOf(Role::kParent, Index(*place_.parent)), FrameType::kGather,
                Slice(Share(*up)));
  if (const auto down = tree_->TakeDownward())
    for (const auto& [id, line] : lines_)
      if (line.role == Role::kChild) SendPayload(id, FrameType::kTable, *down);
  if (auto table = tree_->TakeResult()) table_ = std::move(table);
}

// Not the next in the ring: it may have all it needs, and what it owes us comes the other way.
bool Member::IsNeeded(const Line& line) {
  return line.role == Role::kParent || line.role == Role::kChild || line.role == Role::kPrevious;
}

// Whoever has left will not take part any more: say so instead of waiting for it.
void Member::RequirePresent() {
  if (!(is_tree() ? tree_->running() : ring_->running())) return;
  for (const auto& [id, line] : lines_)
    if (IsNeeded(line) && line.left)
      return FailOn(line.peer, Code::kPeerLost, "has left (destroyed the communicator)");
}

void Member::Post(Rank to, std::uint64_t tag, Bytes message, Instant now) {
  if (Finished()) return;
  RINGLET_ASSERT(state_ == State::kStanding && Index(to) < config_.size);
  now_ = now;
  if (to == config_.rank) {
    const Status put = mailbox_.Put(to, tag, std::move(message));
    if (!put.ok()) FailHere(put.error().code, put.error().message);
    return;
  }
  Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kMessage));
  out.U64(tag).Raw(message);
  PostFrame(to, EndFrame(std::move(out)));
}

void Member::Ask(Rank whom, Instant now) {
  if (Finished() || whom == config_.rank) return;
  now_ = now;
  answers_[Index(whom)] = std::nullopt;
  PostFrame(whom, ToFrame(FrameType::kAsk));
}

std::optional<Activity> Member::TakeAnswer(Rank from) {
  const auto it = answers_.find(Index(from));
  if (it == answers_.end() || !it->second) return std::nullopt;
  const std::optional<Activity> answer = it->second;
  answers_.erase(it);
  return answer;
}

// To any rank: over the line that stands, or one that is made now and kept.
void Member::PostFrame(Rank to, Bytes frame) {
  if (const LineId line = LineOf(Role::kPeerOut, Index(to)); line != 0)
    return SendFrame(line, std::move(frame));
  auto it = std::ranges::find_if(outgoing_, [&](const Outgoing& o) {
    return o.role == Role::kPeerOut && o.peer == Index(to);
  });
  if (it == outgoing_.end()) {
    const auto introduction = roster_.At(to);
    if (!introduction.ok())
      return FailHere(introduction.error().code, introduction.error().message);
    Connect(Role::kPeerOut, Index(to), introduction->addresses, now_ + config_.timeout);
    it = std::prev(outgoing_.end());
  }
  it->waiting.push_back(std::move(frame));
}

// ---- endings ----------------------------------------------------------------------------------

void Member::Abort(Code code, const std::string& why) {
  if (!Finished()) FailHere(code, why);
}

void Member::Leave() {
  if (Finished()) return;
  if (state_ == State::kJoining)
    return FailHere(Code::kAborted,
                    fmt::format("{} gave up {}", Name(Index(config_.rank)), Phase()));
  state_ = State::kOver;
  CloseAll(Share(ToFrame(FrameType::kLeave)));
}

Failure Member::FailureOf(std::uint32_t peer, Code code, const std::string& what) const {
  return {code, peer,
          fmt::format("{} {}; {} noticed it while {}", Name(peer), what, Name(Index(config_.rank)),
                      Phase())};
}

void Member::FailOn(std::uint32_t peer, Code code, const std::string& what) {
  Fail(FailureOf(peer, code, what));
}

void Member::Fail(const Failure& failure) {
  if (Finished()) return;
  failure_ = failure;
  state_ = State::kOver;
  CloseAll(Share(ToFrame(FrameType::kFailure, failure)));
}

void Member::CloseAll(const SharedBytes& last_word) {
  for (const auto& [id, line] : lines_) {
    // The root hears of failures while joining; it has nothing to do with leaving.
    const bool tell = line.wire.open() && (line.role != Role::kRoot || failure_) && !line.left;
    if (tell) Emit(Send{id, Slice(last_word)});
    Emit(Hangup{id});
  }
  for (Outgoing& outgoing : outgoing_) outgoing.dialler.Stop();
  lines_.clear();
  outgoing_.clear();
}

void Member::DropCaller(LineId id, const std::string& why) {
  const auto it = lines_.find(id);
  if (it == lines_.end()) return;
  if (it->second.role != Role::kCaller)
    return FailOn(it->second.peer, Code::kProtocol, "sent " + why);
  if (++strangers_ <= config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn, fmt::format("rank {}: turned away a caller from {}: {}",
                                           Index(config_.rank), ToString(it->second.from), why)});
  Emit(Hangup{id});
  lines_.erase(it);
}

std::string Member::Name(std::uint32_t rank) const {
  if (rank == Index(config_.rank)) return Describe(config_.rank, config_.introduction);
  return roster_.DescribeRank(Rank{rank});
}

std::string Member::Phase() const {
  if (state_ == State::kStanding) {
    const bool running = is_tree() ? tree_->running() : ring_->running();
    if (!running) return "in normal operation";
    return fmt::format("in collective {} of the control network, waiting for {}", gathers_,
                       is_tree() ? tree_->Awaited() : ring_->Awaited());
  }
  if (!checked_in_) {
    const auto root = std::ranges::find(outgoing_, Role::kRoot, &Outgoing::role);
    return fmt::format("connecting to the root ({})",
                       root == outgoing_.end() ? std::string("?") : root->dialler.Reasons());
  }
  if (roster_.size() == 0 && !is_tree() &&
      LineOf(Role::kPrevious, (Index(config_.rank) + config_.size - 1) % config_.size) != 0)
    return fmt::format("gathering the ring's addresses, waiting for {}", ring_->Awaited());
  if (roster_.size() == 0) return "checked in and waiting for the other ranks";
  std::string missing;
  for (const RankRange& child : place_.children) {
    const auto line = std::ranges::find_if(lines_, [&](const auto& l) {
      return l.second.role == Role::kChild && l.second.peer == child.first;
    });
    if (line == lines_.end() || !line->second.ready)
      missing += (missing.empty() ? "" : ", ") + Name(child.first);
  }
  if (!missing.empty()) return "connecting to the ranks below: " + missing;
  return "connected and waiting for the other ranks to connect";
}

void Member::SendPayload(LineId line, FrameType type, const Slice& payload) {
  Writer header;
  header.U32(static_cast<std::uint32_t>(payload.bytes.size())).U8(static_cast<std::uint8_t>(type));
  SendFrame(line, header.Take());
  Emit(Send{line, payload});
}

LineId Member::LineOf(Role role, std::uint32_t peer) const {
  for (const auto& [id, line] : lines_)
    if (line.role == role && (role == Role::kRoot || line.peer == peer)) return id;
  return 0;
}

}  // namespace ringlet::bootstrap
