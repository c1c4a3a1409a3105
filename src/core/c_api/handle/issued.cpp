#include "c_api/handle/issued.hpp"

namespace ringlet::c_api {

bool Issued::pending() const {
  const stream::ItemEndRef last = order_->last();
  return last && last->pending();
}

void Issued::Await() const {
  if (const stream::ItemEndRef last = order_->last()) last->Wait();
}

std::optional<Error> Issued::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Issued::Fail(const Error& why) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = why;
}

Issued::InUse::~InUse() {
  if (!issued_) return;
  issued_->running_.fetch_sub(1);
  issued_->running_.notify_all();
}

void Issued::AwaitUnused() const {
  for (int running = running_.load(); running != 0; running = running_.load())
    running_.wait(running);
}

}  // namespace ringlet::c_api
