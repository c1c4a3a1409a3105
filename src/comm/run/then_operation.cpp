#include "comm/run/then_operation.hpp"

#include <utility>

namespace ringlet::comm {

Result<bool> ThenOperation::Advance() {
  moved_ = false;
  if (error_) return *error_;
  RINGLET_TRY_ASSIGN(const bool done, current_->Advance());
  moved_ = current_->moved();
  if (!done || !then_) return done;
  auto next = std::exchange(then_, nullptr)();
  if (!next.ok()) {
    error_ = next.error();
    return *error_;
  }
  current_ = std::move(next).value();
  moved_ = true;
  return false;
}

}  // namespace ringlet::comm
