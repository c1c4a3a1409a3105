// What a rank called, told to every peer before the data, so that ranks which disagree find out.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// The numbers are on the wire: add, never change.
enum class Operation : std::uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kBroadcast = 3,
  kReduce = 4,
};

/// One call of a collective. All ranks of a communicator must call the same, in the same order.
struct Fingerprint {
  std::uint64_t sequence = 0;  ///< how many operations this communicator has seen before
  Operation operation = Operation::kAllReduce;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint64_t count = 0;  ///< elements
  Rank root{};              ///< of operations that have one
  bool operator==(const Fingerprint&) const = default;
};

/// "all_reduce of 8 float sum as operation 17", "broadcast of 8 float at root 2 as operation 18".
std::string ToText(const Fingerprint& fingerprint);

/// The first bytes of an operation in each direction of each link that it uses, little-endian:
///
///   0  u32  0x31434c52, "RLC1": the format
///   4  u8   operation         5  u8  type         6  u8  reduction        7  u8  0
///   8  u64  sequence
///  16  u64  count
///  24  u32  root
///  28  u32  rank of the sender
inline constexpr std::size_t kHeaderBytes = 32;
using Header = std::array<std::byte, kHeaderBytes>;

Header EncodeHeader(const Fingerprint& fingerprint, Rank sender);

/// Compares what `peer` sent with what this rank called.
/// Errors  kProtocol  they differ; the sentence says what each of the two ranks called. Or the
/// bytes
///                    are no header, or of another rank: the peers' versions differ, or a link is
///                    wired wrongly.
Status CheckHeader(const Header& header, Rank peer, const Fingerprint& mine, Rank self);

}  // namespace ringlet::collective
