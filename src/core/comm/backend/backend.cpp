#include "comm/backend/backend.hpp"

namespace ringlet::comm {

Result<Started> StartedBy(Result<std::unique_ptr<collective::Operation>> made) {
  if (!made.ok()) return std::move(made).error();
  return Started(std::move(made).value());
}

Status StartBy(Result<std::unique_ptr<collective::Operation>> made, Started& started) {
  if (!made.ok()) return std::move(made).error();
  started = Started(std::move(made).value());
  return Ok();
}

}  // namespace ringlet::comm
