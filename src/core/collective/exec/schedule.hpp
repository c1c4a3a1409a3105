// Schedule: the steps of one rank in one collective, as data.
//
// Steps are in program order and have the meaning of sequential execution, except that a rank may
// send and receive at the same time. A step may run as soon as earlier steps that touch the same
// elements permit it. Steps on one direction of one link keep their order. So a schedule can be
// printed, proven (sim/interpreter/interpreter.hpp), priced and executed (executor.hpp).
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

/// Returns the elements of chunk `index` if `count` elements are split into `chunks` chunks. Their
/// sizes differ by at most one, and the larger chunks are first.
Range EvenChunk(std::size_t count, std::size_t chunks, std::size_t index);

/// The buffers of a rank. The input is never written, unless it shares memory with the output. The
/// contents of output and scratch are undefined until they are written.
enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

/// The place of elements: `begin` and later elements of `buffer`.
struct Place {
  Buffer buffer = Buffer::kInput;
  std::size_t begin = 0;
  bool operator==(const Place&) const = default;
};

enum class StepKind : std::uint8_t {
  kSend,           ///< `from` to `peer`
  kReceive,        ///< from `peer` into `to`
  kReceiveReduce,  ///< to = from op data from `peer`
  kCopy,           ///< to = from
  kReduce,         ///< to = to op from
};

struct Step {
  StepKind kind = StepKind::kSend;
  std::uint16_t channel = 0;  ///< of the plan; all channels of two ranks share one link
  Rank peer{};                ///< of steps that communicate
  std::size_t count = 0;      ///< elements; with 0, the step still transfers the header
  Place from = {};            ///< source: all kinds except kReceive
  Place to = {};              ///< destination: all kinds except kSend
  /// Swaps the operands of a reduction. All ranks that compute the same sum must add in the same
  /// order, because NaNs and zeros would differ otherwise.
  bool swapped = false;
  /// The elements of `to` are complete after this step, which therefore divides averages, once.
  /// Only steps that write can finish. Data that is sent later is already divided.
  bool finishes = false;
  bool operator==(const Step&) const = default;
};

constexpr bool Communicates(StepKind kind) {
  return kind <= StepKind::kReceiveReduce;
}
constexpr bool Reads(StepKind kind) {
  return kind != StepKind::kReceive;
}
constexpr bool Writes(StepKind kind) {
  return kind != StepKind::kSend;
}

/// The place of a smaller schedule (fewer elements or ranks) within a larger one.
struct Mount {
  Place input = {};
  Place output = {};
};

/// The steps of one rank.
struct Schedule {
  std::size_t input_count = 0;  ///< sizes of the buffers, in elements
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
  /// Appends the steps of `inner`. `mount` states where its buffers lie. Its scratch is appended.
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

/// Returns one step per line, for `ringlet explain` and for test failures.
std::string ToText(const Schedule& schedule);

}  // namespace ringlet::collective
