// Creates an Error and drops it.
#include "ringlet/status.hpp"

ringlet::Error Late() {
  return ringlet::Error{.code = ringlet::Code::kTimeout, .message = "late"};
}

ringlet::Status Use() {
#ifdef MUST_NOT_COMPILE
  Late();
  return ringlet::Ok();
#else
  return Late();
#endif
}
