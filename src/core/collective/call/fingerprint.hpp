// Fingerprint: describes a rank's call, precedes the data, and lets ranks detect differences.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/value/bytes.hpp"
#include "collective/call/call.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// A call on the wire: the arguments that must be equal on all ranks, and its sequence number. All
/// ranks of a communicator must call the same collectives in the same order, and two ranks must
/// exchange the same messages between the same collectives.
struct Fingerprint {
  std::uint64_t sequence = 0;  ///< number of earlier collectives of this communicator
  CallKind operation = CallKind::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t count = 0;  ///< Call::count; for messages and all_to_all_v, of one pair
  Rank root{};  ///< if the operation has one; for messages and all_to_all_v, the receiver
  std::uint8_t selection = 0;  ///< SelectionMark of Call::algorithms or of Call::tuner
  bool operator==(const Fingerprint&) const = default;
};

/// Returns a mark that almost always differs if the algorithms differ. 0: all algorithms.
inline std::uint8_t SelectionMark(std::uint32_t algorithms) {
  return algorithms == 0 ? 0 : static_cast<std::uint8_t>(algorithms % 255 + 1);
}

/// Returns a mark that differs if algorithm, protocol or (channels mod 11) differ.
inline std::uint8_t SelectionMark(const TunerChoice& choice) {
  constexpr unsigned kProtocols = 3, kChannelMarks = 11;  // 7 * 3 * 11 is less than 256
  return static_cast<std::uint8_t>((choice.algorithm * kProtocols + choice.protocol) *
                                       kChannelMarks +
                                   choice.channels % kChannelMarks + 1);
}

/// Ignores fields that a call of this kind does not use.
inline Fingerprint FingerprintOf(const Call& call, std::uint64_t sequence) {
  return {
      .sequence = sequence,
      .operation = call.kind,
      .type = call.kind == CallKind::kBarrier ? DataType::kUint8 : call.type,
      .op = Reduces(call.kind) ? call.op : ReduceOp::kSum,
      .count = call.kind == CallKind::kBarrier ? 0 : call.count,
      .root = HasRoot(call.kind) ? call.root : Rank{},
      .selection = call.tuner.given ? SelectionMark(call.tuner) : SelectionMark(call.algorithms)};
}

/// "all_reduce of 8 float sum as operation 17", "broadcast of 8 float at root 2 as operation 18".
std::string ToText(const Fingerprint& fingerprint);

/// The first bytes of an operation, in each direction of each link that it uses, little-endian:
///
///   0  u32  0x32434c52, "RLC2": the format
///   4  u8   operation         5  u8  type         6  u8  reduction
///   7  u8   mark of the permitted algorithms, or of a tuner's choice; 0: all
///   8  u64  sequence
///  16  u64  count
///  24  u32  root
///  28  u32  rank of the sender
inline constexpr std::size_t kHeaderBytes = 32;
using Header = std::array<std::byte, kHeaderBytes>;

Header EncodeHeader(const Fingerprint& fingerprint, Rank sender);
/// Returns empty if the bytes are not a header.
std::optional<Fingerprint> DecodeHeader(const Header& header);

/// Returns the sequence number in the beginning of a header. Empty if it is too short or invalid.
std::optional<std::uint64_t> SequenceIn(View beginning);

/// Compares the header from `peer` with this rank's call.
/// Errors  kProtocol  the calls differ; the message states both. Or the bytes are not a header, or
///                    a header of another rank, because the versions differ or a link is wired
///                    wrongly.
Status CheckHeader(const Header& header, Rank peer, const Fingerprint& mine, Rank self);

}  // namespace ringlet::collective
