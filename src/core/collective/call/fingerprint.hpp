// The call of a rank, told to every peer before the data, so that ranks which disagree find out.
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

/// A call's form on the wire: what must be the same on all ranks, and its place among the calls.
/// All ranks of a communicator must call the same collectives in the same order, and two ranks the
/// same messages between the same collectives.
struct Fingerprint {
  std::uint64_t sequence = 0;  ///< how many collectives this communicator has seen before
  CallKind operation = CallKind::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t count = 0;  ///< Call::count; of messages and all_to_all_v that of one pair
  Rank root{};  ///< of operations that have one; of messages and all_to_all_v, who receives
  std::uint8_t selection = 0;  ///< SelectionMark of Call::algorithms, or that of Call::tuner
  bool operator==(const Fingerprint&) const = default;
};

/// Differs, nearly always, where the algorithms differ; 0: all.
inline std::uint8_t SelectionMark(std::uint32_t algorithms) {
  return algorithms == 0 ? 0 : static_cast<std::uint8_t>(algorithms % 255 + 1);
}

/// Differs where algorithms or protocols differ, and where channels do but by a multiple of 11.
inline std::uint8_t SelectionMark(const TunerChoice& choice) {
  constexpr unsigned kProtocols = 3, kChannelMarks = 11;  // 7 * 3 * 11 is less than 256
  return static_cast<std::uint8_t>((choice.algorithm * kProtocols + choice.protocol) *
                                       kChannelMarks +
                                   choice.channels % kChannelMarks + 1);
}

/// Fields that a call of this kind does not use are taken as not given.
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

/// The first bytes of an operation in each direction of each link that it uses, little-endian:
///
///   0  u32  0x32434c52, "RLC2": the format
///   4  u8   operation         5  u8  type         6  u8  reduction
///   7  u8   mark of the algorithms that may run it, or of a tuner's choice; 0: all
///   8  u64  sequence
///  16  u64  count
///  24  u32  root
///  28  u32  rank of the sender
inline constexpr std::size_t kHeaderBytes = 32;
using Header = std::array<std::byte, kHeaderBytes>;

Header EncodeHeader(const Fingerprint& fingerprint, Rank sender);
/// Empty: the bytes are no header.
std::optional<Fingerprint> DecodeHeader(const Header& header);

/// The sequence of a header of which the first bytes have come; empty: too few, or no header.
std::optional<std::uint64_t> SequenceIn(View beginning);

/// Compares what `peer` sent with what this rank called.
/// Errors  kProtocol  they differ; the sentence says what each of the two ranks called. Or the
/// bytes
///                    are no header, or of another rank: the peers' versions differ, or a link is
///                    wired wrongly.
Status CheckHeader(const Header& header, Rank peer, const Fingerprint& mine, Rank self);

}  // namespace ringlet::collective
