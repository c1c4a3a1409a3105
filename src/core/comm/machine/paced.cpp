#include "comm/machine/paced.hpp"

#include <algorithm>
#include <utility>

namespace ringlet::comm {

PacedOperation::PacedOperation(std::unique_ptr<collective::Operation> operation,
                               transport::Waiter& links, PredictedEnd pace)
    : operation_(std::move(operation)),
      pace_(std::move(pace)),
      waiter_(links, pace_),
      rest_{.waiter = &waiter_} {}

Result<bool> PacedOperation::Advance() {
  moved_ = false;
  const bool works = operation_ != nullptr;
  if (works) {
    RINGLET_TRY_ASSIGN(const bool done, operation_->Advance());
    moved_ = operation_->moved();
    if (!done) return false;
    operation_.reset();
  }
  const Instant rest = pace_.until - pace_.now();
  if (works && rest < Instant(0)) pace_.on_late();
  moved_ = rest <= pace_.spin;
  return rest <= Instant(0);
}

std::string PacedOperation::WaitingFor() const {
  return operation_ ? operation_->WaitingFor() : "the operation is done before its predicted time";
}

void PacedOperation::BoundedWaiter::Wait(Ticket ticket, std::chrono::nanoseconds timeout) {
  const Instant rest = pace_.until - pace_.spin - pace_.now();
  links_.Wait(ticket, std::clamp(rest, Instant(0), Instant(timeout)));
}

}  // namespace ringlet::comm
