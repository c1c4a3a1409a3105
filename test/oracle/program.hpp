// A drawn program as a value: the ranks, and the actions of all of them, step by step.
//
// A step is stated once for all ranks; each rank does its part of it (run_rank.cpp). The same value
// is text, one step per line. A failure prints it, and `oracle --replay` reads it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace oracle {

/// The functions that move data. kSendRecv is a pattern of messages, see Call::shift.
enum class Kind {
  kAllReduce,
  kReduce,
  kBroadcast,
  kBcast,
  kReduceScatter,
  kAllGather,
  kAllToAll,
  kGather,
  kScatter,
  kSendRecv
};
inline constexpr int kKinds = 10;

/// The numbers of ncclDataType_t.
enum class Type {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8e4m3,
  kFloat8e5m2
};
inline constexpr int kTypes = 12;

/// The numbers of ncclRedOp_t, and one that each rank creates for the call.
enum class Op { kSum, kProd, kMax, kMin, kAvg, kPreMulSum };
inline constexpr int kOps = 6;

enum class Values {
  kExact,   ///< every order of adding gives the same bits
  kWide,    ///< random digits and exponents: results lie within a bound
  kSpecial  ///< as kWide, with infinities, NaN, zeros and subnormals among them
};
inline constexpr int kValues = 3;

enum class Memory {
  kMalloc,
  kMmap,
  kStack,
  kHuge,
  kStatic,
  kFile,
  kShared,
  kFixed,            ///< at the same address in every process
  kNccl,             ///< ncclMemAlloc
  kRegistered,       ///< ncclMemAlloc and ncclCommRegister
  kRegisteredOther,  ///< mmap and ncclCommRegister
  kWindow            ///< ncclMemAlloc and ncclCommWindowRegister
};
inline constexpr int kMemories = 12;

/// The deviation of one rank from the rest, in a program that is wrong.
enum class Odd { kNone, kCount, kType, kOp, kRoot, kKind };
inline constexpr int kOdds = 6;

/// Lists of algorithms for a call's config. They need not exist.
inline constexpr std::array<const char*, 6> kSelections = {nullptr, "",      "ring",
                                                           "tree",  "^ring", "direct,bruck,slices"};

struct Call {
  std::uint32_t id = 0;  ///< identifies the content of its buffers; stays when a program shrinks
  Kind kind = Kind::kAllReduce;
  int comm = 0;
  Type type = Type::kFloat32;
  Op op = Op::kSum;
  std::size_t count = 0;  ///< in the form of the function; for messages, of each
  int root = 0;
  int shift = 1;           ///< kSendRecv: rank r sends to r + shift and receives from r - shift
  int repeat = 1;          ///< kSendRecv: number of messages of one rank to the same peer
  bool ungrouped = false;  ///< kSendRecv: blocking, even ranks send first; `shift` is odd, n even
  bool in_place = false;
  bool late_scalar = false;  ///< kPreMulSum: the scalar is in memory, and set just before the read
  bool null_unused = false;  ///< pointers unused by this rank's part are null
  Values values = Values::kExact;
  Memory memory = Memory::kMalloc;
  unsigned misalign = 0;  ///< distance of buffers from a multiple of 64 in bytes
  int selection = 0;      ///< the call's config: 0 none, else 1 + a row of kSelections
  int odd_rank = -1;      ///< differing rank of the communicator
  Odd odd = Odd::kNone;
};

enum class What {
  kForm,     ///< forms communicator `comm` of `ranks`
  kSplit,    ///< splits `comm` by `colors` and `keys` into communicators `made` + color
  kShrink,   ///< shrinks `comm` without `ranks` (of that communicator) to communicator `made`
  kGrow,     ///< grows `comm` by world ranks `ranks` to communicator `made`
  kPut,      ///< each rank of `comm` puts `bytes`, `repeat` times, to the rank at distance `shift`
  kRun,      ///< runs `calls`
  kChild,    ///< world rank `rank` forks a child that stays alive and idle
  kDestroy,  ///< destroys `comm`, each rank at its own time
  kKill,     ///< the process of world rank `rank` dies `us` microseconds from now
  kAbort,    ///< world rank `rank` aborts `comm` and makes no more calls on it
  kRevoke    ///< world rank `rank` revokes `comm`
};

/// Streams of a rank.
inline constexpr int kStreamsMax = 3;

/// Total of all puts of one step to one rank.
inline constexpr int kPutBytesMax = 600 << 10;  // several pieces over the control network

struct Step {
  What what = What::kRun;
  int comm = 0;
  int made = 0;
  std::vector<int> ranks;
  std::vector<int> colors;  ///< -1: NCCL_SPLIT_NOCOLOR
  std::vector<int> keys;
  std::vector<Call> calls;
  int depth = 0;          ///< number of groups around the calls; 0: none
  bool simulate = false;  ///< the group ends in ncclGroupSimulateEnd
  bool shuffled = false;  ///< each rank orders the communicators by itself
  bool all = false;       ///< kForm: by ncclCommInitAll
  bool nonblocking = false;
  bool scalable = false;  ///< kForm: by ncclCommInitRankScalable with two ids
  bool finalize = false;  ///< kDestroy: ncclCommFinalize first
  bool broken = false;    ///< kShrink: NCCL_SHRINK_ABORT
  int rank = -1;          ///< kKill, kAbort, kRevoke: the acting rank; kRun: the late rank
  int us = 0;             ///< delay, or time until the end, in microseconds
  int shift = 0;          ///< kPut
  int bytes = 0;          ///< kPut
  int repeat = 1;         ///< kPut
  /// kRun, kPut: number of streams of each rank; 0: the null stream. kAbort, kRevoke: the rank has
  /// issued its calls to this number of streams. They wait when it gives up, or have run for `us`.
  int streams = 0;
  int launches = 0;  ///< kRun: number of launches of the capture; 0: not captured
  /// kRun: each rank puts about half of its calls on the null stream, and the others on one of
  /// `streams`.
  bool null_too = false;
  /// kRun: each rank calls each communicator from a thread of its own, at the same time.
  bool apart = false;
};

struct Place {
  int process = 0;
  int thread = 0;
  bool operator==(const Place&) const = default;
};

struct Program {
  std::uint64_t seed = 0;
  std::string layout;
  std::vector<Place> places;          ///< of each world rank
  std::vector<std::string> settings;  ///< NAME=VALUE, for the environment
  std::vector<Step> steps;

  int ranks() const { return static_cast<int>(places.size()); }
};

/// The state of the communicators between two steps.
struct World {
  std::map<int, std::vector<int>> members;  ///< world ranks of each communicator, in its order
  std::map<int, bool> nonblocking;
  std::set<int> doomed;  ///< communicators that have lost a rank, or with differing calls
  std::set<int> dead;    ///< world ranks
};

/// Returns false if the step does not fit, for example because its communicator does not exist.
bool Fits(const Step& step, const World& world, const Program& program);
void Apply(const Step& step, World& world);

/// Returns the program without the steps and calls that do not fit.
Program Normalised(const Program& program);

std::size_t CountCalls(const Program& program);
/// A circumstance of calls that the summary of a run counts.
enum class Among { kStreamed, kCaptured, kNullToo, kApart, kAfterChild };
inline constexpr int kAmongs = 5;
std::size_t CountCalls(const Program& program, Among among);
/// Returns true if a rank dies, aborts or revokes, or makes another call than the rest.
bool IsFault(const Step& step);
bool HasFault(const Program& program);
bool HasKill(const Program& program);

/// Conversion to text, and back. Parse throws std::runtime_error that names the line.
std::string ToText(const Program& program);
std::string ToText(const Call& call);
Program Parse(const std::string& text);

std::size_t SizeOf(Type type);
bool Reduces(Kind kind);
bool HasRoot(Kind kind);
bool IsFloat(Type type);

/// Number of input and output elements of rank `self` of `n`.
std::size_t InputCount(const Call& call, int n, int self);
std::size_t OutputCount(const Call& call, int n, int self);

}  // namespace oracle
