// The records of one host's ranks are alike: the same addresses but for ports, the same name, the
// same settings. So each is kept as what differs from another, about 30 bytes in place of 200.
#pragma once
#include <cstddef>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"

namespace ringlet::bootstrap {

/// The difference that turns `base` into `bytes`, compared place by place: the length, then runs of
/// (bytes that stay, bytes that follow, those bytes). At most bytes.size() * 5 / 4 + 8 bytes; often
/// a tenth.
/// \param bytes  at most 65535.
/// Cost  O(bytes)
Bytes DifferenceOf(View base, View bytes);

/// Errors  kProtocol  not a difference, or its result is longer than `bytes_max`.
/// Cost    O(result); memory is bounded by 65535 bytes whatever `difference` claims.
Result<Bytes> ApplyDifference(View base, View difference, std::size_t bytes_max);

}  // namespace ringlet::bootstrap
