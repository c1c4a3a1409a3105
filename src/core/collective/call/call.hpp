// Call: one call of a collective by one rank, from the front end to the engine that runs it.
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

/// These numbers are on the wire. Add new ones, but never change any.
enum class CallKind : std::uint8_t {
  kAllReduce = 0,
  kAllGather = 1,
  kReduceScatter = 2,
  kBroadcast = 3,
  kReduce = 4,
  kAllToAll = 5,
  kAllToAllV = 6,  ///< count and root describe one pair
  kGather = 7,
  kScatter = 8,
  kBarrier = 9,
  kSendReceive = 10,  ///< between two ranks
};
inline constexpr std::size_t kCallKinds = 11;

/// Properties of a kind of call.
struct CallShape {
  std::string_view name;
  bool reduces = false;           ///< reduces elements
  bool from_root = false;         ///< only the root has an input
  bool to_root = false;           ///< only the root has an output
  bool input_each = false;        ///< the input has a block per rank instead of one for all
  bool output_each = false;       ///< the output has a block from each rank
  bool moves = true;              ///< the call moves data itself, not by messages beside it
  std::uint8_t shares_moved = 0;  ///< how often (n-1)/n of the data moves (BusFactor); 0: all, once
};
/// Indexed by CallKind.
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

/// Returns "all_reduce", "all_to_all_v", ... in static storage.
inline std::string_view Name(CallKind kind) {
  return ShapeOf(kind).name;
}
/// The inverse of Name. Empty for any other text.
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

/// Returns the factor that converts an operation's bandwidth (size over time) to that of a link, so
/// that it is comparable for any number of ranks. Source: nccl-tests, doc/PERFORMANCE.md.
double BusFactor(CallKind kind, std::uint32_t ranks);

/// One element of any type, by value.
class Scalar {
 public:
  Scalar() = default;
  explicit Scalar(View element);
  /// Returns the bytes of the element. Valid as long as this object.
  View view() const { return View(bytes_).first(size()); }
  /// Returns the size of the source. The scalar keeps at most 8 bytes.
  std::size_t given_bytes() const { return given_bytes_; }

 private:
  std::size_t size() const { return given_bytes_ < bytes_.size() ? given_bytes_ : bytes_.size(); }

  std::array<std::byte, 8> bytes_ = {};
  std::size_t given_bytes_ = 0;
};

/// A tuner plug-in's choice for one call, in numbers of plan::NcclAlgorithm and Protocol.
struct TunerChoice {
  bool given = false;
  std::uint8_t algorithm = 0, protocol = 0;
  std::uint8_t channels = 0;  ///< 0: as many as without the tuner
  auto operator<=>(const TunerChoice&) const = default;
};

/// All ranks of the communicator make the same calls in the same order, with equal count, type,
/// reduction and root. `count` is NCCL's, and n is the number of ranks:
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
/// A barrier does not have elements, so only its kind matters. Arguments that only the root uses
/// are ignored on other ranks. Any other overlap of input and output is an error. A count of 0
/// moves no data and waits for no rank, but it is a call: ranks detect a peer that differs. Buffers
/// belong to the caller and must not change until the call has returned.
struct Call {
  CallKind kind = CallKind::kAllReduce;
  View input = {};
  std::span<std::byte> output = {};
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;  ///< Reduces() states which ones exist
  Rank root{};
  /// The scalar of kPreMulSum, an element of `type`. It multiplies this rank's input first, rounded
  /// like a product. Each rank has its own.
  Scalar scalar = {};
  /// Address of that element, read when the operation runs. If set, `scalar` is ignored.
  const std::byte* scalar_at = nullptr;
  /// Bit set of the algorithms that may run the call. 0 allows all. Equal on all ranks.
  std::uint32_t algorithms = 0;
  /// On the machine of RINGLET_MACHINE, it overrides `algorithms`. Equal on all ranks.
  TunerChoice tuner = {};
};

/// "all_reduce of 8 float sum", "broadcast of 8 float at root 2", "barrier".
std::string ToText(const Call& call);

/// This rank and the number of ranks in a call.
struct CallPlace {
  Rank self{};
  std::uint32_t ranks = 1;
};

/// Return the number of elements in this rank's buffers. 0 if only the root has such a buffer.
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
/// Return the same in bytes.
inline std::size_t InputBytes(const Call& call, CallPlace place) {
  return InputCount(call, place) * SizeOf(call.type);
}
inline std::size_t OutputBytes(const Call& call, CallPlace place) {
  return OutputCount(call, place) * SizeOf(call.type);
}

/// Returns the size of one block: `count` elements.
inline std::size_t BlockBytes(const Call& call) {
  return call.count * SizeOf(call.type);
}
/// Returns true if `from` sends data to `to` (in reductions, before the data is reduced).
inline bool SendsData(const Call& call, Rank from, Rank to) {
  const CallShape& shape = ShapeOf(call.kind);
  if (shape.from_root) return from == call.root;
  if (shape.to_root) return to == call.root;
  return shape.moves;
}
/// Return the offset in elements of the block for `to` in every rank's input, and of the block from
/// `from` in the output.
inline std::size_t InputIndex(const Call& call, Rank to) {
  return PieceEach(call.kind) ? Index(to) * call.count : 0;
}
inline std::size_t OutputIndex(const Call& call, Rank from) {
  return ShapeOf(call.kind).output_each ? Index(from) * call.count : 0;
}
/// Return the same in bytes.
inline std::size_t InputOffset(const Call& call, Rank to) {
  return InputIndex(call, to) * SizeOf(call.type);
}
inline std::size_t OutputOffset(const Call& call, Rank from) {
  return OutputIndex(call, from) * SizeOf(call.type);
}

/// Offset of the output from the start of the input, in elements; may be negative. Empty if they do
/// not overlap.
using Overlap = std::optional<std::ptrdiff_t>;
/// Returns the offset of a call in place, as NCCL defines it.
inline std::ptrdiff_t InPlaceOffset(const Call& call, Rank self) {
  return static_cast<std::ptrdiff_t>(InputIndex(call, self)) -
         static_cast<std::ptrdiff_t>(OutputIndex(call, self));
}
/// Returns how two buffers overlap: the buffers of the call or copies of them.
/// Errors  kInvalidArgument  they overlap, but not as in an in-place call of NCCL
Result<Overlap> OverlapOf(const Call& call, Rank self, View input, View output);

/// More bytes than any process can address. A larger number cannot be a size.
inline constexpr std::size_t kMemoryMax = std::size_t{1} << 57;
/// Returns true if `blocks` blocks of `count` elements fit in memory.
inline bool FitsMemory(std::size_t count, DataType type, std::size_t blocks) {
  std::size_t bytes = 0;
  return !__builtin_mul_overflow(count, SizeOf(type) * blocks, &bytes) && bytes <= kMemoryMax;
}
Error CountTooLarge(std::size_t count);
/// Errors  kInvalidArgument  FitsMemory returns false
inline Status CheckCount(std::size_t count, DataType type, std::size_t blocks) {
  if (FitsMemory(count, type, blocks)) [[likely]]
    return Ok();
  return CountTooLarge(count);
}

/// Checks that the arguments of the call are valid on this rank.
/// Errors  kInvalidArgument  count, root, reduction, scalar or buffers are invalid
Status Validate(const Call& call, CallPlace place);

}  // namespace ringlet::collective
