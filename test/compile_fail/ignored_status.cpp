// Ignores a Status.
#include "ringlet/status.hpp"

ringlet::Status Close();

ringlet::Status Use() {
#ifdef MUST_NOT_COMPILE
  Close();
#else
  RINGLET_TRY(Close());
#endif
  return ringlet::Ok();
}
