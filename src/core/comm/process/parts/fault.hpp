// A fault on demand. Users test with it how their programs handle the death of a rank.
#pragma once
#include <cstdint>
#include <string_view>

#include "collective/call/call.hpp"
#include "collective/call/operation.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// A rank that is killed, with its process, when it begins an operation.
struct RankFault {
  std::uint32_t rank = 0;
  collective::CallKind kind = collective::CallKind::kAllReduce;
  std::uint64_t number = 1;  ///< of the operations of that kind on one communicator, from 1

  /// Counts an operation of a kind. Returns true if the fault occurs now.
  bool CountOperation(collective::CallKind begun) {
    return begun == kind && number > 0 && --number == 0;
  }
};

/// Reads "3@all_reduce:10", the tenth all-reduce of rank 3. The default number is 1.
/// Errors  kInvalidArgument  quotes the text and states the valid form
Result<RankFault> ParseFault(std::string_view text);

}  // namespace ringlet::comm
