// The communicators of a process, as external tools inspect them while they live.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/protocol.hpp"
#include "watch/metrics.hpp"
#include "watch/rank_trace.hpp"
#include "watch/status.hpp"

namespace ringlet::comm {

/// Collects the answers of all communicators of a process.
class StatusGathering {
 public:
  /// \param complete  called once, when all parts are done
  StatusGathering(std::size_t parts, std::function<void()> complete)
      : parts_(parts), pending_(parts), complete_(std::move(complete)) {}

  /// Changes a part. Any thread. \param change  takes the CommunicatorStatus
  template <class Change>
  void Set(std::size_t part, const Change& change) {
    const std::lock_guard lock(mutex_);
    change(parts_[part]);
  }
  /// Called once for each part.
  void Done() {
    {
      const std::lock_guard lock(mutex_);
      if (--pending_ > 0) return;
    }
    complete_();
  }
  /// Returns the parts as far as they are known.
  std::vector<watch::CommunicatorStatus> Parts() const {
    const std::lock_guard lock(mutex_);
    return parts_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<watch::CommunicatorStatus> parts_;
  std::size_t pending_;
  const std::function<void()> complete_;
};

/// A communicator that external tools can inspect. Any thread may call it.
class Watched {
 public:
  Watched() = default;
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  virtual ~Watched() = default;

  virtual watch::RankTrace Trace(std::string reason) const = 0;
  virtual watch::CommunicatorMetrics Metrics() const = 0;
  /// Returns the activity of its rank, for ranks of other communicators. Empty if it is not formed
  /// or has failed.
  virtual std::optional<bootstrap::GroupActivity> CurrentActivity() const = 0;
  /// Fills a part of `gathering` and calls Done, later and on another thread.
  virtual void Look(std::shared_ptr<StatusGathering> gathering, std::size_t part,
                    bool asks_peers) = 0;
};

}  // namespace ringlet::comm
