// Which frames the root and a member accept, by state and by the line that they come on, and which
// states may follow. The machines ask here, in one place each, before they look at a frame. A frame
// that is listed for an earlier state only is late or repeated, and the machines ignore it. Any
// other frame that is not listed is a breach of the protocol.
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
  kConnecting,  ///< the roster is out; until the members report that they are connected
  kClosing,     ///< in a tree, where no rank waits for its word: a moment later
  kRefusing,    ///< it has failed, and stays to tell those who come late
  kFinished,
};
/// The kind of a root's line.
enum class RootLine : std::uint8_t {
  kCaller,  ///< it has proven that it knows the secret, and says its first frame
  kMember,  ///< it has checked in
};

enum class MemberState : std::uint8_t {
  kCalling,     ///< until it has checked in, with the root or the node leader of its host
  kCheckedIn,   ///< until it has the roster; in a ring: until all ranks' addresses have come around
  kConnecting,  ///< tree: until all below are connected
  kReported,    ///< until the top of the tree, or the root of a ring, says go
  kStanding,
  kOver,
};
/// The kind of a member's line: the other end's place.
enum class MemberLine : std::uint8_t {
  kCaller,  ///< it has proven that it knows the secret, and says its first frame
  kRoot,
  kNodeLeader,  ///< of this host; the parent once the roster is there
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
  SetOf<State> next;  ///< `in` itself where nothing changes
  SetOf<Shape> shapes = {Shape::kTree, Shape::kRing};
};
using RootRule = FrameRule<RootState, RootLine>;
using MemberRule = FrameRule<MemberState, MemberLine>;

std::span<const RootRule> RootRules();
std::span<const MemberRule> MemberRules();

/// The rule for a frame; null: it is not accepted. None has two.
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

/// The kinds that a line of this kind may have had before, itself among them.
SetOf<MemberLine> KindsSoFar(MemberLine line);
SetOf<RootLine> KindsSoFar(RootLine line);

/// True if the line could have carried the frame before: the frame is late or repeated.
/// \pre  RuleFor gives no rule
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
