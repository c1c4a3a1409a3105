// One operation of one rank, as it is remembered: a value that files, status and pictures share.
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
  std::uint64_t number = 0;    ///< its place among all calls of the rank, messages included
  std::uint64_t sequence = 0;  ///< collectives that the rank called before it
  std::string call = {};       ///< "all_reduce", ..., "send_receive"
  std::uint64_t count = 0;     ///< elements; of messages that run together, those of the first
  std::string type = {};       ///< "float"
  std::string reduction = {};  ///< "sum"; empty: it reduces nothing
  std::optional<std::uint32_t> root = {};  ///< of messages the receiver of the first
  std::optional<std::uint32_t> peer = {};  ///< of messages the other rank of the first
  std::uint64_t bytes = 0;     ///< the larger one of input and output; of messages all together
  std::uint32_t messages = 0;  ///< sends and receives that run together; 0: a collective
  OperationState progress = OperationState::kBegun;
  /// When it was given to a stream or to a queue of PyTorch, by the rank's clock; zero: it was
  /// called without one, and began at once.
  Instant enqueued{0};
  /// By the rank's clock; zero: not measured, which is so of most operations of a few bytes. It
  /// lies between its neighbours.
  Instant began{0};
  Instant ended{0};
  bool operator==(const RecordedOperation&) const = default;
};

inline bool IsMessage(const RecordedOperation& operation) {
  return operation.messages > 0;
}

/// "all_reduce of 8 float sum as operation 17", "2 messages, the first of 8 float to rank 1, after
/// 17 collectives".
std::string ToText(const RecordedOperation& operation);

/// Whether two ranks mean the same collective: all but its place and its times.
bool AreSameCall(const RecordedOperation& a, const RecordedOperation& b);

/// "0-2, 5". \param ascending  each once
std::string RanksText(const std::vector<std::uint32_t>& ascending);
/// "rank 3", "ranks 0-2, 5".
std::string RanksNamed(const std::vector<std::uint32_t>& ascending);

/// "3.2 s", "120 ms", "45 us".
std::string DurationText(Instant duration);

}  // namespace ringlet::watch
