// AlgorithmChoice: the algorithms that the user allows, which is the setting HOST_ALGO as a value.
#pragma once
#include <array>
#include <string_view>

#include "collective/algorithm/algorithm.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {

/// The allowed algorithms for each kind of call.
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

/// Parses the syntax of NCCL_ALGO with Ringlet's names: `[operation:]list[;operation:list...]`. A
/// list contains names separated by commas, or ^ and the names to exclude. A list without an
/// operation applies to all operations that know any of the names. Empty: allows everything.
/// Errors  kInvalidArgument  quotes the word and states the valid ones; or nothing is left for an
///                           operation
Result<AlgorithmChoice> ParseAlgorithmChoice(std::string_view text);

}  // namespace ringlet::collective
