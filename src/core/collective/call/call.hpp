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

/// Facts of a kind of call.
struct CallShape {
  std::string_view name;
  bool reduces = false;      ///< elements are reduced
  bool from_root = false;    ///< the root alone has an input
  bool to_root = false;      ///< the root alone has an output
  bool input_each = false;   ///< the input has another block for each rank, not one for all
  bool output_each = false;  ///< the output has a block from each rank
  bool moves = true;         ///< data of this call itself; not of messages beside it
  std::uint8_t shares_moved =
      0;  ///< for BusFactor: how often (n-1)/n of the data are moved; 0: all
};
/// By CallKind.
inline constexpr std::array<CallShape, kCallKinds> kCallShapes = {{
    {.name = "all_reduce", .reduces = true, .shares_moved = 2},
    {.name = "all_gather", .output_each = true, .shares_moved = 1},
    {.name = "reduce_scatter", .reduces = true, .input_each = true, .shares_moved = 1},
    {.name = "broadcast", .from_root = true},
    {.name = "reduce", .reduces = true, .to_root = true},
    {.name = "all_to_all", .input_each = true, .output_each = true, .shares_moved = 1},
    {.name = "all_to_all_v", .moves = false},
    {.name = "gather", .to_root = true, .output_each = true, .shares_moved = 1},
    {.name = "scatter", .from_root = true, .input_each = true, .shares_moved = 1},
    {.name = "barrier", .moves = false},
    {.name = "send_receive"},
}};
inline const CallShape& ShapeOf(CallKind kind) {
  return kCallShapes[static_cast<std::size_t>(kind)];
}

/// "all_reduce", "all_to_all_v", ... Static storage.
inline std::string_view Name(CallKind kind) {
  return ShapeOf(kind).name;
}
/// The inverse. Empty for anything else.
std::optional<CallKind> CallKindNamed(std::string_view name);
inline bool Reduces(CallKind kind) {
  return ShapeOf(kind).reduces;
}
inline bool HasRoot(CallKind kind) {
  return ShapeOf(kind).from_root || ShapeOf(kind).to_root;
}
inline bool PieceEach(CallKind kind) {
  return ShapeOf(kind).input_each;
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
  const CallShape& shape = ShapeOf(call.kind);
  if (shape.from_root && call.root != place.self) return 0;
  return shape.input_each ? call.count * place.ranks : call.count;
}
inline std::size_t OutputCount(const Call& call, CallPlace place) {
  const CallShape& shape = ShapeOf(call.kind);
  if (shape.to_root && call.root != place.self) return 0;
  return shape.output_each ? call.count * place.ranks : call.count;
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
  const CallShape& shape = ShapeOf(call.kind);
  if (shape.from_root) return from == call.root;
  if (shape.to_root) return to == call.root;
  return shape.moves;
}
/// Elements before the block for `to` in the input of every rank, and before that of `from` in the
/// output.
inline std::size_t InputIndex(const Call& call, Rank to) {
  return PieceEach(call.kind) ? Index(to) * call.count : 0;
}
inline std::size_t OutputIndex(const Call& call, Rank from) {
  return ShapeOf(call.kind).output_each ? Index(from) * call.count : 0;
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
