// Reads the value of a Result without a check for an error.
#include "ringlet/status.hpp"

ringlet::Result<int> Count();

ringlet::Result<int> Use() {
#ifdef MUST_NOT_COMPILE
  int count = Count();
#else
  RINGLET_TRY_ASSIGN(int count, Count());
#endif
  return count;
}
