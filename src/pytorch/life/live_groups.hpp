// The process groups of this process. Included by module.cpp only.
#pragma once
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "pytorch/life/group_lifecycle.hpp"

namespace ringlet::torch_api {

/// All groups that have not been destroyed. Any thread may call all functions.
class LiveGroups {
 public:
  static LiveGroups& The() {
    static LiveGroups& the = *new LiveGroups;  // never destroyed: groups may outlive statics
    return the;
  }

  void Add(GroupLifecycle& group) {
    const std::lock_guard lock(mutex_);
    groups_.insert(&group);
  }
  void Remove(GroupLifecycle& group) {
    const std::lock_guard lock(mutex_);
    groups_.erase(&group);
    if (default_ == &group) default_ = nullptr;
  }

  /// Marks a group as PyTorch's default group.
  void SetDefault(GroupLifecycle& group) {
    const std::lock_guard lock(mutex_);
    default_ = &group;
  }
  std::optional<Milliseconds> TimeoutOfDefault() {
    const std::lock_guard lock(mutex_);
    return default_ != nullptr ? std::optional(default_->options()->timeout) : std::nullopt;
  }

  /// Keeps a backend until the program ends.
  void Keep(c10::intrusive_ptr<c10d::Backend> backend) {
    const std::lock_guard lock(mutex_);
    kept_.push_back(std::move(backend));
  }

  /// Ends the remaining groups at the end of the program.
  void EndAll() {
    std::set<GroupLifecycle*> groups;
    {
      const std::lock_guard lock(mutex_);
      groups = groups_;
    }
    // Aborts all groups first, because a callback of one may wait for an operation of another.
    for (GroupLifecycle* group : groups) group->AbortIfBusy();
    for (GroupLifecycle* group : groups) group->End(true);
  }

 private:
  std::mutex mutex_;
  std::set<GroupLifecycle*> groups_;
  GroupLifecycle* default_ = nullptr;
  std::vector<c10::intrusive_ptr<c10d::Backend>> kept_;
};

}  // namespace ringlet::torch_api
