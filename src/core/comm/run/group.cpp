#include "comm/run/group.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "collective/call/run.hpp"
#include "os/clock.hpp"
#include "os/net/poll.hpp"
#include "os/process/per_thread.hpp"

namespace ringlet::comm {
namespace {

/// The operations of a group on one communicator, in sequence.
class GroupOperation final : public collective::Operation {
 public:
  explicit GroupOperation(std::shared_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)), occupancy_(communicator_->single_use()) {}
  /// Returns the buffers to the caller, even if the group is not complete.
  ~GroupOperation() override {
    if (current_) (*current_)->Withdraw();
  }

  Communicator& communicator() const { return *communicator_; }
  /// \param work  outlives this
  void Add(const Work& work) {
    if (const auto* transfer = std::get_if<Transfer>(&work)) {
      transfers_.push_back(*transfer);
    } else if (const auto* put = std::get_if<Put>(&work)) {
      puts_.push_back(*put);
    } else if (const auto* wait = std::get_if<SignalWait>(&work)) {
      waits_.push_back(*wait);
    } else {
      calls_.push_back(&work);
    }
  }
  bool done() const { return done_; }
  Status CheckOccupancy() const { return occupancy_.Check(); }

  Result<bool> Advance() override {
    moved_ = false;
    while (!done_) {
      if (!current_) RINGLET_TRY(TakeNext());
      if (!current_) break;
      RINGLET_TRY_ASSIGN(const bool finished, (*current_)->Advance());
      moved_ = moved_ || (*current_)->moved();
      if (!finished) {
        communicator_->NoteWait();
        return false;
      }
      moved_ = true;
      current_.reset();
      communicator_->Finish();
    }
    done_ = true;
    return true;
  }
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override { return current_ ? (*current_)->WaitingFor() : ""; }
  std::optional<Rank> Awaits() const override {
    return current_ ? (*current_)->Awaits() : std::nullopt;
  }
  const collective::WaitTarget* place() const override {
    return current_ ? (*current_)->place() : nullptr;
  }

 private:
  /// Leaves `current_` empty if no operation remains.
  Status TakeNext() {
    while (begun_ < calls_.size() && communicator_->FinishIfEmpty(*calls_[begun_])) ++begun_;
    if (begun_ < calls_.size()) {
      RINGLET_TRY_ASSIGN(current_, communicator_->Start(*calls_[begun_++]));
    } else if (!puts_.empty()) {
      current_ = communicator_->Start(std::exchange(puts_, {}));
    } else if (!transfers_.empty()) {
      RINGLET_TRY_ASSIGN(current_, communicator_->Start(transfers_));
      transfers_.clear();
    } else if (!waits_.empty()) {
      current_ = communicator_->Start(std::exchange(waits_, {}));
    }
    return Ok();
  }

  std::shared_ptr<Communicator> communicator_;
  const Occupancy occupancy_;
  std::vector<const Work*> calls_;
  std::size_t begun_ = 0;  // number of begun calls
  std::vector<Put> puts_;
  std::vector<Transfer> transfers_;
  std::vector<SignalWait> waits_;
  std::optional<Started> current_;
  bool moved_ = false;
  bool done_ = false;
};

using GroupOperations = std::vector<std::unique_ptr<GroupOperation>>;

GroupOperation& GroupOperationOf(const std::shared_ptr<Communicator>& communicator,
                                 GroupOperations& group_operations) {
  const auto same = [&](const auto& group_operation) {
    return &group_operation->communicator() == communicator.get();
  };
  const auto found = std::find_if(group_operations.begin(), group_operations.end(), same);
  if (found != group_operations.end()) return **found;
  return *group_operations.emplace_back(std::make_unique<GroupOperation>(communicator));
}

Status Run(const GroupOperations& group_operations) {
  std::vector<collective::Operation*> operations;
  std::vector<transport::Waiter*> waiters;
  operations.reserve(group_operations.size());
  waiters.reserve(group_operations.size());
  std::chrono::milliseconds timeout = std::chrono::milliseconds::max();
  for (const auto& group_operation : group_operations) {
    operations.push_back(group_operation.get());
    waiters.push_back(&group_operation->communicator().links().waiter());
    timeout = std::min(timeout, group_operation->communicator().timeout());
  }
  std::optional<Instant> deadline;  // most groups end before the clock is read
  const auto check = [&]() -> Status {
    if (!deadline) deadline = os::Now() + timeout;
    for (const auto& group_operation : group_operations) {
      if (group_operation->done()) continue;
      RINGLET_TRY(group_operation->communicator().Check(*deadline, *group_operation));
    }
    return Ok();
  };
  collective::RunPolicy policy;
  policy.check = std::cref(check);
  policy.spinner =
      &group_operations.front()->communicator().spinner();  // only a run of one operation uses it
  return collective::RunAllToEnd(operations, waiters, &os::PollReadable, policy);
}

/// Returns true for messages of one communicator, which is the most frequent kind of group.
bool AreMessagesOfOne(const std::vector<GroupedCall>& calls) {
  return !calls.empty() && std::all_of(calls.begin(), calls.end(), [&](const GroupedCall& call) {
    return call.communicator == calls.front().communicator &&
           std::holds_alternative<Transfer>(call.work);
  });
}

Status RunMessages(const std::vector<GroupedCall>& calls) {
  static os::PerThread<std::vector<Transfer>> kept;  // new memory costs as much as a message
  std::vector<Transfer>& transfers = kept.Get();
  transfers.clear();
  for (const GroupedCall& call : calls) transfers.push_back(std::get<Transfer>(call.work));
  return calls.front().communicator->Run(transfers);
}

}  // namespace

Status RunGroup(const std::vector<GroupedCall>& calls) {
  if (calls.empty()) return Ok();
  if (calls.size() == 1) return calls.front().communicator->Run(calls.front().work);
  if (AreMessagesOfOne(calls)) return RunMessages(calls);
  GroupOperations group_operations;
  for (const GroupedCall& call : calls) {
    RINGLET_TRY(call.communicator->Validate(call.work));
    GroupOperationOf(call.communicator, group_operations).Add(call.work);
  }
  for (const auto& group_operation : group_operations)
    RINGLET_TRY(group_operation->CheckOccupancy());
  const Status status = Run(group_operations);
  if (status.ok()) return Ok();
  Error reason = status.error();
  for (const auto& group_operation : group_operations) {
    if (!group_operation->done())
      reason = group_operation->communicator().Conclude(reason, *group_operation);
  }
  return reason;
}

}  // namespace ringlet::comm
