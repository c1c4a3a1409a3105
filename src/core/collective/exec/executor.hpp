// Execution: runs one rank's part of a collective over links, without blocking.
//
// Its loop is independent of the algorithm. It moves bytes along the lanes of a Flow as far as
// links and data flow permit, one slice at a time, so that sending, receiving and reducing overlap.
// Another algorithm is another Schedule. Only Execution::Memory knows the addresses of operands.
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

/// Bytes that a lane moves per turn. A received slice is still in the second-level cache when it is
/// sent. Tuned on only one machine so far.
inline constexpr std::size_t kSliceBytes = 64 << 10;

/// Returns the link to a peer, or null if none exists. Links must outlive executions.
using LinkTo = std::function<transport::Link*(Rank peer)>;

/// A rank's part of a call.
struct Task {
  /// Shared with all other executions of the same schedule.
  std::shared_ptr<const Flow> flow;
  /// `flow->input_count` and `flow->output_count` elements of `fingerprint.type`. They overlap as
  /// the flow assumes.
  View input;
  std::span<std::byte> output;
  /// Holds at least `flow->scratch_count` elements with any content. Unused between executions.
  std::span<std::byte> scratch = {};
  /// Supplies type and reduction. Its sequence number must be new on these links; otherwise the
  /// next call there cannot be distinguished from a late part of this one.
  Fingerprint fingerprint;
  Rank self{};
  std::uint32_t ranks = 1;                ///< in the communicator; the divisor of averages
  std::size_t slice_bytes = kSliceBytes;  ///< a positive multiple of 8
  SentBytes* sent = nullptr;  ///< counts sent bytes, outlives the execution; null to skip
};

class Execution final : public Operation {
 public:
  /// \param links  called once for each link of the flow, by the constructor
  Execution(Task task, const LinkTo& links);

  /// Returns true when the links have all data and deliver it without further calls. Does not touch
  /// data of the next operation on the same links. After an error the links are unusable.
  ///
  /// Errors  kProtocol         a peer made a different call; the message states both
  ///         kPeerLost, ...    as the link reports
  ///         kInvalidArgument  a link to a peer of the schedule is missing
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::string WaitingFor() const override;
  /// After a failure of a link, returns its peer.
  std::optional<Rank> Awaits() const override;

 private:
  /// Progress of one direction of one link.
  struct LaneState {
    transport::Link* link = nullptr;
    std::size_t step = 0;              // index in Lane::steps
    std::size_t bytes = 0;             // of that step, moved in whole
    std::size_t header_bytes = 0;      // sent or received so far
    Header header{};                   // as received
    std::array<std::byte, 8> carry{};  // first part of an element that has not fully arrived
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
  Header header_;                      // to send
  std::vector<LaneState> lanes_;       // by index in Flow::lanes
  std::vector<std::size_t> done_;      // done elements, by index in Flow::steps
  std::optional<Error> send_failure_;  // deferred while data still arrives
  std::optional<Error> error_;
  std::optional<Rank> lost_;  // peer of the failed link
  bool begun_ = false;
  std::uint32_t in_vain_ = 0;  // calls of Advance since the last progress
  bool moved_ = false;
};

}  // namespace ringlet::collective
