// Passes a count, an index or -1 as a rank.
#include "ringlet/types.hpp"

std::uint32_t Use(int number) {
#ifdef MUST_NOT_COMPILE
  ringlet::Rank rank = number;
#else
  ringlet::Rank rank = static_cast<ringlet::Rank>(number);
#endif
  return ringlet::Index(rank);
}
