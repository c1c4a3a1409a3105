#include "bootstrap/root.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bootstrap/difference.hpp"

namespace ringlet::bootstrap {
namespace {

// It goes to every rank, and a list that long helps nobody.
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

void Root::Handle(const Event& event, Instant now) {
  if (Finished()) return;
  now_ = now;
  std::visit(Overloaded{
                 [&](const Connected&) {},
                 [&](const Accepted& e) { OnAccepted(e, now); },
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
  if (state_ != State::kEmpty) include(deadline_);
  if (beat_due_ != Instant(0)) include(beat_due_);
  if (const auto due = callers_.Deadline(now_)) include(*due);
  return deadline;
}

void Root::Abort(const std::string& why) {
  if (Finished()) return;
  RejectAll({Code::kAborted, kNoOrigin, why});
  End();
}

void Root::OnAccepted(const Accepted& event, Instant now) {
  if (const auto oldest = callers_.InTheWay())
    DropStranger(*oldest, "too many callers that do not introduce themselves");
  guests_.emplace(event.line, Guest{Wire::Accepted(config_.credentials, nonces_.Next(),
                                                   kRootFrameBytesMax, config_.lines),
                                    event.from, now});
  callers_.Add(event.line, now);
}

void Root::OnReceived(const Received& event, Instant now) {
  const auto it = guests_.find(event.line);
  if (it == guests_.end()) return;
  it->second.heard = now;
  const Status pushed = it->second.wire.Push(event.data);
  if (Bytes reply = it->second.wire.TakeReply(); !reply.empty())
    Emit(Send{event.line, Slice(Share(std::move(reply)))});
  if (!pushed.ok()) return OnBrokenStream(event.line, it->second, pushed.error());
  if (it->second.wire.JustOpened()) callers_.Prove(event.line);
  while (!Finished()) {
    const auto guest = guests_.find(event.line);
    if (guest == guests_.end()) return;
    auto frame = guest->second.wire.Next();
    if (!frame.ok()) return OnBrokenStream(event.line, guest->second, frame.error());
    if (!*frame) return;
    OnFrame(guest, **frame);
  }
}

void Root::OnBrokenStream(LineId line, const Guest& guest, const Error& error) {
  if (!guest.rank) return DropStranger(line, error.message);
  RejectAll({Code::kProtocol, *guest.rank,
             fmt::format("{} sent the root {}", DescribeRecord(*guest.rank, guest.record),
                         error.message)});
}

void Root::OnClosed(const Closed& event) {
  const auto it = guests_.find(event.line);
  if (it == guests_.end()) return;
  const Guest guest = std::move(it->second);
  if (!guest.rank) return DropStranger(event.line, "it left before it had introduced itself");
  guests_.erase(it);
  told_.insert(guest.ranks.begin(), guest.ranks.end());  // they will not come again
  if (state_ == State::kClosing) return;
  const char* phase = state_ == State::kGathering ? "before all ranks had checked in"
                                                  : "while the ranks connected to each other";
  RejectAll({Code::kPeerLost, *guest.rank,
             fmt::format("{} was lost {}: {}", DescribeRecord(*guest.rank, guest.record), phase,
                         event.why)});
}

void Root::OnTick(Instant now) {
  while (const auto expired = callers_.Expired(now))
    DropStranger(*expired, "it did not introduce itself in time");
  if (state_ == State::kEmpty) return;
  if (beat_due_ != Instant(0) && now >= beat_due_) Beat(now);
  if (Finished() || now < deadline_) return;
  if (state_ == State::kClosing) return Finish();
  if (state_ == State::kRefusing) return End();
  if (state_ == State::kGathering)
    return RejectAll({Code::kTimeout, kNoOrigin, "timed out waiting for " + MissingText()});
  RejectAll({Code::kTimeout, kNoOrigin,
             "all ranks checked in, but they did not all connect to each other in time"});
}

void Root::Beat(Instant now) {
  const bool asleep = now - beat_due_ > config_.silence_max / 2;  // so may they have been, for us
  beat_due_ = now + config_.silence_max / 4;
  const SharedBytes beat = Share(ToFrame(FrameType::kBeat));
  std::optional<LineId> silent;
  for (auto& [line, guest] : guests_) {
    if (!guest.rank) continue;
    if (asleep) guest.heard = now;
    if (now - guest.heard >= config_.silence_max) silent = line;
    Say(line, guest, Slice(beat));
  }
  if (!silent) return;
  Emit(Hangup{*silent});
  OnClosed({*silent, fmt::format("nothing was heard of it for {} s: its process is stopped, or the "
                                 "network between is cut",
                                 std::chrono::duration<double>(config_.silence_max).count())});
}

// ---- checking in ------------------------------------------------------------------------------

void Root::OnFrame(GuestAt at, const Frame& frame) {
  const auto type = static_cast<FrameType>(frame.type);
  Guest& guest = at->second;
  if (!guest.rank) return OnFirstFrame(at, frame);
  if (type == FrameType::kBeat) return;
  if (type == FrameType::kLocalRank) return OnLocalRank(at, frame);
  if (type == FrameType::kSection && state_ == State::kGathering) return OnSection(at, frame);
  if (type == FrameType::kReady && state_ == State::kConnecting) return OnReady(guest);
  if (state_ == State::kClosing) return;  // they say goodbye to each other
  const auto failure = type == FrameType::kFailure
                           ? ParseFailure(frame.payload.bytes)
                           : Result<Failure>(Error{Code::kProtocol, "an unexpected frame"});
  if (failure.ok()) return RejectAll(*failure);
  RejectAll({Code::kProtocol, *guest.rank,
             fmt::format("{} sent the root {} (type {})", DescribeRecord(*guest.rank, guest.record),
                         failure.error().message, frame.type)});
}

void Root::OnFirstFrame(GuestAt at, const Frame& frame) {
  const LineId line = at->first;
  if (at->second.wire.purpose() != Purpose::kCheckIn)
    return DropStranger(line, "a member that takes the root for another member");
  auto check_in = static_cast<FrameType>(frame.type) == FrameType::kCheckIn
                      ? ParseCheckIn(frame.payload.bytes)
                      : Result<CheckIn>(Error{Code::kProtocol, "a member that does not check in"});
  if (!check_in.ok()) return Reject(line, {Code::kProtocol, kNoOrigin, check_in.error().message});
  if (refusal_) return Refuse(line, check_in->rank);
  if (state_ == State::kClosing)
    return Reject(line, {Code::kInvalidArgument, check_in->rank,
                         "all ranks have joined with this unique id already: make a new one for "
                         "each communicator"});
  OnCheckIn(at, std::move(*check_in));
}

PlaceRange Root::Mine() const {
  return RanksOfRoot(first_.root, first_.size);
}

// The first root collects what the others have collected.
PlaceRange Root::Expected() const {
  return first_.root.index == 0 ? PlaceRange{0, first_.size} : Mine();
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
  if (state_ == State::kEmpty) return std::nullopt;
  const std::string first = DescribeRecord(first_.rank, first_record_);
  const std::string me = Describe(Rank{check_in.rank}, check_in.member_address);
  if (check_in.size != first_.size)
    return fmt::format("{} was given world size {}, {} was given {}", me, check_in.size, first,
                       first_.size);
  if (check_in.root != first_.root)
    return fmt::format(
        "{} was given {} unique ids with this one at place {}, {} was given {} with "
        "it at place {}: all ranks need the same list",
        me, check_in.root.count, check_in.root.index, first, first_.root.count, first_.root.index);
  if (check_in.shape != first_.shape || check_in.arity != first_.arity)
    return fmt::format("RINGLET_BOOTSTRAP or RINGLET_TREE_ARITY differs between {} and {}", me,
                       first);
  if (const auto it = members_.find(check_in.rank); it != members_.end() && IsMine(check_in))
    return fmt::format("rank {} was given to two processes: {} and {}", check_in.rank, me,
                       DescribeMember(check_in.rank));
  return std::nullopt;
}

void Root::OnCheckIn(GuestAt at, CheckIn check_in) {
  Writer record;
  Encode(record, check_in.member_address);
  if (WhyUnfit(check_in)) return AdmitOrRefuse(at, check_in, record.Take(), check_in.rank);
  Introduce(at, check_in);
  at->second.record = record.Take();
  if (first_record_.empty()) first_record_ = at->second.record;
  SayWelcome(at, check_in);
  if (IsMine(check_in)) AdmitOrRefuse(at, check_in, at->second.record, check_in.rank);
}

void Root::Introduce(GuestAt at, const CheckIn& check_in) {
  if (state_ == State::kEmpty) {
    first_ = check_in;
    const Instant timeout = std::chrono::milliseconds(check_in.timeout_ms);
    // The first root waits for the others too, and knows less of who is missing there.
    deadline_ = now_ + timeout - LadderStep(timeout) * (check_in.root.index == 0 ? 1 : 2);
    if (config_.silence_max > Instant(0)) beat_due_ = now_ + config_.silence_max / 4;
    state_ = State::kGathering;
  }
  callers_.Remove(at->first);
  at->second.rank = check_in.rank;
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
    if (line != at->first && guest.rank) Say(line, guest, Slice(welcome));
}

void Root::OnLocalRank(GuestAt at, const Frame& frame) {
  Guest& guest = at->second;
  auto local_rank = ParseLocalRank(frame.payload.bytes);
  auto record = local_rank.ok()
                    ? ApplyDifference(guest.record, local_rank->difference, kRecordBytesMax)
                    : Result<Bytes>(local_rank.error());
  auto member_address =
      record.ok() ? ParseMemberAddress(*record) : Result<MemberAddress>(record.error());
  if (!member_address.ok()) return OnBrokenStream(at->first, guest, member_address.error());
  local_rank->check_in.member_address = std::move(*member_address);
  AdmitOrRefuse(at, local_rank->check_in, std::move(*record), *guest.rank);
}

void Root::AdmitOrRefuse(GuestAt at, const CheckIn& check_in, Bytes record,
                         std::uint32_t node_leader) {
  const auto unfit = WhyUnfit(check_in);
  if (!unfit && state_ == State::kGathering && IsMine(check_in)) {
    at->second.ranks.push_back(check_in.rank);
    members_.emplace(check_in.rank, MemberSeen{at->first, {std::move(record), node_leader}});
    return DistributeIfComplete();
  }
  const Failure failure{
      Code::kInvalidArgument, check_in.rank,
      unfit.value_or(fmt::format("rank {} checks in at the wrong time or root", check_in.rank))};
  const bool speaks_for_others = at->second.rank.has_value();
  if (!speaks_for_others) Reject(at->first, failure);
  // The job cannot come together any more: the others need not wait for their deadline.
  if (state_ != State::kGathering && !speaks_for_others) return;
  told_.insert(check_in.rank);
  RejectAll(failure);
}

void Root::OnSection(GuestAt at, const Frame& frame) {
  Guest& guest = at->second;
  if (!guest.section) guest.section.emplace();
  const Status pushed = guest.section->Push(frame.payload);
  if (!pushed.ok()) return OnBrokenStream(at->first, guest, pushed.error());
  if (!guest.section->complete()) return;
  const auto roster = guest.section->Finish(nullptr);
  guest.section.reset();
  if (!roster.ok()) return OnBrokenStream(at->first, guest, roster.error());
  const std::uint64_t end = std::uint64_t{roster->first()} + roster->size();
  const bool fits = first_.root.index == 0 && end <= first_.size &&
                    members_.lower_bound(roster->first()) ==
                        members_.lower_bound(static_cast<std::uint32_t>(end));
  if (!fits)
    return OnBrokenStream(at->first, guest,
                          Error{Code::kProtocol, "the records of ranks that are here already"});
  for (std::uint32_t rank = roster->first(); rank < end; ++rank) {
    auto record = roster->RecordAt(Rank{rank});
    const auto node_leader = roster->NodeLeaderOf(Rank{rank});
    if (!record.ok() || !node_leader.ok() || !ParseMemberAddress(*record).ok())
      return OnBrokenStream(at->first, guest, Error{Code::kProtocol, "records that are broken"});
    members_.emplace(rank, MemberSeen{at->first, {std::move(*record), Index(*node_leader)}});
  }
  DistributeIfComplete();
}

// ---- distributing -----------------------------------------------------------------------------

void Root::DistributeIfComplete() {
  if (state_ != State::kGathering || members_.size() < Expected().count) return;
  state_ = State::kConnecting;
  if (first_.shape == Shape::kRing) return SendNeighbours();
  std::vector<RankRecord> records;
  records.reserve(members_.size());
  for (auto& [rank, member] : members_) records.push_back(member.record);
  const Roster roster = Roster::Build(Expected().first, records);
  const bool all = first_.root.index == 0;
  SendRoster(all ? FrameType::kRoster : FrameType::kSection, Expected().first, roster);
}

void Root::SendRoster(FrameType type, std::uint32_t to, const Roster& roster) {
  const LineId line = members_.at(to).line;
  for (const Slice& piece : PiecesOf(roster.bytes())) {
    Writer header;
    header.U32(static_cast<std::uint32_t>(piece.bytes.size())).U8(static_cast<std::uint8_t>(type));
    SendFrame(line, header.Take());
    Say(line, guests_.at(line), piece);
  }
}

void Root::SendNeighbours() {
  for (const auto& [rank, member] : members_) {
    Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kNeighbour));
    out.Raw(members_.at((rank + 1) % first_.size).record.member_address);
    SendFrame(member.line, EndFrame(std::move(out)));
  }
}

void Root::OnReady(Guest& guest) {
  if (guest.ready) return;
  guest.ready = true;
  ++ready_;
  // In a tree the top speaks for all, and a root delegate for its root; in a ring everybody for
  // himself, and all wait for the root's word.
  if (first_.shape == Shape::kRing) {
    if (ready_ == first_.size) Finish();
    return;
  }
  state_ = State::kClosing;
  deadline_ = now_ + kCloseAfter;
}

void Root::Finish() {
  const SharedBytes done = Share(ToFrame(FrameType::kDone));
  for (auto& [line, guest] : guests_) {
    if (guest.rank) Say(line, guest, Slice(done));
    Emit(Hangup{line});
  }
  if (strangers_ > config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn,
              fmt::format("root: {} strangers were turned away in all", strangers_)});
  callers_.Clear();
  state_ = State::kFinished;
}

// ---- refusing ---------------------------------------------------------------------------------

void Root::Reject(LineId line, const Failure& failure) {
  SendFrame(line, ToFrame(FrameType::kReject, failure));
  Emit(Hangup{line});
  guests_.erase(line);
  callers_.Remove(line);
}

void Root::RejectAll(const Failure& failure) {
  if (refusal_) return;
  const SharedBytes reject = Share(ToFrame(FrameType::kReject, failure));
  for (auto it = guests_.begin(); it != guests_.end();) {
    // Who has not introduced himself yet will, and hears it then.
    const auto guest = it++;
    if (!guest->second.rank) continue;
    Say(guest->first, guest->second, Slice(reject));
    Emit(Hangup{guest->first});
    told_.insert(guest->second.ranks.begin(), guest->second.ranks.end());
    guests_.erase(guest);
  }
  refusal_ = failure;
  state_ = State::kRefusing;
  beat_due_ = Instant(0);
  const Instant patience =
      std::min<Instant>(std::chrono::milliseconds(first_.timeout_ms), kRefusalMost);
  deadline_ = now_ + patience;
  if (told_.size() >= Mine().count || patience == Instant(0)) End();
}

void Root::Refuse(LineId line, std::uint32_t rank) {
  Reject(line, *refusal_);
  told_.insert(rank);
  if (told_.size() >= Mine().count) End();
}

void Root::End() {
  for (const auto& [line, guest] : guests_) Emit(Hangup{line});
  guests_.clear();
  callers_.Clear();
  state_ = State::kFinished;
}

void Root::DropStranger(LineId line, const std::string& why) {
  const auto it = guests_.find(line);
  if (it == guests_.end()) return;
  if (++strangers_ <= config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn, fmt::format("root: turned away a caller from {}: {}",
                                           ToString(it->second.from), why)});
  Emit(Hangup{line});
  guests_.erase(it);
  callers_.Remove(line);
}

std::string Root::DescribeMember(std::uint32_t rank) const {
  return DescribeRecord(rank, members_.at(rank).record.member_address);
}

std::string Root::MissingText() const {
  const PlaceRange expected = Expected();
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = expected.first; rank < expected.first + expected.count; ++rank)
    if (!members_.contains(rank)) missing.push_back(rank);
  std::map<std::string, std::uint32_t> by_host;
  for (const auto& [rank, member] : members_) {
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
  return fmt::format(
      "rank{} {}: {} of {} ranks checked in{}, from {}", missing.size() == 1 ? "" : "s",
      Shortened(RangesText(missing)), members_.size(), expected.count,
      first_.root.index == 0 ? std::string() : fmt::format(" at root {}", first_.root.index),
      hosts.empty() ? "nowhere" : hosts);
}

}  // namespace ringlet::bootstrap
