#include "comm/service/long_wait.hpp"

namespace ringlet::comm {

thread_local LongWait* LongWait::t_innermost = nullptr;

bool LongWait::Look() {
  LongWait* const innermost = t_innermost;
  if (innermost == nullptr || innermost->looking_) return false;
  innermost->looking_ = true;
  const bool enough = innermost->look_();
  innermost->looking_ = false;
  return enough;
}

bool LongWait::IsLooking() {
  for (const LongWait* one = t_innermost; one != nullptr; one = one->outer_)
    if (one->looking_) return true;
  return false;
}

}  // namespace ringlet::comm
