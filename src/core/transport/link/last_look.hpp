// The check of a reader that has read memory of a rank that may have taken it back, whether that
// was so before: memory that its owner writes again is not read by mistake.
#pragma once
#include <atomic>
#include <cstdint>

namespace ringlet::transport {

/// Whether `flag`, which the owner raises by an operation that reads it as well (exchange, compare
/// and exchange) before it writes the memory, was up. Comes after all reads before it.
///
/// A load would not do: those reads may pass it, and the owner's writes may pass a mere store. An
/// operation that reads and writes has a place among those of the owner: either it sees the flag,
/// or the owner, who sees it, comes later. On x86 neither reads pass loads nor writes stores, so
/// that a load is enough, and the line stays where it is.
inline bool RaisedBefore(std::atomic<std::uint32_t>& flag) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  std::atomic_signal_fence(std::memory_order_acq_rel);
  return flag.load(std::memory_order_seq_cst) != 0;
#else
  return flag.fetch_or(0, std::memory_order_acq_rel) != 0;
#endif
}

}  // namespace ringlet::transport
