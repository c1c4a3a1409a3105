// The ranks of one communicator side by side: which of them is missing, stopped or does something
// else. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/wire/slow_send.hpp"
#include "watch/operation.hpp"
#include "watch/rank_trace.hpp"

namespace ringlet::watch {

/// How often a rank has called operations of one kind.
struct CallTally {
  std::string call = {};  ///< "all_reduce"
  std::uint64_t count = 0;
  bool operator==(const CallTally&) const = default;
};

struct RankState {
  enum class Reach : std::uint8_t {
    kHere,     ///< it has answered
    kSilent,   ///< it does not answer: it is stopped, or cut off
    kLeft,     ///< it has left the communicator in good order
    kGone,     ///< its process has ended
    kUnknown,  ///< nothing is known of it
  };
  std::uint32_t rank = 0;
  std::string host = {};  ///< host name; empty: unknown
  std::uint32_t pid = 0;
  Reach reach = Reach::kHere;
  std::string process = {};                    ///< "stopped", "running", "sleeping"; empty: unknown
  bool forming = false;                        ///< the communicator is not formed yet
  std::string phase = {};                      ///< of forming; else empty
  std::string failure = {};                    ///< of the communicator, as it knows it
  std::uint32_t result = 0;                    ///< as of ncclCommGetAsyncError
  std::uint64_t operations = 0;                ///< collectives that it has called
  std::vector<CallTally> calls = {};           ///< by kind, those that it has called
  std::optional<RecordedOperation> last = {};  ///< that it is in or was in last
  bool inside = false;                         ///< of `last`
  std::optional<std::uint32_t> waits_for = {};  ///< inside: a rank
  std::vector<SlowSend> slow_sends = {};        ///< bytes that do not arrive
  std::optional<Instant> since = {};            ///< how long it has been inside, or outside
  /// Outside: the operation of another communicator that its process is in; of JobsOf.
  std::string elsewhere = {};
  bool operator==(const RankState&) const = default;
};
/// "rank 3 (host node7, pid 4711)"; just "rank 3" where the host is unknown.
std::string Describe(const RankState& state);
/// "here", "silent", "left", "gone", "unknown".
std::string_view Name(RankState::Reach reach);

/// A sentence for each thing that is wrong, the cause first; none: nothing was found. A rank that
/// is not in the list is named as missing. \param states  by rank, each once \param ranks   of the
/// communicator
std::vector<std::string> FindingsOf(const std::vector<RankState>& states, std::uint32_t ranks);

/// What is wrong between a rank that sends slowly and one that waits for it: " sends slowly to rank
/// 2, ...", to be put behind the sender's name.
std::string ToText(const SlowSend& send);

/// The state of a rank when its trace was taken.
RankState StateOf(const RankTrace& trace);

}  // namespace ringlet::watch
