// The settings of a member, and the times at which it reaches each state.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/wire/wire.hpp"
#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

/// The address of a root and the proof that it expects.
struct RootEndpoint {
  Credentials credentials;
  std::vector<Address> addresses;
  /// The root listened before any rank had the id. If it no longer listens, its process has ended.
  bool was_there = false;
};

struct MemberConfig {
  /// The same list on all ranks, at least one. Members connect with the credentials of the first.
  std::vector<RootEndpoint> roots;
  Secret nonce_seed{};
  Rank rank{};
  std::uint32_t size = 0;
  MemberAddress member_address;
  Shape shape = Shape::kTree;
  std::uint16_t arity = 8;
  /// The address of this host's node leader, a UNIX socket. Empty if the host uses no node leader.
  std::optional<Address> node_leader;
  /// This rank is the node leader, and its owner listens at the address.
  bool speaks = false;
  /// Time limit for joining, from the first Tick. After check-in a member waits a LadderStep longer
  /// for the root's reason.
  Instant timeout = std::chrono::seconds(300);
  Instant handshake_timeout = std::chrono::seconds(10);  ///< time for a caller to authenticate
  /// A rank is lost if it stays silent this long; 0: never. Ranks send a beat every quarter of it.
  Instant silence_max = std::chrono::seconds(60);
  LineOptions lines = {};  ///< of every connection; equal on all ranks
  /// Maximum number of unauthenticated callers. Further ones wait in the listener's queue. Larger
  /// than the number of ranks of a host, because all of them call their node leader at once.
  std::size_t half_open_max = 4096;
  std::uint32_t strangers_noted_max = 32;
  MailboxLimits mailbox;
  /// Returns this rank's activity, for another rank that requests it. If it is empty, so is the
  /// answer.
  std::function<Activity(GroupId)> activity;
  IsStopped is_stopped;                       ///< queried about a rank that does not answer
  std::shared_ptr<RosterCache> roster_cache;  ///< of the process; may be null
};

/// The time at which this rank reached each state. Zero: not yet.
struct Milestones {
  Instant started{0};
  Instant called{0};     ///< connected to the root or node leader, and checked in
  Instant roster{0};     ///< the roster is complete
  Instant connected{0};  ///< all ranks below are connected
  Instant standing{0};
};

}  // namespace ringlet::bootstrap
