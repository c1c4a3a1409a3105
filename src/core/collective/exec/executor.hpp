// Carries out one rank's part of a collective, over links, without ever blocking.
//
// The loop knows nothing of rings: it moves bytes along the lanes of a Flow as far as links and
// data flow allow, a slice at a time, so that sending, receiving and reducing overlap. Another
// algorithm is another Schedule. One function knows the addresses of operands, Execution::Memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "collective/exec/dataflow.hpp"
#include "collective/exec/sent_bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "transport/link/link.hpp"

namespace ringlet::collective {

/// Bytes that a lane moves before the others have their turn. A slice that was just received is
/// still in the second-level cache when it is sent on. Not yet tuned on more than one machine.
inline constexpr std::size_t kSliceBytes = 64 << 10;

/// The link to a peer, or null where there is none. Links must outlive executions.
using LinkTo = std::function<transport::Link*(Rank peer)>;

/// One rank's part of one call.
struct Task {
  /// Shared with every other execution of the same schedule.
  std::shared_ptr<const Flow> flow;
  /// `flow->input_count` and `flow->output_count` elements of `fingerprint.type`; they overlap as
  /// the flow was told.
  View input;
  std::span<std::byte> output;
  /// At least `flow->scratch_count` elements, of any content; untouched between executions.
  std::span<std::byte> scratch = {};
  /// Type and reduction are taken from here. Of all calls so far on these links the sequence number
  /// must be new, or the next call on them is not told from a late part of this one.
  Fingerprint fingerprint;
  Rank self{};
  std::uint32_t ranks = 1;                ///< in the communicator: what averages divide by
  std::size_t slice_bytes = kSliceBytes;  ///< a multiple of 8, above 0
  SentBytes* sent = nullptr;              ///< counts; outlives the execution. Null: not counted
};

class Execution final : public Operation {
 public:
  /// \param links  asked once for each link of the flow, now
  Execution(Task task, const LinkTo& links);

  /// Done means that everything is handed to the links and travels by itself. Leaves alone what
  /// belongs to the next operation on the same links. After an error the links are of no further
  /// use.
  ///
  /// Errors  kProtocol         a peer called something else; the sentence says what both called
  ///         kPeerLost, ...    as the link says
  ///         kInvalidArgument  no link to a peer of the schedule
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// After a failure of a link: whose it was.
  std::optional<Rank> Awaits() const override;

 private:
  /// How far one direction of one link is.
  struct LaneState {
    transport::Link* link = nullptr;
    std::size_t step = 0;              // index in Lane::steps
    std::size_t bytes = 0;             // of that step, moved whole
    std::size_t header_bytes = 0;      // sent or received
    Header header{};                   // received
    std::array<std::byte, 8> carry{};  // the beginning of an element whose rest has not come yet
    std::size_t carry_bytes = 0;
  };

  Result<bool> Pass();
  Status CheckUnread();
  bool Reads(const transport::Link* link) const;
  Status PumpSend(std::uint32_t lane);
  Status PumpReceive(std::uint32_t lane);
  void PumpLocal(std::uint32_t lane);
  Status SendHeader(LaneState& state, std::uint32_t lane);
  Status ReceiveHeader(LaneState& state);
  Result<std::size_t> Receive(LaneState& state, const FlowStep& step, std::size_t bytes_max);
  Result<std::size_t> ReceiveSum(LaneState& state, const FlowStep& step, std::size_t bytes_max);
  Result<std::size_t> ReceiveCarry(LaneState& state, const FlowStep& step, View arrived);

  const FlowStep* Current(std::uint32_t lane) const;
  std::size_t AllowedBytes(std::uint32_t lane, const FlowStep& step) const;
  void Account(std::uint32_t lane, const FlowStep& step, std::size_t bytes);
  const std::byte* Memory(const Place& place) const;
  View Operand(const FlowStep& step, std::size_t offset_bytes, std::size_t bytes) const;
  std::span<std::byte> Target(const FlowStep& step, std::size_t offset_bytes, std::size_t bytes);
  void Combine(const FlowStep& step, View local, View other, std::span<std::byte> out) const;
  bool LaneDone(std::uint32_t lane) const;
  bool AllDone() const;
  bool Settled() const;
  bool Waits(std::uint32_t lane) const;
  std::string DescribeLane(std::uint32_t lane) const;

  Task task_;
  std::size_t element_bytes_;
  Header header_;                      // to be sent
  std::vector<LaneState> lanes_;       // by Flow::lanes
  std::vector<std::size_t> done_;      // elements, by Flow::steps
  std::optional<Error> send_failure_;  // held back while something still arrives
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // the peer of the failed link
  bool begun_ = false;
  std::uint32_t in_vain_ = 0;  // calls of Advance since something moved
  bool moved_ = false;
};

}  // namespace ringlet::collective
