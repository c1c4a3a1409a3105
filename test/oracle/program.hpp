// A drawn program as a value: who the ranks are, and what all of them do, step by step.
//
// A step is told once for all ranks; each rank does its part of it (run_rank.cpp). The same value
// is text, one step a line, which is what a failure prints and what `oracle --replay` reads.
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

/// The numbers of ncclRedOp_t, and one that each rank makes for the call.
enum class Op { kSum, kProd, kMax, kMin, kAvg, kPreMulSum };
inline constexpr int kOps = 6;

/// The kind of values in a reduction.
enum class Values {
  kExact,   ///< every order of adding gives the same bits
  kWide,    ///< random digits and exponents: results lie within a bound
  kSpecial  ///< as kWide, with infinities, NaN, zeros and subnormals among them
};
inline constexpr int kValues = 3;

/// The kind of memory of buffers.
enum class Memory {
  kMalloc,
  kMmap,
  kStack,
  kHuge,
  kStatic,
  kFile,
  kShared,
  kFixed,            ///< at an address that is the same in every process
  kNccl,             ///< ncclMemAlloc
  kRegistered,       ///< ncclMemAlloc and ncclCommRegister
  kRegisteredOther,  ///< mmap and ncclCommRegister
  kWindow            ///< ncclMemAlloc and ncclCommWindowRegister
};
inline constexpr int kMemories = 12;

/// The deviation of one rank from the rest, in a program that is wrong.
enum class Odd { kNone, kCount, kType, kOp, kRoot, kKind };
inline constexpr int kOdds = 6;

/// Lists of algorithms for a call's config. None of them need be there.
inline constexpr std::array<const char*, 6> kSelections = {nullptr, "",      "ring",
                                                           "tree",  "^ring", "direct,bruck,slices"};

struct Call {
  std::uint32_t id = 0;  ///< names the content of its buffers; stays when a program shrinks
  Kind kind = Kind::kAllReduce;
  int comm = 0;
  Type type = Type::kFloat32;
  Op op = Op::kSum;
  std::size_t count = 0;  ///< as the function takes it; of each message
  int root = 0;
  int shift = 1;           ///< kSendRecv: rank r sends to r + shift and receives from r - shift
  int repeat = 1;          ///< kSendRecv: so many messages of one rank to the same peer
  bool ungrouped = false;  ///< kSendRecv: blocking, even ranks send first; `shift` is odd, n even
  bool in_place = false;
  bool late_scalar =
      false;  ///< kPreMulSum: the scalar is in memory, and set just before it is read
  bool null_unused = false;  ///< pointers that this rank's part does not use are null
  Values values = Values::kExact;
  Memory memory = Memory::kMalloc;
  unsigned misalign = 0;  ///< bytes between a multiple of 64 and where buffers begin
  int selection = 0;      ///< the call's config: 0 none, else 1 + a row of kSelections
  int odd_rank = -1;      ///< rank of the communicator that differs
  Odd odd = Odd::kNone;
};

enum class What {
  kForm,     ///< form communicator `comm` of `ranks`
  kSplit,    ///< split `comm` by `colors` and `keys` into communicators `made` + color
  kShrink,   ///< shrink `comm` without `ranks` (of that communicator) to communicator `made`
  kGrow,     ///< grow `comm` by world ranks `ranks` to communicator `made`
  kPut,      ///< each rank of `comm` puts `bytes`, `repeat` times, to the one `shift` further on
  kRun,      ///< run `calls`
  kChild,    ///< world rank `rank` forks a child that stays alive and does nothing
  kDestroy,  ///< destroy `comm`, each rank as soon as it gets there
  kKill,     ///< process of world rank `rank` dies `us` microseconds from now
  kAbort,    ///< world rank `rank` aborts `comm` and calls nothing on it any more
  kRevoke    ///< world rank `rank` revokes `comm`
};

/// Streams of a rank.
inline constexpr int kStreamsMax = 3;

/// Of all puts of one step to one rank.
inline constexpr int kPutBytesMax = 600
                                    << 10;  // some pieces, where it goes over the control network

struct Step {
  What what = What::kRun;
  int comm = 0;
  int made = 0;
  std::vector<int> ranks;
  std::vector<int> colors;  ///< -1: NCCL_SPLIT_NOCOLOR
  std::vector<int> keys;
  std::vector<Call> calls;
  int depth = 0;          ///< how many groups surround the calls; 0: none
  bool simulate = false;  ///< the group ends in ncclGroupSimulateEnd
  bool shuffled = false;  ///< each rank has an order of its own among communicators
  bool all = false;       ///< kForm: by ncclCommInitAll
  bool nonblocking = false;
  bool scalable = false;  ///< kForm: by ncclCommInitRankScalable with two ids
  bool finalize = false;  ///< kDestroy: ncclCommFinalize first
  bool broken = false;    ///< kShrink: NCCL_SHRINK_ABORT
  int rank = -1;          ///< kKill, kAbort, kRevoke: who; kRun: who is late
  int us = 0;             ///< microseconds: how late, or until the end
  int shift = 0;          ///< kPut
  int bytes = 0;          ///< kPut
  int repeat = 1;         ///< kPut
  /// kRun, kPut: each rank issues to so many; 0: the null stream. kAbort, kRevoke: the rank has
  /// issued its calls to so many, which wait when it gives up, or have run for `us`.
  int streams = 0;
  int launches = 0;  ///< kRun: captured, and launched so often; 0: not captured
  /// kRun: each rank gives about half of its calls the null stream, and the others one of
  /// `streams`.
  bool null_too = false;
  /// kRun: each rank calls each communicator from a thread of its own, all at the same time.
  bool apart = false;
};

/// The place of a world rank.
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
  std::set<int> doomed;  ///< communicators that have lost a rank, or on which ranks differed
  std::set<int> dead;    ///< world ranks
};

/// False: the step does not fit, for example since its communicator does not exist.
bool Fits(const Step& step, const World& world, const Program& program);
void Apply(const Step& step, World& world);

/// The program without the steps and calls that do not fit.
Program Normalised(const Program& program);

std::size_t CountCalls(const Program& program);
/// A circumstance of calls that the summary of a run counts.
enum class Among { kStreamed, kCaptured, kNullToo, kApart, kAfterChild };
inline constexpr int kAmongs = 5;
std::size_t CountCalls(const Program& program, Among among);
/// A rank dies, aborts or revokes, or calls something else than the rest.
bool IsFault(const Step& step);
bool HasFault(const Program& program);
bool HasKill(const Program& program);

/// Text, and back. Parse throws std::runtime_error that names the line.
std::string ToText(const Program& program);
std::string ToText(const Call& call);
Program Parse(const std::string& text);

std::size_t SizeOf(Type type);
bool Reduces(Kind kind);
bool HasRoot(Kind kind);
bool IsFloat(Type type);

/// Elements that rank `self` of `n` gives and gets.
std::size_t InputCount(const Call& call, int n, int self);
std::size_t OutputCount(const Call& call, int n, int self);

}  // namespace oracle
