// The settings of a member, and the times at which it has come how far.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/wire/wire.hpp"
#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

/// The address of a root and the proof that it expects.
struct RootDoor {
  Credentials credentials;
  std::vector<Address> addresses;
  /// It listened before any rank had the id, so its process has ended if none listens there now.
  bool was_there = false;
};

struct MemberConfig {
  /// At least one; the same list on all ranks. The credentials of the first are those of every
  /// connection between members.
  std::vector<RootDoor> roots;
  Secret nonce_seed{};
  Rank rank{};
  std::uint32_t size = 0;
  MemberAddress member_address;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 8;
  /// The address of this host's node leader, a UNIX socket, if there is to be one.
  std::optional<Address> node_leader;
  /// This rank is the node leader: its owner listens there.
  bool speaks = false;
  /// For joining, from the first Tick; a member that has checked in waits a LadderStep longer for
  /// the root's word.
  Instant timeout = std::chrono::seconds(300);
  Instant handshake_timeout = std::chrono::seconds(10);  ///< for a caller to prove itself
  /// A rank that is not heard of for so long is lost; 0: never. Heartbeats are sent every quarter
  /// of it.
  Instant silence_max = std::chrono::seconds(60);
  LineOptions lines = {};  ///< of every connection; the same on all ranks
  /// Callers that have proven nothing yet; the others wait in the listener's queue. More than a
  /// host has ranks: all of them call its node leader at once.
  std::size_t half_open_max = 4096;
  std::uint32_t strangers_noted_max = 32;
  MailboxLimits mailbox;
  /// The answer when another rank of a group asks; none: nothing.
  std::function<Activity(GroupId)> activity;
  IsStopped is_stopped;                ///< asked of a rank that does not answer
  std::shared_ptr<RosterShelf> shelf;  ///< of the process; may be null
};

/// When this rank got how far; zero: not yet.
struct Milestones {
  Instant started{0};
  Instant called{0};     ///< connected to the root or node leader, and checked in
  Instant roster{0};     ///< knows all ranks
  Instant connected{0};  ///< all below are connected
  Instant standing{0};
};

}  // namespace ringlet::bootstrap
