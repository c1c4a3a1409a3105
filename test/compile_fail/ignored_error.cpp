// An Error that is made and dropped.
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
