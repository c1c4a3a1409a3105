// The value of a Result without asking whether there is one.
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
