#include "pytorch/calls/p2p_queue.hpp"

#include "comm/service/thread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/bytes.hpp"
#include "pytorch/store/message_ranks.hpp"

namespace ringlet::torch_api {
namespace {

// Header of each message: 8 B tag, sign-extended, and 8 B length in bytes.
constexpr std::size_t kHeadBytes = 16;
// A receiver's line waits for the next message as long as its group lives; a receive of a certain
// message has its own deadline.
constexpr std::chrono::hours kForever{24 * 365};
// Limit of unmatched messages per sender; further ones stay with the sender.
constexpr std::size_t kUnexpectedBytesMax = 256 << 20;
// The ranks of a line.
constexpr std::uint32_t kSender = 0;
constexpr std::uint32_t kReceiver = 1;

struct Head {
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

Status WriteHead(PairLink& line, const Head& head) {
  Writer out;
  out.U64(static_cast<std::uint64_t>(std::int64_t{head.tag})).U64(head.bytes);
  return line.Write(out.view());
}

Result<Head> ReadHead(PairLink& line) {
  std::array<std::byte, kHeadBytes> bytes{};
  RINGLET_TRY(line.Read(bytes));
  Reader in(bytes);
  const std::uint64_t tag = in.U64();
  return Head{.tag = static_cast<std::int32_t>(tag), .bytes = in.U64()};
}

// Interval between checks that awaited ranks are alive.
constexpr std::chrono::milliseconds kBetweenMailLooks{50};

/// A line with errors that name ranks of the group instead of ranks of the line.
class NamedLine final : public PairLink {
 public:
  /// Wraps `made`, or converts its error.
  static Result<std::shared_ptr<PairLink>> Of(Result<std::shared_ptr<PairLink>> made,
                                              const MessageRanks& message_ranks) {
    if (!made.ok()) return InGroup(made.error(), message_ranks);
    return std::shared_ptr<PairLink>(std::make_shared<NamedLine>(std::move(*made), message_ranks));
  }
  NamedLine(std::shared_ptr<PairLink> line, const MessageRanks& message_ranks)
      : line_(std::move(line)), message_ranks_(message_ranks) {}

  Status Write(View bytes) override { return Named(line_->Write(bytes)); }
  Status Read(std::span<std::byte> room) override { return Named(line_->Read(room)); }
  void Abort(const std::string& why) override { line_->Abort(why); }

 private:
  static Error InGroup(Error error, const MessageRanks& message_ranks) {
    error.message = InRanksOfGroup(error.message, message_ranks);
    return error;
  }
  Status Named(Status status) const {
    return status.ok() ? Ok() : Status(InGroup(status.error(), message_ranks_));
  }

  const std::shared_ptr<PairLink> line_;
  const MessageRanks message_ranks_;
};

Error About(const Posted& posted, Error error) {
  const std::string from = posted.from ? fmt::format("rank {}", *posted.from) : "any rank";
  error.message = fmt::format("from {} with tag {}: {}", from, posted.tag, error.message);
  return error;
}

std::string CounterOf(std::uint32_t receiver) {
  return fmt::format("to:{}", receiver);
}

std::string KeyOf(std::uint32_t receiver, std::uint64_t number) {
  return fmt::format("to:{}:{}", receiver, number);
}

}  // namespace

P2pQueue::P2pQueue(RankGroup& group, MakeLine make_line)
    : group_(group), make_line_(std::move(make_line)) {}

P2pQueue::~P2pQueue() {
  Close();
}

void P2pQueue::Close() {
  Abort("the process group was destroyed");
  const auto join = [](std::jthread& thread) {
    if (thread.joinable()) thread.join();
  };
  for (auto& [to, outbox] : outboxes_) join(outbox.thread);
  join(caretaker_);  // it starts inboxes, so they end after it
  for (auto& [from, inbox] : inboxes_) join(inbox.thread);
  if (std::exchange(guests_, 0) > 0 && !group_.store().IsGone())
    group_.store().Erase(CounterOf(group_.options().rank));
}

void P2pQueue::Fail(const Error& error) {
  PostedList cut_off;
  {
    const Lock lock(mutex_);
    if (!failure_) failure_ = error;
    stop_.request_stop();
    for (auto& [to, outbox] : outboxes_) {
      outbox.stop.request_stop();
      if (outbox.line && outbox.sending) outbox.line->Abort(error.message);
    }
    for (auto& [from, inbox] : inboxes_) {
      inbox.stop.request_stop();
      if (inbox.line && inbox.reading) inbox.line->Abort(error.message);
    }
    cut_off.swap(posted_);
  }
  news_.notify_all();
  for (auto& [number, posted] : cut_off) posted.done(About(posted, error), 0);
}

Result<std::shared_ptr<PairLink>> P2pQueue::Connect(std::uint32_t to) {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  RINGLET_TRY_ASSIGN(const std::uint64_t number, group_.store().CountUp(CounterOf(to)));
  Writer peer_info;
  peer_info.U32(group_.options().rank).Raw(id.bytes);
  if (group_.options().beacon) Encode(peer_info, group_.options().beacon->address());
  RINGLET_TRY(group_.store().Set(KeyOf(to, number), peer_info.view()));
  std::stop_token stop;
  {
    const Lock lock(mutex_);
    stop = outboxes_[to].stop.get_token();
  }
  return NamedLine::Of(make_line_(id, kSender, group_.timeout(), stop),
                       {.sender = group_.options().rank, .receiver = to});
}

void P2pQueue::Send(std::uint32_t to, std::int32_t tag, View bytes,
                    std::function<void(Status)> done) {
  Lock lock(mutex_);
  if (failure_) {
    const Error error = *failure_;
    lock.unlock();
    return done(error);
  }
  if (to == group_.options().rank) {
    lock.unlock();
    return SendToSelf(tag, bytes, done);
  }
  Outbox& outbox = outboxes_[to];
  if (const Status started = StartOutbox(to, outbox); !started.ok()) {
    lock.unlock();
    return done(started);
  }
  outbox.requests.push_back({tag, bytes, std::move(done)});
  lock.unlock();
  news_.notify_all();
}

void P2pQueue::SendToSelf(std::int32_t tag, View bytes, const std::function<void(Status)>& done) {
  const std::uint32_t self = group_.options().rank;
  Lock lock(mutex_);
  std::optional<Posted> posted;
  if (const auto it = Match(self, tag); it != posted_.end()) {
    posted = Take(it);
  } else {
    Inbox& inbox = inboxes_[self];
    inbox.unexpected.push_back({tag, Bytes(bytes.begin(), bytes.end())});
    inbox.unexpected_bytes += bytes.size();
  }
  lock.unlock();
  if (posted) HandOver(*posted, bytes, self);
  done(Ok());
}

Status P2pQueue::SendOne(std::uint32_t to, const SendRequest& request) {
  Outbox* outbox = nullptr;
  {
    const Lock lock(mutex_);
    if (failure_) return *failure_;
    outbox = &outboxes_[to];
  }
  if (!outbox->line) {
    RINGLET_TRY_ASSIGN(auto line, Connect(to));
    const Lock lock(mutex_);
    outbox->line = std::move(line);
    if (failure_) return *failure_;
  }
  RINGLET_TRY(WriteHead(*outbox->line, {.tag = request.tag, .bytes = request.bytes.size()}));
  if (request.bytes.empty()) return Ok();
  return outbox->line->Write(request.bytes);
}

void P2pQueue::RunOutbox(std::uint32_t to) {
  Lock lock(mutex_);
  Outbox& outbox = outboxes_[to];
  while (true) {
    news_.wait(lock, [&] { return stop_.stop_requested() || !outbox.requests.empty(); });
    if (outbox.requests.empty()) return;
    const SendRequest request = std::move(outbox.requests.front());
    outbox.requests.pop_front();
    outbox.sending = true;
    lock.unlock();
    Status status = SendOne(to, request);
    lock.lock();
    outbox.sending = false;
    if (!status.ok()) {
      // Another thread may know a better reason why the line failed.
      Error error = failure_ ? *failure_ : status.error();
      if (const auto gone = gone_.find(to); gone != gone_.end() && !failure_)
        error = Error{Code::kPeerLost, gone->second};
      error.message = fmt::format("to rank {} with tag {}: {}", to, request.tag, error.message);
      status = std::move(error);
    }
    lock.unlock();
    request.done(std::move(status));
    lock.lock();
  }
}

std::uint64_t P2pQueue::Receive(Posted posted) {
  Lock lock(mutex_);
  if (failure_) {
    const Error error = About(posted, *failure_);
    lock.unlock();
    posted.done(error, 0);
    return next_number_;
  }
  const std::uint64_t number = next_number_++;
  // The inbox's thread may be waiting for the next message, so this thread takes an early one.
  if (auto unexpected = TakeUnexpected(posted)) {
    lock.unlock();
    HandOver(posted, unexpected->second, unexpected->first);
    return number;
  }
  if (const Status started = StartReception(); !started.ok()) {
    const Error error = About(posted, started.error());
    lock.unlock();
    posted.done(error, 0);
    return number;
  }
  posted_.emplace_back(number, std::move(posted));
  lock.unlock();
  news_.notify_all();
  return number;
}

bool P2pQueue::Withdraw(std::uint64_t number) {
  const Lock lock(mutex_);
  return std::erase_if(posted_, [&](const auto& entry) { return entry.first == number; }) > 0;
}

bool P2pQueue::IsReceptionNeeded() const {
  const std::uint32_t self = group_.options().rank;
  const std::size_t senders = inboxes_.size() - (inboxes_.contains(self) ? 1 : 0);
  return std::ranges::any_of(posted_, [&](const auto& entry) {
    const Posted& posted = entry.second;
    if (posted.from) return *posted.from != self && !inboxes_.contains(*posted.from);
    return senders + 1 < group_.options().size;
  });
}

bool P2pQueue::IsPending() const {
  return !posted_.empty() || std::ranges::any_of(outboxes_, [](const auto& entry) {
    return entry.second.sending || !entry.second.requests.empty();
  });
}

Status P2pQueue::StartOutbox(std::uint32_t to, Outbox& outbox) {
  if (!outbox.thread.joinable()) {
    RINGLET_TRY_ASSIGN(outbox.thread,
                       comm::StartThread("to send messages",
                                         [this, to](const std::stop_token&) { RunOutbox(to); }));
  }
  return StartReception();
}

Status P2pQueue::StartReception() {
  if (caretaker_.joinable()) return Ok();
  RINGLET_TRY_ASSIGN(
      caretaker_,
      comm::StartThread("to receive messages", [this](const std::stop_token&) { RunReception(); }));
  return Ok();
}

void P2pQueue::RunReception() {
  Lock lock(mutex_);
  while (!stop_.stop_requested()) {
    if (IsPending()) {
      RunReceptionRound(lock);
    } else {
      backoff_ = Backoff(kMailLooks);
      news_.wait(lock, [&] { return stop_.stop_requested() || IsPending(); });
    }
  }
}

void P2pQueue::RunReceptionRound(Lock& lock) {
  std::chrono::microseconds pause = kBetweenMailLooks;
  if (IsReceptionNeeded()) {
    lock.unlock();
    const auto came = AcceptSender(guests_);
    lock.lock();
    if (!came.ok()) return StoreFailed(lock, came.error());
    if (*came) {
      ++guests_;
      backoff_ = Backoff(kMailLooks);
      return;
    }
    pause = backoff_.Next();
  }
  news_.wait_for(lock, pause);
  unlooked_ += pause;
  if (unlooked_ < kBetweenMailLooks) return;
  unlooked_ = {};
  CheckPeers(lock);
}

void P2pQueue::StoreFailed(Lock& lock, const Error& error) {
  // The rank that serves the store may have ended, which is detected soon.
  constexpr int kLooks = 10;
  for (int look = 0; look < kLooks && !stop_.stop_requested() && !posted_.empty(); ++look) {
    CheckPeers(lock);
    news_.wait_for(lock, kBetweenMailLooks);
  }
  lock.unlock();
  Fail(error);
  lock.lock();
}

std::vector<std::uint32_t> P2pQueue::RanksInDoubt() const {
  const auto hears = [&](std::uint32_t rank) {
    const auto in = inboxes_.find(rank);
    return in != inboxes_.end() && in->second.line && !in->second.broken;
  };
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < group_.options().size; ++rank) {
    if (rank == group_.options().rank) continue;
    const auto out = outboxes_.find(rank);
    const bool sends = out != outboxes_.end() && out->second.sending && !out->second.line;
    if (sends || (IsAwaited(rank) && !hears(rank))) ranks.push_back(rank);
  }
  return ranks;
}

void P2pQueue::CheckPeers(Lock& lock) {
  const std::vector<std::uint32_t> ranks = RanksInDoubt();
  lock.unlock();
  if (const auto failure = group_.failure()) {
    Fail(*failure);
    return lock.lock();
  }
  const auto absent = AbsenceReason(group_.presence(), ranks);
  lock.lock();
  for (const auto& [rank, why] : absent) gone_.emplace(rank, why);
  for (const auto& [rank, why] : absent) GiveUp(lock, rank);
}

void P2pQueue::GiveUp(Lock& lock, std::uint32_t rank) {
  // If a line is being formed, its thread reports the error.
  if (const auto out = outboxes_.find(rank); out != outboxes_.end())
    out->second.stop.request_stop();
  const auto in = inboxes_.find(rank);
  if (in != inboxes_.end()) in->second.stop.request_stop();
  // Fails a receive from any rank if `rank` has died, because the receive may have waited for it. A
  // rank that left in good order has sent all its messages.
  const bool died = group_.presence().Of(rank) == Presence::State::kGone;
  PostedList lost;
  for (auto it = posted_.begin(); it != posted_.end();) {
    const auto next = std::next(it);
    const Posted& posted = it->second;
    const bool concerned = posted.from ? *posted.from == rank && in == inboxes_.end()
                                       : died || !MayStillArrive(posted);
    if (concerned) lost.splice(lost.end(), posted_, it);
    it = next;
  }
  std::string all = gone_.at(rank);
  for (const auto& [other, why] : gone_)
    if (other != rank) all += "; " + why;
  End(lock, std::move(lost), Error{Code::kPeerLost, all}, rank);
}

void P2pQueue::End(Lock& lock, PostedList lost, const Error& error, std::uint32_t from) {
  lock.unlock();
  for (auto& [number, posted] : lost) posted.done(About(posted, error), from);
  lock.lock();
}

Result<bool> P2pQueue::AcceptSender(std::uint64_t number) {
  const std::string key = KeyOf(group_.options().rank, number);
  RINGLET_TRY_ASSIGN(const auto peer_info, group_.store().Find(key));
  if (!peer_info) return false;
  Reader in(*peer_info);
  const std::uint32_t from = in.U32();
  const View id_bytes = in.Raw(UniqueId::kBytes);
  const auto beacon = in.remaining() > 0 ? std::optional(DecodeAddress(in)) : std::nullopt;
  if (!in.AtEnd() || from >= group_.options().size)
    return Error{Code::kProtocol,
                 fmt::format("'{}' in the store is not the announcement of a sender", key)};
  RINGLET_TRY_ASSIGN(const UniqueId id, ToId(id_bytes, key));
  // The store may end with the sender, which makes a later lookup of its record impossible.
  if (beacon) group_.presence().RecordBeacon(from, *beacon);
  group_.store().Erase(key);
  const Lock lock(mutex_);
  Inbox& inbox = inboxes_[from];
  if (!inbox.thread.joinable()) {
    RINGLET_TRY_ASSIGN(inbox.thread, comm::StartThread("to receive messages of a rank",
                                                       [this, from, id](const std::stop_token&) {
                                                         RunInbox(from, id);
                                                       }));
  }
  return true;
}

bool P2pQueue::IsAwaited(std::uint32_t from) const {
  return std::ranges::any_of(
      posted_, [&](const auto& entry) { return !entry.second.from || *entry.second.from == from; });
}

P2pQueue::PostedList::iterator P2pQueue::Match(std::uint32_t from, std::int32_t tag) {
  return std::ranges::find_if(posted_, [&](const auto& entry) {
    const Posted& posted = entry.second;
    return posted.tag == tag && (!posted.from || *posted.from == from);
  });
}

Posted P2pQueue::Take(PostedList::iterator it) {
  Posted posted = std::move(it->second);
  posted_.erase(it);
  return posted;
}

namespace {

Status CheckSize(const Posted& posted, std::uint64_t bytes, std::uint32_t from) {
  if (posted.room.size() == bytes) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("rank {} sent {} bytes with tag {}, into a tensor of {} bytes", from,
                           bytes, posted.tag, posted.room.size())};
}

}  // namespace

void P2pQueue::HandOver(const Posted& posted, View bytes, std::uint32_t from) {
  Status status = CheckSize(posted, bytes.size(), from);
  if (status.ok()) std::ranges::copy(bytes, posted.room.begin());
  posted.done(std::move(status), from);
}

std::optional<std::pair<std::uint32_t, Bytes>> P2pQueue::TakeUnexpected(const Posted& posted) {
  for (auto& [from, inbox] : inboxes_) {
    if (posted.from && *posted.from != from) continue;
    const auto unexpected = std::ranges::find(inbox.unexpected, posted.tag, &Unexpected::tag);
    if (unexpected == inbox.unexpected.end()) continue;
    auto taken = std::pair(from, std::move(unexpected->bytes));
    inbox.unexpected_bytes -= taken.second.size();
    inbox.unexpected.erase(unexpected);
    news_.notify_all();  // there is room again
    return taken;
  }
  return std::nullopt;
}

void P2pQueue::DeliverUnexpected(Lock& lock, std::uint32_t from) {
  Inbox& inbox = inboxes_[from];
  for (auto unexpected = inbox.unexpected.begin(); unexpected != inbox.unexpected.end();) {
    const auto it = Match(from, unexpected->tag);
    if (it == posted_.end()) {
      ++unexpected;
      continue;
    }
    const Posted posted = Take(it);
    const Bytes bytes = std::move(unexpected->bytes);
    inbox.unexpected_bytes -= bytes.size();
    inbox.unexpected.erase(unexpected);
    lock.unlock();
    HandOver(posted, bytes, from);
    lock.lock();
    unexpected = inbox.unexpected.begin();
  }
}

Status P2pQueue::TakeMessage(Lock& lock, std::uint32_t from) {
  Inbox& inbox = inboxes_[from];
  inbox.reading = true;
  lock.unlock();
  const auto head = ReadHead(*inbox.line);
  lock.lock();
  RINGLET_TRY(head);
  // Stores a message without a matching receive, unless the limit is reached.
  news_.wait(lock, [&] {
    return stop_.stop_requested() || Match(from, head->tag) != posted_.end() ||
           (IsAwaited(from) && inbox.unexpected_bytes + head->bytes <= kUnexpectedBytesMax);
  });
  if (failure_) return *failure_;
  const auto it = Match(from, head->tag);
  const auto posted = it == posted_.end() ? std::nullopt : std::optional<Posted>(Take(it));
  lock.unlock();
  const Status fits = posted ? CheckSize(*posted, head->bytes, from) : Ok();
  const bool direct = posted && fits.ok();
  Bytes aside(direct ? 0 : head->bytes);
  const auto room = direct ? posted->room : std::span(aside);
  Status status = room.empty() ? Ok() : inbox.line->Read(room);
  if (!status.ok()) {
    const Lock held(mutex_);
    if (failure_) status = *failure_;
  }
  if (posted) posted->done(status.ok() ? fits : Status(About(*posted, status.error())), from);
  lock.lock();
  inbox.reading = false;
  RINGLET_TRY(std::move(status));
  if (posted) return Ok();
  inbox.unexpected_bytes += aside.size();
  inbox.unexpected.push_back({head->tag, std::move(aside)});
  return Ok();
}

bool P2pQueue::MayStillArrive(const Posted& posted) const {
  if (posted.from) return !inboxes_.at(*posted.from).broken;
  const auto& [rank, size] = std::pair(group_.options().rank, group_.options().size);
  for (std::uint32_t from = 0; from < size; ++from) {
    if (from == rank) continue;
    const auto it = inboxes_.find(from);
    if (it == inboxes_.end() ? !gone_.contains(from) : !it->second.broken) return true;
    if (it != inboxes_.end() &&
        std::ranges::any_of(it->second.unexpected, [&](const Unexpected& unexpected) {
          return unexpected.tag == posted.tag;
        }))
      return true;
  }
  return false;
}

void P2pQueue::Break(Lock& lock, std::uint32_t from, const Error& error) {
  Inbox& inbox = inboxes_[from];
  inbox.reading = false;
  inbox.broken = error;
  PostedList lost;
  for (auto it = posted_.begin(); it != posted_.end();) {
    const auto next = std::next(it);
    const bool concerned = it->second.from.value_or(from) == from;
    if (concerned && !MayStillArrive(it->second)) lost.splice(lost.end(), posted_, it);
    it = next;
  }
  End(lock, std::move(lost), error, from);
}

void P2pQueue::RunInbox(std::uint32_t from, const UniqueId& id) {
  Lock lock(mutex_);
  Inbox& inbox = inboxes_[from];
  const auto stop = inbox.stop.get_token();
  lock.unlock();
  auto line = NamedLine::Of(make_line_(id, kReceiver, kForever, stop),
                            {.sender = from, .receiver = group_.options().rank});
  lock.lock();
  if (line.ok()) {
    inbox.line = *line;
  } else {
    const auto gone = gone_.find(from);
    Break(lock, from, gone == gone_.end() ? line.error() : Error{Code::kPeerLost, gone->second});
  }
  while (!stop_.stop_requested()) {
    news_.wait(lock, [&] { return stop_.stop_requested() || IsAwaited(from); });
    DeliverUnexpected(lock, from);
    if (stop_.stop_requested() || !IsAwaited(from)) continue;
    if (inbox.broken) {
      Break(lock, from, Error(*inbox.broken));
      // A receive from any sender may still wait; until then this thread idles.
      news_.wait(lock);
    } else if (const Status status = TakeMessage(lock, from); !status.ok()) {
      Break(lock, from, status.error());
    }
  }
}

}  // namespace ringlet::torch_api
