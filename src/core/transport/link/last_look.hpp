// RaisedBefore: a reader of another rank's memory checks whether the owner reclaimed it before the
// read.
#pragma once
#include <atomic>
#include <cstdint>

namespace ringlet::transport {

/// Returns true if the owner had raised `flag`. The owner raises it by a read-modify-write
/// operation (exchange, compare and exchange) before it writes to the memory. Follows all earlier
/// reads.
///
/// A load does not suffice: earlier reads may pass it, and the owner's writes may pass a plain
/// store. A read-modify-write operation has a position among those of the owner. Either it sees the
/// flag, or the owner's operation follows and sees this one. On x86 reads do not pass loads and
/// writes do not pass stores, so a load suffices there and leaves the cache line in place.
inline bool RaisedBefore(std::atomic<std::uint32_t>& flag) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  std::atomic_signal_fence(std::memory_order_acq_rel);
  return flag.load(std::memory_order_seq_cst) != 0;
#else
  return flag.fetch_or(0, std::memory_order_acq_rel) != 0;
#endif
}

}  // namespace ringlet::transport
