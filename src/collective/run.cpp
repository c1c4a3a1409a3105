#include "collective/run.hpp"

#include <vector>

namespace ringlet::collective {
namespace {

/// The executions that are not done yet, with their waiters.
class Group {
 public:
  Group(std::span<Execution* const> executions, std::span<transport::Waiter* const> waiters) {
    RINGLET_ASSERT(executions.size() == waiters.size());
    for (std::size_t i = 0; i < executions.size(); ++i) {
      members_.push_back({executions[i], waiters[i]});
    }
  }

  bool done() const { return members_.empty(); }

  /// Gives each a turn. True if any of them moved, or is done now.
  Result<bool> Advance() {
    bool moved = false;
    for (std::size_t i = 0; i < members_.size();) {
      RINGLET_TRY_ASSIGN(const bool finished, members_[i].execution->Advance());
      moved = moved || finished || members_[i].execution->moved();
      if (finished) {
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return moved;
  }

  /// Sleeps until one of them may have news, unless it has already.
  Status Sleep(const PollReadable& poll, std::chrono::nanoseconds timeout) {
    // Some may be done after the second look, yet all that were prepared must be acknowledged.
    const std::vector<Member> prepared = members_;
    std::vector<int> descriptors;
    for (const Member& member : prepared) {
      member.waiter->PrepareDescriptor();
      descriptors.push_back(member.waiter->descriptor());
    }
    Result<bool> moved = Advance();
    if (moved.ok() && !*moved) poll(descriptors, timeout);
    for (const Member& member : prepared) member.waiter->Acknowledge();
    if (!moved.ok()) return std::move(moved).error();
    return Ok();
  }

 private:
  struct Member {
    Execution* execution;
    transport::Waiter* waiter;
  };
  std::vector<Member> members_;
};

}  // namespace

Status RunToEnd(Execution& execution, transport::Waiter& waiter, const RunPolicy& policy) {
  for (;;) {
    RINGLET_TRY_ASSIGN(bool done, execution.Advance());
    if (done) return Ok();
    RINGLET_TRY(policy.check());
    if (execution.moved()) continue;
    // Only now: as long as the ticket is out, peers pay for telling us of their news.
    const transport::Waiter::Ticket ticket = waiter.Prepare();
    RINGLET_TRY_ASSIGN(done, execution.Advance());
    if (done) return Ok();
    if (!execution.moved()) waiter.Wait(ticket, policy.sleep_max);
  }
}

Status RunAllToEnd(std::span<Execution* const> executions,
                   std::span<transport::Waiter* const> waiters, const PollReadable& poll,
                   const RunPolicy& policy) {
  Group group(executions, waiters);
  while (!group.done()) {
    RINGLET_TRY_ASSIGN(const bool moved, group.Advance());
    if (group.done()) return Ok();
    RINGLET_TRY(policy.check());
    if (!moved) RINGLET_TRY(group.Sleep(poll, policy.sleep_max));
  }
  return Ok();
}

}  // namespace ringlet::collective
