// Operations that are over no earlier than the model of times predicts, so that programs measure
// the bandwidth of the machine, not that of the computer that plays it.
#pragma once
#include <functional>
#include <memory>

#include "base/wire/machine.hpp"
#include "collective/call/operation.hpp"

namespace ringlet::comm {

/// The end of an operation as predicted.
struct Pace {
  Instant until{0};
  std::function<Instant()> now;
  /// The operation took longer. Called once, at its end.
  std::function<void()> on_late;
  /// So long before the end it is looked at the clock without sleeping; a sleep ends that much
  /// late.
  Instant spin{0};
};

/// An operation, and then the rest of its time. It waits with `links`, so that Waiter::Wake ends
/// the wait, and its driver looks at what RunPolicy::check says.
class PacedOperation final : public collective::Operation {
 public:
  /// \param links  of the rank; outlives this
  PacedOperation(std::unique_ptr<collective::Operation> operation, transport::Waiter& links,
                 Pace pace);

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
  class RestWaiter final : public transport::Waiter {
   public:
    RestWaiter(transport::Waiter& links, const Pace& pace) : links_(links), pace_(pace) {}
    Ticket Prepare() override { return links_.Prepare(); }
    void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override;
    void Wake() override { links_.Wake(); }
    bool in_memory() const override { return links_.in_memory(); }
    int descriptor() const override { return links_.descriptor(); }
    void PrepareDescriptor() override { links_.PrepareDescriptor(); }
    void Acknowledge() override { links_.Acknowledge(); }

   private:
    transport::Waiter& links_;
    const Pace& pace_;
  };

  std::unique_ptr<collective::Operation> operation_;  // null: done
  Pace pace_;
  RestWaiter waiter_;
  collective::WaitTarget rest_;
  bool moved_ = false;
};

}  // namespace ringlet::comm
