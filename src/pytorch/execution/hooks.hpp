// Functions of the user that a backend calls, identified by numbers.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ringlet::torch_api {

/// Any thread may call all functions.
template <typename... Arguments>
class Hooks {
 public:
  using Hook = std::function<void(Arguments...)>;

  /// Returns false and discards `hook` if the number is in use.
  bool Add(std::int64_t number, Hook hook) {
    const std::lock_guard lock(mutex_);
    const bool added = hooks_.emplace(number, std::make_shared<const Hook>(std::move(hook))).second;
    any_ = !hooks_.empty();
    return added;
  }

  /// Ignores an unknown number. The hook may still be running on another thread afterwards.
  void Remove(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    hooks_.erase(number);
    any_ = !hooks_.empty();
  }

  /// Cost  an atomic read
  bool empty() const { return !any_.load(std::memory_order_acquire); }

  /// Calls all hooks by number, without a lock: a hook may add and remove others.
  /// Cost  an atomic read without hooks
  void Run(Arguments... arguments) const {
    if (empty()) return;
    std::vector<std::shared_ptr<const Hook>> all;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, hook] : hooks_) all.push_back(hook);
    }
    for (const auto& hook : all) (*hook)(arguments...);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::shared_ptr<const Hook>> hooks_;
  std::atomic<bool> any_{false};
};

}  // namespace ringlet::torch_api
