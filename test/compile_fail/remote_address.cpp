// An address of another process compared with one of this one: they may be equal and mean nothing.
#include "base/value/remote_address.hpp"

bool Use(ringlet::RemoteAddress theirs, const std::byte* ours) {
#ifdef MUST_NOT_COMPILE
  return theirs == ringlet::RemoteAddress::Of(ours);
#else
  return theirs.told() != 0 && ours != nullptr;
#endif
}
