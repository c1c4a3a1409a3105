#include "comm/backend/backend.hpp"

namespace ringlet::comm {

Result<Started> StartedBy(Result<std::unique_ptr<collective::Operation>> made) {
  if (!made.ok()) return std::move(made).error();
  return Started(std::move(made).value());
}

}  // namespace ringlet::comm
