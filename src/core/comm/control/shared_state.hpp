// The states behind a Control, which its service thread and the rank's thread share. Only the
// sources of Control include this.
#pragma once
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "comm/control/control.hpp"
#include "comm/control/shortage.hpp"
#include "comm/service/long_wait.hpp"
#include "comm/service/watched.hpp"

namespace ringlet::comm {

// The member and the groups that use it. Only the service thread of its slot accesses it.
struct Control::SharedMember {
  explicit SharedMember(Services::ServiceSlot where)
      : slot(std::move(where)), driver(&slot.service.driver()) {}

  Services::ServiceSlot slot;
  os::SocketDriver* const driver;
  std::shared_ptr<bootstrap::Member> member;
  os::SocketDriver::Id id = 0;
  std::map<bootstrap::GroupId, std::shared_ptr<Shared>> users;
  std::vector<std::shared_ptr<Shared>> parting;  // will leave when the failure has been passed on
  std::vector<std::shared_ptr<Shared>>
      leaving;                    // groups with last messages that the driver has not sent yet
  bool closes_listeners = false;  // when the network is complete
  bool lost = false;              // the member ran out of memory, so its state is unknown

  void Look();
  bool LeaveParting();
  void Leave(const std::shared_ptr<Shared>& shared);
  void MarkMemberLost(const Error& error);
};

// The state of one group that the service thread and the rank's thread share, under one lock.
struct Control::Shared final : Watched, std::enable_shared_from_this<Control::Shared> {
  std::shared_ptr<SharedMember> shared_member;
  bootstrap::GroupId group = bootstrap::kWorld;
  FlightRecorder doing;

  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool standing = false;
  bool over = false;  // failed or left
  bool left = false;
  bootstrap::Milestones milestones;
  std::optional<bootstrap::Roster> roster;
  std::optional<bootstrap::Failure> failure;
  Instant failed_at{0};  // when `failure` was set
  std::optional<watch::RecoveryTimes> recovery;
  Instant recovers_from{0};         // failed_at of the communicator that this one continues
  std::atomic<bool> failed{false};  // `failure` is set; read without the lock
  std::optional<bootstrap::Table> table;
  std::map<std::pair<Rank, std::uint64_t>, std::optional<Bytes>> awaited;  // messages
  std::function<void()> on_failure;
  std::mutex pushed_mutex;  // guards the next; held while it runs
  OnPushed on_pushed;
  std::optional<Rank> asked;
  std::optional<Answer> answer;

  /// Waits with the lock held, as `changed.wait_for` does. If the driver is lent to this thread,
  /// runs it meanwhile.
  template <typename Ready>
  bool WaitFor(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds timeout,
               Ready&& ready) const {
    const Instant until = os::Now() + timeout;
    while (true) {
      const Instant look = std::min(until, os::Now() + LongWait::kPeriod);
      lock.unlock();
      shared_member->driver->RunUntil(
          [&] {
            const std::lock_guard looking(mutex);
            return ready();
          },
          look);
      lock.lock();
      if (changed.wait_for(lock, std::max(look - os::Now(), Instant(0)), ready)) return true;
      if (look == until) return false;
      lock.unlock();
      (void)LongWait::Look();
      lock.lock();
    }
  }

  // Used by tools that inspect the communicator.
  std::atomic<bool> formed{false};                           // the communicator is formed
  std::atomic<std::uint64_t> name{0};                        // as in `about`
  watch::RankTrace about;                                    // its names, under the lock
  std::shared_ptr<const transport::SendQueues> send_queues;  // under the lock; may be null
  std::string dump_dir;                                      // set once, as `about` is
  std::mutex dump_mutex;                // guards the next; held during the write
  std::optional<std::uint64_t> dumped;  // operations begun when it was written
  struct PeerInquiry {
    std::shared_ptr<StatusGathering> gathering;
    std::size_t part = 0;
    std::set<std::uint32_t> unanswered = {};
  };
  std::vector<PeerInquiry> inquiries;  // owned by the service thread

  void Look(bootstrap::Member& member) {
    const std::lock_guard lock(mutex);
    if (left) return;
    bool news = false;  // changes that a waiting thread needs; other wakeups are too expensive
    news |= !std::exchange(standing, member.standing()) && standing;
    milestones = member.milestones();
    if (standing && !roster) roster = member.roster(group);
    if (auto one = member.TakeTable(group)) {
      table = std::move(one);
      news = true;
    }
    for (auto& [key, message] : awaited) {
      if (message) continue;
      message = member.TakeMessage(key.first, key.second, group);
      news |= message.has_value();
    }
    if (asked && !answer) {
      answer = AnswerOf(member, *asked);
      news |= answer.has_value();
    }
    if (!inquiries.empty()) CollectAnswers(member);
    if (!failure && member.failure(group)) {
      failure = member.failure(group);
      failed_at = os::Now();
      failed.store(true, std::memory_order_release);
      if (on_failure) on_failure();
    }
    news |= !std::exchange(over, failure || member.Finished()) && over;
    if (news) changed.notify_all();
  }

  void Deliver(bootstrap::Member& member) {
    const std::lock_guard lock(pushed_mutex);
    while (on_pushed) {
      auto message = member.TakePushed(group);
      if (!message) return;
      on_pushed(*std::move(message));
    }
  }

  std::optional<Answer> AnswerOf(bootstrap::Member& member, Rank whom) const {
    if (auto activity = member.TakeAnswer(whom, group))
      return Answer{Reachability::kHere, std::move(*activity)};
    switch (member.AbsenceOf(whom, group)) {
      case bootstrap::Member::RankAbsence::kLeft: return Answer{Reachability::kLeft, {}};
      case bootstrap::Member::RankAbsence::kAbsent: return Answer{Reachability::kAbsent, {}};
      case bootstrap::Member::RankAbsence::kUnknown: break;
    }
    return std::nullopt;
  }

  void Fail(const Error& error) {
    const std::lock_guard lock(mutex);
    if (!failure) {
      failure = bootstrap::Failure{error.code, bootstrap::kNoOrigin, error.message};
      failed_at = os::Now();
      failed.store(true, std::memory_order_release);
      if (on_failure) on_failure();
    }
    over = true;
    changed.notify_all();
  }

  /// Until the communicator is formed, a lasting lack of descriptors fails it. Its peers cannot see
  /// the cause, and both sides would retry until their time limit.
  /// \param watch  from the second call on
  void WatchShortages(Process& process, Rank rank, std::optional<ShortageWatch> watch = {});

  void MarkLeft() {
    const std::lock_guard lock(mutex);
    over = left = true;
    changed.notify_all();
  }

  // Used by tools that inspect the communicator: watching.cpp
  void RegisterWatched(const Process& process, Rank rank, std::uint32_t ranks);
  void SetName(std::uint64_t its_name);
  std::vector<SlowSend> SlowSends() const;
  watch::RankTrace Trace(std::string reason) const override;
  std::optional<bootstrap::GroupActivity> CurrentActivity() const override;
  /// \param activity  bootstrap::Activity or GroupActivity
  void FillCalls(auto& activity) const {
    activity.operations = doing.operations;
    if (const std::int64_t rank = doing.waits_for; rank >= 0)
      activity.waits_for = static_cast<std::uint32_t>(rank);
    if (const auto header = doing.header()) activity.call.assign(header->begin(), header->end());
    if (doing.begun() == 0) return;
    const auto counts = doing.calls();
    activity.counts.assign(counts.begin(), counts.end());
  }
  watch::CommunicatorMetrics Metrics() const override;
  void Look(std::shared_ptr<StatusGathering> gathering, std::size_t part, bool asks_peers) override;
  watch::RankState OwnState() const;
  void GatherStatusNow(const std::shared_ptr<StatusGathering>& gathering, std::size_t part,
                       bool asks_peers);
  void QueryPeers(std::shared_ptr<StatusGathering> gathering, std::size_t part);
  void CollectAnswers(bootstrap::Member& member);
  void DumpFailure();
};

}  // namespace ringlet::comm
