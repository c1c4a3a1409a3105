#include "os/driver/socket_driver.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <new>
#include <thread>
#include <utility>

#include "os/clock.hpp"
#include "os/driver/driver_thread.hpp"
#include "os/driver/entrance_callers.hpp"
#include "os/driver/hosted_machines.hpp"
#include "os/driver/lines.hpp"
#include "os/driver/poller.hpp"
#include "os/driver/posted_work.hpp"
#include "os/driver/watched_listeners.hpp"
#include "os/error.hpp"

namespace ringlet::os {
namespace {

constexpr Instant kFailAgain = std::chrono::milliseconds(10);

}  // namespace

// Connects the parts: events flow from the epoll to listeners and lines, and from these to
// machines. Actions flow from machines to lines.
class SocketDriver::Impl final : private MachineActions {
 public:
  Impl(Fd epoll, Fd wake, std::function<Status()> start);

  Id Add(Hosted hosted);
  void RequestTick(Id id) { machines_.Defer(id, Tick{}); }
  void CloseListeners(Id id) { listeners_.Close(id); }
  void Remove(Id id, Instant linger);
  void Post(Work work);
  void PostAfter(Instant wait, Work work);
  void Step(Instant wait);
  void Run();
  void RunUntil(const std::function<bool()>& done, Instant until);

  DriverThread& thread() { return thread_; }
  const DriverTally& tally() const { return tally_; }

 private:
  void Apply(Id id, Action action) override;
  void SetAccepting(Id id, bool accepting) override { listeners_.SetAccepting(id, accepting); }
  void Turn(Instant wait);
  Instant WaitFor(Instant wait) const;
  void OnReady(const epoll_event& event);
  void RunAll(const std::vector<Work>& all);
  void RunOne(const Work& work);
  void RunDue();

  std::atomic<std::thread::id> runner_{};  // the last thread that called Step
  DriverTally tally_;
  Poller poller_;
  PostedWork posted_;
  DriverThread thread_;
  HostedMachines machines_{*this};
  Lines lines_{poller_, machines_, tally_};
  WatchedListeners listeners_{poller_, machines_, lines_, tally_};
  EntranceCallers entrances_{machines_, lines_};
};

SocketDriver::Impl::Impl(Fd epoll, Fd wake, std::function<Status()> start)
    : poller_(std::move(epoll), tally_),
      posted_(std::move(wake), tally_),
      thread_(std::move(start), [this] { posted_.Wake(); }) {
  poller_.Watch(posted_.descriptor(), kWakeToken, EPOLLIN);
}

// ---- machines ---------------------------------------------------------------------------------

SocketDriver::Id SocketDriver::Impl::Add(Hosted hosted) {
  std::vector<Listener> listeners = std::exchange(hosted.listeners, {});
  const std::shared_ptr<Entrance> entrance = hosted.entrance;
  const Id id = machines_.Add(std::move(hosted));
  listeners_.Open(id, std::move(listeners));
  if (entrance)
    entrances_.Open(id, entrance, [this, id](Caller caller) {
      if (runner_ == std::this_thread::get_id()) return entrances_.Put(id, std::move(caller));
      const auto shared = std::make_shared<Caller>(std::move(caller));
      Post([this, id, shared] { entrances_.Put(id, std::move(*shared)); });
    });
  RequestTick(id);
  return id;
}

void SocketDriver::Impl::Remove(Id id, Instant linger) {
  listeners_.Close(id);
  const auto hosted = machines_.Take(id);  // alive until its connections are closed
  if (!hosted) return;
  entrances_.Close(id);
  lines_.Abandon(id, linger);
}

void SocketDriver::Impl::Apply(Id id, Action action) {
  std::visit(Overloaded{
                 [&](Note& note) { machines_.Log(id, note); },
                 [&](auto& of_line) { lines_.Perform(id, std::move(of_line)); },
             },
             action);
}

// ---- posted work ------------------------------------------------------------------------------

void SocketDriver::Impl::Post(Work work) {
  if (!posted_.Put(std::move(work), [this] { return thread_.IsLeasedHere(); })) return;
  // If the thread does not start, the work stays queued, and the next Post tries again.
  thread_.StartIfNeeded();
}

void SocketDriver::Impl::PostAfter(Instant wait, Work work) {
  Post([this, at = os::Now() + wait, work = std::move(work)] { posted_.PutTimed(at, work); });
}

void SocketDriver::Impl::RunAll(const std::vector<Work>& all) {
  for (const Work& one : all) RunOne(one);
}

void SocketDriver::Impl::RunOne(const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    machines_.MarkAllFailed();  // the machine behind the work is unknown
  }
}

// ---- the loop ---------------------------------------------------------------------------------

void SocketDriver::Impl::Run() {
  thread_.Run([this](Instant wait) { Step(wait); });
}

void SocketDriver::Impl::RunUntil(const std::function<bool()>& done, Instant until) {
  thread_.RunUntil([this](Instant wait) { Step(wait); }, done, until);
}

void SocketDriver::Impl::Step(Instant wait) {
  try {
    Turn(wait);
  } catch (const std::bad_alloc&) {
    machines_.MarkAllFailed();
  }
  if (machines_.HasFailed()) machines_.RemoveFailed([this](Id id) { Remove(id, Instant(0)); });
}

void SocketDriver::Impl::Turn(Instant wait) {
  runner_ = std::this_thread::get_id();
  const std::vector<Work> own = posted_.TakeOwn();
  RunAll(own);
  if (!own.empty()) wait = Instant(0);  // this thread may be waiting for the work
  std::array<epoll_event, 256> events;
  const int ready = poller_.Await(events, WaitFor(wait), thread_.SpinHere());
  for (int i = 0; i < ready; ++i) OnReady(events[static_cast<std::size_t>(i)]);
  RunDue();
  entrances_.AdmitWaiting();
  // The driver flushes the output of machines once a turn, gathered. That may close connections.
  while (machines_.HasDeferred() || lines_.HasUnflushed()) {
    machines_.DeliverDeferred();
    lines_.Flush();
    entrances_.AdmitWaiting();
  }
  machines_.ReportChanged();
}

Instant SocketDriver::Impl::WaitFor(Instant wait) const {
  if (machines_.HasDeferred() || lines_.HasUnflushed() || machines_.HasChanged()) return Instant(0);
  if (machines_.HasFailed()) wait = std::min(wait, kFailAgain);
  const Instant now = os::Now();
  for (const auto& due : {machines_.NextDue(), lines_.NextDue(), posted_.NextDue()})
    if (due) wait = std::min(wait, *due - now);
  return std::max(wait, Instant(0));
}

void SocketDriver::Impl::OnReady(const epoll_event& event) {
  const Token token = event.data.u64;
  if (token == kWakeToken) {
    RunAll(posted_.TakeAnnounced());
  } else if (listeners_.Has(token)) {
    listeners_.OnReady(token);
  } else {
    lines_.OnReady(token, event.events);
  }
}

void SocketDriver::Impl::RunDue() {
  const Instant now = os::Now();
  machines_.DeliverDue(now);
  lines_.EndLingering(now);
  while (const auto work = posted_.TakeDue(now)) RunOne(*work);
}

// ---- public interface --------------------------------------------------------------------------

SocketDriver::SocketDriver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SocketDriver::~SocketDriver() = default;

Result<std::unique_ptr<SocketDriver>> SocketDriver::Create(std::function<Status()> start) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return SystemError("cannot create an epoll", errno);
  Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake.valid()) return SystemError("cannot create an eventfd", errno);
  auto impl = std::make_unique<Impl>(std::move(epoll), std::move(wake), std::move(start));
  return std::unique_ptr<SocketDriver>(new SocketDriver(std::move(impl)));
}

SocketDriver::Id SocketDriver::Add(Hosted hosted) {
  return impl_->Add(std::move(hosted));
}
void SocketDriver::RequestTick(Id id) {
  impl_->RequestTick(id);
}
void SocketDriver::CloseListeners(Id id) {
  impl_->CloseListeners(id);
}
void SocketDriver::Remove(Id id, Instant linger) {
  impl_->Remove(id, linger);
}
void SocketDriver::Post(std::function<void()> work) {
  impl_->Post(std::move(work));
}
void SocketDriver::PostAfter(Instant wait, std::function<void()> work) {
  impl_->PostAfter(wait, std::move(work));
}
void SocketDriver::Step(Instant wait) {
  impl_->Step(wait);
}
void SocketDriver::Stop() {
  impl_->thread().Stop();
}
void SocketDriver::Run() {
  impl_->Run();
}
void SocketDriver::RunUntil(const std::function<bool()>& done, Instant until) {
  impl_->RunUntil(done, until);
}

SocketDriver::Lease::Lease(SocketDriver& driver, Instant spin)
    : driver_(driver.impl_->thread().Borrow(spin) ? &driver : nullptr) {}
SocketDriver::Lease::Lease(Lease&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)) {}
SocketDriver::Lease::~Lease() {
  (void)End();
}
Status SocketDriver::Lease::End() {
  SocketDriver* const driver = std::exchange(driver_, nullptr);
  return driver == nullptr ? Ok() : driver->impl_->thread().Return();
}

const SocketDriver::Counters& SocketDriver::counters() const {
  return impl_->tally().counters;
}

std::uint64_t SocketDriver::shortages() const {
  return impl_->tally().shortages;
}

Instant SocketDriver::Now() {
  return os::Now();
}

}  // namespace ringlet::os
