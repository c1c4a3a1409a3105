// The frames of the bootstrap and of the control network. Layouts: docs/wire.md.
#pragma once
#include <optional>
#include <string>

#include "base/frame.hpp"
#include "bootstrap/roster.hpp"

namespace ringlet::bootstrap {

enum class FrameType : std::uint8_t {
  // member <-> root
  kCheckIn = 1,    ///< member -> root: who I am
  kWelcome = 2,    ///< root -> member: who the root is
  kReject = 3,     ///< root -> member: it failed, and why
  kNeighbour = 4,  ///< root -> member, ring mode: who comes after you
  kReady = 5,      ///< member -> root, child -> parent: I and all below me are connected
  kDone = 6,       ///< root -> member: the root's work is done
  // member <-> member
  kIdentify = 7,  ///< first frame of the one who dialled: which rank I am
  kRoster = 8,    ///< down the tree (and root -> rank 0)
  kGo = 9,        ///< down the tree: everybody is connected
  kGather = 10,   ///< up the tree: the entries of my subtree
  kTable = 11,    ///< down the tree: the entries of all
  kBlock = 12,    ///< along the ring: the entry of one rank
  kMessage = 13,  ///< peer to peer: a tagged message
  kFailure = 14,  ///< on every line: somebody failed, pass it on
  kLeave = 15,    ///< on every line: I go, and that is in order
  kAsk = 16,      ///< peer to peer: what are you doing?
  kAnswer = 17,   ///< peer to peer: this
};

/// How members are connected, and how an all-gather goes.
enum class Shape : std::uint8_t { kTree = 0, kRing = 1 };

struct CheckIn {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 0;
  std::uint32_t timeout_ms = 0;  ///< what is left of the member's patience
  Introduction introduction;
};

struct Welcome {
  std::string host;  ///< where the root runs
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> hosted_rank;  ///< a rank of the root's process, once one is known
};

/// A failure and where it began. Passed on unchanged, so that all ranks tell the same story.
struct Failure {
  Code code = Code::kProtocol;
  std::uint32_t origin = 0;  ///< the rank that failed, or kNoOrigin
  std::string text;
};
inline constexpr std::uint32_t kNoOrigin = 0xffffffff;
inline constexpr std::size_t kFailureTextBytesMax = 4096;

/// What a rank is doing on the data plane. Asked when an operation times out, to find the rank that
/// has not come rather than one that waits for it as well.
struct Activity {
  std::uint64_t operations = 0;                 ///< begun so far
  std::optional<std::uint32_t> waits_for = {};  ///< inside one: a rank whose data it needs next
  bool operator==(const Activity&) const = default;
};

/// The largest frame that is accepted from whoever has proved to know the secret, per kind of line.
inline constexpr std::size_t kCheckInBytesMax = 8192;
inline constexpr std::size_t kMemberFrameBytesMax = std::size_t{1} << 30;

Bytes ToFrame(const CheckIn& check_in);
Bytes ToFrame(const Welcome& welcome);
Bytes ToFrame(FrameType type, const Failure& failure);  ///< kReject or kFailure
Bytes ToFrame(FrameType type);                          ///< one without payload

/// Errors  kProtocol  cut short, too long or out of range; the sentence says what.
Result<CheckIn> ParseCheckIn(View payload);
Result<Welcome> ParseWelcome(View payload);
Result<Failure> ParseFailure(View payload);
Bytes ToFrame(const Activity& activity);
Result<Activity> ParseActivity(View payload);

/// "2", "3-7,9": for naming who is missing.
std::string RangesText(const std::vector<std::uint32_t>& ascending);

}  // namespace ringlet::bootstrap
