// A fault on demand, for those who test what their programs do when a rank dies.
#pragma once
#include <cstdint>
#include <string_view>

#include "collective/call/call.hpp"
#include "collective/call/operation.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// A rank whose process is killed when it begins an operation.
struct RankFault {
  std::uint32_t rank = 0;
  collective::CallKind kind = collective::CallKind::kAllReduce;
  std::uint64_t number = 1;  ///< of the operations of that kind on one communicator, from 1

  /// Counts an operation of a kind. True: that is the one.
  bool Strikes(collective::CallKind begun) { return begun == kind && number > 0 && --number == 0; }
};

/// Reads "3@all_reduce:10", the tenth all-reduce of rank 3; without a number it is the first.
/// Errors  kInvalidArgument  quotes the text and says what it may be
Result<RankFault> ParseFault(std::string_view text);

}  // namespace ringlet::comm
