// The latest operations of a rank on a communicator: the content of a flight recorder dump.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/value/json_object.hpp"
#include "base/wire/slow_send.hpp"
#include "ringlet/status.hpp"
#include "watch/operation.hpp"

namespace ringlet::watch {

struct RankTrace {
  std::string communicator = {};  ///< 16 hexadecimal digits, the same on all ranks
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::string host = {};       ///< host name
  std::string host_hash = {};  ///< equal for ranks with a common clock
  std::uint32_t pid = 0;
  std::string reason = {};   ///< why it was dumped: "error", "request", "signal"
  std::string failure = {};  ///< of the communicator; empty: it works
  Instant taken{0};          ///< by the clock of the operations
  Instant taken_unix{0};     ///< the same time since 1970
  std::uint64_t begun = 0;   ///< operations so far, including dropped ones
  std::uint64_t done = 0;
  std::optional<std::uint32_t> waits_for = {};
  std::vector<SlowSend> slow_sends = {};           ///< sends with undelivered bytes
  std::vector<RecordedOperation> operations = {};  ///< by number, without gaps
  bool operator==(const RankTrace&) const = default;
};

inline constexpr std::size_t kTraceBytesMax = std::size_t{32} << 20;

/// Ends with a newline.
std::string ToJson(const RankTrace& trace);
/// The inverse of ToJson. Errors  kInvalidArgument  names the defect
Result<RankTrace> ParseRankTrace(std::string_view text);

/// The key "slow_sends" of dumps and status, present only if the list is not empty.
void AddSlowSends(const std::vector<SlowSend>& sends, Json& json);
std::vector<SlowSend> ReadSlowSends(JsonObject& object);

/// An operation in the common form of dumps and status.
Json OperationJson(const RecordedOperation& operation);
RecordedOperation ReadOperation(JsonObject& object);

/// "rank 3 (host node7, pid 4711)".
std::string Describe(const RankTrace& trace);

/// The file name of a dump in its folder: "0123456789abcdef-3.json".
std::string FileNameOf(const RankTrace& trace);

}  // namespace ringlet::watch
