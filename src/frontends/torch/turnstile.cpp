#include "frontends/torch/turnstile.hpp"

#include <utility>

namespace ringlet::torch_api {

Turnstile::~Turnstile() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queue_.notify_all();
  if (worker_.joinable()) worker_.join();
}

void Turnstile::AwaitTurn(std::unique_lock<std::mutex>& lock, std::uint64_t ticket) {
  ++waiting_;
  turn_.wait(lock, [&] { return serving_ == ticket; });
  --waiting_;
}

void Turnstile::Next() {
  const std::lock_guard lock(mutex_);
  ++serving_;
  if (waiting_ > 0) turn_.notify_all();
}

void Turnstile::RunHere(const Job& job) {
  {
    std::unique_lock lock(mutex_);
    AwaitTurn(lock, next_ticket_++);
  }
  job();
  Next();
}

void Turnstile::Submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({next_ticket_++, std::move(job)});
    if (!worker_.joinable()) worker_ = std::thread([this] { Work(); });
  }
  queue_.notify_one();
}

bool Turnstile::IsBusy() {
  const std::lock_guard lock(mutex_);
  return serving_ != next_ticket_;
}

void Turnstile::Work() {
  while (true) {
    std::unique_lock lock(mutex_);
    queue_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Ticketed next = std::move(jobs_.front());
    jobs_.pop_front();
    AwaitTurn(lock, next.ticket);
    lock.unlock();
    next.job();
    next.job = nullptr;  // what it holds may end here, before the next one begins
    Next();
  }
}

}  // namespace ringlet::torch_api
