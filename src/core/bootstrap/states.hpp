// The frames that the root and a member accept, by state and by connection kind, and the states
// that may follow. Both machines check every frame here first. They ignore a late or repeated
// frame, which only an earlier state accepts. Any other unlisted frame violates the protocol.
#pragma once
#include <initializer_list>
#include <span>

#include "bootstrap/protocol.hpp"

namespace ringlet::bootstrap {

/// A set of values of an enumeration, each below 32.
template <class E>
struct SetOf {
  std::uint32_t bits = 0;
  constexpr SetOf(std::initializer_list<E> values) {
    for (const E value : values) bits |= std::uint32_t{1} << static_cast<std::uint32_t>(value);
  }
  constexpr bool contains(E value) const {
    const auto bit = static_cast<std::uint32_t>(value);
    return bit < 32 && (bits >> bit & 1) != 0;
  }
};

enum class RootState : std::uint8_t {
  kEmpty,
  kGathering,   ///< after the first check-in, which defines size, shape and deadline
  kConnecting,  ///< the roster is sent; lasts until the members report that they are connected
  kClosing,     ///< in a tree, where no rank waits for the root: lasts a moment
  kRefusing,    ///< joining has failed; the root stays to give late ranks the reason
  kFinished,
};
/// The kind of a root's connection.
enum class RootLine : std::uint8_t {
  kCaller,  ///< the caller has proven the secret and sends its first frame
  kMember,  ///< the rank has checked in
};

enum class MemberState : std::uint8_t {
  kCalling,     ///< until it has checked in, with the root or the node leader of its host
  kCheckedIn,   ///< until it has the roster; in a ring, until it has the addresses of all ranks
  kConnecting,  ///< tree: until all ranks below are connected
  kReported,    ///< until the top of the tree sends kGo, or the root of a ring sends kDone
  kStanding,
  kOver,
};
/// The kind of a member's connection: the role of the peer.
enum class MemberLine : std::uint8_t {
  kCaller,  ///< the caller has proven the secret and sends its first frame
  kRoot,
  kNodeLeader,  ///< the node leader of this host; becomes the parent once the roster has arrived
  kParent,
  kChild,
  kNext,
  kPrevious,
  kPeerIn,
  kPeerOut,
};

template <class State, class Line>
struct FrameRule {
  SetOf<State> in;
  SetOf<Line> from;
  SetOf<FrameType> frames;
  SetOf<State> next;  ///< equal to `in` if the frame does not change the state
  SetOf<Shape> shapes = {Shape::kTree, Shape::kRing};
};
using RootRule = FrameRule<RootState, RootLine>;
using MemberRule = FrameRule<MemberState, MemberLine>;

std::span<const RootRule> RootRules();
std::span<const MemberRule> MemberRules();

/// The only rule for a frame. Null if the frame is not accepted.
template <class State, class Line>
constexpr const FrameRule<State, Line>* RuleFor(std::span<const FrameRule<State, Line>> rules,
                                                State state, Line line, FrameType frame,
                                                Shape shape) {
  for (const auto& rule : rules)
    if (rule.in.contains(state) && rule.from.contains(line) && rule.frames.contains(frame) &&
        rule.shapes.contains(shape))
      return &rule;
  return nullptr;
}

/// The kinds that a connection of this kind may have had so far, including `line`.
SetOf<MemberLine> KindsSoFar(MemberLine line);
SetOf<RootLine> KindsSoFar(RootLine line);

/// True if the connection could have carried the frame earlier: it is late or repeated.
/// \pre  RuleFor returns null
template <class State, class Line>
constexpr bool IsLate(std::span<const FrameRule<State, Line>> rules, State state, Line line,
                      FrameType frame, Shape shape) {
  const std::uint32_t states_so_far = (std::uint32_t{2} << static_cast<std::uint32_t>(state)) - 1;
  for (const auto& rule : rules)
    if ((rule.in.bits & states_so_far) != 0 && (rule.from.bits & KindsSoFar(line).bits) != 0 &&
        rule.frames.contains(frame) && rule.shapes.contains(shape))
      return true;
  return false;
}

}  // namespace ringlet::bootstrap
