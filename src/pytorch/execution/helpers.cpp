#include "pytorch/execution/helpers.hpp"

#include <algorithm>
#include <utility>

#include "comm/service/thread.hpp"

namespace ringlet::torch_api {
namespace {

// The executor of this thread's current job.
thread_local const void* t_serves = nullptr;

}  // namespace

Helpers::Helpers() : shared_(std::make_shared<HelperState>()) {}

Helpers::~Helpers() {
  std::list<Owned> others, own;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->news.notify_all();
    const std::ptrdiff_t mine = t_serves == shared_.get() ? 1 : 0;
    shared_->ended.wait(lock, [&] {
      return std::ranges::count_if(shared_->threads, [](const Owned& one) { return !one.ended; }) ==
             mine;
    });
    others.swap(shared_->threads);
  }
  const auto self = std::ranges::find_if(
      others, [](const Owned& one) { return one.thread.get_id() == std::this_thread::get_id(); });
  if (self != others.end()) own.splice(own.begin(), others, self);
  for (Owned& other : others) other.thread.join();
  JoinLater(std::move(own));
}

// A thread cannot join itself. A later call joins it after it has ended.
void Helpers::JoinLater(std::list<Owned> own) {
  struct UnjoinedThreads {
    std::mutex mutex;
    std::list<Owned> threads;
  };
  static UnjoinedThreads& orphans =
      *new UnjoinedThreads;  // never destroyed: one may still run then
  const std::lock_guard lock(orphans.mutex);
  JoinEnded(orphans.threads);
  orphans.threads.splice(orphans.threads.end(), own);
}

void Helpers::JoinEnded(std::list<Owned>& threads) {
  for (auto it = threads.begin(); it != threads.end();) {
    const auto next = std::next(it);
    if (it->ended) {
      it->thread.join();
      threads.erase(it);
    }
    it = next;
  }
}

bool Helpers::TryRun(Job job) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->idle > 0) {
    --shared_->idle;
    shared_->jobs.push_back(std::move(job));
    shared_->news.notify_one();
    return true;
  }
  JoinEnded(shared_->threads);
  Owned& own = shared_->threads.emplace_back();
  auto started = comm::StartThread(
      "for a callback",
      [shared = shared_, &own](const std::stop_token&) { RunThread(shared, own); });
  if (!started.ok()) {
    shared_->threads.pop_back();
    return false;
  }
  own.thread = *std::move(started);
  shared_->jobs.push_back(std::move(job));
  return true;
}

void Helpers::Run(const Job& job) {
  if (!TryRun(job)) job();
}

void Helpers::RunThread(const std::shared_ptr<HelperState>& shared, Owned& own) {
  t_serves = shared.get();
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->news.wait(lock, [&] { return shared->stopping || !shared->jobs.empty(); });
    if (shared->jobs.empty()) break;
    Job job = std::move(shared->jobs.front());
    shared->jobs.pop_front();
    lock.unlock();
    job();
    job = nullptr;
    lock.lock();
    if (shared->idle == kIdleMax) break;
    ++shared->idle;
  }
  own.ended = true;
  shared->ended.notify_all();
}

}  // namespace ringlet::torch_api
