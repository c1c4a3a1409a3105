#include "collective/call/run.hpp"

#include <algorithm>
#include <vector>

namespace ringlet::collective {
namespace {

constexpr std::uint32_t kTurnsPerCheck = 64;  // a check reads the clock

/// The operations that are not done, and their waiters.
class OperationSet {
 public:
  OperationSet(std::span<Operation* const> operations,
               std::span<transport::Waiter* const> waiters) {
    RINGLET_ASSERT(operations.size() == waiters.size());
    members_.reserve(operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
      members_.push_back({operations[i], waiters[i]});
    }
  }

  bool done() const { return members_.empty(); }

  /// Advances each operation once. Returns true if any of them made progress or is done.
  Result<bool> Advance() {
    bool moved = false;
    for (std::size_t i = 0; i < members_.size();) {
      RINGLET_TRY_ASSIGN(const bool finished, members_[i].operation->Advance());
      moved = moved || finished || members_[i].operation->moved();
      if (finished) {
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return moved;
  }

  /// Spins once as the first member to sleep does. `idle` counts spins without news. False: sleep.
  bool SpinOnce(std::uint32_t idle) const {
    const PendingOperation* least = nullptr;
    const auto moments = [](const PendingOperation& member) {
      const Spinner* const spinner = SpinnerOf(member);
      return spinner ? std::uint64_t{spinner->wait_policy().looks} + spinner->wait_policy().yields
                     : 0;
    };
    for (const PendingOperation& member : members_)
      if (!least || moments(member) < moments(*least)) least = &member;
    Spinner* const spinner = least ? SpinnerOf(*least) : nullptr;
    return spinner && spinner->SpinOnce(idle);
  }

  /// Sleeps until a member may have news, unless one has news already.
  Status Sleep(const PollReadable& poll, std::chrono::nanoseconds timeout) {
    // A second look may end some operations, but all prepared waiters must be acknowledged.
    const std::vector<PendingOperation> prepared = members_;
    std::vector<int> descriptors;
    for (const PendingOperation& member : prepared) {
      member.waiter->PrepareDescriptor();
      descriptors.push_back(member.waiter->descriptor());
    }
    Result<bool> moved = Advance();
    if (moved.ok() && !*moved) poll(descriptors, std::min(timeout, LongestSleep()));
    for (const PendingOperation& member : prepared) member.waiter->Acknowledge();
    if (!moved.ok()) return std::move(moved).error();
    return Ok();
  }

 private:
  struct PendingOperation {
    Operation* operation;
    transport::Waiter* waiter;
  };
  static Spinner* SpinnerOf(const PendingOperation& member) {
    const WaitTarget* const place = member.operation->place();
    return place ? place->spinner : nullptr;
  }
  // News at a separate place lacks a descriptor, so the thread must poll it.
  std::chrono::nanoseconds LongestSleep() const {
    constexpr std::chrono::milliseconds kLookPeriod(1);
    const bool has_places = std::any_of(
        members_.begin(), members_.end(),
        [](const PendingOperation& member) { return member.operation->place() != nullptr; });
    return has_places ? std::chrono::nanoseconds(kLookPeriod) : std::chrono::nanoseconds::max();
  }

  std::vector<PendingOperation> members_;
};

}  // namespace

Status RunToEnd(Operation& operation, transport::Waiter& links, const RunPolicy& policy) {
  std::uint32_t idle = 0;
  for (std::uint32_t turn = 1;; ++turn) {
    RINGLET_TRY_ASSIGN(bool done, operation.Advance());
    if (done) return Ok();
    const WaitTarget* const place = operation.place();
    if (turn % kTurnsPerCheck == 0) RINGLET_TRY(policy.check());
    if (operation.moved()) {
      idle = 0;
      continue;
    }
    Spinner* const spinner = place ? place->spinner : links.in_memory() ? policy.spinner : nullptr;
    if (spinner && spinner->SpinOnce(idle++)) continue;
    idle = 0;
    RINGLET_TRY(policy.check());
    // Prepares this late, because peers must ring for their news while a ticket is valid.
    transport::Waiter& waiter = place ? *place->waiter : links;
    const transport::Waiter::Ticket ticket = waiter.Prepare();
    RINGLET_TRY_ASSIGN(done, operation.Advance());
    if (done) return Ok();
    if (!operation.moved()) waiter.Wait(ticket, policy.sleep_max);
  }
}

Status RunAllToEnd(std::span<Operation* const> operations,
                   std::span<transport::Waiter* const> waiters, const PollReadable& poll,
                   const RunPolicy& policy) {
  if (operations.size() == 1) return RunToEnd(*operations.front(), *waiters.front(), policy);
  OperationSet group(operations, waiters);
  std::uint32_t idle = 0;
  for (std::uint32_t turn = 1;; ++turn) {
    RINGLET_TRY_ASSIGN(const bool moved, group.Advance());
    if (group.done()) return Ok();
    if (turn % kTurnsPerCheck == 0) RINGLET_TRY(policy.check());
    if (moved || group.SpinOnce(idle)) {
      idle = moved ? 0 : idle + 1;
      continue;
    }
    // After a sleep without news the group sleeps again.
    RINGLET_TRY(policy.check());
    RINGLET_TRY(group.Sleep(poll, policy.sleep_max));
    if (group.done()) return Ok();
  }
}

}  // namespace ringlet::collective
