#include "comm/control.hpp"

#include <fmt/format.h>

#include <map>

#include "base/digest.hpp"

namespace ringlet::comm {
namespace {

using bootstrap::Failure;
using bootstrap::Member;

constexpr std::chrono::seconds kLinger(5);
// After the machine's own deadlines: it knows more than the clock does.
constexpr std::chrono::seconds kLastLadderStep(2);

}  // namespace

// What the service thread and the rank's thread share, under one lock. The member itself is touched
// by the service thread only.
struct Control::Shared {
  std::shared_ptr<Member> member;
  os::SocketDriver* driver = nullptr;
  os::SocketDriver::Id id = 0;
  Rank rank{};

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool standing = false;
  bool over = false;
  Milestones milestones;
  std::optional<bootstrap::Roster> roster;
  std::optional<Failure> failure;
  std::optional<bootstrap::Table> table;
  std::map<std::pair<Rank, std::uint64_t>, std::optional<Bytes>> awaited;  // messages
  std::function<void()> on_failure;
  std::optional<Rank> asked;
  std::optional<bootstrap::Activity> answer;

  void Look() {
    const std::lock_guard lock(mutex);
    if (over) return;
    standing = member->standing();
    if (milestones.roster == Instant(0) && member->roster().size() > 0)
      milestones.roster = os::SocketDriver::Now();
    if (standing && !roster) {
      roster = member->roster();
      milestones.standing = os::SocketDriver::Now();
    }
    if (auto one = member->TakeTable()) table = std::move(one);
    for (auto& [key, message] : awaited)
      if (!message) message = member->TakeMessage(key.first, key.second);
    if (asked)
      if (auto one = member->TakeAnswer(*asked)) answer = one;
    if (member->Finished()) {
      over = true;
      failure = member->failure();
      if (failure && on_failure) on_failure();
      driver->Remove(id, kLinger);
    }
    changed.notify_all();
  }
};

Control::Control(std::shared_ptr<Process> process, std::shared_ptr<Shared> shared,
                 std::shared_ptr<Doing> doing, std::chrono::milliseconds operation_timeout)
    : process_(std::move(process)),
      shared_(std::move(shared)),
      doing_(std::move(doing)),
      operation_timeout_(operation_timeout) {}

Result<std::unique_ptr<Control>> Control::Join(std::shared_ptr<Process> process, Options options,
                                               const std::stop_token& abort) {
  return Begin(std::move(process), std::move(options)).Finish(abort);
}

Control::Pending Control::Begin(std::shared_ptr<Process> process, Options options) {
  auto shared = std::make_shared<Shared>();
  shared->milestones.begun = os::SocketDriver::Now();
  const auto join_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.member.timeout);
  shared->rank = options.member.rank;
  shared->driver = &process->driver();
  auto doing = std::make_shared<Doing>();
  options.member.activity = [doing] {
    bootstrap::Activity activity{.operations = doing->operations};
    if (const std::int64_t rank = doing->waits_for; rank >= 0)
      activity.waits_for = static_cast<std::uint32_t>(rank);
    return activity;
  };
  shared->member = std::make_shared<Member>(std::move(options.member));
  std::unique_ptr<Control> control(
      new Control(process, shared, doing, join_timeout + kLastLadderStep));
  auto listeners = std::make_shared<std::vector<os::Listener>>(std::move(options.listeners));
  process->driver().Post([process = process.get(), shared, listeners] {
    os::Hosted hosted{.machine = shared->member, .listeners = std::move(*listeners)};
    hosted.changed = [shared] { shared->Look(); };
    hosted.note = [process](const Note& note) {
      process->logger().Log(note.level, Subsystem::kBootstrap, std::nullopt, note.text);
    };
    shared->id = shared->driver->Add(std::move(hosted));
  });
  return {std::move(control), options.operation_timeout};
}

Result<std::unique_ptr<Control>> Control::Pending::Finish(const std::stop_token& abort) {
  const std::shared_ptr<Shared> shared = control_->shared_;
  const std::stop_callback stop(abort, [&] {
    control_->Fail(Error{Code::kAborted, fmt::format("rank {} was told to abort while it joined",
                                                     Index(shared->rank))});
  });
  RINGLET_TRY(control_->Await([&] { return shared->standing; }));
  control_->operation_timeout_ = operation_timeout_;
  control_->roster_ = *shared->roster;
  return std::move(control_);
}

Control::Milestones Control::milestones() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->milestones;
}

Control::~Control() {
  Leave();
}

void Control::Command(std::function<void(Member&)> command) {
  process_->driver().Post([shared = shared_, command = std::move(command)] {
    if (shared->member->Finished()) return;
    command(*shared->member);
    shared->driver->Nudge(shared->id);
  });
}

Status Control::Await(const std::function<bool()>& ready) {
  std::unique_lock lock(shared_->mutex);
  const auto done = [&] { return shared_->over || ready(); };
  if (!shared_->changed.wait_for(lock, operation_timeout_, done)) {
    const std::string why = fmt::format("rank {} timed out after {} ms ", Index(shared_->rank),
                                        operation_timeout_.count());
    lock.unlock();
    Command([why](Member& member) { member.Abort(Code::kTimeout, why + member.Phase()); });
    lock.lock();
    if (!shared_->changed.wait_for(lock, kLastLadderStep, [&] { return shared_->over; }))
      return Error{Code::kTimeout, why + "and the service thread does not answer"};
  }
  if (ready()) return Ok();
  if (shared_->failure) return Error{shared_->failure->code, shared_->failure->text};
  return Error{Code::kInvalidArgument,
               fmt::format("rank {} has left this communicator", Index(shared_->rank))};
}

Result<bootstrap::Table> Control::Gather(bool barrier, Bytes payload) {
  auto shared_payload = std::make_shared<Bytes>(std::move(payload));
  Command([barrier, shared_payload](Member& member) {
    member.Gather(barrier, std::move(*shared_payload));
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
  Writer out;
  out.U64(value);
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, AllGather(out.Take()));
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
  Command([to, tag, shared_message](Member& member) {
    member.Post(to, tag, std::move(*shared_message), os::SocketDriver::Now());
  });
  return Ok();
}

Result<Bytes> Control::Receive(Rank from, std::uint64_t tag) {
  const std::pair key(from, tag);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->awaited[key] = std::nullopt;
  }
  Command([](Member&) {});  // it may be there already
  const Status arrived = Await([&] { return shared_->awaited.at(key).has_value(); });
  const std::lock_guard lock(shared_->mutex);
  const std::optional<Bytes> message = std::move(shared_->awaited.at(key));
  shared_->awaited.erase(key);
  RINGLET_TRY(arrived);
  return *message;
}

std::optional<bootstrap::Activity> Control::Ask(Rank whom, std::chrono::milliseconds patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->asked = whom;
  shared_->answer.reset();
  Command([whom](Member& member) { member.Ask(whom, os::SocketDriver::Now()); });
  shared_->changed.wait_for(lock, patience, [&] { return shared_->over || shared_->answer; });
  shared_->asked.reset();
  return std::exchange(shared_->answer, std::nullopt);
}

void Control::Fail(const Error& error) {
  Command([error](Member& member) { member.Abort(error.code, error.message); });
}

std::optional<Error> Control::failure() const {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->failure) return std::nullopt;
  return Error{shared_->failure->code, shared_->failure->text};
}

std::optional<Error> Control::AwaitFailure(std::chrono::milliseconds patience) const {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [&] { return shared_->over; });
  if (!shared_->failure) return std::nullopt;
  return Error{shared_->failure->code, shared_->failure->text};
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
  Command([](Member& member) { member.Leave(); });
  // The process may end as soon as this returns: wait until the last words are with the kernel.
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, kLastLadderStep, [&] { return shared_->over; });
}

}  // namespace ringlet::comm
