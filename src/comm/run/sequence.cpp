#include "comm/run/sequence.hpp"

#include <utility>

namespace ringlet::comm {

Result<bool> Sequence::Advance() {
  moved_ = false;
  if (error_) return *error_;
  for (;;) {
    RINGLET_TRY_ASSIGN(const bool done, current_->Advance());
    moved_ = moved_ || current_->moved() || done;
    if (!done || made_ == makers_.size()) return done;
    current_.reset();
    auto next = makers_[made_++]();
    if (!next.ok()) {
      error_ = next.error();
      return *error_;
    }
    current_ = std::move(next).value();
  }
}

}  // namespace ringlet::comm
