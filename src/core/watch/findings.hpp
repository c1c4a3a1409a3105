// Compares the ranks of one communicator and finds missing, stopped and diverging ranks. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/wire/slow_send.hpp"
#include "watch/operation.hpp"
#include "watch/rank_trace.hpp"

namespace ringlet::watch {

/// The number of operations of one kind that a rank has called.
struct CallTally {
  std::string call = {};  ///< "all_reduce"
  std::uint64_t count = 0;
  bool operator==(const CallTally&) const = default;
};

/// The times of a rank's recovery, since it noticed the failure of the communicator before.
struct RecoveryTimes {
  Instant called{0};   ///< its caller called for a new communicator
  Instant agreed{0};   ///< all ranks of the new communicator agreed on its ranks
  Instant rebuilt{0};  ///< the new communicator was formed
  std::optional<Instant> first_result =
      {};  ///< its first operation, maybe an empty one, was complete
  bool operator==(const RecoveryTimes&) const = default;
};
/// Returns "called 0.3, agreed 8.1, rebuilt 20.2, first result 20.9 ms after the failure".
std::string ToText(const RecoveryTimes& times);

struct RankState {
  enum class Reach : std::uint8_t {
    kHere,     ///< it answered
    kSilent,   ///< it does not answer: it is stopped or disconnected
    kLeft,     ///< it left the communicator in good order
    kGone,     ///< its process has ended
    kUnknown,  ///< no information
  };
  std::uint32_t rank = 0;
  std::string host = {};  ///< host name; empty: unknown
  std::uint32_t pid = 0;
  Reach reach = Reach::kHere;
  std::string process = {};                    ///< "stopped", "running", "sleeping"; empty: unknown
  bool forming = false;                        ///< its communicator is not formed yet
  std::string phase = {};                      ///< while forming; else empty
  std::string failure = {};                    ///< the communicator's failure as the rank knows it
  std::uint32_t result = 0;                    ///< as from ncclCommGetAsyncError
  std::uint64_t operations = 0;                ///< number of called collectives
  std::vector<CallTally> calls = {};           ///< the called kinds only
  std::optional<RecordedOperation> last = {};  ///< the current or latest operation
  bool inside = false;                         ///< it is inside `last`
  std::optional<std::uint32_t> waits_for = {};  ///< if inside: the awaited rank
  std::vector<SlowSend> slow_sends = {};        ///< sends with undelivered bytes
  std::optional<RecoveryTimes> recovery = {};   ///< if it continues a failed communicator
  std::optional<Instant> since = {};            ///< time inside, or outside, an operation
  /// If outside: the operation of another communicator that its process is in. Set by JobsOf.
  std::string elsewhere = {};
  bool operator==(const RankState&) const = default;
};
/// Returns "rank 3 (host node7, pid 4711)"; just "rank 3" if the host is unknown.
std::string Describe(const RankState& state);
/// "here", "silent", "left", "gone", "unknown".
std::string_view Name(RankState::Reach reach);

/// Returns a sentence for each problem, the cause first; empty if all is well. An unlisted rank is
/// missing. \param states  by rank, each once \param ranks  size of the communicator
std::vector<std::string> FindingsOf(const std::vector<RankState>& states, std::uint32_t ranks);

/// Describes a slow send as a text to append to the sender's name: " sends slowly to rank 2, ...".
std::string ToText(const SlowSend& send);

/// Returns the state of a rank when its trace was taken.
RankState StateOf(const RankTrace& trace);

}  // namespace ringlet::watch
