#include "collective/exec/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "collective/reduce/reduce.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::collective {
namespace {

/// Maximum number of passes over all lanes in one Advance. Then the caller can check deadlines and
/// serve its other ranks.
constexpr int kPassesMax = 32;

/// Data up to this size is written together with the header, so that a small message is one packet.
constexpr std::size_t kFirstWriteBytes = 1024;

/// A header waits for the data that follows it, because a packet costs as much as the data of a
/// small operation. After this many turns without progress, the header is sent alone, because peers
/// with another call may wait for it. A sleeping rank takes two turns per RunPolicy::sleep_max.
constexpr std::uint32_t kTurnsInVain = 8;

/// Returns true if the step adds, and can therefore divide the sum before rounding it.
bool Combines(StepKind kind) {
  return kind == StepKind::kReceiveReduce || kind == StepKind::kReduce;
}

}  // namespace

Execution::Execution(Task task, const LinkTo& links)
    : task_(std::move(task)),
      element_bytes_(SizeOf(task_.fingerprint.type)),
      header_(EncodeHeader(task_.fingerprint, task_.self)),
      lanes_(task_.flow->lanes.size()),
      done_(task_.flow->steps.size()) {
  RINGLET_ASSERT(task_.input.size() == task_.flow->input_count * element_bytes_);
  RINGLET_ASSERT(task_.output.size() == task_.flow->output_count * element_bytes_);
  RINGLET_ASSERT(task_.scratch.size() >= task_.flow->scratch_count * element_bytes_);
  RINGLET_ASSERT(task_.slice_bytes > 0 && task_.slice_bytes % 8 == 0);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = task_.flow->lanes[i];
    if (lane.direction == Lane::Direction::kLocal) continue;
    lanes_[i].link = links(lane.peer);
    if (lanes_[i].link == nullptr && !error_) {
      error_ = Error{.code = Code::kInvalidArgument,
                     .message = fmt::format("rank {} does not have a link to rank {}",
                                            Index(task_.self), Index(lane.peer))};
    }
  }
}

Result<bool> Execution::Advance() {
  moved_ = false;
  if (error_) return *error_;
  if (!std::exchange(begun_, true)) {
    if (Status unread = CheckUnread(); !unread.ok()) {
      error_ = std::move(unread).error();
      return *error_;
    }
  }
  bool passed = true;
  for (int i = 0; i < kPassesMax && passed && !AllDone(); ++i) {
    Result<bool> moved = Pass();
    if (!moved.ok()) {
      error_ = moved.error();
      return std::move(moved).error();
    }
    passed = *moved;
    moved_ = moved_ || passed;
  }
  in_vain_ = moved_ ? 0 : in_vain_ + 1;
  if (send_failure_ && !passed) {
    error_ = send_failure_;
    return *error_;
  }
  return AllDone() && Settled();
}

/// Checks unread headers on links that this rank only sends on. Such data stays unread, so a rank
/// that only sends would not detect that peers named another root. The next use of the link detects
/// it. If a ring buffer wraps within those bytes, a later use does.
Status Execution::CheckUnread() {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = task_.flow->lanes[i];
    transport::Link* const link = lanes_[i].link;
    if (lane.direction != Lane::Direction::kSend || Reads(link)) continue;
    const Result<View> unread = link->Peek();
    // Writing to the link reports its loss.
    if (!unread.ok()) continue;
    const auto sequence = SequenceIn(*unread);
    if (!sequence || *sequence > task_.fingerprint.sequence) continue;
    Header header{};
    std::size_t bytes = 0;
    do {
      RINGLET_TRY_ASSIGN(const std::size_t more, link->Read(std::span(header).subspan(bytes)));
      if (more == 0) break;
      bytes += more;
    } while (bytes < header.size());
    RINGLET_TRY(CheckHeader(header, lane.peer, task_.fingerprint, task_.self));
  }
  return Ok();
}

bool Execution::Reads(const transport::Link* link) const {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i)
    if (task_.flow->lanes[i].direction == Lane::Direction::kReceive && lanes_[i].link == link)
      return true;
  return false;
}

bool Execution::Settled() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const LaneState& lane) {
    return lane.link == nullptr || lane.link->Settled();
  });
}

/// Gives each lane one turn. Returns true if any made progress. Sends are first, so that peers with
/// data to receive learn this rank's call even if it is about to fail. After a failed send, the
/// rank still reads what has arrived, because a peer's different call explains more than its broken
/// link.
Result<bool> Execution::Pass() {
  const bool moved_before = std::exchange(moved_, false);
  for (std::uint32_t i = 0; i < lanes_.size() && !send_failure_; ++i) {
    if (task_.flow->lanes[i].direction != Lane::Direction::kSend) continue;
    Status status = PumpSend(i);
    if (status.ok()) continue;
    send_failure_ = std::move(status).error();
    lost_ = task_.flow->lanes[i].peer;
  }
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    const Lane::Direction direction = task_.flow->lanes[i].direction;
    if (direction == Lane::Direction::kReceive) {
      Status status = PumpReceive(i);
      if (!status.ok()) lost_ = task_.flow->lanes[i].peer;
      RINGLET_TRY(std::move(status));
    }
    if (direction == Lane::Direction::kLocal) PumpLocal(i);
  }
  return std::exchange(moved_, moved_before);
}

bool Execution::LaneDone(std::uint32_t lane) const {
  const Lane& its = task_.flow->lanes[lane];
  const bool greeted =
      its.direction == Lane::Direction::kLocal || lanes_[lane].header_bytes == kHeaderBytes;
  return greeted && lanes_[lane].step == its.steps.size();
}

bool Execution::AllDone() const {
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (!LaneDone(i)) return false;
  }
  return true;
}

const FlowStep* Execution::Current(std::uint32_t lane) const {
  const std::vector<std::uint32_t>& steps = task_.flow->lanes[lane].steps;
  return lanes_[lane].step == steps.size() ? nullptr : &task_.flow->steps[steps[lanes_[lane].step]];
}

/// Returns the size of the next elements that the data flow permits, limited to a slice.
std::size_t Execution::AllowedBytes(std::uint32_t lane, const FlowStep& step) const {
  const std::size_t frontier_bytes = Frontier(*task_.flow, step, done_) * element_bytes_;
  return std::min(frontier_bytes - lanes_[lane].bytes, task_.slice_bytes);
}

void Execution::Account(std::uint32_t lane, const FlowStep& step, std::size_t bytes) {
  LaneState& state = lanes_[lane];
  const std::vector<std::uint32_t>& steps = task_.flow->lanes[lane].steps;
  if (task_.sent != nullptr && step.step.kind == StepKind::kSend)
    task_.sent->Add(step.step.peer, step.step.channel, bytes);
  const std::size_t done_before = state.bytes / element_bytes_;
  state.bytes += bytes;
  const std::size_t done = state.bytes / element_bytes_;
  const bool divides = step.step.finishes && task_.fingerprint.op == ReduceOp::kAvg;
  if (divides && !Combines(step.step.kind) && done > done_before) {
    const std::size_t new_bytes = (done - done_before) * element_bytes_;
    Divide(task_.fingerprint.type, Target(step, done_before * element_bytes_, new_bytes),
           task_.ranks);
  }
  done_[steps[state.step]] = done;
  moved_ = moved_ || bytes > 0;
  if (done < step.step.count) return;
  state.bytes = 0;
  ++state.step;
}

const std::byte* Execution::Memory(const Place& place) const {
  const std::byte* const buffers[] = {task_.input.data(), task_.output.data(),
                                      task_.scratch.data()};
  return buffers[static_cast<std::size_t>(place.buffer)] + place.begin * element_bytes_;
}

View Execution::Operand(const FlowStep& step, std::size_t offset_bytes, std::size_t bytes) const {
  return View(Memory(step.step.from) + offset_bytes, bytes);
}

std::span<std::byte> Execution::Target(const FlowStep& step, std::size_t offset_bytes,
                                       std::size_t bytes) {
  RINGLET_ASSERT(step.step.to.buffer != Buffer::kInput);
  // Output and scratch belong to the task, so casting const away is valid.
  return {const_cast<std::byte*>(Memory(step.step.to)) + offset_bytes, bytes};
}

/// Computes out = local op other, or the reverse.
void Execution::Combine(const FlowStep& step, View local, View other,
                        std::span<std::byte> out) const {
  const Reduction what{.type = task_.fingerprint.type,
                       .op = task_.fingerprint.op,
                       .divisor = step.step.finishes ? task_.ranks : 1};
  if (step.step.swapped) return Reduce(what, other, local, out);
  Reduce(what, local, other, out);
}

// ---- Sending ------------------------------------------------------------------------------------

Status Execution::PumpSend(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  if (state.header_bytes < kHeaderBytes) RINGLET_TRY(SendHeader(state, lane));
  std::size_t turn_bytes = 0;
  while (state.header_bytes == kHeaderBytes && turn_bytes < task_.slice_bytes) {
    const FlowStep* step = Current(lane);
    if (step == nullptr) break;
    const std::size_t bytes = AllowedBytes(lane, *step);
    if (bytes == 0) break;
    RINGLET_TRY_ASSIGN(const std::size_t written,
                       state.link->Write(Operand(*step, state.bytes, bytes)));
    Account(lane, *step, written);
    turn_bytes += written;
    if (written < bytes) break;
  }
  return Ok();
}

Status Execution::SendHeader(LaneState& state, std::uint32_t lane) {
  std::array<std::byte, kHeaderBytes + kFirstWriteBytes> first;
  const std::size_t header_bytes = kHeaderBytes - state.header_bytes;
  std::memcpy(first.data(), header_.data() + state.header_bytes, header_bytes);
  const FlowStep* const step = Current(lane);
  const std::size_t data_bytes =
      step == nullptr ? 0 : std::min(AllowedBytes(lane, *step), kFirstWriteBytes);
  if (step != nullptr && data_bytes == 0 && in_vain_ < kTurnsInVain) return Ok();
  // Without data to send, Operand may point nowhere.
  if (data_bytes > 0) {
    std::memcpy(first.data() + header_bytes, Operand(*step, 0, data_bytes).data(), data_bytes);
  }
  RINGLET_TRY_ASSIGN(const std::size_t written,
                     state.link->Write(View(first).first(header_bytes + data_bytes)));
  const std::size_t header_written = std::min(written, header_bytes);
  state.header_bytes += header_written;
  moved_ = moved_ || written > 0;
  if (written > header_written) Account(lane, *step, written - header_written);
  return Ok();
}

// ---- Receiving ----------------------------------------------------------------------------------

Status Execution::PumpReceive(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  if (state.header_bytes < kHeaderBytes) RINGLET_TRY(ReceiveHeader(state));
  std::size_t turn_bytes = 0;
  while (state.header_bytes == kHeaderBytes && turn_bytes < task_.slice_bytes) {
    const FlowStep* step = Current(lane);
    if (step == nullptr) break;
    const std::size_t bytes = AllowedBytes(lane, *step);
    if (bytes == 0) break;
    RINGLET_TRY_ASSIGN(const std::size_t received, step->step.kind == StepKind::kReceive
                                                       ? Receive(state, *step, bytes)
                                                       : ReceiveSum(state, *step, bytes));
    if (received == 0) break;
    Account(lane, *step, received);
    turn_bytes += received;
  }
  return Ok();
}

Status Execution::ReceiveHeader(LaneState& state) {
  RINGLET_TRY_ASSIGN(const std::size_t received,
                     state.link->Read(std::span(state.header).subspan(state.header_bytes)));
  state.header_bytes += received;
  moved_ = moved_ || received > 0;
  if (state.header_bytes < kHeaderBytes) return Ok();
  return CheckHeader(state.header, state.link->peer(), task_.fingerprint, task_.self);
}

Result<std::size_t> Execution::Receive(LaneState& state, const FlowStep& step,
                                       std::size_t bytes_max) {
  return state.link->Read(Target(step, state.bytes, bytes_max));
}

/// Reduces directly from the link's memory. Returns the size of the reduced elements.
Result<std::size_t> Execution::ReceiveSum(LaneState& state, const FlowStep& step,
                                          std::size_t bytes_max) {
  RINGLET_TRY_ASSIGN(View arrived, state.link->Peek());
  if (arrived.empty()) return std::size_t{0};
  if (state.carry_bytes > 0 || arrived.size() < element_bytes_) {
    return ReceiveCarry(state, step, arrived);
  }
  std::size_t bytes = std::min(arrived.size(), bytes_max);
  bytes -= bytes % element_bytes_;
  Combine(step, Operand(step, state.bytes, bytes), arrived.first(bytes),
          Target(step, state.bytes, bytes));
  state.link->Consume(bytes);
  return bytes;
}

/// Collects an element that arrives in pieces, because a ring buffer or a packet ends within it.
/// The lane stores its first part. Returns the element's size once it is complete, else 0.
Result<std::size_t> Execution::ReceiveCarry(LaneState& state, const FlowStep& step, View arrived) {
  const std::size_t missing_bytes = element_bytes_ - state.carry_bytes;
  const std::size_t bytes = std::min(missing_bytes, arrived.size());
  std::memcpy(state.carry.data() + state.carry_bytes, arrived.data(), bytes);
  state.link->Consume(bytes);
  state.carry_bytes += bytes;
  moved_ = true;
  if (state.carry_bytes < element_bytes_) return std::size_t{0};
  state.carry_bytes = 0;
  Combine(step, Operand(step, state.bytes, element_bytes_), View(state.carry).first(element_bytes_),
          Target(step, state.bytes, element_bytes_));
  return element_bytes_;
}

// ---- Local work ---------------------------------------------------------------------------------

void Execution::PumpLocal(std::uint32_t lane) {
  // Packing consists of many small copies. One turn runs all of them, up to a slice.
  std::size_t turn_bytes = 0;
  while (turn_bytes < task_.slice_bytes) {
    const FlowStep* const step = Current(lane);
    if (step == nullptr) return;
    const std::size_t at = lanes_[lane].bytes;
    const std::size_t bytes = AllowedBytes(lane, *step);
    if (bytes == 0) return;
    const View from = Operand(*step, at, bytes);
    const std::span<std::byte> to = Target(*step, at, bytes);
    if (step->step.kind == StepKind::kReduce) {
      Combine(*step, to, from, to);
    } else if (from.data() != to.data()) {
      transport::Copy(from.first(bytes), to.data());
    }
    Account(lane, *step, bytes);
    turn_bytes += bytes;
  }
}

// ---- Descriptions -------------------------------------------------------------------------------

std::string Execution::WaitingFor() const {
  std::string who;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    const std::string lane = DescribeLane(i);
    if (!lane.empty()) who += (who.empty() ? "" : " and ") + lane;
  }
  if (who.empty()) who = AllDone() && !error_ ? "its outgoing data to drain" : "no rank";
  return fmt::format("rank {} in {} waits for {}", Index(task_.self), ToText(task_.fingerprint),
                     who);
}

// Returns the awaited rank with the earliest step in the schedule. Schedules end if every rank runs
// its steps in order. So a walk along the earliest steps from rank to rank does not loop, and ends
// at the rank that is stuck.
std::optional<Rank> Execution::Awaits() const {
  if (error_ && lost_) return lost_;
  std::optional<Rank> awaited;
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < lanes_.size(); ++i) {
    if (!Waits(i)) continue;
    const FlowStep* const step = Current(i);
    const std::uint32_t origin = step ? step->origin : std::numeric_limits<std::uint32_t>::max();
    if (awaited && origin >= first) continue;
    awaited = task_.flow->lanes[i].peer;
    first = origin;
  }
  return awaited;
}

/// Returns true if the lane waits for its peer, rather than being at its end or waiting for another
/// lane.
bool Execution::Waits(std::uint32_t lane) const {
  const Lane::Direction direction = task_.flow->lanes[lane].direction;
  if (direction == Lane::Direction::kLocal) return false;
  const FlowStep* step = Current(lane);
  const bool greeted = lanes_[lane].header_bytes == kHeaderBytes;
  if (!greeted && (direction == Lane::Direction::kReceive || step == nullptr)) return true;
  return step != nullptr && AllowedBytes(lane, *step) > 0;
}

std::string Execution::DescribeLane(std::uint32_t lane) const {
  if (!Waits(lane)) return {};
  const FlowStep* step = Current(lane);
  const LaneState& state = lanes_[lane];
  const bool sends = task_.flow->lanes[lane].direction == Lane::Direction::kSend;
  const std::uint32_t peer = Index(task_.flow->lanes[lane].peer);
  if (state.header_bytes < kHeaderBytes) {
    return fmt::format("rank {} to {}", peer, sends ? "take the first bytes" : "begin");
  }
  return fmt::format("{} rank {} ({} of {} elements of step {} have {})",
                     sends ? "room on the link to" : "data from", peer,
                     state.bytes / element_bytes_, step->step.count, step->origin,
                     sends ? "been sent" : "arrived");
}

}  // namespace ringlet::collective
