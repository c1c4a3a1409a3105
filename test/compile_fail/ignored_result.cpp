// Ignores a Result.
#include "ringlet/status.hpp"

ringlet::Result<int> Count();

void Use() {
#ifdef MUST_NOT_COMPILE
  Count();
#else
  if (ringlet::Result<int> count = Count(); count.ok()) *count += 1;
#endif
}
