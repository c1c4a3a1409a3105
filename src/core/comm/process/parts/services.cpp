#include "comm/process/parts/services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "os/clock.hpp"
#include "os/process/remote_fence.hpp"
#include "os/process/thread.hpp"

namespace ringlet::comm {
namespace {

// More than the kernel's part of loopback can use. Other programs need cores too.
constexpr std::size_t kServicesMax = 4;
// Maximum number of callers of an endpoint that have not named their target yet.
constexpr std::size_t kHalfOpenMax = 32'768;
// Time for the last messages of a finished root to leave.
constexpr Instant kLinger = std::chrono::seconds(5);

/// Sums the counters of several service threads as they arrive.
struct CounterSum {
  std::function<void(const Services::Counters&)> done;
  std::size_t pending = 0;
  std::mutex mutex = {};
  Services::Counters sum = {};
};

}  // namespace

Status Services::Start(std::function<void()> begin) {
  if (begin) {
    RINGLET_TRY_ASSIGN(auto service, Service::Prepare("ringlet", logger_, std::move(begin)));
    Keep(std::move(service));
  } else {
    RINGLET_TRY(Add());
  }
  first_ = services_.front().get();
  const auto log = [this](const Note& note) {
    logger_.Log(note.level, Subsystem::kBootstrap, std::nullopt, note.text);
  };
  endpoints_ = std::make_unique<transport::SharedListeners>(
      driver(),
      transport::SharedListeners::Options{.timeout = facts_.settings.handshake_timeout,
                                          .half_open_max = facts_.HalfOpenMax(kHalfOpenMax),
                                          .note = log});
  return Ok();
}

// Ends the first service thread last, because the others post to it. Ends each without the lock,
// because its thread may wait for the lock.
void Services::Stop() {
  endpoints_.reset();
  for (std::unique_ptr<Service> last;; last.reset()) {
    const std::lock_guard lock(mutex_);
    if (services_.empty()) return;
    last = std::move(services_.back());
    services_.pop_back();
  }
}

Status Services::Add() {
  const std::string number = services_.empty() ? "" : "-" + std::to_string(services_.size());
  RINGLET_TRY_ASSIGN(auto service, Service::Start("ringlet" + number, logger_));
  Keep(std::move(service));
  return Ok();
}

void Services::Keep(std::unique_ptr<Service> service) {
  for (const auto& [cpus, numa_node] : near_) service->RunNear(cpus, numa_node);
  services_.push_back(std::move(service));
}

Services::ServiceSlot Services::ReserveService() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> ranks;
  for (const auto& service : services_) ranks.push_back(service->ranks());
  const std::size_t most = std::clamp<std::size_t>(facts_.usable_cores, 1, kServicesMax);
  std::size_t index = ThreadForNextRank(ranks, most);
  // If no thread can start, an existing one serves the rank, with more delay.
  if (index == services_.size() && !Add().ok()) index = ThreadForNextRank(ranks, services_.size());
  Service& service = *services_[index];
  return {service, service.ReserveService()};
}

void Services::MoveServicesNear(const topology::CpuSet& cpus, std::uint32_t numa_node) {
  if (cpus.empty()) return;
  const std::lock_guard lock(mutex_);
  const std::pair place(cpus, numa_node);
  if (std::ranges::find(near_, place) != near_.end()) return;
  near_.push_back(place);
  for (const auto& service : services_) service->RunNear(cpus, numa_node);
}

void Services::ReadCounters(std::function<void(const Counters&)> done) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<CounterSum> sum(
      new CounterSum{.done = std::move(done), .pending = services_.size()});
  for (const auto& service : services_)
    service->driver().Post([sum, driver = &service->driver()] {
      {
        const std::lock_guard counting(sum->mutex);
        sum->sum += driver->counters();
        if (--sum->pending > 0) return;
      }
      sum->done(sum->sum);
    });
}

Services::Counters Services::ReadCounters() {
  std::promise<Counters> promise;
  ReadCounters([&](const Counters& sum) { promise.set_value(sum); });
  return promise.get_future().get();
}

std::uint64_t Services::shortages() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = facts_.files.shortages();
  for (const auto& service : services_) sum += service->driver().shortages();
  return sum;
}

// Without this thread, the ranks of this process issue fences themselves.
void Services::JoinRemoteFences() {
  if (os::HasJoinedRemoteFences()) return;
  std::call_once(joins_fences_once_, [this] {
    driver().PostAfter(kFencesAfter, [this] {
      auto started = os::StartThread("to take part in fences", [](const std::stop_token&) {
        os::BecomeServiceThread("ringlet-fences");
        (void)os::JoinRemoteFences();
      });
      if (started.ok()) joins_fences_ = *std::move(started);
    });
  });
}

void Roots::Host(const std::shared_ptr<bootstrap::Root>& root, os::Hosted hosted) {
  os::SocketDriver* const first = &services_.driver();
  first->Post([this, first, root, shared = std::make_shared<os::Hosted>(std::move(hosted))] {
    const auto id = std::make_shared<os::SocketDriver::Id>(0);
    shared->changed = [this, first, root, id] {
      if (!root->Finished()) return;
      first->Remove(*id, kLinger);
      std::erase_if(roots_, [&](const Hosting& hosting) { return hosting.id == *id; });
    };
    *id = first->Add(std::move(*shared));
    roots_.push_back({root, *id});
    ForgetUnused();
  });
}

void Roots::Refuse(std::uint64_t magic, bootstrap::Failure why) {
  services_.driver().Post([this, magic, why = std::move(why)] {
    for (const Hosting& hosting : roots_) {
      const auto root = hosting.root.lock();
      if (!root || root->magic() != magic) continue;
      root->Refuse(why, os::Now());
      services_.driver().RequestTick(hosting.id);
    }
  });
}

// Roots in use, or done, are kept and only leave the count.
void Roots::ForgetUnused() {
  while (roots_.size() > kUnusedMax) {
    const Hosting oldest = std::move(roots_.front());
    roots_.pop_front();
    const auto root = oldest.root.lock();
    if (!root || root->checked_in() > 0) continue;
    services_.driver().Remove(oldest.id);
    logger_.WarnOnce(
        fmt::format("more than {} unique ids of this process wait to be used: the oldest are "
                    "dropped, and ranks that join with one are refused",
                    kUnusedMax));
  }
}

}  // namespace ringlet::comm
