// The operations of a communicator that were issued to streams, as its handle sees them.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "stream/item_end.hpp"

namespace ringlet::c_api {

/// Any thread.
class Issued {
 public:
  /// The order in which they run, on whatever streams.
  const std::shared_ptr<stream::SerialOrder>& order() const { return order_; }

  /// Whether some have not ended.
  bool pending() const;
  /// Waits until those that were issued have ended.
  void Await() const;

  /// While it lives, one of them uses the communicator.
  class InUse {
   public:
    explicit InUse(Issued& issued) : issued_(&issued) { issued_->running_.fetch_add(1); }
    InUse(InUse&& other) noexcept : issued_(other.issued_) { other.issued_ = nullptr; }
    InUse& operator=(InUse&&) = delete;
    ~InUse();

   private:
    Issued* issued_;
  };
  /// The communicator is given up: those that begin later leave it alone.
  void Close() { closed_.store(true); }
  bool closed() const { return closed_.load(); }
  /// The first error of those that failed or were not run. Any thread.
  std::optional<Error> failure() const;
  /// One of them failed or was not run.
  void Fail(const Error& why);

  /// Waits until none uses it. The caller has failed the communicator, so that this comes soon, and
  /// those that begin later end at once.
  void AwaitUnused() const;

 private:
  // Shared with the items that are in it, which may outlive the handle.
  const std::shared_ptr<stream::SerialOrder> order_ = std::make_shared<stream::SerialOrder>();
  std::atomic<int> running_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;  // of the next
  std::optional<Error> failure_;
};

}  // namespace ringlet::c_api
