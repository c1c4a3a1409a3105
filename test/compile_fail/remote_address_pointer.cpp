// Uses an address of another process as a pointer of this one.
#include "base/value/remote_address.hpp"

bool Use(ringlet::RemoteAddress theirs, const std::byte* ours) {
#ifdef MUST_NOT_COMPILE
  return theirs == ours;
#else
  return theirs.told() != 0 && ours != nullptr;
#endif
}
