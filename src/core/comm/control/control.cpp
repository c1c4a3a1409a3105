#include "comm/control/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "base/value/digest.hpp"
#include "comm/control/shared_state.hpp"

namespace ringlet::comm {
namespace {

using bootstrap::GroupId;
using bootstrap::Member;

// \param line  of the caller, for the log
Error ErrorOf(const bootstrap::Failure& failure, int line = __builtin_LINE()) {
  const bool names_rank = failure.code == Code::kPeerLost && failure.origin != bootstrap::kNoOrigin;
  return {.code = failure.code,
          .message = failure.text,
          .line = line,
          .lost_rank = names_rank ? static_cast<int>(failure.origin) : -1};
}

constexpr std::chrono::seconds kLinger(5);
// Grace after the machine's own deadlines. The last one ends at most this long after its limit. The
// machine can report more about a timeout than this clock.
constexpr std::chrono::seconds kLastLadderStep(2);
// Longer than connection setup within a site, but short for a caller that destroys a communicator.
constexpr std::chrono::seconds kNewsTimeout(1);

}  // namespace

// The driver calls this after it has written the member's output to the kernel.
void Control::SharedMember::Look() {
  for (const auto& shared : std::exchange(leaving, {})) shared->MarkLeft();
  for (const auto& [group, shared] : users) {
    shared->Look(*member);
    shared->Deliver(*member);
    if (shared->failed.load(std::memory_order_relaxed)) shared->DumpFailure();
  }
  if (LeaveParting()) return;
  if (member->standing() && std::exchange(closes_listeners, false)) driver->CloseListeners(id);
  if (!member->Finished()) return;
  driver->Remove(id, kLinger);
  users.clear();
}

// Lets groups leave once their failures are passed on. Returns true if Look will run again.
bool Control::SharedMember::LeaveParting() {
  const auto ready = std::ranges::stable_partition(
      parting, [&](const auto& shared) { return member->AwaitsFailureAnswers(shared->group); });
  const std::vector<std::shared_ptr<Shared>> leave(ready.begin(), ready.end());
  parting.erase(ready.begin(), ready.end());
  for (const auto& shared : leave) Leave(shared);
  if (!leave.empty()) driver->RequestTick(id);
  return !leave.empty();
}

// The caller holds a copy of `shared`, because `users` drops its own.
void Control::SharedMember::Leave(const std::shared_ptr<Shared>& shared) {
  member->Leave(shared->group);
  users.erase(shared->group);
  leaving.push_back(shared);
}

void Control::SharedMember::MarkMemberLost(const Error& error) {
  lost = true;
  for (const auto& shared : leaving) shared->MarkLeft();
  for (const auto& shared : parting) shared->MarkLeft();
  for (const auto& [group, shared] : users) shared->Fail(error);
  users.clear();
}

Control::Control(std::shared_ptr<Process> process, std::shared_ptr<Shared> shared,
                 std::chrono::milliseconds operation_timeout)
    : process_(std::move(process)),
      shared_(std::move(shared)),
      operation_timeout_(operation_timeout) {}

void Control::SetFormed(std::uint64_t name) {
  shared_->SetName(name);
  shared_->formed.store(true, std::memory_order_release);
}

void Control::DumpFailure() {
  shared_->DumpFailure();
}

void Control::Shared::WatchShortages(Process& process, Rank rank,
                                     std::optional<ShortageWatch> watch) {
  // Does not use Process::shortages, because threads that wait for a service thread hold its lock.
  const std::uint64_t count = process.files().shortages() + process.driver().shortages() +
                              shared_member->driver->shortages();
  if (!watch) watch.emplace(count);
  if (const Instant lasts = watch->Look(count, os::Now()); lasts > Instant(0)) {
    shared_member->member->Abort(
        Code::kSystem,
        fmt::format("rank {} (host {}, pid {}) was out of file descriptors for {:.1f} s while the "
                    "communicator formed: {}",
                    Index(rank), process.host().name, process.host().pid,
                    std::chrono::duration<double>(lasts).count(),
                    ShortageText(os::CountDescriptors())),
        group);
    return shared_member->driver->RequestTick(shared_member->id);
  }
  shared_member->driver->PostAfter(
      ShortageWatch::kPeriod, [&process, rank, watch, weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && !self->formed && !self->failed && !self->shared_member->lost)
          self->WatchShortages(process, rank, watch);
      });
}

bootstrap::GroupId Control::id() const {
  return shared_->group;
}

FlightRecorder& Control::doing() {
  return shared_->doing;
}

void Control::SetSendQueues(std::shared_ptr<const transport::SendQueues> send_queues) {
  const std::lock_guard lock(shared_->mutex);
  shared_->send_queues = std::move(send_queues);
}

Result<std::unique_ptr<Control>> Control::Join(std::shared_ptr<Process> process, Options options,
                                               const std::stop_token& abort) {
  return Begin(std::move(process), std::move(options)).Finish(abort);
}

Control::Pending Control::Begin(std::shared_ptr<Process> process, Options options) {
  auto shared_member = std::make_shared<SharedMember>(process->services().ReserveService());
  auto shared = std::make_shared<Shared>();
  shared->shared_member = shared_member;
  shared_member->users.emplace(bootstrap::kWorld, shared);
  const auto join_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.member.timeout);
  options.member.roster_cache = shared_member->slot.service.roster_cache();
  options.member.activity = [users = &shared_member->users,
                             process = process.get()](GroupId group) {
    bootstrap::Activity activity;
    const auto it = users->find(group);
    if (it == users->end()) return activity;
    it->second->FillCalls(activity);
    activity.slow_sends = it->second->SlowSends();
    const std::uint64_t name = it->second->name;
    for (const auto& watched : process->diagnostics().watched())
      if (auto one = watched->CurrentActivity(); one && one->communicator != name)
        activity.others.push_back(*std::move(one));
    return activity;
  };
  std::unique_ptr<Control> control(
      new Control(process, shared, join_timeout + 2 * kLastLadderStep));
  control->rank_ = options.member.rank;
  shared->RegisterWatched(*process, control->rank_, options.member.size);
  shared->SetName(options.member.roots.front().credentials.magic);
  process->diagnostics().Watch(shared);
  shared_member->member = std::make_shared<Member>(std::move(options.member));
  shared_member->closes_listeners = options.entrance != nullptr;
  auto listeners = std::make_shared<std::vector<os::Listener>>(std::move(options.listeners));
  std::string who = fmt::format("rank {}: ", Index(control->rank_));
  shared_member->driver->Post([process = process.get(), shared_member, listeners,
                               who = std::move(who),
                               entrance = std::move(options.entrance)]() mutable {
    os::Hosted hosted{.machine = shared_member->member,
                      .listeners = std::move(*listeners),
                      .entrance = std::move(entrance),
                      .greeting = kGreeting};
    hosted.changed = [shared_member] { shared_member->Look(); };
    hosted.failed = [shared_member, who = std::move(who)](const Error& error) {
      shared_member->MarkMemberLost(Error{error.code, who + error.message});
    };
    hosted.note = [process](const Note& note) {
      process->logger().Log(note.level, Subsystem::kBootstrap, std::nullopt, note.text);
    };
    shared_member->id = shared_member->driver->Add(std::move(hosted));
  });
  shared->WatchShortages(*process, control->rank_);
  return {std::move(control), options.operation_timeout};
}

Result<std::unique_ptr<Control>> Control::Pending::Finish(const std::stop_token& abort) {
  const std::shared_ptr<Shared> shared = control_->shared_;
  // Not control_, because the caller may own it before the callback is destroyed.
  const std::stop_callback stop(abort, [&control = *control_] {
    control.Fail(Error{Code::kAborted,
                       fmt::format("rank {} was aborted while it joined", Index(control.rank_))});
  });
  RINGLET_TRY(control_->Await([&] { return shared->standing; }));
  control_->operation_timeout_ = operation_timeout_;
  control_->roster_ = *shared->roster;
  return std::move(control_);
}

bootstrap::Milestones Control::milestones() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->milestones;
}

Control::~Control() {
  Leave();
}

void Control::Command(std::function<void(Member&, GroupId)> command) {
  shared_->shared_member->driver->Post([shared = shared_, command = std::move(command)] {
    SharedMember& shared_member = *shared->shared_member;
    if (shared_member.lost || shared_member.member->Finished()) return shared->MarkLeft();
    command(*shared_member.member, shared->group);
    shared_member.driver->RequestTick(shared_member.id);
  });
}

Status Control::Await(const std::function<bool()>& ready) {
  std::unique_lock lock(shared_->mutex);
  const auto done = [&] { return shared_->over || ready(); };
  if (!shared_->WaitFor(lock, operation_timeout_, done)) {
    const std::string why =
        fmt::format("rank {} timed out after {} ms ", Index(rank_), operation_timeout_.count());
    lock.unlock();
    Command([why](Member& member, GroupId group) {
      member.Abort(Code::kTimeout, why + member.Phase(group), group);
    });
    lock.lock();
    if (!shared_->WaitFor(lock, kLastLadderStep, [&] { return shared_->over; }))
      return Error{Code::kTimeout, why + "and the service thread does not answer"};
  }
  if (ready()) return Ok();
  if (shared_->failure) return ErrorOf(*shared_->failure);
  return Error{Code::kInvalidArgument,
               fmt::format("rank {} has left this communicator", Index(rank_))};
}

Result<bootstrap::Table> Control::Gather(bool barrier, Bytes payload) {
  auto shared_payload = std::make_shared<Bytes>(std::move(payload));
  Command([barrier, shared_payload](Member& member, GroupId group) {
    member.Gather(barrier, std::move(*shared_payload), group);
  });
  RINGLET_TRY(Await([&] { return shared_->table.has_value(); }));
  const std::lock_guard lock(shared_->mutex);
  return *std::exchange(shared_->table, std::nullopt);
}

Result<bootstrap::Table> Control::AllGather(Bytes payload) {
  return Gather(false, std::move(payload));
}

Status Control::Barrier() {
  RINGLET_TRY(Gather(true, {}));
  return Ok();
}

Status Control::RequireEqual(std::uint64_t value, std::string_view what) {
  auto secrets = RequireEqual(value, what, Secret{});
  return secrets.ok() ? Ok() : Status(std::move(secrets).error());
}

Result<std::vector<Secret>> Control::RequireEqual(std::uint64_t value, std::string_view what,
                                                  const Secret& secret) {
  Writer out;
  out.U64(value).Raw(secret);
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, AllGather(out.Take()));
  RINGLET_TRY(CheckEqual(table, what));
  std::vector<Secret> secrets(table.size());
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    Reader in(table.At(Rank{rank}));
    in.U64();
    std::ranges::copy(in.Raw(std::min(in.remaining(), secret.size())), secrets[rank].begin());
  }
  return secrets;
}

Status Control::CheckEqual(const bootstrap::Table& table, std::string_view what) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> ranks;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank)
    ranks[Reader(table.At(Rank{rank})).U64()].push_back(rank);
  if (ranks.size() == 1) return Ok();
  std::string text;
  for (const auto& [digest, members] : ranks)
    text += fmt::format("{}{:016x} on rank {}", text.empty() ? "" : ", ", digest,
                        bootstrap::RangesText(members));
  return Error{Code::kProtocol,
               fmt::format("the ranks do not have the same {}: {}; use the same Ringlet and the "
                           "same settings on all",
                           what, text)};
}

Status Control::Send(Rank to, std::uint64_t tag, Bytes message) {
  if (const auto failed = failure()) return *failed;
  auto shared_message = std::make_shared<Bytes>(std::move(message));
  Command([to, tag, shared_message](Member& member, GroupId group) {
    member.Post(to, tag, std::move(*shared_message), os::SocketDriver::Now(), group);
  });
  return Ok();
}

Result<Bytes> Control::Receive(Rank from, std::uint64_t tag) {
  const std::pair key(from, tag);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->awaited[key] = std::nullopt;
  }
  Command([](Member&, GroupId) {});  // it may be there already
  const Status arrived = Await([&] { return shared_->awaited.at(key).has_value(); });
  const std::lock_guard lock(shared_->mutex);
  const std::optional<Bytes> message = std::move(shared_->awaited.at(key));
  shared_->awaited.erase(key);
  RINGLET_TRY(arrived);
  return *message;
}

void Control::SetPushHandler(OnPushed on_pushed) {
  {
    const std::lock_guard lock(shared_->pushed_mutex);
    shared_->on_pushed = std::move(on_pushed);
  }
  Command([](Member&, GroupId) {});  // some may be there already
}

Control::Answer Control::Ask(Rank whom, std::chrono::milliseconds timeout) {
  std::unique_lock lock(shared_->mutex);
  shared_->asked = whom;
  shared_->answer.reset();
  Command(
      [whom](Member& member, GroupId group) { member.Ask(whom, os::SocketDriver::Now(), group); });
  shared_->WaitFor(lock, timeout, [&] { return shared_->over || shared_->answer; });
  shared_->asked.reset();
  return std::exchange(shared_->answer, std::nullopt).value_or(Answer());
}

void Control::Fail(const Error& error) {
  const std::uint32_t lost =
      error.lost_rank < 0 ? bootstrap::kNoOrigin : static_cast<std::uint32_t>(error.lost_rank);
  Command([error, lost](Member& member, GroupId group) {
    member.Abort(error.code, error.message, group, lost);
  });
}

std::optional<Error> Control::failure() const {
  if (!shared_->failed.load(std::memory_order_acquire)) return std::nullopt;
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->failure) return std::nullopt;
  return ErrorOf(*shared_->failure);
}

Instant Control::failed_at() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->failed_at;
}

void Control::SetRecovery(std::optional<watch::RecoveryTimes> times) {
  const std::lock_guard lock(shared_->mutex);
  shared_->recovery = times;
  if (times) shared_->recovers_from = os::Now() - times->rebuilt;
}

std::optional<watch::RecoveryTimes> Control::recovery() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->recovery;
}

void Control::MarkFirstResult() {
  const std::lock_guard lock(shared_->mutex);
  shared_->recovery->first_result = os::Now() - shared_->recovers_from;
}

std::optional<Error> Control::AwaitFailure(std::chrono::milliseconds timeout) const {
  std::unique_lock lock(shared_->mutex);
  shared_->WaitFor(lock, timeout, [&] { return shared_->over; });
  if (!shared_->failure) return std::nullopt;
  return ErrorOf(*shared_->failure);
}

std::optional<Error> Control::Explain(const Error& error) const {
  return AwaitFailure(std::chrono::milliseconds(error.code == Code::kAborted ? 1000 : 200));
}

void Control::OnFailure(std::function<void()> callback) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->failure && callback) return callback();
  shared_->on_failure = std::move(callback);
}

void Control::Leave() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->on_failure = nullptr;
  }
  {
    const std::lock_guard lock(shared_->pushed_mutex);
    shared_->on_pushed = nullptr;
  }
  Command([shared = shared_](Member& member, GroupId group) {
    SharedMember& shared_member = *shared->shared_member;
    if (member.AwaitsFailureAnswers(group)) return shared_member.parting.push_back(shared);
    shared_member.Leave(shared);
  });
  // Waits, because the process and its service thread may end as soon as this returns. If the last
  // messages were not in the kernel by then, peers would take the end for a crash. Ranks behind
  // this one would miss a failure that only this rank can report to them.
  const auto left = [&] { return shared_->left; };
  const auto leave_now = [shared = shared_] {
    SharedMember& shared_member = *shared->shared_member;
    if (std::erase(shared_member.parting, shared) == 0) return;
    if (shared_member.lost || shared_member.member->Finished()) return shared->MarkLeft();
    shared_member.Leave(shared);
    shared_member.driver->RequestTick(shared_member.id);
  };
  // A failed attempt to reform does not delay the next one, which uses the same connections.
  if (lineage_ && !shared_->formed)
    return shared_->shared_member->driver->PostAfter(kNewsTimeout, leave_now);
  std::unique_lock lock(shared_->mutex);
  if (shared_->WaitFor(lock, kNewsTimeout, left)) return;
  lock.unlock();
  Command([leave_now](Member&, GroupId) { leave_now(); });
  lock.lock();
  shared_->WaitFor(lock, kLastLadderStep, left);
}

// ---- children ---------------------------------------------------------------------------------

namespace {

// Returns an id that is the same on all ranks of the child and differs from all other ids.
GroupId ChildId(GroupId parent, std::string_view kind, std::uint64_t number, std::uint32_t first) {
  const GroupId id = Digest().Add(parent).Add(kind).Add(number).Add(std::uint64_t{first}).value();
  return id == bootstrap::kWorld ? 1 : id;
}

}  // namespace

Result<std::unique_ptr<Control>> Control::Split(std::optional<std::int32_t> color,
                                                std::int32_t key) {
  const std::uint64_t number = ++splits_;
  Writer own;
  own.U8(color ? 1 : 0).U32(static_cast<std::uint32_t>(color.value_or(0)));
  own.U32(static_cast<std::uint32_t>(key));
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, AllGather(own.Take()));
  std::vector<std::pair<std::int32_t, std::uint32_t>> order;  // key, rank
  for (std::uint32_t rank = 0; rank < table.size() && color; ++rank) {
    Reader in(table.At(Rank{rank}));
    const bool has_color = in.U8() != 0;
    const auto its_color = static_cast<std::int32_t>(in.U32());
    const auto its_key = static_cast<std::int32_t>(in.U32());
    if (!in.AtEnd())
      return Error{Code::kProtocol,
                   roster_.DescribeRank(Rank{rank}) + " sent a split request that does not parse"};
    if (has_color && its_color == *color) order.emplace_back(its_key, rank);
  }
  if (!color) return std::unique_ptr<Control>();
  std::ranges::sort(order);
  std::vector<std::uint32_t> ranks;
  for (const auto& [its_key, rank] : order) ranks.push_back(rank);
  return Form(ChildId(shared_->group, "split", number, ranks.front()), ranks);
}

Result<std::unique_ptr<Control>> Control::Shrink(std::vector<std::uint32_t> excluded) {
  std::ranges::sort(excluded);
  const auto is_excluded = [&](std::uint32_t rank) {
    return std::ranges::binary_search(excluded, rank);
  };
  if (!excluded.empty() && excluded.back() >= roster_.size())
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} cannot be left out of a communicator of {}", excluded.back(),
                             roster_.size())};
  if (is_excluded(Index(rank_)))
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} cannot leave itself out", Index(rank_))};
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < roster_.size(); ++rank)
    if (!is_excluded(rank)) ranks.push_back(rank);
  // Several parts of a communicator may each shrink it to themselves at the same time. A rank that
  // an earlier shrink excluded has not counted that shrink. So the number includes only earlier
  // shrinks that kept all ranks of this one. The id does not include the list, so that ranks with
  // different lists meet and detect the difference at once.
  const auto number = std::ranges::count_if(
      shrunk_, [&](const auto& kept) { return std::ranges::includes(kept, ranks); });
  const std::uint64_t before = splits_ << 32 | static_cast<std::uint64_t>(number);
  shrunk_.push_back(ranks);
  return Form(ChildId(shared_->group, "shrink", before, ranks.front()), ranks);
}

Result<std::unique_ptr<Control>> Control::Reform() {
  const GroupId lineage = lineage_.value_or(shared_->group);
  const GroupId id = ChildId(lineage, "reform", reforms_++, 0);
  RINGLET_TRY_ASSIGN(
      auto child,
      Form(id, [id, parent = shared_->group](Member& member, Instant now) -> RanksOfChild {
        const std::uint32_t size = member.roster(parent).size();
        RINGLET_TRY_ASSIGN(auto lost, member.Reform(id, parent, now));
        return bootstrap::Survivors(size, std::move(lost)).OldRanks();
      }));
  child->lineage_ = lineage;
  child->reforms_ = reforms_;
  return child;
}

Result<std::unique_ptr<Control>> Control::Form(GroupId id, std::vector<std::uint32_t> ranks) {
  return Form(id,
              [id, parent = shared_->group, ranks = std::move(ranks)](Member& member,
                                                                      Instant now) -> RanksOfChild {
                RINGLET_TRY(member.Form(id, parent, ranks, now));
                return ranks;
              });
}

Result<std::unique_ptr<Control>> Control::Form(
    GroupId id, std::function<RanksOfChild(Member&, Instant now)> form) {
  auto child = std::make_shared<Shared>();
  child->shared_member = shared_->shared_member;
  child->group = id;
  const auto rank_in = [self = Index(rank_)](const std::vector<std::uint32_t>& ranks) {
    return Rank{static_cast<std::uint32_t>(std::ranges::find(ranks, self) - ranks.begin())};
  };
  child->SetName(id);  // until it is formed
  auto formed = std::make_shared<std::promise<RanksOfChild>>();
  child->shared_member->driver->Post([child, form = std::move(form), formed, rank_in,
                                      process = process_.get()] {
    SharedMember& shared_member = *child->shared_member;
    RanksOfChild ranks =
        shared_member.lost || shared_member.member->Finished()
            ? RanksOfChild(Error{Code::kInvalidArgument, "the communicator was left"})
            : form(*shared_member.member, os::SocketDriver::Now());
    if (ranks.ok()) {
      child->RegisterWatched(*process, rank_in(*ranks), static_cast<std::uint32_t>(ranks->size()));
      shared_member.users.emplace(child->group, child);
      shared_member.driver->RequestTick(shared_member.id);
      child->Look(*shared_member.member);
    }
    formed->set_value(std::move(ranks));
  });
  auto outcome = formed->get_future();
  if (outcome.wait_for(operation_timeout_) != std::future_status::ready)
    return Error{Code::kTimeout, "the service thread does not answer"};
  RINGLET_TRY_ASSIGN(std::vector<std::uint32_t> ranks, outcome.get());
  const Rank rank = rank_in(ranks);
  std::unique_ptr<Control> control(new Control(process_, child, operation_timeout_));
  {
    const std::lock_guard lock(child->mutex);
    control->roster_ = *child->roster;
  }
  control->rank_ = rank;
  control->ranks_of_parent_ = std::move(ranks);
  process_->diagnostics().Watch(child);
  child->WatchShortages(*process_, rank);
  return control;
}

}  // namespace ringlet::comm
