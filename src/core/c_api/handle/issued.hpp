// The operations of one communicator that were issued to streams, as seen by its handle.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "stream/item_end.hpp"

namespace ringlet::c_api {

/// Any thread may call all functions.
class Issued {
 public:
  /// The run order of the operations, across all streams.
  const std::shared_ptr<stream::SerialOrder>& order() const { return order_; }

  /// True if some operations have not ended.
  bool pending() const;
  /// Waits until all issued operations have ended.
  void Await() const;

  /// Marks the communicator as used by one operation, while this object lives.
  class InUse {
   public:
    explicit InUse(Issued& issued) : issued_(&issued) { issued_->running_.fetch_add(1); }
    InUse(InUse&& other) noexcept : issued_(other.issued_) { other.issued_ = nullptr; }
    InUse& operator=(InUse&&) = delete;
    ~InUse();

   private:
    Issued* issued_;
  };
  /// Gives up the communicator; later operations do not use it.
  void Close() { closed_.store(true); }
  bool closed() const { return closed_.load(); }
  /// The first error of an operation that failed or was skipped. Any thread.
  std::optional<Error> failure() const;
  /// Records that an operation failed or was skipped.
  void Fail(const Error& why);

  /// Waits until no operation uses the communicator. The caller has failed it before, so running
  /// operations end soon and later ones end at once.
  void AwaitUnused() const;

 private:
  // Shared with its items, which may outlive the handle.
  const std::shared_ptr<stream::SerialOrder> order_ = std::make_shared<stream::SerialOrder>();
  std::atomic<int> running_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;
};

}  // namespace ringlet::c_api
