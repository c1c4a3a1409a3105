// Copies of large data between ranks.
#pragma once
#include <cstddef>
#include <cstring>

#include "base/value/bytes.hpp"

namespace ringlet::transport {

/// Copies `from` to `to`. The ranges must not overlap.
using CopyFunction = void (*)(View from, std::byte* to);

/// Sizes of copies that glibc may do with the instruction `rep movsb`: see Copy.
inline constexpr std::size_t kVectorsMin = (2 << 10) + 1, kVectorsMax = 1 << 20;

/// Does the same for sizes from kVectorsMin to kVectorsMax, by vectors.
void CopyByVectors(View from, std::byte* to);

/// Does the same as std::memcpy(to, from.data(), from.size()), at a speed that does not depend on
/// the addresses.
///
/// From 2 to 4 KiB on and up to the size of a core's second-level cache, the memcpy of glibc uses
/// `rep movsb`. On Zen 3 this instruction copies 2 to 3 GB/s instead of 38 GB/s if the target is 1
/// to 31 bytes behind the source, modulo 4096 (glibc's bug 30994). Copies from shared memory to an
/// array of malloc often have such addresses: shared memory begins at a page, and malloc returns
/// large arrays 16 bytes behind the begin of a page.
inline void Copy(View from, std::byte* to) {
  if (from.size() >= kVectorsMin && from.size() < kVectorsMax) return CopyByVectors(from, to);
  std::memcpy(to, from.data(), from.size());
}

/// Does the same, but bypasses the caches, for data that exceeds the caches and is not read soon.
/// This avoids the read that a store to an uncached line costs.
void StreamCopy(View from, std::byte* to);

}  // namespace ringlet::transport
