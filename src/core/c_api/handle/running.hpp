// Operations that run on their own thread, for non-blocking communicators (blocking = 0).
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "ringlet/status.hpp"

namespace ringlet::c_api {

class Running {
 public:
  /// \param run  destroyed before the operation counts as done
  explicit Running(std::function<Status()> run) : run_(std::move(run)) {}

  /// Starts the thread; called once.
  /// \param on_failure  called on the thread before waiters wake
  /// Errors  kSystem  no thread is available; the operation is done, with this error
  Status Start(std::function<void(const Error&)> on_failure);

  bool done() const { return done_.load(std::memory_order_acquire); }
  /// Waits for the end. \pre  started. To end it soon, a caller first fails its communicators.
  void Wait() const { done_.wait(false, std::memory_order_acquire); }
  /// The error, if it failed. \pre  done
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void End(const Status& status);

  std::function<Status()> run_;
  std::optional<Error> failure_;  // written before `done_`
  std::atomic<bool> done_{false};
  std::jthread thread_;  // the last member: joined first
};

}  // namespace ringlet::c_api
