// A schedule is what one rank does in one collective, as data.
//
// Steps stand in program order, and mean what they would mean executed one after the other, except
// that a rank may send and receive at the same time: a step may run as soon as the earlier steps
// that touch the same elements allow it, and steps on one direction of one link keep their order.
// So a schedule can be printed, proven (interpreter.hpp), priced and executed (executor.hpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// Elements [begin, begin + count) of a buffer.
struct Range {
  std::size_t begin = 0;
  std::size_t count = 0;
  std::size_t end() const { return begin + count; }
  bool operator==(const Range&) const = default;
};

/// The buffers of a rank. The input is never written, unless the caller gave the same memory as
/// output; output and scratch hold nothing of use before they are written.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

/// A place of elements: from `begin` of `buffer` on.
struct Place {
  Buffer buffer = Buffer::kInput;
  std::size_t begin = 0;
  bool operator==(const Place&) const = default;
};

enum class StepKind : std::uint8_t {
  kSend,           ///< `from` to `peer`
  kReceive,        ///< from `peer` into `to`
  kReceiveReduce,  ///< to = from op what comes from `peer`
  kCopy,           ///< to = from
  kReduce,         ///< to = to op from
};

struct Step {
  StepKind kind = StepKind::kSend;
  std::uint16_t channel = 0;  ///< of the plan; all channels of two ranks share their one link
  Rank peer{};                ///< of steps that talk
  std::size_t count = 0;      ///< elements; with 0 a step that talks still says what was called
  Place from = {};            ///< source: all but kReceive
  Place to = {};              ///< destination: all but kSend
  /// Of steps that reduce: the operands change places. Ranks that compute the same sum must all do
  /// it in the same order, or NaNs and zeros differ.
  bool swapped = false;
  /// The elements of `to` are complete after this step; averages divide here, once. Only steps that
  /// write finish. Data that are sent on afterwards are already divided.
  bool finishes = false;
  bool operator==(const Step&) const = default;
};

constexpr bool Talks(StepKind kind) {
  return kind <= StepKind::kReceiveReduce;
}
constexpr bool Reads(StepKind kind) {
  return kind != StepKind::kReceive;
}
constexpr bool Writes(StepKind kind) {
  return kind != StepKind::kSend;
}

/// The place of a schedule of fewer elements or ranks within a larger one.
struct Mount {
  Place input = {};
  Place output = {};
};

/// The steps of one rank.
struct Schedule {
  std::size_t input_count = 0;  ///< elements of the buffers
  std::size_t output_count = 0;
  std::size_t scratch_count = 0;
  std::vector<Step> steps = {};
  bool operator==(const Schedule&) const = default;

  std::size_t CountOf(Buffer buffer) const {
    return buffer == Buffer::kInput    ? input_count
           : buffer == Buffer::kOutput ? output_count
                                       : scratch_count;
  }

  // Appends a step.
  Step& Send(Rank peer, Place from, std::size_t count);
  Step& Receive(Rank peer, Place to, std::size_t count);
  Step& ReceiveReduce(Rank peer, Place from, Place to, std::size_t count);
  Step& Copy(Place from, Place to, std::size_t count);
  Step& Reduce(Place from, Place to, std::size_t count);
  /// Appends the steps of `inner`, its buffers placed where `mount` says; its scratch is new.
  void Append(const Schedule& inner, const Mount& mount);
};

constexpr Place Input(std::size_t begin = 0) {
  return {Buffer::kInput, begin};
}
constexpr Place Output(std::size_t begin = 0) {
  return {Buffer::kOutput, begin};
}
constexpr Place Scratch(std::size_t begin = 0) {
  return {Buffer::kScratch, begin};
}

/// "input 32".
std::string ToText(const Place& place);

/// "receive 16 elements from rank 3 on channel 0, reduced with input 32 into output 32, finishes".
std::string ToText(const Step& step);

/// One step a line, for `ringlet explain` and for test failures.
std::string ToText(const Schedule& schedule);

}  // namespace ringlet::collective
