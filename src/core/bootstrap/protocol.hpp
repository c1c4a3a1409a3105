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
  kCheckIn = 1,      ///< member -> root or node leader: the sender's member address
  kLocalRank = 18,   ///< node leader -> root: the member address of another rank of its host
  kWelcome = 2,      ///< root -> member: the root's host and process
  kNodeLeader = 19,  ///< node leader -> rank of its host: the node leader's rank
  kReject = 3,       ///< root -> member: joining failed, with the reason
  kNeighbour = 4,    ///< root -> member, ring mode: the next rank's member address
  kSection = 20,     ///< root -> member -> first root: the roster of that root's ranks, in pieces
  kReady = 5,  ///< member -> root, child -> parent: the sender and all ranks below it are connected
  kDone = 6,   ///< root -> member: the root's work is done
  kBeat = 21,  ///< on every connection: the sender lives
  // member <-> member
  kIdentify = 7,  ///< first frame of the rank that dialled: its number and the receiver's place
  kRoster = 8,    ///< down the tree (and root -> its top): the roster, in pieces
  kGo = 9,        ///< down the tree: all ranks are connected
  // member <-> member, of one group: a u64 group id, then
  kGather = 10,   ///< up the tree: the entries of the sender's subtree
  kTable = 11,    ///< down the tree: the entries of all ranks
  kBlock = 12,    ///< along the ring: the entry of one rank
  kMessage = 13,  ///< peer to peer: a tagged message
  kFailure = 14,  ///< on every connection: a rank failed (to the root without a group)
  kLeave = 15,    ///< on every connection: the sender leaves in good order
  kAsk = 16,      ///< peer to peer: requests the peer's activity
  kAnswer = 17,   ///< peer to peer: the answer to kAsk
  kForm = 22,     ///< on every connection: the sender has formed this group, with these ranks
};

/// The connections among members, and the path of an all-gather along them.
enum class Shape : std::uint8_t { kTree = 0, kRing = 1 };

/// The share of the ranks that checks in at one of several roots.
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
  std::uint32_t timeout_ms = 0;  ///< the time left until the member's join timeout
  RootShare root;
  MemberAddress member_address;
};

/// The check-in that a node leader sends for a rank of its host. The member address is sent as its
/// difference from the node leader's.
struct LocalRankCheckIn {
  CheckIn check_in;  ///< its member_address is empty on the wire
  Bytes difference;
};

/// A parent sends its rank and the part of the tree that the called rank serves.
struct Identify {
  std::uint32_t rank = 0;
  PlaceRange subtree;  ///< of node leaders; empty if no tree is being built
};

struct Welcome {
  std::string host;  ///< the root's host
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> hosted_rank;  ///< a rank of the root's process, if known
};

/// A failure and its origin. Ranks pass it on unchanged, so that all report the same reason. Only a
/// rank that lives although the failure calls it lost adds that fact.
struct Failure {
  Code code = Code::kProtocol;
  /// The rank that failed; if it is lost (kPeerLost), that one. Or kNoOrigin.
  std::uint32_t origin = 0;
  std::string text;
};
inline constexpr std::uint32_t kNoOrigin = 0xffffffff;
inline constexpr std::size_t kFailureTextBytesMax = 4096;

/// The activity of a rank in another communicator of its process, for outsiders.
struct GroupActivity {
  std::uint64_t communicator = 0;  ///< its public name
  std::uint32_t rank = 0, ranks = 1;
  // The fields below mean the same as in Activity.
  std::uint64_t operations = 0;
  std::optional<std::uint32_t> waits_for = {};
  Bytes call = {};
  std::vector<std::uint64_t> counts = {};
  bool operator==(const GroupActivity&) const = default;
};

/// The activity of a rank on the data plane. A rank requests it when an operation times out, to
/// find the rank that has not arrived instead of one that waits for it too.
struct Activity {
  std::uint64_t operations = 0;                 ///< number begun so far
  std::optional<std::uint32_t> waits_for = {};  ///< the rank that must send the next data
  /// The last call, as the data plane encodes it. Empty before the first call.
  Bytes call = {};
  std::vector<std::uint64_t> counts = {};  ///< number of its calls so far, by kind of call
  std::vector<SlowSend> slow_sends = {};   ///< sends that make no progress
  std::vector<GroupActivity> others = {};  ///< the other communicators of its process
  bool operator==(const Activity&) const = default;
};
inline constexpr std::size_t kActivityCallBytesMax = 64;   // collective::Header needs 32
inline constexpr std::size_t kActivityCountsMax = 32;      // collective::kCallKinds is 11
inline constexpr std::size_t kActivitySlowSendsMax = 128;  // per rank; the rest is left out
/// A process with more reports none, because ranks would seem to be missing from a partial list.
inline constexpr std::size_t kActivityOthersMax = 255;

/// Largest frame accepted from an authenticated peer, per kind of connection.
inline constexpr std::size_t kRootFrameBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kMemberFrameBytesMax = std::size_t{1} << 30;

/// Rosters travel in pieces between these sizes, so that a rank passes on early ones while it
/// receives later ones.
inline constexpr std::size_t kPieceBytesMin = std::size_t{256} << 10;
inline constexpr std::size_t kPieceBytesMost = std::size_t{4} << 20;
/// Splits `roster` into about 32 slices.
std::vector<Slice> PiecesOf(const Slice& roster);

/// The ranks that root `share.index` serves among `size`: contiguous shares. The first shares have
/// one more rank if the division leaves a remainder. NCCL's shares are equal, so callers can
/// compute them.
PlaceRange RanksOfRoot(RootShare share, std::uint32_t size);
/// The index of the root, among `count`, that serves `rank`.
std::uint32_t RootOfRank(std::uint32_t rank, std::uint32_t size, std::uint32_t count);

Bytes ToFrame(const CheckIn& check_in);
Bytes ToFrame(const LocalRankCheckIn& local_rank);
Bytes ToFrame(const Welcome& welcome);
Bytes ToFrame(const Identify& identify);
Bytes ToFrame(FrameType type, const Failure& failure);  ///< kReject or kFailure
Bytes ToFrame(FrameType type);                          ///< a frame without payload

/// Errors  kProtocol  the payload is cut short, too long or out of range; the message states which.
Result<CheckIn> ParseCheckIn(View payload);
Result<LocalRankCheckIn> ParseLocalRank(View payload);
Result<Welcome> ParseWelcome(View payload);
Result<Identify> ParseIdentify(View payload);
Result<Failure> ParseFailure(View payload);
/// Parses a failure for rank `self` of `size`. If it calls `self` lost, the text states that `self`
/// lives. An origin that is not a rank becomes kNoOrigin.
Result<Failure> ParseFailure(View payload, std::uint32_t self, std::uint32_t size);
void Encode(Writer& out, const Failure& failure);
void Encode(Writer& out, const Activity& activity);
Result<Activity> ParseActivity(View payload);

/// Formats ascending ranks, such as "2" or "3-7,9", for messages that name missing ranks.
std::string RangesText(const std::vector<std::uint32_t>& ascending);

}  // namespace ringlet::bootstrap
