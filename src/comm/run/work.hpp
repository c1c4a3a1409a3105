// The requests of a rank to its communicator, as values: run at once, or collected into a group.
#pragma once
#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "base/value/bytes.hpp"
#include "collective/call/call.hpp"
#include "ringlet/types.hpp"

namespace ringlet::comm {

using collective::Call;
using collective::CallKind;

/// Elements for, or from, each rank: `counts[r]` of them from `displacements[r]` on.
struct Portions {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;
};

/// All-to-all with other counts for each pair. A send of one rank must be what the other one
/// expects. Input and output do not overlap; they are as long as the portions reach.
struct AllToAllVCall {
  View input = {};
  std::span<std::byte> output = {};
  Portions sent = {};
  Portions received = {};
  DataType type = DataType::kFloat32;
};

/// A message to or from one rank, which may be this one. Both sides name the same count and type.
/// Between two ranks, messages and the collectives of both are called in the same order.
struct Transfer {
  Rank peer{};
  bool sends = false;
  View from = {};                ///< the data to send
  std::span<std::byte> to = {};  ///< where what is received goes
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
};

using Work = std::variant<Call, AllToAllVCall, Transfer>;

}  // namespace ringlet::comm
