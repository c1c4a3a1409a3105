// Operations that end no earlier than the time model predicts. Programs then measure the bandwidth
// of the emulated machine and not that of the host.
#pragma once
#include <functional>
#include <memory>

#include "base/wire/machine.hpp"
#include "collective/call/operation.hpp"

namespace ringlet::comm {

/// The predicted end of an operation.
struct PredictedEnd {
  Instant until{0};
  std::function<Instant()> now;
  /// Called once, at the end of an operation that took longer.
  std::function<void()> on_late;
  /// Time before the end that is spent without sleeping, because a sleep may end this late.
  Instant spin{0};
};

/// Runs an operation, and then waits for the rest of its time. Waits with `links`, so that
/// Waiter::Wake ends the wait and the driver evaluates RunPolicy::check.
class PacedOperation final : public collective::Operation {
 public:
  /// \param links  of the rank; outlives this
  PacedOperation(std::unique_ptr<collective::Operation> operation, transport::Waiter& links,
                 PredictedEnd pace);

  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  std::optional<Rank> Awaits() const override {
    return operation_ ? operation_->Awaits() : std::nullopt;
  }
  void Withdraw() override {
    if (operation_) operation_->Withdraw();
  }
  const collective::WaitTarget* place() const override {
    return operation_ ? operation_->place() : &rest_;
  }

 private:
  /// Waits as the links do, but not beyond the end.
  class BoundedWaiter final : public transport::Waiter {
   public:
    BoundedWaiter(transport::Waiter& links, const PredictedEnd& pace)
        : links_(links), pace_(pace) {}
    Ticket Prepare() override { return links_.Prepare(); }
    void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override;
    void Wake() override { links_.Wake(); }
    bool in_memory() const override { return links_.in_memory(); }
    int descriptor() const override { return links_.descriptor(); }
    void PrepareDescriptor() override { links_.PrepareDescriptor(); }
    void Acknowledge() override { links_.Acknowledge(); }

   private:
    transport::Waiter& links_;
    const PredictedEnd& pace_;
  };

  std::unique_ptr<collective::Operation> operation_;  // null: done
  PredictedEnd pace_;
  BoundedWaiter waiter_;
  collective::WaitTarget rest_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
