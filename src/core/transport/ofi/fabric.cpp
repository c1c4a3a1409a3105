#include "transport/ofi/fabric.hpp"

namespace ringlet::transport::ofi {

Instant Fabric::DrainDeadline(Instant now) {
  constexpr std::chrono::milliseconds kLinger(200);
  if (!leave_by_) leave_by_ = now + kLinger;
  return *leave_by_;
}

}  // namespace ringlet::transport::ofi
