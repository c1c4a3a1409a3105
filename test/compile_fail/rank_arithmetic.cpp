// Computes with ranks without a conversion to numbers.
#include "ringlet/types.hpp"

ringlet::Rank Next(ringlet::Rank rank, std::uint32_t ranks) {
#ifdef MUST_NOT_COMPILE
  return ringlet::Rank{(rank + 1) % ranks};
#else
  return ringlet::Rank{(ringlet::Index(rank) + 1) % ranks};
#endif
}
