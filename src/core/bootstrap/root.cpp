#include "bootstrap/root.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {

Root::Root(RootConfig config)
    : config_(std::move(config)),
      nonces_(config_.nonce_seed),
      acceptor_({.credentials = config_.credentials,
                 .payload_bytes_max = kRootFrameBytesMax,
                 .options = config_.lines,
                 .callers = {.owner = "root",
                             .half_open_max = config_.half_open_max,
                             .timeout = config_.handshake_timeout,
                             .noted_max = config_.strangers_noted_max}},
                nonces_, [this](Action action) { Emit(std::move(action)); }),
      root_callers_([this](Action action) { Emit(std::move(action)); }) {}

void Root::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  now_ = now;
  std::visit(Overloaded{
                 [&](const Connected&) {},
                 [&](const Accepted& e) { acceptor_.OnAccepted(e, now); },
                 [&](const Received& e) { OnReceived(e, now); },
                 [&](const Closed& e) { OnClosed(e); },
                 [&](const Tick&) { OnTick(now); },
             },
             event);
}

std::optional<Instant> Root::Deadline() const {
  if (Finished()) return std::nullopt;
  std::optional<Instant> deadline;
  const auto include = [&](Instant when) {
    deadline = deadline ? std::min(*deadline, when) : when;
  };
  std::visit(
      [&](const auto& state) {
        if constexpr (requires { state.due; }) include(state.due);
      },
      state_);
  if (beat_due_ != Instant(0)) include(beat_due_);
  if (const auto due = acceptor_.Deadline(now_)) include(*due);
  return deadline;
}

void Root::Abort(const std::string& why) {
  if (Finished()) return;
  RejectAll({Code::kAborted, kNoOrigin, why});
  End();
}

void Root::Refuse(const Failure& failure, Instant now) {
  now_ = now;
  if (state() == RootState::kEmpty || state() == RootState::kGathering) RejectAll(failure);
}

void Root::OnReceived(const Received& event, Instant now) {
  if (const auto caller = acceptor_.OnReceived(event)) {
    OnCaller(*caller);
    return Pump(event.line);
  }
  RootCaller* const root_caller = root_callers_.Find(event.line);
  if (!root_caller) return;
  root_caller->heard = now;
  const Status pushed = root_caller->wire.Push(event);
  if (!pushed.ok()) return OnBrokenStream(*root_caller, pushed.error());
  Pump(event.line);
}

void Root::Pump(LineId line) {
  while (!Finished()) {
    RootCaller* const root_caller = root_callers_.Find(line);
    if (!root_caller) return;
    auto frame = root_caller->wire.Next();
    if (!frame.ok()) return OnBrokenStream(*root_caller, frame.error());
    if (!*frame) return;
    OnFrame(*root_caller, **frame);
  }
}

void Root::OnBrokenStream(const RootCaller& root_caller, const Error& error) {
  RejectAll({Code::kProtocol, root_caller.rank,
             fmt::format("{} sent the root {}",
                         DescribeRecord(root_caller.rank, root_caller.record), error.message)});
}

void Root::OnClosed(const Closed& event) {
  if (acceptor_.OnClosed(event.line)) return;
  const auto root_caller = root_callers_.Take(event.line);
  if (!root_caller || state() == RootState::kClosing) return;
  const char* phase = state() == RootState::kGathering ? "before all ranks had checked in"
                                                       : "while the ranks connected to each other";
  RejectAll({Code::kPeerLost, root_caller->rank,
             fmt::format("{} was lost {}: {}",
                         DescribeRecord(root_caller->rank, root_caller->record), phase, event.why)},
            {root_caller->ranks.begin(),
             root_caller->ranks.end()});  // these ranks will not check in again
}

void Root::OnTick(Instant now) {
  acceptor_.Expire(now);
  if (beat_due_ != Instant(0) && now >= beat_due_) SendHeartbeats(now);
  const bool due = std::visit(
      [&](const auto& state) {
        if constexpr (requires { state.due; }) return now >= state.due;
        return false;
      },
      state_);
  if (due) OnDue();
}

void Root::OnDue() {
  switch (state()) {
    case RootState::kGathering:
      return RejectAll({Code::kTimeout, kNoOrigin, "timed out waiting for " + MissingText()});
    case RootState::kConnecting:
      return RejectAll({Code::kTimeout, kNoOrigin,
                        "all ranks checked in, but they did not all connect to each other in "
                        "time" +
                            job_->StoppedMember(config_.is_stopped)});
    case RootState::kClosing: return Finish();
    case RootState::kEmpty:
    case RootState::kRefusing:
    case RootState::kFinished: return End();
  }
}

void Root::SendHeartbeats(Instant now) {
  const bool asleep = now - beat_due_ > config_.silence_max / 2;  // members may have slept too
  beat_due_ = now + config_.silence_max / 4;
  const auto silent = root_callers_.SendHeartbeats(now, config_.silence_max, asleep);
  if (!silent) return;
  Emit(Hangup{*silent});
  OnClosed(
      {*silent, SilenceText(config_.silence_max,
                            WhyStopped(config_.is_stopped, root_callers_.Find(*silent)->record))});
}

// ---- checking in ------------------------------------------------------------------------------

// Both shapes have the same rules.
bool Root::Accepts(RootLine line, std::uint8_t frame) const {
  return RuleFor(RootRules(), state(), line, static_cast<FrameType>(frame), Shape::kTree) !=
         nullptr;
}

void Root::OnFrame(RootCaller& root_caller, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (!Accepts(RootLine::kMember, frame.type)) {
    if (IsLate(RootRules(), state(), RootLine::kMember, type, Shape::kTree)) return;
    return OnBrokenStream(
        root_caller,
        Error{Code::kProtocol, fmt::format("an unexpected frame (type {})", frame.type)});
  }
  if (type == FrameType::kLocalRank) return OnLocalRank(root_caller, frame);
  if (type == FrameType::kSection) return OnSection(root_caller, frame);
  if (type == FrameType::kReady) return OnReady(root_caller);
  if (type == FrameType::kFailure) return OnFailure(root_caller, frame);
}

void Root::OnCaller(const Acceptor::FirstFrame& caller) {
  const auto dismiss = [&](const Failure& failure) {
    acceptor_.Dismiss(caller.line, ToFrame(FrameType::kReject, failure));
  };
  if (caller.purpose != Purpose::kCheckIn)
    return acceptor_.RejectCaller(caller.line,
                                  "a member that calls the root as if it were another member");
  auto check_in = Accepts(RootLine::kCaller, caller.frame.type)
                      ? ParseCheckIn(caller.frame.payload.bytes)
                      : Result<CheckIn>(Error{Code::kProtocol, "a member that does not check in"});
  if (!check_in.ok()) return dismiss({Code::kProtocol, kNoOrigin, check_in.error().message});
  if (auto* const refusing = std::get_if<Refusing>(&state_)) {
    dismiss(refusing->failure);
    refusing->told.insert(check_in->rank);
    if (job_ && refusing->told.size() >= job_->RanksOfThisRoot().count) End();
    return;
  }
  if (state() == RootState::kClosing)
    return dismiss({Code::kInvalidArgument, check_in->rank,
                    "all ranks have joined with this unique id already: make a new one for each "
                    "communicator"});
  OnCheckIn(caller.line, std::move(*check_in));
}

std::optional<std::string> Root::WhyUnfit(const CheckIn& check_in) const {
  if (auto why = bootstrap::WhyUnfit(check_in)) return why;
  return job_ ? job_->WhyUnlikeFirst(check_in) : std::nullopt;
}

void Root::OnCheckIn(LineId line, CheckIn check_in) {
  if (const auto unfit = WhyUnfit(check_in)) {
    const Failure failure{Code::kInvalidArgument, check_in.rank, *unfit};
    acceptor_.Dismiss(line, ToFrame(FrameType::kReject, failure));
    // The job can no longer complete, so the other ranks need not wait for their deadline.
    if (state() == RootState::kGathering) RejectAll(failure, {check_in.rank});
    return;
  }
  Writer record;
  Encode(record, check_in.member_address);
  RootCaller& root_caller = AddCaller(line, check_in, record.Take());
  SendWelcome(root_caller, check_in);
  if (IsOfThisRoot(check_in)) Admit(root_caller, check_in, root_caller.record);
}

RootCaller& Root::AddCaller(LineId line, const CheckIn& check_in, Bytes record) {
  if (!job_) {
    if (config_.silence_max > Instant(0)) beat_due_ = now_ + config_.silence_max / 4;
    job_.emplace(check_in, record);
    state_ = Gathering{Instant::max()};
  }
  ApplyDeadlineOf(check_in);
  Acceptor::HeldCaller caller = acceptor_.Take(line);
  return root_callers_.Add({line, std::move(caller.line), now_, check_in.rank, std::move(record)});
}

// The rank with the earliest deadline may check in after others.
void Root::ApplyDeadlineOf(const CheckIn& check_in) {
  auto* const gathering = std::get_if<Gathering>(&state_);
  if (!gathering) return;
  gathering->due = std::min(gathering->due, RootDeadline(check_in, now_));
}

void Root::SendWelcome(RootCaller& root_caller, const CheckIn& check_in) {
  const bool hosted =
      check_in.member_address.pid == config_.pid && check_in.member_address.host == config_.host;
  const bool news = hosted && !hosted_rank_;
  if (news) hosted_rank_ = check_in.rank;
  const SharedBytes welcome = Share(ToFrame(Welcome{config_.host, config_.pid, hosted_rank_}));
  root_callers_.Transmit(root_caller, Slice(welcome));
  if (news)
    root_callers_.SendToAll(welcome, root_caller.line);  // for ranks that checked in earlier
}

void Root::OnLocalRank(RootCaller& root_caller, const Frame& frame) {
  auto local_rank = ReadLocalRank(root_caller.record, frame.payload.bytes);
  if (!local_rank.ok()) return OnBrokenStream(root_caller, local_rank.error());
  const CheckIn& check_in = local_rank->check_in;
  ApplyDeadlineOf(check_in);
  const auto unfit = WhyUnfit(check_in);
  if (!unfit && state() == RootState::kGathering && IsOfThisRoot(check_in))
    return Admit(root_caller, check_in, std::move(local_rank->record));
  RejectAll(
      {Code::kInvalidArgument, check_in.rank,
       unfit.value_or(fmt::format("rank {} checks in at the wrong time or root", check_in.rank))},
      {check_in.rank});
}

void Root::Admit(RootCaller& root_caller, const CheckIn& check_in, Bytes record) {
  root_caller.ranks.push_back(check_in.rank);
  job_->Admit(check_in.rank, {root_caller.line, {std::move(record), root_caller.rank}});
  DistributeIfComplete();
}

void Root::OnSection(RootCaller& root_caller, const Frame& frame) {
  if (!root_caller.section) root_caller.section.emplace();
  const Status pushed = root_caller.section->Push(frame.payload);
  if (!pushed.ok()) return OnBrokenStream(root_caller, pushed.error());
  if (!root_caller.section->complete()) return;
  const auto roster = root_caller.section->Finish(nullptr);
  root_caller.section.reset();
  if (!roster.ok()) return OnBrokenStream(root_caller, roster.error());
  const Status admitted = job_->AdmitSection(root_caller.line, *roster);
  if (!admitted.ok()) return OnBrokenStream(root_caller, admitted.error());
  DistributeIfComplete();
}

// ---- distributing -----------------------------------------------------------------------------

void Root::DistributeIfComplete() {
  const auto* const gathering = std::get_if<Gathering>(&state_);
  if (!gathering || !job_->IsComplete()) return;
  state_ = Connecting{gathering->due, 0};
  if (job_->IsRing()) return SendNeighbours();
  SendRoster(job_->IsFirstRoot() ? FrameType::kRoster : FrameType::kSection, job_->BuildRoster());
}

void Root::SendRoster(FrameType type, const Roster& roster) {
  const LineId line = job_->members().at(roster.first()).line;
  for (const Slice& piece : PiecesOf(roster.bytes())) {
    Writer header;
    header.U32(static_cast<std::uint32_t>(piece.bytes.size())).U8(static_cast<std::uint8_t>(type));
    root_callers_.Transmit(line, header.Take());
    root_callers_.Transmit(*root_callers_.Find(line), piece);
  }
}

void Root::SendNeighbours() {
  for (const auto& [rank, member] : job_->members()) {
    Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kNeighbour));
    out.Raw(job_->members().at((rank + 1) % job_->first().size).record.member_address);
    root_callers_.Transmit(member.line, EndFrame(std::move(out)));
  }
}

void Root::OnReady(RootCaller& root_caller) {
  auto* const connecting = std::get_if<Connecting>(&state_);
  if (!connecting || std::exchange(root_caller.ready, true)) return;
  // In a tree the top reports for all ranks, and a root delegate for its root. In a ring every
  // member reports, and all wait for kDone.
  if (!job_->IsRing()) {
    state_ = Closing{now_ + kCloseAfter};
  } else if (++connecting->ready == job_->first().size) {
    Finish();
  }
}

void Root::Finish() {
  root_callers_.SendToAll(Share(ToFrame(FrameType::kDone)));
  if (auto note = acceptor_.log().Summary()) Emit(std::move(*note));
  End();
}

// ---- refusing ---------------------------------------------------------------------------------

void Root::OnFailure(const RootCaller& root_caller, const Frame& frame) {
  if (state() == RootState::kClosing) return;  // the job is complete already
  const auto failure = ParseFailure(frame.payload.bytes);
  if (!failure.ok()) return OnBrokenStream(root_caller, failure.error());
  RejectAll(*failure);
}

// Callers that have not checked in yet receive the failure when they do.
void Root::RejectAll(const Failure& failure, std::set<std::uint32_t> told) {
  if (state() == RootState::kRefusing || Finished()) return;
  told.merge(root_callers_.HangUp(Share(ToFrame(FrameType::kReject, failure))));
  beat_due_ = Instant(0);
  const bool shortly = job_ && !config_.refuses_long;
  const Instant timeout =
      shortly ? std::min<Instant>(std::chrono::milliseconds(job_->first().timeout_ms), kRefusalMost)
              : kRefusalMost;
  const bool all_told = job_ && told.size() >= job_->RanksOfThisRoot().count;
  state_ = Refusing{now_ + timeout, failure, std::move(told)};
  if (all_told || timeout == Instant(0)) End();
}

void Root::End() {
  root_callers_.HangUp();
  acceptor_.Clear();
  state_ = Over{};
}

std::string Root::MissingText() const {
  return job_->MissingText(acceptor_.log()) + (config_.hint ? config_.hint() : "");
}

}  // namespace ringlet::bootstrap
