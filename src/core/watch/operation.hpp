// One recorded operation of one rank: a value that files, status and pictures share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::watch {

enum class OperationState : std::uint8_t { kBegun, kDone, kFailed };
/// "begun", "done", "failed".
std::string_view Name(OperationState progress);

struct RecordedOperation {
  std::uint64_t number = 0;    ///< index among all calls of the rank, including messages
  std::uint64_t sequence = 0;  ///< number of collectives that the rank called before it
  std::string call = {};       ///< "all_reduce", ..., "send_receive"
  std::uint64_t count = 0;     ///< elements; for grouped messages, of the first one
  std::string type = {};       ///< "float"
  std::string reduction = {};  ///< "sum"; empty: no reduction
  std::optional<std::uint32_t> root = {};  ///< for messages: the receiver of the first one
  std::optional<std::uint32_t> peer = {};  ///< for messages: the other rank of the first one
  std::uint64_t bytes = 0;     ///< the larger one of input and output; for messages: their sum
  std::uint32_t messages = 0;  ///< number of sends and receives that run together; 0: a collective
  OperationState progress = OperationState::kBegun;
  /// When it was issued to a stream or to a queue of PyTorch, by the rank's clock. Zero: it was
  /// called without one and began at once.
  Instant enqueued{0};
  /// By the rank's clock. Zero: not measured, as for most operations of a few bytes. Such an
  /// operation ran between its neighbours.
  Instant began{0};
  Instant ended{0};
  bool operator==(const RecordedOperation&) const = default;
};

inline bool IsMessage(const RecordedOperation& operation) {
  return operation.messages > 0;
}

/// Returns "all_reduce of 8 float sum as operation 17", "2 messages, the first of 8 float to rank
/// 1, after 17 collectives".
std::string ToText(const RecordedOperation& operation);

/// Returns true if both ranks called the same collective. Ignores numbers and times.
bool AreSameCall(const RecordedOperation& a, const RecordedOperation& b);

/// "0-2, 5". \param ascending  each once
std::string RanksText(const std::vector<std::uint32_t>& ascending);
/// "rank 3", "ranks 0-2, 5".
std::string RanksNamed(const std::vector<std::uint32_t>& ascending);

/// "3.2 s", "120 ms", "45 us".
std::string DurationText(Instant duration);

}  // namespace ringlet::watch
