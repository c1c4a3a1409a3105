// Which algorithms the user allows: the setting HOST_ALGO as a value.
#pragma once
#include <array>
#include <string_view>

#include "collective/algorithm/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// For each kind of call those that may be used.
struct AlgorithmChoice {
  std::array<AlgorithmSet, kCallKinds> allowed;

  AlgorithmChoice() {
    for (auto& set : allowed) set.set();
  }
  bool Allows(CallKind kind, Algorithm algorithm) const {
    return allowed[static_cast<std::size_t>(kind)][static_cast<std::size_t>(algorithm)];
  }
  bool operator==(const AlgorithmChoice&) const = default;
};

/// Reads what NCCL_ALGO looks like, with our names: `[operation:]list[;operation:list...]`, where a
/// list is names with commas between, or ^ and those that are not to be used. Without an operation:
/// for all that know any of the names. Empty: everything.
/// Errors  kInvalidArgument  quotes the word and says what it may be; or an operation that nothing
///                           is left for
Result<AlgorithmChoice> ParseAlgorithmChoice(std::string_view text);

}  // namespace ringlet::collective
