#include "frontends/torch/mail.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"

namespace ringlet::torch_api {
namespace {

// Ahead of each message: 8 B tag, sign-extended, and 8 B, how many bytes follow.
constexpr std::size_t kHeadBytes = 16;
// A receiver's line waits for the next message as long as its group lives; who waits for a certain
// message has a deadline of its own.
constexpr std::chrono::hours kForever{24 * 365};
// Of messages from one sender that nobody has asked for: more stay with the sender.
constexpr std::size_t kEarlyBytesMax = 256 << 20;
// The seats of a line.
constexpr std::uint32_t kSender = 0;
constexpr std::uint32_t kReceiver = 1;

struct Head {
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

Status WriteHead(Line& line, const Head& head) {
  Writer out;
  out.U64(static_cast<std::uint64_t>(std::int64_t{head.tag})).U64(head.bytes);
  return line.Write(out.view());
}

Result<Head> ReadHead(Line& line) {
  std::array<std::byte, kHeadBytes> bytes{};
  RINGLET_TRY(line.Read(bytes));
  Reader in(bytes);
  const std::uint64_t tag = in.U64();
  return Head{.tag = static_cast<std::int32_t>(tag), .bytes = in.U64()};
}

// Ranks of a line are its two seats: say which rank of the group is meant.
Error Between(std::string_view direction, std::uint32_t peer, Error error) {
  error.message = fmt::format("{} rank {}: {}", direction, peer, error.message);
  return error;
}

std::string CounterOf(std::uint32_t receiver) {
  return fmt::format("to:{}", receiver);
}

std::string KeyOf(std::uint32_t receiver, std::uint64_t number) {
  return fmt::format("to:{}:{}", receiver, number);
}

}  // namespace

Mail::Mail(Group& group, MakeLine make_line) : group_(group), make_line_(std::move(make_line)) {}

Mail::~Mail() {
  Abort("the process group was destroyed");
  for (auto& [to, outbox] : outboxes_)
    if (outbox.thread.joinable()) outbox.thread.join();
  if (reception_.joinable()) reception_.join();  // it starts inboxes: they end after it
  for (auto& [from, inbox] : inboxes_)
    if (inbox.thread.joinable()) inbox.thread.join();
}

void Mail::Abort(const std::string& why) {
  PostedList cut_off;
  {
    const Lock lock(mutex_);
    if (!failure_) failure_ = Error{Code::kAborted, why};
    stop_.request_stop();
    for (auto& [to, outbox] : outboxes_)
      if (outbox.line && outbox.sending) outbox.line->Abort(why);
    for (auto& [from, inbox] : inboxes_)
      if (inbox.line && inbox.reading) inbox.line->Abort(why);
    cut_off.swap(posted_);
  }
  news_.notify_all();
  for (auto& [number, posted] : cut_off) posted.done(Error{Code::kAborted, why}, 0);
}

Result<std::shared_ptr<Line>> Mail::Connect(std::uint32_t to) {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  RINGLET_TRY_ASSIGN(const UniqueId id, comm::CreateUniqueId(process));
  RINGLET_TRY_ASSIGN(const std::uint64_t number, group_.store().CountUp(CounterOf(to)));
  Writer card;
  card.U32(group_.options().rank).Raw(id.bytes);
  RINGLET_TRY(group_.store().Set(KeyOf(to, number), card.view()));
  return make_line_(id, kSender, group_.timeout(), stop_.get_token());
}

void Mail::Send(std::uint32_t to, std::int32_t tag, View bytes, std::function<void(Status)> done) {
  Lock lock(mutex_);
  if (failure_) {
    const Error error = *failure_;
    lock.unlock();
    return done(error);
  }
  Outbox& outbox = outboxes_[to];
  outbox.letters.push_back({tag, bytes, std::move(done)});
  if (!outbox.thread.joinable()) outbox.thread = std::thread([this, to] { RunOutbox(to); });
  lock.unlock();
  news_.notify_all();
}

Status Mail::SendLetter(std::uint32_t to, const Letter& letter) {
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
  RINGLET_TRY(WriteHead(*outbox->line, {.tag = letter.tag, .bytes = letter.bytes.size()}));
  if (letter.bytes.empty()) return Ok();
  return outbox->line->Write(letter.bytes);
}

void Mail::RunOutbox(std::uint32_t to) {
  Lock lock(mutex_);
  Outbox& outbox = outboxes_[to];
  while (true) {
    news_.wait(lock, [&] { return stop_.stop_requested() || !outbox.letters.empty(); });
    if (outbox.letters.empty()) return;
    const Letter letter = std::move(outbox.letters.front());
    outbox.letters.pop_front();
    outbox.sending = true;
    lock.unlock();
    const Status status = SendLetter(to, letter);
    lock.lock();
    outbox.sending = false;
    lock.unlock();
    letter.done(status.ok() ? Ok() : Status(Between("to", to, status.error())));
    lock.lock();
  }
}

std::uint64_t Mail::Receive(Posted posted) {
  Lock lock(mutex_);
  if (failure_) {
    const Error error = *failure_;
    lock.unlock();
    posted.done(error, 0);
    return next_number_;
  }
  const std::uint64_t number = next_number_++;
  posted_.emplace_back(number, std::move(posted));
  if (!reception_.joinable()) reception_ = std::thread([this] { RunReception(); });
  lock.unlock();
  news_.notify_all();
  return number;
}

bool Mail::Withdraw(std::uint64_t number) {
  const Lock lock(mutex_);
  return std::erase_if(posted_, [&](const auto& entry) { return entry.first == number; }) > 0;
}

bool Mail::IsReceptionNeeded() const {
  return std::ranges::any_of(posted_, [&](const auto& entry) {
    const Posted& posted = entry.second;
    return posted.from ? !inboxes_.contains(*posted.from)
                       : inboxes_.size() + 1 < group_.options().size;
  });
}

void Mail::RunReception() {
  Lock lock(mutex_);
  Patience patience;
  for (std::uint64_t number = 0; !stop_.stop_requested();) {
    if (!IsReceptionNeeded()) {
      patience = Patience();
      news_.wait(lock, [&] { return stop_.stop_requested() || IsReceptionNeeded(); });
      continue;
    }
    lock.unlock();
    const auto came = ReceiveGuest(number);
    lock.lock();
    if (!came.ok()) {
      lock.unlock();
      return Abort(came.error().message);
    }
    if (*came) {
      ++number;
      patience = Patience();
    } else {
      news_.wait_for(lock, patience.Next());
    }
  }
}

Result<bool> Mail::ReceiveGuest(std::uint64_t number) {
  const std::string key = KeyOf(group_.options().rank, number);
  RINGLET_TRY_ASSIGN(const auto card, group_.store().Find(key));
  if (!card) return false;
  Reader in(*card);
  const std::uint32_t from = in.U32();
  const View id_bytes = in.Raw(UniqueId::kBytes);
  if (!in.AtEnd() || from >= group_.options().size)
    return Error{Code::kProtocol, fmt::format("'{}' in the store is no sender's card", key)};
  RINGLET_TRY_ASSIGN(const UniqueId id, ToId(id_bytes, key));
  group_.store().Erase(key);
  const Lock lock(mutex_);
  Inbox& inbox = inboxes_[from];
  if (!inbox.thread.joinable())
    inbox.thread = std::thread([this, from, id] { RunInbox(from, id); });
  return true;
}

bool Mail::IsAwaited(std::uint32_t from) const {
  return std::ranges::any_of(
      posted_, [&](const auto& entry) { return !entry.second.from || *entry.second.from == from; });
}

Mail::PostedList::iterator Mail::Match(std::uint32_t from, std::int32_t tag) {
  return std::ranges::find_if(posted_, [&](const auto& entry) {
    const Posted& posted = entry.second;
    return posted.tag == tag && (!posted.from || *posted.from == from);
  });
}

Posted Mail::Take(PostedList::iterator it) {
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

void Mail::DeliverEarly(Lock& lock, std::uint32_t from) {
  Inbox& inbox = inboxes_[from];
  for (auto early = inbox.early.begin(); early != inbox.early.end();) {
    const auto it = Match(from, early->tag);
    if (it == posted_.end()) {
      ++early;
      continue;
    }
    const Posted posted = Take(it);
    const Bytes bytes = std::move(early->bytes);
    inbox.early_bytes -= bytes.size();
    inbox.early.erase(early);
    lock.unlock();
    Status status = CheckSize(posted, bytes.size(), from);
    if (status.ok()) std::ranges::copy(bytes, posted.room.begin());
    posted.done(std::move(status), from);
    lock.lock();
    early = inbox.early.begin();
  }
}

Status Mail::TakeMessage(Lock& lock, std::uint32_t from) {
  Inbox& inbox = inboxes_[from];
  inbox.reading = true;
  lock.unlock();
  const auto head = ReadHead(*inbox.line);
  lock.lock();
  RINGLET_TRY(head);
  // One that nobody waits for is put aside, unless too much is put aside already.
  news_.wait(lock, [&] {
    return stop_.stop_requested() || Match(from, head->tag) != posted_.end() ||
           (IsAwaited(from) && inbox.early_bytes + head->bytes <= kEarlyBytesMax);
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
  if (posted) posted->done(status.ok() ? fits : status, from);
  lock.lock();
  inbox.reading = false;
  RINGLET_TRY(std::move(status));
  if (posted) return Ok();
  inbox.early_bytes += aside.size();
  inbox.early.push_back({head->tag, std::move(aside)});
  return Ok();
}

bool Mail::MayStillCome(const Posted& posted) const {
  if (posted.from) return !inboxes_.at(*posted.from).broken;
  if (inboxes_.size() + 1 < group_.options().size) return true;
  return std::ranges::any_of(inboxes_, [&](const auto& entry) {
    const Inbox& inbox = entry.second;
    return !inbox.broken || std::ranges::any_of(inbox.early, [&](const Early& early) {
      return early.tag == posted.tag;
    });
  });
}

void Mail::Break(Lock& lock, std::uint32_t from, const Error& error) {
  Inbox& inbox = inboxes_[from];
  inbox.reading = false;
  inbox.broken = error;
  PostedList lost;
  for (auto it = posted_.begin(); it != posted_.end();) {
    const auto next = std::next(it);
    const bool concerned = it->second.from.value_or(from) == from;
    if (concerned && !MayStillCome(it->second)) lost.splice(lost.end(), posted_, it);
    it = next;
  }
  lock.unlock();
  for (auto& [number, posted] : lost) posted.done(error, from);
  lock.lock();
}

void Mail::RunInbox(std::uint32_t from, const UniqueId& id) {
  auto line = make_line_(id, kReceiver, kForever, stop_.get_token());
  Lock lock(mutex_);
  Inbox& inbox = inboxes_[from];
  if (line.ok()) {
    inbox.line = *line;
  } else {
    Break(lock, from, Between("from", from, line.error()));
  }
  while (!stop_.stop_requested()) {
    news_.wait(lock, [&] { return stop_.stop_requested() || IsAwaited(from); });
    DeliverEarly(lock, from);
    if (stop_.stop_requested() || !IsAwaited(from)) continue;
    if (inbox.broken) {
      Break(lock, from, Error(*inbox.broken));
      // Somebody may still wait for any sender: until then there is nothing to do here.
      news_.wait(lock);
    } else if (const Status status = TakeMessage(lock, from); !status.ok()) {
      Break(lock, from, Between("from", from, status.error()));
    }
  }
}

}  // namespace ringlet::torch_api
