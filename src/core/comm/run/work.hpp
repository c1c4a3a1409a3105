// The requests of a rank to its communicator, as values. They run at once or as part of a group.
#pragma once
#include <cstddef>
#include <cstdint>
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

/// All-to-all with a different count for each pair. A rank's send must match its peer's receive.
/// Input and output do not overlap; they are as long as the portions require.
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
  std::span<std::byte> to = {};  ///< the memory for received data
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
};

/// Notifies a rank that data were put into its window. Each raising rank has its own count.
struct Signal {
  static constexpr std::uint32_t kContextsMax = 1 << 10;
  static constexpr std::uint32_t kNumbersMax = 1 << 16;  ///< of each context

  std::uint32_t context = 0;
  std::uint32_t number = 0;

  bool Exists() const { return context < kContextsMax && number < kNumbersMax; }
};

/// Writes to a peer's part of a window and then raises a signal there. The peer makes no call.
struct Put {
  Rank peer{};     ///< may be this rank
  View from = {};  ///< empty: the signal alone
  std::uint32_t window = 0;
  std::uint64_t offset = 0;  ///< in the peer's part, bytes
  Signal signal = {};
};

struct SignalCount {
  Rank peer{};
  Signal signal = {};
  std::uint32_t times = 1;
};

/// Waits until each of these signals has been raised so often, and subtracts that from its count.
struct SignalWait {
  std::vector<SignalCount> counts;
};

using Work = std::variant<Call, AllToAllVCall, Transfer, Put, SignalWait>;

}  // namespace ringlet::comm
