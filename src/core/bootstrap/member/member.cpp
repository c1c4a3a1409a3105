#include "bootstrap/member/member.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/member/callers.hpp"
#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {

Member::Member(MemberConfig config)
    : common_(std::move(config), [this](Action action) { Emit(std::move(action)); }),
      state_(std::in_place_type<JoiningMember>, common_) {}

// ---- states -----------------------------------------------------------------------------------

// Replaces a state that has ended by the next one.
void Member::ChangeState() {
  if (JoiningMember* const joins = joining()) {
    if (joins->failure()) {
      state_ = std::move(*joins).End();
    } else if (joins->may_go()) {
      state_ = std::move(*joins).BecomeStanding();
    }
    return;
  }
  StandingMember* const stands = std::get_if<StandingMember>(&state_);
  if (stands && stands->has_left_all()) state_ = std::move(*stands).End();
}

MemberState Member::state() const {
  if (const auto* const joins = std::get_if<JoiningMember>(&state_)) return joins->state();
  return standing() ? MemberState::kStanding : MemberState::kOver;
}

GroupProtocol* Member::Find(GroupId group) const {
  return FromState(static_cast<GroupProtocol*>(nullptr),
                   [&](const auto& at) { return at.Find(group); });
}

const std::optional<Failure>& Member::failure(GroupId group) const {
  static const std::optional<Failure> kNone;
  if (const MemberOver* const over = std::get_if<MemberOver>(&state_)) return over->failure;
  const GroupProtocol* const found = Find(group);
  return found ? found->failure() : kNone;
}

const Roster& Member::roster(GroupId group) const {
  const GroupProtocol* const found = group == kWorld ? nullptr : Find(group);
  return found ? found->roster() : common_.roster;
}

std::string Member::Phase(GroupId group) const {
  return FromState(std::string("after having left"),
                   [&](const auto& at) { return at.Phase(group); });
}

// ---- events -----------------------------------------------------------------------------------

void Member::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  common_.now = now;
  if (common_.milestones.started == Instant(0)) {
    common_.milestones.started = now;
    joining()->Begin();
  }
  std::visit(Overloaded{
                 [&](const Connected& e) { connections().OnConnected(e); },
                 [&](const Accepted& e) { connections().callers().OnAccepted(e, now); },
                 [&](const Received& e) { OnReceived(e); },
                 [&](const Closed& e) { OnClosed(e); },
                 [&](const Tick&) { OnTick(); },
             },
             event);
}

std::optional<Instant> Member::Deadline() const {
  if (Finished()) return std::nullopt;
  std::optional<Instant> deadline = connections().Deadline(common_.now);
  const auto include = [&](std::optional<Instant> when) {
    if (when) deadline = deadline ? std::min(*deadline, *when) : *when;
  };
  include(FromState(std::optional<Instant>(), [](const auto& at) { return at.Deadline(); }));
  for (const auto& [rank, suspicion] : suspicions_) include(suspicion.expires);
  return deadline;
}

void Member::OnTick() {
  ExpireSuspicions();
  Dispatch([](auto& at) { at.OnTick(); });
  if (Finished()) return;
  connections().callers().Expire(common_.now);
  ExpireCalls();
  if (!Finished() && connections().IsHeartbeatDue(common_.now)) SendHeartbeats();
}

void Member::ExpireSuspicions() {
  for (auto it = suspicions_.begin(); !Finished() && it != suspicions_.end();) {
    const auto due = it++;
    if (common_.now < due->second.expires) continue;
    const auto [rank, suspicion] = *due;
    suspicions_.erase(due);
    OnLost(rank, Code::kPeerLost, suspicion.what);
  }
}

void Member::ExpireCalls() {
  Connections::Calls& calls = connections().calls();
  for (auto it = calls.begin(); !Finished() && it != calls.end();) {
    const auto call = it++;
    if (common_.now < call->expires || call->role == MemberLine::kRoot) {
      call->dialler.Advance(common_.now);
      continue;
    }
    const std::string reasons = call->dialler.Reasons();
    call->dialler.Stop();
    const Connections::CallInProgress expired = std::move(*call);
    calls.erase(call);
    Dispatch([&](auto& at) { at.OnExpired(expired, reasons); });
  }
}

void Member::SendHeartbeats() {
  for (const LineId id : connections().SendHeartbeats(common_.now)) {
    const Line* const line = connections().Find(id);
    if (Finished() || !line) return;
    const std::string stopped =
        FromState(std::string(), [&](const auto& at) { return at.WhyStopped(*line); });
    connections().Hangup(id);
    OnClosed(Closed{id, SilenceText(common_.config.silence_max, stopped)});
  }
}

void Member::OnLost(std::uint32_t peer, Code code, const std::string& why) {
  Dispatch([&](auto& at) { at.OnLost(peer, code, why); });
}

// ---- connections and calls --------------------------------------------------------------------

void Member::OnReceived(const Received& event) {
  if (const auto caller = connections().callers().OnReceived(event)) {
    const bool fits = Accepts(MemberLine::kCaller, caller->frame.type);
    Admit(*caller, fits, state(), joining(), common_);
    return Pump(event.line);
  }
  Line* const line = connections().Find(event.line);
  if (!line) return OnCallReceived(event);
  line->heard = common_.now;
  const Status pushed = line->wire.Push(event);
  if (!pushed.ok()) return OnBroken(event.line, pushed.error().message);
  Pump(event.line);
}

void Member::OnCallReceived(const Received& event) {
  const auto call = connections().CallOn(event.line);
  if (call == connections().calls().end()) return;
  if (auto opened = call->dialler.OnReceived(event, common_.now))
    return OnOpened(call, std::move(*opened));
  if (call->dialler.hopeless()) Dispatch([&](auto& at) { at.OnAllAddressesWrong(*call); });
}

void Member::OnOpened(Connections::Calls::iterator made, Dialler::Opened opened) {
  const Connections::CallInProgress call = std::move(*made);
  connections().calls().erase(made);
  const LineId id = opened.line;
  connections().Open(call, std::move(opened), common_.now);
  if (call.role != MemberLine::kRoot && call.role != MemberLine::kNodeLeader)
    connections().SendFrame(id, ToFrame(Identify{common_.self(), call.subtree}));
  if (JoiningMember* const at = joining()) at->OnOpened(id, call.role, call.peer);
  for (const Slice& frame : call.waiting) connections().Transmit(id, frame);
  Pump(id);
}

void Member::OnClosed(const Closed& event) {
  if (connections().callers().OnClosed(event.line)) return;
  if (const auto line = connections().Remove(event.line)) return OnLineClosed(*line, event.why);
  const auto call = connections().CallOn(event.line);
  if (call == connections().calls().end()) return;
  const bool reached = call->dialler.Reached(event.line);
  call->dialler.OnClosed(event.line, event.why, common_.now);
  Dispatch([&](auto& at) { at.OnDialClosed(*call, reached, event.why); });
}

void Member::OnLineClosed(const Line& line, const std::string& why) {
  const bool anonymous = line.role == MemberLine::kNodeLeader && line.peer == kNoOrigin;
  if (line.role == MemberLine::kRoot || anonymous)
    return Dispatch([&](auto& at) { at.OnUpwardClosed(line, why); });
  // Another connection to it is open. If the rank is lost, that one will close too. If it has left,
  // its kLeave may still be on its way there.
  if (connections().HasLineTo(line.peer)) return;
  const std::string what = "was lost: " + why;
  if (FromState(false, [&](const auto& at) { return at.IsLoss(line); }))
    return OnLost(line.peer, Code::kPeerLost, what);
  // The peer may have hung up because of a failure elsewhere, before it knew us on this connection.
  // While joining the root reports the failed rank, later the tree does. Wait for that report.
  const Instant wait =
      std::min<Instant>(LadderStep(common_.config.timeout), std::chrono::milliseconds(500));
  suspicions_.try_emplace(line.peer, PendingLoss{what, common_.now + wait});
  Dispatch([&](auto& at) { at.OnDoubt(line.peer); });
}

// ---- frames -----------------------------------------------------------------------------------

void Member::Pump(LineId id) {
  while (!Finished()) {
    Line* const line = connections().Find(id);
    if (!line) return;
    auto frame = line->wire.Next();
    if (!frame.ok()) return OnBroken(id, frame.error().message);
    if (!*frame) return;
    OnFrame(id, *line, **frame);
  }
}

bool Member::Accepts(MemberLine line, std::uint8_t frame) const {
  return RuleFor(MemberRules(), state(), line, static_cast<FrameType>(frame),
                 common_.config.shape) != nullptr;
}

void Member::OnFrame(LineId id, Line& line, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (!Accepts(line.role, frame.type)) {
    if (!IsLate(MemberRules(), state(), line.role, type, common_.config.shape))
      OnBroken(id, fmt::format("an unexpected frame of type {}", frame.type));
    return;
  }
  line.spoke = true;
  if (type != FrameType::kBeat) Dispatch([&](auto& at) { at.OnFrame(id, line, frame); });
}

// The bytes on a connection cannot be read, or a frame does not belong there.
void Member::OnBroken(LineId id, const std::string& why) {
  Dispatch([&](auto& at) { at.OnBroken(id, why); });
}

// ---- commands ---------------------------------------------------------------------------------

Status Member::Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks,
                    Instant now) {
  StandingMember* const at = std::get_if<StandingMember>(&state_);
  return at ? at->Form(id, parent, ranks, now) : StandingMember::CannotForm();
}

Result<std::vector<std::uint32_t>> Member::Reform(GroupId id, GroupId parent, Instant now) {
  StandingMember* const at = std::get_if<StandingMember>(&state_);
  if (!at) return StandingMember::CannotForm();
  return at->Reform(id, parent, now);
}

void Member::Gather(bool barrier, Bytes payload, GroupId group) {
  RINGLET_ASSERT(standing() || !Find(group));
  if (StandingMember* const at = std::get_if<StandingMember>(&state_))
    at->Gather(barrier, std::move(payload), group);
}

std::optional<Table> Member::TakeTable(GroupId group) {
  StandingMember* const at = std::get_if<StandingMember>(&state_);
  return at ? at->TakeTable(group) : std::nullopt;
}

void Member::Post(Rank to, std::uint64_t tag, Bytes message, Instant now, GroupId group) {
  if (StandingMember* const at = std::get_if<StandingMember>(&state_))
    at->Post(Index(to), tag, std::move(message), now, group);
}

std::optional<Bytes> Member::TakeMessage(Rank from, std::uint64_t tag, GroupId group) {
  GroupProtocol* const found = Find(group);
  return found ? found->TakeMessage(Index(from), tag) : std::nullopt;
}

std::optional<PushedMessage> Member::TakePushed(GroupId group) {
  GroupProtocol* const found = Find(group);
  return found ? found->TakePushed() : std::nullopt;
}

void Member::Ask(Rank whom, Instant now, GroupId group) {
  if (StandingMember* const at = std::get_if<StandingMember>(&state_))
    at->Ask(Index(whom), now, group);
}

std::optional<Activity> Member::TakeAnswer(Rank from, GroupId group) {
  GroupProtocol* const found = Find(group);
  return found ? found->TakeAnswer(Index(from)) : std::nullopt;
}

Member::RankAbsence Member::AbsenceOf(Rank whom, GroupId group) const {
  const StandingMember* const at = std::get_if<StandingMember>(&state_);
  return at ? at->AbsenceOf(Index(whom), group) : RankAbsence::kUnknown;
}

void Member::Abort(Code code, const std::string& why, GroupId group, std::uint32_t lost) {
  Dispatch([&](auto& at) { at.Abort(code, why, group, lost); });
}

bool Member::AwaitsFailureAnswers(GroupId group) const {
  const StandingMember* const at = std::get_if<StandingMember>(&state_);
  return at && at->AwaitsFailureAnswers(group);
}

void Member::Leave(GroupId group) {
  Dispatch([&](auto& at) { at.Leave(group); });
}

}  // namespace ringlet::bootstrap
