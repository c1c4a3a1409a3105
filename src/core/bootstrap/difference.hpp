// One host's ranks have similar records: equal names, settings and addresses except for ports. So
// each record is stored as a difference from another: about 30 bytes instead of 200.
#pragma once
#include <cstddef>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::bootstrap {

/// The difference that turns `base` into `bytes`, position by position: the length, then runs of
/// (number of equal bytes, number of new bytes, the new bytes). At most bytes.size() * 5 / 4 + 8
/// bytes; often a tenth.
/// \param bytes  at most 65535.
/// Cost  O(bytes)
Bytes DifferenceOf(View base, View bytes);

/// Errors  kProtocol  not a difference, or its result is longer than `bytes_max`.
/// Cost    O(result); memory is at most 65535 bytes, regardless of the length in `difference`.
Result<Bytes> ApplyDifference(View base, View difference, std::size_t bytes_max);

}  // namespace ringlet::bootstrap
