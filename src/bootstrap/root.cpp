#include "bootstrap/root.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {

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
  if (state_ != State::kEmpty) deadline = deadline_;
  // The oldest half-open line expires first: all get the same time.
  if (!half_open_.empty()) {
    const Instant expires = guests_.at(*half_open_.begin()).expires;
    deadline = deadline ? std::min(*deadline, expires) : expires;
  }
  return deadline;
}

void Root::Abort(const std::string& why) {
  if (Finished()) return;
  RejectAll({Code::kAborted, kNoOrigin, why});
  End();
}

void Root::OnAccepted(const Accepted& event, Instant now) {
  if (half_open_.size() >= config_.half_open_max)
    DropStranger(*half_open_.begin(), "too many callers that do not introduce themselves");
  guests_.emplace(event.line,
                  Guest{Wire::Accepted(config_.credentials, nonces_.Next(), kCheckInBytesMax),
                        event.from, now + config_.handshake_timeout, std::nullopt});
  half_open_.insert(event.line);
}

void Root::OnReceived(const Received& event, Instant now) {
  const auto it = guests_.find(event.line);
  if (it == guests_.end()) return;
  const Status pushed = it->second.wire.Push(event.data);
  if (Bytes reply = it->second.wire.TakeReply(); !reply.empty())
    SendFrame(event.line, std::move(reply));
  if (!pushed.ok()) return DropStranger(event.line, pushed.error().message);
  while (!Finished()) {
    const auto guest = guests_.find(event.line);
    if (guest == guests_.end()) return;
    auto frame = guest->second.wire.Next();
    if (!frame.ok()) return OnBrokenStream(event.line, guest->second, frame.error());
    if (!*frame) return;
    OnFrame(event.line, guest->second, **frame, now);
  }
}

void Root::OnBrokenStream(LineId line, const Guest& guest, const Error& error) {
  if (!guest.rank) return DropStranger(line, error.message);
  RejectAll(
      {Code::kProtocol, *guest.rank,
       fmt::format("{} sent the root {}", members_.at(*guest.rank).description, error.message)});
}

void Root::OnClosed(const Closed& event) {
  const auto it = guests_.find(event.line);
  if (it == guests_.end()) return;
  const Guest guest = std::move(it->second);
  if (!guest.rank) return DropStranger(event.line, "it left before it had introduced itself");
  guests_.erase(it);
  told_.insert(*guest.rank);  // it will not come again
  if (state_ == State::kConnecting && first_.shape == Shape::kTree && *guest.rank == 0 &&
      ready_ > 0)
    return;
  const std::string who = members_.at(*guest.rank).description;
  const char* phase = state_ == State::kGathering ? "before all ranks had checked in"
                                                  : "while the ranks connected to each other";
  RejectAll(
      {Code::kPeerLost, *guest.rank, fmt::format("{} was lost {}: {}", who, phase, event.why)});
}

void Root::OnTick(Instant now) {
  while (!half_open_.empty() && guests_.at(*half_open_.begin()).expires <= now)
    DropStranger(*half_open_.begin(), "it did not introduce itself in time");
  if (state_ == State::kEmpty || now < deadline_) return;
  if (state_ == State::kRefusing) return End();
  if (state_ == State::kGathering)
    return RejectAll({Code::kTimeout, kNoOrigin, "timed out waiting for " + MissingText()});
  RejectAll({Code::kTimeout, kNoOrigin,
             "all ranks checked in, but they did not all connect to each other in time"});
}

void Root::OnFrame(LineId line, Guest& guest, const Frame& frame, Instant now) {
  const auto type = static_cast<FrameType>(frame.type);
  if (!guest.rank) {
    if (guest.wire.purpose() != Purpose::kCheckIn)
      return DropStranger(line, "a member that takes the root for another member");
    auto check_in =
        type == FrameType::kCheckIn
            ? ParseCheckIn(frame.payload.bytes)
            : Result<CheckIn>(Error{Code::kProtocol, "a member that does not check in"});
    if (check_in.ok() && refusal_) return Refuse(line, check_in->rank);
    if (check_in.ok()) return OnCheckIn(line, guest, *check_in, now);
    Reject(line, {Code::kProtocol, kNoOrigin, check_in.error().message});
    return;
  }
  if (type == FrameType::kReady && state_ == State::kConnecting) return OnReady(guest);
  const auto failure = type == FrameType::kFailure
                           ? ParseFailure(frame.payload.bytes)
                           : Result<Failure>(Error{Code::kProtocol, "an unexpected frame"});
  if (failure.ok()) return RejectAll(*failure);
  RejectAll({Code::kProtocol, *guest.rank,
             fmt::format("{} sent the root {} (type {})", members_.at(*guest.rank).description,
                         failure.error().message, frame.type)});
}

std::optional<std::string> Root::WhyUnfit(const CheckIn& check_in) const {
  if (check_in.size == 0 || check_in.size > kSizeMax)
    return fmt::format("world size {} is not between 1 and {}", check_in.size, kSizeMax);
  if (check_in.rank >= check_in.size)
    return fmt::format("rank {} is not below the world size {}", check_in.rank, check_in.size);
  if (check_in.introduction.addresses.empty() && check_in.size > 1)
    return fmt::format("rank {} says no address at which it can be reached", check_in.rank);
  if (state_ == State::kEmpty) return std::nullopt;
  const std::string first = members_.begin()->second.description;
  const std::string me = Describe(Rank{check_in.rank}, check_in.introduction);
  if (check_in.size != first_.size)
    return fmt::format("{} was given world size {}, {} was given {}", me, check_in.size, first,
                       first_.size);
  if (check_in.shape != first_.shape || check_in.arity != first_.arity)
    return fmt::format("RINGLET_BOOTSTRAP or RINGLET_TREE_ARITY differs between {} and {}", me,
                       first);
  if (const auto it = members_.find(check_in.rank); it != members_.end())
    return fmt::format("rank {} was given to two processes: {} and {}", check_in.rank, me,
                       it->second.description);
  return std::nullopt;
}

void Root::OnCheckIn(LineId line, Guest& guest, const CheckIn& check_in, Instant now) {
  const auto unfit = WhyUnfit(check_in);
  if (!unfit) return Admit(line, guest, check_in, now);
  const Failure failure{Code::kInvalidArgument, check_in.rank, *unfit};
  Reject(line, failure);
  // The job cannot come together any more: the others need not wait for their deadline.
  if (state_ != State::kGathering) return;
  told_.insert(check_in.rank);
  RejectAll(failure);
}

void Root::Admit(LineId line, Guest& guest, const CheckIn& check_in, Instant now) {
  if (state_ == State::kEmpty) {
    first_ = check_in;
    const Instant timeout = std::chrono::milliseconds(check_in.timeout_ms);
    deadline_ = now + timeout - LadderStep(timeout);
    state_ = State::kGathering;
  }
  half_open_.erase(line);
  guest.rank = check_in.rank;
  Writer record;
  Encode(record, check_in.introduction);
  members_.emplace(check_in.rank, MemberSeen{line, record.Take(),
                                             Describe(Rank{check_in.rank}, check_in.introduction)});
  const bool hosted =
      check_in.introduction.pid == config_.pid && check_in.introduction.host == config_.host;
  const bool news = hosted && !hosted_rank_;
  if (news) hosted_rank_ = check_in.rank;
  const Bytes welcome = ToFrame(Welcome{config_.host, config_.pid, hosted_rank_});
  SendFrame(line, welcome);
  if (news)
    for (const auto& [rank, member] : members_)
      if (member.line != line) SendFrame(member.line, welcome);
  if (members_.size() == first_.size) Distribute();
}

void Root::Distribute() {
  state_ = State::kConnecting;
  if (first_.shape == Shape::kRing) return SendNeighbours();
  std::vector<Bytes> records;
  records.reserve(members_.size());
  for (auto& [rank, member] : members_) records.push_back(std::move(member.record));
  const Roster roster = Roster::Build(records);
  const LineId first = members_.at(0).line;
  Writer header;
  header.U32(static_cast<std::uint32_t>(roster.bytes().bytes.size()))
      .U8(static_cast<std::uint8_t>(FrameType::kRoster));
  SendFrame(first, header.Take());
  Emit(Send{first, roster.bytes()});
}

void Root::SendNeighbours() {
  for (const auto& [rank, member] : members_) {
    Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kNeighbour));
    out.Raw(members_.at((rank + 1) % first_.size).record);
    SendFrame(member.line, EndFrame(std::move(out)));
  }
}

void Root::OnReady(Guest& guest) {
  if (guest.ready) return;
  guest.ready = true;
  ++ready_;
  // In a tree rank 0 speaks for all; in a ring everybody for himself.
  if (first_.shape == Shape::kTree ? *guest.rank == 0 : ready_ == first_.size) Finish();
}

void Root::Finish() {
  const SharedBytes done = Share(ToFrame(FrameType::kDone));
  for (const auto& [rank, member] : members_) {
    Emit(Send{member.line, Slice(done)});
    Emit(Hangup{member.line});
  }
  for (const LineId line : half_open_) Emit(Hangup{line});
  if (strangers_ > config_.strangers_noted_max)
    Emit(Note{LogLevel::kWarn,
              fmt::format("root: {} strangers were turned away in all", strangers_)});
  state_ = State::kFinished;
}

void Root::Reject(LineId line, const Failure& failure) {
  SendFrame(line, ToFrame(FrameType::kReject, failure));
  Emit(Hangup{line});
  guests_.erase(line);
  half_open_.erase(line);
}

void Root::RejectAll(const Failure& failure) {
  if (refusal_) return;
  const SharedBytes reject = Share(ToFrame(FrameType::kReject, failure));
  for (auto it = guests_.begin(); it != guests_.end();) {
    // Who has not introduced himself yet will, and hears it then.
    const auto guest = it++;
    if (!guest->second.rank) continue;
    Emit(Send{guest->first, Slice(reject)});
    Emit(Hangup{guest->first});
    told_.insert(*guest->second.rank);
    guests_.erase(guest);
  }
  refusal_ = failure;
  state_ = State::kRefusing;
  const Instant patience =
      std::min<Instant>(std::chrono::milliseconds(first_.timeout_ms), kRefusalMost);
  deadline_ = now_ + patience;
  if (told_.size() >= first_.size || patience == Instant(0)) End();
}

void Root::Refuse(LineId line, std::uint32_t rank) {
  Reject(line, *refusal_);
  told_.insert(rank);
  if (told_.size() >= first_.size) End();
}

void Root::End() {
  for (const auto& [line, guest] : guests_) Emit(Hangup{line});
  guests_.clear();
  half_open_.clear();
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
  half_open_.erase(line);
}

std::string Root::MissingText() const {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < first_.size; ++rank)
    if (!members_.contains(rank)) missing.push_back(rank);
  std::map<std::string, std::uint32_t> by_host;
  for (const auto& [rank, member] : members_) {
    Reader in(member.record);
    ++by_host[DecodeIntroduction(in).host];
  }
  std::string hosts;
  for (const auto& [host, count] : by_host) {
    if (hosts.size() > 1000) {
      hosts += ", ...";
      break;
    }
    hosts += fmt::format("{}{} ({})", hosts.empty() ? "" : ", ", host, count);
  }
  return fmt::format("rank{} {}: {} of {} ranks checked in, from {}",
                     missing.size() == 1 ? "" : "s", RangesText(missing), members_.size(),
                     first_.size, hosts);
}

}  // namespace ringlet::bootstrap
