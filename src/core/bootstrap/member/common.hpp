// The part of a member that all its states use.
#pragma once
#include <string>

#include "bootstrap/member/connections.hpp"
#include "bootstrap/member/group_membership.hpp"

namespace ringlet::bootstrap {

/// A part of a Machine, not one itself; no I/O. Its owner sets `now`.
struct MemberCommon {
  MemberCommon(MemberConfig its_config, Dialler::Emit emit);

  std::uint32_t self() const { return Index(config.rank); }
  bool is_tree() const { return config.shape == Shape::kTree; }
  std::uint32_t roots() const { return static_cast<std::uint32_t>(config.roots.size()); }
  std::uint32_t own_root() const { return RootOfRank(self(), config.size, roots()); }
  /// Deadline for joining. A member that has checked in may exceed it by a LadderStep.
  Instant join_deadline() const { return milestones.started + config.timeout; }
  /// Deadline for a call to the next rank in the ring or to a child in the tree.
  Instant neighbour_deadline() const;

  std::optional<MemberAddress> AddressOf(std::uint32_t rank) const;
  std::string Name(std::uint32_t rank) const;
  /// Empty if the rank is not known to be stopped.
  std::string WhyStopped(std::uint32_t rank) const;

  /// Sends to any rank: on the existing connection, or on a new one, which is then kept.
  /// Errors  kProtocol  its address cannot be read.
  Status PostTo(std::uint32_t peer, const Slice& frame);
  Status SendOut(const GroupMembership& membership, GroupProtocol::OutgoingFrame out);
  void AnswerQuestions(GroupProtocol& group) const;

  const MemberConfig config;
  Connections connections;
  Roster roster;  ///< of the world; empty until it is known
  Milestones milestones;
  Instant now{0};  ///< the time of the event or command in progress
};

/// A member that has left all groups or failed to join.
struct MemberOver {
  std::optional<Failure> failure = {};  ///< of joining
};

}  // namespace ringlet::bootstrap
