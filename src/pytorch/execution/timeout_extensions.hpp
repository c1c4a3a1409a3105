// Extra time that a caller adds to the next operations, once.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace ringlet::torch_api {

/// An extension applies to later operations until the first of them ends. Extensions add up. Any
/// thread may call all functions.
class TimeoutExtensions {
 public:
  static constexpr std::size_t kMax = 1024;  ///< extensions at a time; further ones are dropped

  void Add(std::chrono::milliseconds time) {
    const std::lock_guard lock(mutex_);
    if (extensions_.size() < kMax) extensions_.push_back({time, std::nullopt});
    any_ = true;
  }

  /// Returns the extra time of a new operation. Cost  an atomic read without extensions
  std::chrono::milliseconds Begin(std::uint64_t operation) {
    std::chrono::milliseconds sum{0};
    if (!any_.load(std::memory_order_acquire)) return sum;
    const std::lock_guard lock(mutex_);
    for (AddedTime& extension : extensions_) {
      if (!extension.first) extension.first = operation;
      sum += extension.time;
    }
    return sum;
  }

  void End(std::uint64_t operation) {
    if (!any_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    std::erase_if(extensions_, [&](const AddedTime& each) { return each.first == operation; });
    any_ = !extensions_.empty();
  }

 private:
  struct AddedTime {
    std::chrono::milliseconds time;
    std::optional<std::uint64_t> first;  // the extension ends with this operation
  };
  std::mutex mutex_;
  std::vector<AddedTime> extensions_;
  std::atomic<bool> any_{false};
};

}  // namespace ringlet::torch_api
