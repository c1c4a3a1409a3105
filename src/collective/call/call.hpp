// One call of a collective, as one rank makes it: from the front end to the engine that runs it.
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::collective {

/// The numbers are on the wire: add, never change.
enum class CallKind : std::uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kBroadcast = 3,
  kReduce = 4,
  kAllToAll = 5,
  kAllToAllV = 6,  ///< count and root are those of one pair
  kGather = 7,
  kScatter = 8,
  kBarrier = 9,
  kSendReceive = 10,  ///< between two ranks
};
inline constexpr std::size_t kCallKinds = 11;

/// "all_reduce", "all_to_all_v", ... Static storage.
std::string_view Name(CallKind kind);
/// The inverse. Empty for anything else.
std::optional<CallKind> CallKindNamed(std::string_view name);
/// Whether its elements are reduced, and whether one rank is its root.
inline bool Reduces(CallKind kind) {
  return kind == CallKind::kAllReduce || kind == CallKind::kReduceScatter ||
         kind == CallKind::kReduce;
}
inline bool HasRoot(CallKind kind) {
  return kind == CallKind::kBroadcast || kind == CallKind::kReduce || kind == CallKind::kGather ||
         kind == CallKind::kScatter;
}
/// Whether each rank has another block for each rank, rather than one for all.
inline bool PieceEach(CallKind kind) {
  return kind == CallKind::kReduceScatter || kind == CallKind::kAllToAll ||
         kind == CallKind::kScatter;
}

/// The factor of an operation's bandwidth (size over time) that makes it comparable with that of a
/// link, whatever the number of ranks. Source: nccl-tests, doc/PERFORMANCE.md.
double BusFactor(CallKind kind, std::uint32_t ranks);

/// One element of any type, by value.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(View element);
  /// The bytes of the element; valid as long as this is.
  View view() const { return View(bytes_).first(size()); }
  /// Bytes that it was made from; 8 at most are kept.
  std::size_t given_bytes() const { return given_bytes_; }

 private:
  std::size_t size() const { return given_bytes_ < bytes_.size() ? given_bytes_ : bytes_.size(); }

  std::array<std::byte, 8> bytes_ = {};
  std::size_t given_bytes_ = 0;
};

/// The choice of a tuner plug-in for one call, by the numbers of plan::NcclAlgorithm and Protocol.
struct TunerChoice {
  bool given = false;
  std::uint8_t algorithm = 0, protocol = 0;
  std::uint8_t channels = 0;  ///< 0: as many as without it
  auto operator<=>(const TunerChoice&) const = default;
};

/// All ranks of the communicator call the same, with the same count, type, reduction and root, in
/// the same order. `count` is NCCL's, n the number of ranks:
///
///   kind            input            output           in place when
///   all_reduce      count            count            output == input
///   reduce          count            count (root)     output == input
///   broadcast       count (root)     count            output == input
///   all_gather      count            n * count        input == output + rank * count
///   reduce_scatter  n * count        count            output == input + rank * count
///   all_to_all      n * count        n * count        output == input (costs a copy)
///   gather          count            n * count (root) input == output + rank * count
///   scatter         n * count (root) count            output == input + rank * count
///
/// A barrier has no elements: only its kind is looked at. Arguments that only the root uses may be
/// anything on the other ranks. Memory that overlaps in any other way is refused. A count of 0
/// moves nothing and waits for no rank, but counts: ranks that differ in it find out. Buffers
/// belong to the caller and must stay as they are until the call has returned.
struct Call {
  CallKind kind = CallKind::kAllReduce;
  View input = {};
  std::span<std::byte> output = {};
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;  ///< see Reduces() for what exists
  Rank root{};
  /// Of kPreMulSum: one element of `type`, by which this rank's input is multiplied first, rounded
  /// as a product is. Each rank has its own.
  Scalar scalar = {};
  /// The address of that element, which is read when the operation runs; then `scalar` is not
  /// looked at.
  const std::byte* scalar_at = nullptr;
  /// Which algorithms may run it, a bit each; 0: all that may run any call. The same on all ranks.
  std::uint32_t algorithms = 0;
  /// On the machine of RINGLET_MACHINE it goes before `algorithms`. The same on all ranks.
  TunerChoice tuner = {};
};

/// "all_reduce of 8 float sum", "broadcast of 8 float at root 2", "barrier".
std::string ToText(const Call& call);

/// The place of a rank among those that make a call.
struct CallPlace {
  Rank self{};
  std::uint32_t ranks = 1;
};

/// Elements of this rank's buffers; 0 where a rank that is not the root has none.
inline std::size_t InputCount(const Call& call, CallPlace place) {
  switch (call.kind) {
    case CallKind::kReduceScatter:
    case CallKind::kAllToAll: return call.count * place.ranks;
    case CallKind::kBroadcast: return call.root == place.self ? call.count : 0;
    case CallKind::kScatter: return call.root == place.self ? call.count * place.ranks : 0;
    default: return call.count;
  }
}
inline std::size_t OutputCount(const Call& call, CallPlace place) {
  switch (call.kind) {
    case CallKind::kAllGather:
    case CallKind::kAllToAll: return call.count * place.ranks;
    case CallKind::kReduce: return call.root == place.self ? call.count : 0;
    case CallKind::kGather: return call.root == place.self ? call.count * place.ranks : 0;
    default: return call.count;
  }
}
/// The same in bytes.
inline std::size_t InputBytes(const Call& call, CallPlace place) {
  return InputCount(call, place) * SizeOf(call.type);
}
inline std::size_t OutputBytes(const Call& call, CallPlace place) {
  return OutputCount(call, place) * SizeOf(call.type);
}

/// Bytes of one block: `count` elements.
inline std::size_t BlockBytes(const Call& call) {
  return call.count * SizeOf(call.type);
}
/// Whether `from` gives data to `to`. (Reductions: before they are reduced.)
inline bool Gives(const Call& call, Rank from, Rank to) {
  switch (call.kind) {
    case CallKind::kBroadcast:
    case CallKind::kScatter: return from == call.root;
    case CallKind::kReduce:
    case CallKind::kGather: return to == call.root;
    case CallKind::kBarrier:
    case CallKind::kAllToAllV: return false;
    default: return true;
  }
}
/// Elements before the block for `to` in the input of every rank, and before that of `from` in the
/// output.
inline std::size_t InputIndex(const Call& call, Rank to) {
  return PieceEach(call.kind) ? Index(to) * call.count : 0;
}
inline std::size_t OutputIndex(const Call& call, Rank from) {
  switch (call.kind) {
    case CallKind::kAllGather:
    case CallKind::kGather:
    case CallKind::kAllToAll: return Index(from) * call.count;
    default: return 0;
  }
}
/// The same in bytes.
inline std::size_t InputOffset(const Call& call, Rank to) {
  return InputIndex(call, to) * SizeOf(call.type);
}
inline std::size_t OutputOffset(const Call& call, Rank from) {
  return OutputIndex(call, from) * SizeOf(call.type);
}

/// The offset of the output from the beginning of the input's memory, in elements; may be negative.
/// Empty: they do not overlap.
using Overlap = std::optional<std::ptrdiff_t>;
/// Of a call in place: NCCL's rule.
inline std::ptrdiff_t InPlaceOffset(const Call& call, Rank self) {
  return static_cast<std::ptrdiff_t>(InputIndex(call, self)) -
         static_cast<std::ptrdiff_t>(OutputIndex(call, self));
}
/// How two buffers lie, which are those of the call or copies of them.
/// Errors  kInvalidArgument  they overlap in another way than NCCL calls in place
Result<Overlap> OverlapOf(const Call& call, Rank self, View input, View output);

/// More bytes than any process can address: a number above it was never a size.
inline constexpr std::size_t kMemoryMax = std::size_t{1} << 57;
/// Whether any memory has so many blocks of `count` elements.
inline bool FitsMemory(std::size_t count, DataType type, std::size_t blocks) {
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(count, SizeOf(type) * blocks, &bytes) && bytes <= kMemoryMax;
}
Error CountTooLarge(std::size_t count);
/// Errors  kInvalidArgument  FitsMemory says no
inline Status CheckCount(std::size_t count, DataType type, std::size_t blocks) {
  if (FitsMemory(count, type, blocks)) [[likely]]
    return Ok();
  return CountTooLarge(count);
}

/// Whether the call makes sense on this rank.
/// Errors  kInvalidArgument  it does not: count, root, reduction, scalar, buffers
Status Validate(const Call& call, CallPlace place);

}  // namespace ringlet::collective
