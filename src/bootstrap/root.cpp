#include "bootstrap/root.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/difference.hpp"

namespace ringlet::bootstrap {
namespace {

// It goes to every rank, and a longer list is of no use.
std::string Shortened(std::string ranges) {
  constexpr std::size_t kRangesBytesMax = 512;
  if (ranges.size() <= kRangesBytesMax) return ranges;
  ranges.resize(ranges.rfind(',', kRangesBytesMax));
  return ranges + ", ...";
}

std::string DescribeRecord(std::uint32_t rank, View record) {
  const auto member_address = ParseMemberAddress(record);
  return member_address.ok() ? Describe(Rank{rank}, *member_address) : fmt::format("rank {}", rank);
}

}  // namespace

Instant LadderStep(Instant timeout) {
  return std::clamp<Instant>(timeout / 20, std::chrono::milliseconds(20), std::chrono::seconds(2));
}

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
                nonces_, [this](Action action) { Emit(std::move(action)); }) {}

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
  const auto guest = guests_.find(event.line);
  if (guest == guests_.end()) return;
  guest->second.heard = now;
  const Status pushed = guest->second.wire.Push(event);
  if (!pushed.ok()) return OnBrokenStream(guest, pushed.error());
  Pump(event.line);
}

void Root::Pump(LineId line) {
  while (!Finished()) {
    const auto guest = guests_.find(line);
    if (guest == guests_.end()) return;
    auto frame = guest->second.wire.Next();
    if (!frame.ok()) return OnBrokenStream(guest, frame.error());
    if (!*frame) return;
    OnFrame(guest, **frame);
  }
}

void Root::OnBrokenStream(GuestAt guest, const Error& error) {
  const std::uint32_t rank = guest->second.rank;
  RejectAll({Code::kProtocol, rank,
             fmt::format("{} sent the root {}", DescribeRecord(rank, guest->second.record),
                         error.message)});
}

void Root::OnClosed(const Closed& event) {
  if (acceptor_.OnClosed(event.line)) return;
  auto node = guests_.extract(event.line);
  if (node.empty() || state() == RootState::kClosing) return;
  const Guest guest = std::move(node.mapped());
  const char* phase = state() == RootState::kGathering ? "before all ranks had checked in"
                                                       : "while the ranks connected to each other";
  RejectAll({Code::kPeerLost, guest.rank,
             fmt::format("{} was lost {}: {}", DescribeRecord(guest.rank, guest.record), phase,
                         event.why)},
            {guest.ranks.begin(), guest.ranks.end()});  // they will not come again
}

void Root::OnTick(Instant now) {
  acceptor_.Expire(now);
  if (beat_due_ != Instant(0) && now >= beat_due_) Beat(now);
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
                            StoppedMembers()});
    case RootState::kClosing: return Finish();
    case RootState::kEmpty:
    case RootState::kRefusing:
    case RootState::kFinished: return End();
  }
}

void Root::Beat(Instant now) {
  const bool asleep = now - beat_due_ > config_.silence_max / 2;  // so may they have been, for us
  beat_due_ = now + config_.silence_max / 4;
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::optional<LineId> silent;
  for (auto& [line, guest] : guests_) {
    if (asleep) guest.heard = now;
    if (now - guest.heard >= config_.silence_max) silent = line;
    Say(line, guest, Slice(beat));
  }
  if (!silent) return;
  Emit(Hangup{*silent});
  OnClosed({*silent, SilenceText(config_.silence_max, WhyStopped(guests_.at(*silent).record))});
}

// ---- checking in ------------------------------------------------------------------------------

// The rules are the same for both shapes.
bool Root::Accepts(RootLine line, std::uint8_t frame) const {
  return RuleFor(RootRules(), state(), line, static_cast<FrameType>(frame), Shape::kTree) !=
         nullptr;
}

void Root::OnFrame(GuestAt guest, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  if (!Accepts(RootLine::kMember, frame.type)) {
    if (IsLate(RootRules(), state(), RootLine::kMember, type, Shape::kTree)) return;
    return OnBrokenStream(
        guest, Error{Code::kProtocol, fmt::format("an unexpected frame (type {})", frame.type)});
  }
  if (type == FrameType::kLocalRank) return OnLocalRank(guest, frame);
  if (type == FrameType::kSection) return OnSection(guest, frame);
  if (type == FrameType::kReady) return OnReady(guest);
  if (type == FrameType::kFailure) return OnFailure(guest, frame);
}

void Root::OnCaller(const Acceptor::FirstFrame& caller) {
  const auto dismiss = [&](const Failure& failure) {
    acceptor_.Dismiss(caller.line, ToFrame(FrameType::kReject, failure));
  };
  if (caller.purpose != Purpose::kCheckIn)
    return acceptor_.TurnAway(caller.line, "a member that takes the root for another member");
  auto check_in = Accepts(RootLine::kCaller, caller.frame.type)
                      ? ParseCheckIn(caller.frame.payload.bytes)
                      : Result<CheckIn>(Error{Code::kProtocol, "a member that does not check in"});
  if (!check_in.ok()) return dismiss({Code::kProtocol, kNoOrigin, check_in.error().message});
  if (auto* const refusing = std::get_if<Refusing>(&state_)) {
    dismiss(refusing->failure);
    refusing->told.insert(check_in->rank);
    if (job_ && refusing->told.size() >= Mine().count) End();
    return;
  }
  if (state() == RootState::kClosing)
    return dismiss({Code::kInvalidArgument, check_in->rank,
                    "all ranks have joined with this unique id already: make a new one for each "
                    "communicator"});
  OnCheckIn(caller.line, std::move(*check_in));
}

PlaceRange Root::Mine() const {
  return RanksOfRoot(job_->first.root, job_->first.size);
}

// The first root collects what the others have collected.
PlaceRange Root::Expected() const {
  return job_->first.root.index == 0 ? PlaceRange{0, job_->first.size} : Mine();
}

// Whether this rank checks in here, or only brings others who do.
bool Root::IsMine(const CheckIn& check_in) const {
  return RootOfRank(check_in.rank, check_in.size, check_in.root.count) == check_in.root.index;
}

std::optional<std::string> Root::WhyUnfit(const CheckIn& check_in) const {
  if (check_in.size == 0 || check_in.size > kSizeMax)
    return fmt::format("world size {} is not between 1 and {}", check_in.size, kSizeMax);
  if (check_in.rank >= check_in.size)
    return fmt::format("rank {} is not below the world size {}", check_in.rank, check_in.size);
  if (check_in.shape == Shape::kRing && check_in.root.count != 1)
    return fmt::format("rank {} was given {} unique ids for a ring, which has one root",
                       check_in.rank, check_in.root.count);
  if (check_in.root.count == 0 || check_in.root.count > check_in.size ||
      check_in.root.index >= check_in.root.count)
    return fmt::format("rank {} takes this for root {} of {}, for {} ranks", check_in.rank,
                       check_in.root.index, check_in.root.count, check_in.size);
  if (check_in.member_address.addresses.empty() && check_in.size > 1)
    return fmt::format("rank {} says no address at which it can be reached", check_in.rank);
  return job_ ? WhyUnlikeFirst(check_in) : std::nullopt;
}

std::optional<std::string> Root::WhyUnlikeFirst(const CheckIn& check_in) const {
  const CheckIn& first_one = job_->first;
  const std::string first = DescribeRecord(first_one.rank, job_->first_record);
  const std::string me = Describe(Rank{check_in.rank}, check_in.member_address);
  if (check_in.size != first_one.size)
    return fmt::format("{} was given world size {}, {} was given {}", me, check_in.size, first,
                       first_one.size);
  if (check_in.root != first_one.root)
    return fmt::format(
        "{} was given {} unique ids with this one at place {}, {} was given {} with "
        "it at place {}: all ranks need the same list",
        me, check_in.root.count, check_in.root.index, first, first_one.root.count,
        first_one.root.index);
  if (check_in.shape != first_one.shape || check_in.arity != first_one.arity)
    return fmt::format("RINGLET_BOOTSTRAP or RINGLET_TREE_ARITY differs between {} and {}", me,
                       first);
  if (const auto it = job_->members.find(check_in.rank);
      it != job_->members.end() && IsMine(check_in))
    return fmt::format("rank {} was given to two processes: {} and {}", check_in.rank, me,
                       DescribeMember(check_in.rank));
  return std::nullopt;
}

void Root::OnCheckIn(LineId line, CheckIn check_in) {
  if (const auto unfit = WhyUnfit(check_in)) {
    const Failure failure{Code::kInvalidArgument, check_in.rank, *unfit};
    acceptor_.Dismiss(line, ToFrame(FrameType::kReject, failure));
    // The job cannot come together any more: the others need not wait for their deadline.
    if (state() == RootState::kGathering) RejectAll(failure, {check_in.rank});
    return;
  }
  Writer record;
  Encode(record, check_in.member_address);
  const GuestAt guest = Introduce(line, check_in, record.Take());
  SayWelcome(guest, check_in);
  if (IsMine(check_in)) Admit(guest, check_in, guest->second.record);
}

Root::GuestAt Root::Introduce(LineId line, const CheckIn& check_in, Bytes record) {
  if (!job_) {
    if (config_.silence_max > Instant(0)) beat_due_ = now_ + config_.silence_max / 4;
    job_ = Job{check_in, record};
    state_ = Gathering{Instant::max()};
  }
  HeedDeadlineOf(check_in);
  Acceptor::HeldCaller caller = acceptor_.Take(line);
  Guest guest{std::move(caller.line), std::move(caller.from), now_, check_in.rank,
              std::move(record)};
  return guests_.emplace(line, std::move(guest)).first;
}

// The rank whose time ends first need not have come first.
void Root::HeedDeadlineOf(const CheckIn& check_in) {
  auto* const gathering = std::get_if<Gathering>(&state_);
  if (!gathering) return;
  const Instant left = std::chrono::milliseconds(check_in.timeout_ms);
  // The first root waits for the others too, and knows less of who is missing there.
  const Instant due = now_ + left - LadderStep(left) * (check_in.root.index == 0 ? 1 : 2);
  gathering->due = std::min(gathering->due, due);
}

void Root::SayWelcome(GuestAt at, const CheckIn& check_in) {
  const bool hosted =
      check_in.member_address.pid == config_.pid && check_in.member_address.host == config_.host;
  const bool news = hosted && !hosted_rank_;
  if (news) hosted_rank_ = check_in.rank;
  const SharedBytes welcome = Share(ToFrame(Welcome{config_.host, config_.pid, hosted_rank_}));
  Say(at->first, at->second, Slice(welcome));
  if (!news) return;  // else those who came before learn it as well
  for (auto& [line, guest] : guests_)
    if (line != at->first) Say(line, guest, Slice(welcome));
}

void Root::OnLocalRank(GuestAt at, const Frame& frame) {
  Guest& guest = at->second;
  auto local_rank = ParseLocalRank(frame.payload.bytes);
  auto record = local_rank.ok()
                    ? ApplyDifference(guest.record, local_rank->difference, kRecordBytesMax)
                    : Result<Bytes>(local_rank.error());
  auto member_address =
      record.ok() ? ParseMemberAddress(*record) : Result<MemberAddress>(record.error());
  if (!member_address.ok()) return OnBrokenStream(at, member_address.error());
  CheckIn& check_in = local_rank->check_in;
  check_in.member_address = std::move(*member_address);
  HeedDeadlineOf(check_in);
  const auto unfit = WhyUnfit(check_in);
  if (!unfit && state() == RootState::kGathering && IsMine(check_in))
    return Admit(at, check_in, std::move(*record));
  RejectAll(
      {Code::kInvalidArgument, check_in.rank,
       unfit.value_or(fmt::format("rank {} checks in at the wrong time or root", check_in.rank))},
      {check_in.rank});
}

void Root::Admit(GuestAt at, const CheckIn& check_in, Bytes record) {
  at->second.ranks.push_back(check_in.rank);
  job_->members.emplace(check_in.rank, MemberSeen{at->first, {std::move(record), at->second.rank}});
  DistributeIfComplete();
}

void Root::OnSection(GuestAt at, const Frame& frame) {
  Guest& guest = at->second;
  if (!guest.section) guest.section.emplace();
  const Status pushed = guest.section->Push(frame.payload);
  if (!pushed.ok()) return OnBrokenStream(at, pushed.error());
  if (!guest.section->complete()) return;
  const auto roster = guest.section->Finish(nullptr);
  guest.section.reset();
  if (!roster.ok()) return OnBrokenStream(at, roster.error());
  const std::uint64_t end = std::uint64_t{roster->first()} + roster->size();
  const bool fits = job_->first.root.index == 0 && end <= job_->first.size &&
                    job_->members.lower_bound(roster->first()) ==
                        job_->members.lower_bound(static_cast<std::uint32_t>(end));
  if (!fits)
    return OnBrokenStream(at, Error{Code::kProtocol, "the records of ranks that are here already"});
  for (std::uint32_t rank = roster->first(); rank < end; ++rank) {
    auto record = roster->RecordAt(Rank{rank});
    const auto node_leader = roster->NodeLeaderOf(Rank{rank});
    if (!record.ok() || !node_leader.ok() || !ParseMemberAddress(*record).ok())
      return OnBrokenStream(at, Error{Code::kProtocol, "records that are broken"});
    job_->members.emplace(rank, MemberSeen{at->first, {std::move(*record), Index(*node_leader)}});
  }
  DistributeIfComplete();
}

// ---- distributing -----------------------------------------------------------------------------

void Root::DistributeIfComplete() {
  const auto* const gathering = std::get_if<Gathering>(&state_);
  if (!gathering || job_->members.size() < Expected().count) return;
  state_ = Connecting{gathering->due, 0};
  if (job_->first.shape == Shape::kRing) return SendNeighbours();
  std::vector<RankRecord> records;
  records.reserve(job_->members.size());
  for (auto& [rank, member] : job_->members) records.push_back(member.record);
  const Roster roster = Roster::Build(Expected().first, records);
  const bool all = job_->first.root.index == 0;
  SendRoster(all ? FrameType::kRoster : FrameType::kSection, Expected().first, roster);
}

void Root::SendRoster(FrameType type, std::uint32_t to, const Roster& roster) {
  const LineId line = job_->members.at(to).line;
  for (const Slice& piece : PiecesOf(roster.bytes())) {
    Writer header;
    header.U32(static_cast<std::uint32_t>(piece.bytes.size())).U8(static_cast<std::uint8_t>(type));
    SendFrame(line, header.Take());
    Say(line, guests_.at(line), piece);
  }
}

void Root::SendNeighbours() {
  for (const auto& [rank, member] : job_->members) {
    Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kNeighbour));
    out.Raw(job_->members.at((rank + 1) % job_->first.size).record.member_address);
    SendFrame(member.line, EndFrame(std::move(out)));
  }
}

void Root::OnReady(GuestAt guest) {
  auto* const connecting = std::get_if<Connecting>(&state_);
  if (!connecting || std::exchange(guest->second.ready, true)) return;
  // In a tree the top speaks for all, and a root delegate for its root; in a ring every member for
  // itself, and all wait for the root's word.
  if (job_->first.shape == Shape::kTree) {
    state_ = Closing{now_ + kCloseAfter};
  } else if (++connecting->ready == job_->first.size) {
    Finish();
  }
}

void Root::Finish() {
  const SharedBytes done = Share(ToFrame(FrameType::kDone));
  for (auto& [line, guest] : guests_) Say(line, guest, Slice(done));
  if (auto note = acceptor_.log().Summary()) Emit(std::move(*note));
  End();
}

// ---- refusing ---------------------------------------------------------------------------------

void Root::OnFailure(GuestAt guest, const Frame& frame) {
  if (state() == RootState::kClosing) return;  // they say goodbye to each other
  const auto failure = ParseFailure(frame.payload.bytes);
  if (!failure.ok()) return OnBrokenStream(guest, failure.error());
  RejectAll(*failure);
}

// Callers that have not introduced themselves yet will, and hear it then.
void Root::RejectAll(const Failure& failure, std::set<std::uint32_t> told) {
  if (state() == RootState::kRefusing || Finished()) return;
  const SharedBytes reject = Share(ToFrame(FrameType::kReject, failure));
  for (auto& [line, guest] : guests_) {
    Say(line, guest, Slice(reject));
    Emit(Hangup{line});
    told.insert(guest.ranks.begin(), guest.ranks.end());
  }
  guests_.clear();
  beat_due_ = Instant(0);
  const bool shortly = job_ && !config_.refuses_long;
  const Instant timeout =
      shortly ? std::min<Instant>(std::chrono::milliseconds(job_->first.timeout_ms), kRefusalMost)
              : kRefusalMost;
  const bool all_told = job_ && told.size() >= Mine().count;
  state_ = Refusing{now_ + timeout, failure, std::move(told)};
  if (all_told || timeout == Instant(0)) End();
}

void Root::End() {
  for (const auto& [line, guest] : guests_) Emit(Hangup{line});
  guests_.clear();
  acceptor_.Clear();
  state_ = Over{};
}

std::string Root::DescribeMember(std::uint32_t rank) const {
  return DescribeRecord(rank, job_->members.at(rank).record.member_address);
}

std::string Root::WhyStopped(View record) const {
  const auto address = ParseMemberAddress(record);
  return address.ok() ? StoppedText(config_.is_stopped, address->host, address->pid)
                      : std::string();
}

// The first of them will do.
std::string Root::StoppedMembers() const {
  for (const auto& [rank, member] : job_->members)
    if (const std::string why = WhyStopped(member.record.member_address); !why.empty())
      return fmt::format(": {} {}", DescribeMember(rank), why);
  return "";
}

std::string Root::MissingText() const {
  const PlaceRange expected = Expected();
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = expected.first; rank < expected.first + expected.count; ++rank)
    if (!job_->members.contains(rank)) missing.push_back(rank);
  std::map<std::string, std::uint32_t> by_host;
  for (const auto& [rank, member] : job_->members) {
    Reader in(member.record.member_address);
    ++by_host[DecodeMemberAddress(in).host];
  }
  std::string hosts;
  for (const auto& [host, count] : by_host) {
    if (hosts.size() > 1000) {
      hosts += ", ...";
      break;
    }
    hosts += fmt::format("{}{} ({})", hosts.empty() ? "" : ", ", host, count);
  }
  const StrangerLog& log = acceptor_.log();
  const std::string hint = config_.hint ? config_.hint() : "";
  std::string refused;
  if (log.turned_away() > 0)
    refused += fmt::format("; callers turned away: {}, the last {}", log.turned_away(), log.last());
  if (log.left() > 0)
    refused += fmt::format(
        "; callers that hung up before they introduced themselves: {} (a rank with another "
        "RINGLET_SECRET or unique id does so)",
        log.left());
  return fmt::format(
      "rank{} {}: {} of {} ranks checked in{}, from {}{}", missing.size() == 1 ? "" : "s",
      Shortened(RangesText(missing)), job_->members.size(), expected.count,
      job_->first.root.index == 0 ? std::string()
                                  : fmt::format(" at root {}", job_->first.root.index),
      hosts.empty() ? "nowhere" : hosts, refused + hint);
}

}  // namespace ringlet::bootstrap
