// Functions of the user that a backend calls, known by numbers.
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

/// Safe from any thread.
template <typename... Arguments>
class Hooks {
 public:
  using Hook = std::function<void(Arguments...)>;

  /// False: the number is in use, and `hook` is not kept.
  bool Add(std::int64_t number, Hook hook) {
    const std::lock_guard lock(mutex_);
    const bool added = hooks_.emplace(number, std::make_shared<const Hook>(std::move(hook))).second;
    any_ = !hooks_.empty();
    return added;
  }

  /// Nothing happens where it is unknown. It may still run on another thread afterwards.
  void Remove(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    hooks_.erase(number);
    any_ = !hooks_.empty();
  }

  /// Cost  an atomic read
  bool empty() const { return !any_.load(std::memory_order_acquire); }

  /// Calls all, in the order of their numbers, without a lock: a hook may add and remove others.
  /// Cost  an atomic read where there is none
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
