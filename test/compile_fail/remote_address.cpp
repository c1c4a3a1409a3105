// Compares an address of another process with one of this one: equality means nothing.
#include "base/value/remote_address.hpp"

bool Use(ringlet::RemoteAddress theirs, const std::byte* ours) {
#ifdef MUST_NOT_COMPILE
  return theirs == ringlet::RemoteAddress::Of(ours);
#else
  return theirs.told() != 0 && ours != nullptr;
#endif
}
