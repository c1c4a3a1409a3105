// Operations that a thread of their own runs, for communicators that do not wait (blocking = 0).
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "ringlet/status.hpp"

namespace ringlet::c_api {

class Running {
 public:
  /// \param run  what it holds is let go of before it counts as done
  explicit Running(std::function<Status()> run) : run_(std::move(run)) {}

  /// Once.
  /// \param on_failure  called on the thread, before a waiter is told
  /// Errors  kSystem  there is no thread for it; it is done, with this error
  Status Start(std::function<void(const Error&)> on_failure);

  bool done() const { return done_.load(std::memory_order_acquire); }
  /// It has been started. A caller that wants it to end soon fails its communicators first.
  void Wait() const { done_.wait(false, std::memory_order_acquire); }
  /// Why it has failed, if it has. \pre  done
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void End(const Status& status);

  std::function<Status()> run_;
  std::optional<Error> failure_;  // written before `done_`
  std::atomic<bool> done_{false};
  std::jthread thread_;  // the last member: it is joined first
};

}  // namespace ringlet::c_api
