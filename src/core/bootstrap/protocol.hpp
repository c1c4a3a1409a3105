// The frames of the bootstrap and of the control network. Layouts: docs/reference/wire.md.
#pragma once
#include <optional>
#include <string>

#include "base/wire/frame.hpp"
#include "base/wire/slow_send.hpp"
#include "bootstrap/roster.hpp"
#include "bootstrap/tree.hpp"

namespace ringlet::bootstrap {

enum class FrameType : std::uint8_t {
  // member <-> root, and rank <-> the node leader of its host
  kCheckIn = 1,      ///< member -> root or node leader: who I am
  kLocalRank = 18,   ///< node leader -> root: who another rank of my host is
  kWelcome = 2,      ///< root -> member: who the root is
  kNodeLeader = 19,  ///< node leader -> rank of its host: who I am
  kReject = 3,       ///< root -> member: it failed, and why
  kNeighbour = 4,    ///< root -> member, ring mode: who comes after you
  kSection = 20,     ///< root -> member -> first root: the roster of that root's ranks, in pieces
  kReady = 5,        ///< member -> root, child -> parent: I and all below me are connected
  kDone = 6,         ///< root -> member: the root's work is done
  kBeat = 21,        ///< on every line: I live
  // member <-> member
  kIdentify = 7,  ///< first frame of the one who dialled: which rank I am, and your place
  kRoster = 8,    ///< down the tree (and root -> its top): the roster, in pieces
  kGo = 9,        ///< down the tree: all ranks are connected
  // member <-> member, of one group: a u64 group id, then
  kGather = 10,   ///< up the tree: the entries of my subtree
  kTable = 11,    ///< down the tree: the entries of all
  kBlock = 12,    ///< along the ring: the entry of one rank
  kMessage = 13,  ///< peer to peer: a tagged message
  kFailure = 14,  ///< on every line: a rank failed, pass it on (to the root without a group)
  kLeave = 15,    ///< on every line: I go, and that is in order
  kAsk = 16,      ///< peer to peer: what are you doing?
  kAnswer = 17,   ///< peer to peer: this
  kForm = 22,     ///< on every line: I have formed this group, of these ranks
};

/// How members are connected, and how an all-gather goes.
enum class Shape : std::uint8_t { kTree = 0, kRing = 1 };

/// Which ranks check in at which of several roots.
struct RootShare {
  std::uint32_t index = 0;
  std::uint32_t count = 1;
  bool operator==(const RootShare&) const = default;
};

struct CheckIn {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 0;
  std::uint32_t timeout_ms = 0;  ///< the rest of the member's join timeout
  RootShare root;
  MemberAddress member_address;
};

/// A rank whose node leader checks it in. Its member address is sent as what differs from the node
/// leader's.
struct LocalRankCheckIn {
  CheckIn check_in;  ///< member_address: empty on the wire
  Bytes difference;
};

/// A parent calls: who it is, and the part of the tree that it leaves to the one it calls.
struct Identify {
  std::uint32_t rank = 0;
  PlaceRange subtree;  ///< of node leaders; empty where it is not a tree that is built
};

struct Welcome {
  std::string host;  ///< where the root runs
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> hosted_rank;  ///< a rank of the root's process, once one is known
};

/// A failure and where it began. Passed on unchanged, so that all ranks tell the same story; only a
/// rank that is called lost, and lives, puts that before it.
struct Failure {
  Code code = Code::kProtocol;
  std::uint32_t origin = 0;  ///< the rank that failed, or kNoOrigin
  std::string text;
};
inline constexpr std::uint32_t kNoOrigin = 0xffffffff;
inline constexpr std::size_t kFailureTextBytesMax = 4096;

/// The activity of a rank in another communicator of its process, for those who have no part in
/// that.
struct GroupActivity {
  std::uint64_t communicator = 0;  ///< its public name
  std::uint32_t rank = 0, ranks = 1;
  // As of Activity:
  std::uint64_t operations = 0;
  std::optional<std::uint32_t> waits_for = {};
  Bytes call = {};
  std::vector<std::uint64_t> counts = {};
  bool operator==(const GroupActivity&) const = default;
};

/// The activity of a rank on the data plane. Asked when an operation times out, to find the rank
/// that has not come rather than one that waits for it as well.
struct Activity {
  std::uint64_t operations = 0;                 ///< begun so far
  std::optional<std::uint32_t> waits_for = {};  ///< inside one: a rank whose data it needs next
  /// Its last call, as the data plane writes it; empty before the first call.
  Bytes call = {};
  std::vector<std::uint64_t> counts = {};  ///< of its calls so far, by kind of call
  std::vector<SlowSend> slow_sends = {};   ///< bytes that do not arrive
  std::vector<GroupActivity> others = {};  ///< communicators of its process
  bool operator==(const Activity&) const = default;
};
inline constexpr std::size_t kActivityCallBytesMax = 64;  // collective::Header has 32
inline constexpr std::size_t kActivityCountsMax = 32;     // collective::kCallKinds is 11
inline constexpr std::size_t kActivitySlowSendsMax =
    128;  // of one rank; what it sends to others is not told
/// Of a process that has more none are told: a part of them would look as if ranks were missing.
inline constexpr std::size_t kActivityOthersMax = 255;

/// The largest frame that is accepted from a peer that has proved to know the secret, per kind of
/// line.
inline constexpr std::size_t kRootFrameBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kMemberFrameBytesMax = std::size_t{1} << 30;

/// Rosters travel in pieces of a size between these, so that they are passed on while they come.
inline constexpr std::size_t kPieceBytesMin = std::size_t{256} << 10;
inline constexpr std::size_t kPieceBytesMost = std::size_t{4} << 20;
/// The pieces of `roster`: slices of it, about 32.
std::vector<Slice> PiecesOf(const Slice& roster);

/// The ranks of root `share.index` among `size`: contiguous, the first ones have one more where
/// they do not share evenly. The same as NCCL's, so that callers may compute it too.
PlaceRange RanksOfRoot(RootShare share, std::uint32_t size);
/// Which of `count` roots serves `rank`.
std::uint32_t RootOfRank(std::uint32_t rank, std::uint32_t size, std::uint32_t count);

Bytes ToFrame(const CheckIn& check_in);
Bytes ToFrame(const LocalRankCheckIn& local_rank);
Bytes ToFrame(const Welcome& welcome);
Bytes ToFrame(const Identify& identify);
Bytes ToFrame(FrameType type, const Failure& failure);  ///< kReject or kFailure
Bytes ToFrame(FrameType type);                          ///< one without payload

/// Errors  kProtocol  cut short, too long or out of range; the sentence says what.
Result<CheckIn> ParseCheckIn(View payload);
Result<LocalRankCheckIn> ParseLocalRank(View payload);
Result<Welcome> ParseWelcome(View payload);
Result<Identify> ParseIdentify(View payload);
Result<Failure> ParseFailure(View payload);
/// As rank `self` receives it.
Result<Failure> ParseFailure(View payload, std::uint32_t self);
void Encode(Writer& out, const Failure& failure);
void Encode(Writer& out, const Activity& activity);
Result<Activity> ParseActivity(View payload);

/// "2", "3-7,9": for naming who is missing.
std::string RangesText(const std::vector<std::uint32_t>& ascending);

}  // namespace ringlet::bootstrap
