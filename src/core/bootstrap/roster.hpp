// The members of the communicator: one immutable buffer with a record for each rank.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/address.hpp"
#include "base/value/bytes.hpp"
#include "bootstrap/tree.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

/// The record that a member sends in its check-in.
struct MemberAddress {
  std::vector<Address> addresses;  ///< of its control listener, best first; at most kAddressesMax
  std::string host;                ///< host name, for messages; at most kHostBytesMax
  std::uint32_t pid = 0;
  Bytes peer_info;  ///< of the rank for the layers above; opaque; at most kPeerInfoBytesMax

  bool operator==(const MemberAddress&) const = default;
};

inline constexpr std::size_t kAddressesMax = 16;
inline constexpr std::size_t kHostBytesMax = 255;
inline constexpr std::size_t kPeerInfoBytesMax = 4096;
/// Bound of one encoded MemberAddress: the sum of its field bounds, and a margin.
inline constexpr std::size_t kRecordBytesMax = 8192;

void Encode(Writer& out, const MemberAddress& member_address);
MemberAddress DecodeMemberAddress(Reader& in);  ///< Fails `in` if a bound is exceeded.
/// Errors  kProtocol  the record does not parse.
Result<MemberAddress> ParseMemberAddress(View record);

/// "rank 3 (host node7, pid 4711)"
std::string Describe(Rank rank, const MemberAddress& member_address);

/// Returns true if a process is known to be stopped. Returns false for a process on another host.
using IsStopped = std::function<bool(std::string_view host, std::uint32_t pid)>;
/// "is stopped (by SIGSTOP or a debugger; kill -CONT 4711 resumes it)", or empty.
/// \param is_stopped  may be empty
std::string StoppedText(const IsStopped& is_stopped, std::string_view host, std::uint32_t pid);
/// The reason why a connection ends after no data has arrived for `silence`.
/// \param stopped  StoppedText of its peer
std::string SilenceText(std::chrono::nanoseconds silence, const std::string& stopped);

/// The root's record of one rank.
struct RankRecord {
  Bytes member_address;           ///< encoded
  std::uint32_t node_leader = 0;  ///< the rank that checked it in; often itself
};

/// The records of a range of ranks (usually all) in one buffer, which is forwarded, shared and
/// kept, but never decoded as a whole. Layout in docs/reference/wire.md. Look-up is O(1).
///
/// A rank that checks in for others of its host is their node leader. Node leaders are first in the
/// buffer, so that a rank can dial the next ones before the last piece arrives.
class Roster {
 public:
  Roster() = default;

  /// \param first    the rank of records[0]
  /// \param records  the records of ranks first, first + 1, ...
  static Roster Build(std::uint32_t first, const std::vector<RankRecord>& records);

  /// Takes a received roster without copying it.
  /// Errors  kProtocol  the layout is broken, or the digest is wrong.
  /// Cost    O(bytes)
  static Result<Roster> Parse(const Slice& bytes);

  std::uint32_t first() const { return first_; }
  std::uint32_t size() const { return survivors_ ? survivors_->size() : size_; }
  std::uint64_t digest() const { return digest_; }
  /// The whole buffer, even if ranks were left out.
  const Slice& bytes() const { return bytes_; }

  /// The number of node leaders in the buffer. They are ordered by the lowest rank that each checks
  /// in.
  std::uint32_t node_leader_count() const { return node_leaders_; }
  Rank NodeLeader(std::uint32_t index) const;
  Result<Rank> NodeLeaderOf(Rank rank) const;

  /// Errors  kProtocol  the record does not parse.
  Result<MemberAddress> At(Rank rank) const;
  /// Returns the record of At, still encoded.
  Result<Bytes> RecordAt(Rank rank) const;
  /// Describe(rank, At(rank)); only "rank 3" if the record cannot be read.
  std::string DescribeRank(Rank rank) const;

  /// bootstrap::StoppedText of the rank's process. Empty if the record cannot be read.
  std::string StoppedText(Rank rank, const IsStopped& is_stopped) const;

  /// The place of a rank in the control tree of these ranks. \pre  first() is 0
  /// Cost  see ControlTree
  TreePlace PlaceOf(Rank rank, std::uint32_t arity) const;
  /// The ranks that replace a rank in that tree. \pre  as in PlaceOf
  Successors SuccessorsOf(Rank rank) const;

  /// The roster of some of these ranks, renumbered from 0 in the given order.
  /// Errors  kProtocol  a record does not parse.
  /// Cost    O(ranks), and a copy of their records
  Result<Roster> Subset(const std::vector<std::uint32_t>& ranks) const;
  /// The roster without some ranks, on the same buffer. All others are renumbered from 0.
  /// \param survivors  of the ranks in the buffer, even if ranks were left out before; not null
  /// \pre   first() is 0, and a rank remains
  /// Cost   see ControlTree
  Roster Without(std::shared_ptr<const Survivors> survivors) const;

 private:
  friend class RosterInbox;
  friend class RosterCache;
  Status ReadHead(View prefix);
  std::optional<View> BodyAt(std::uint32_t index) const;
  Status CheckBodies();
  void LayOut(std::span<const std::uint32_t> node_leaders);
  /// The rank in the buffer.
  std::uint32_t Recorded(Rank rank) const {
    return survivors_ ? survivors_->OldRank(Index(rank)) : Index(rank);
  }

  Slice bytes_;                                 // in an inbox: the bytes that have arrived so far
  std::shared_ptr<const ControlTree> tree_;     // null if the first rank is not 0
  std::shared_ptr<const Survivors> survivors_;  // null: all ranks in the buffer
  std::uint32_t total_ = 0, first_ = 0, size_ = 0, node_leaders_ = 0;
  std::uint64_t digest_ = 0;
};

/// The rosters that one process has received. Its ranks receive equal rosters and share one copy. A
/// roster cache does not keep rosters alive. One thread at a time.
class RosterCache {
 public:
  /// Parses a roster, or shares an equal one that is already here without checking it again.
  Result<Roster> Adopt(const Slice& bytes);

 private:
  struct Entry {
    std::weak_ptr<const Bytes> alive;
    std::weak_ptr<const ControlTree> tree;
    Roster roster;  // borrowed from `alive`
  };
  std::vector<Entry> entries_;
};

/// A roster that is arriving: pieces in order.
class RosterInbox {
 public:
  /// Errors  kProtocol  the pieces are not a roster, or are longer than its header states.
  /// Cost    copies a piece, unless it follows the piece before in the same buffer.
  Status Push(const Slice& piece);

  bool complete() const { return head_ && so_far_.size() == partial_.total_; }
  /// The number of node leaders. Empty until the header has arrived.
  std::optional<std::uint32_t> node_leader_count() const;
  /// Node leader number `index` and its record. Empty until they have arrived.
  Result<std::optional<std::pair<Rank, MemberAddress>>> FindNodeLeader(std::uint32_t index) const;

  /// \param roster_cache  may be null
  Result<Roster> Finish(RosterCache* roster_cache);

 private:
  Slice view() const;

  bool head_ = false;
  View so_far_;
  SharedBytes owner_;              // owner of adjacent pieces
  std::shared_ptr<Bytes> copied_;  // holds the roster if its pieces are not adjacent
  Roster partial_;
};

/// Bound of one roster: 2^24 ranks at 60 bytes.
inline constexpr std::size_t kRosterBytesMax = std::size_t{1} << 30;

}  // namespace ringlet::bootstrap
