#include "base/wire.hpp"

namespace ringlet {

Status Wire::Push(const Slice& data) {
  View rest = data.bytes;
  if (!handshake_.done()) RINGLET_TRY(handshake_.Push(rest));
  if (!rest.empty()) frames_.Push(Slice(rest, data.owner));
  return Ok();
}

bool Wire::JustOpened() {
  if (announced_ || !open()) return false;
  announced_ = true;
  return true;
}

}  // namespace ringlet
