// The members of the communicator: one immutable buffer with a record for each rank.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/value/address.hpp"
#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

/// The record of a member, as it checks in.
struct MemberAddress {
  std::vector<Address> addresses;  ///< of its control listener, best first; at most kAddressesMax
  std::string host;                ///< host name, for messages; at most kHostBytesMax
  std::uint32_t pid = 0;
  Bytes peer_info;  ///< data of the rank for the layers above; opaque here; at most
                    ///< kPeerInfoBytesMax

  bool operator==(const MemberAddress&) const = default;
};

inline constexpr std::size_t kAddressesMax = 16;
inline constexpr std::size_t kHostBytesMax = 255;
inline constexpr std::size_t kPeerInfoBytesMax = 4096;
/// Of one encoded Member address: what its bounds allow, and a little.
inline constexpr std::size_t kRecordBytesMax = 8192;

void Encode(Writer& out, const MemberAddress& member_address);
MemberAddress DecodeMemberAddress(Reader& in);  ///< fails `in` beyond a bound
/// Errors  kProtocol  it does not parse.
Result<MemberAddress> ParseMemberAddress(View record);

/// "rank 3 (host node7, pid 4711)"
std::string Describe(Rank rank, const MemberAddress& member_address);

/// Whether a process is known to be stopped; of one on another host nothing is known.
using IsStopped = std::function<bool(std::string_view host, std::uint32_t pid)>;
/// "is stopped (SIGSTOP or a debugger; kill -CONT 4711 lets it go on)", or nothing.
/// \param is_stopped  may be empty
std::string StoppedText(const IsStopped& is_stopped, std::string_view host, std::uint32_t pid);
/// Why a line ends on which nothing has come for `silence`.
/// \param stopped  StoppedText of its peer
std::string SilenceText(std::chrono::nanoseconds silence, const std::string& stopped);

/// One rank as the root knows it.
struct RankRecord {
  Bytes member_address;           ///< encoded
  std::uint32_t node_leader = 0;  ///< the rank on whose connection it checked in; often itself
};

/// The records of a range of ranks (most often all) in one buffer that is forwarded, shared and
/// kept, never decoded whole. Layout in docs/reference/wire.md. Look-up is O(1).
///
/// A rank that checks in for others of its host is their node leader. Node leaders come first in
/// the buffer, so that who receives it piece by piece can dial the next ones before it is complete.
class Roster {
 public:
  Roster() = default;

  /// \param first    the rank of records[0]
  /// \param records  of rank first, first + 1, ...
  static Roster Build(std::uint32_t first, const std::vector<RankRecord>& records);

  /// Takes a received roster without copying it.
  /// Errors  kProtocol  a broken layout, a wrong digest.
  /// Cost    O(bytes)
  static Result<Roster> Parse(const Slice& bytes);

  std::uint32_t first() const { return first_; }
  std::uint32_t size() const { return size_; }
  std::uint64_t digest() const { return digest_; }
  const Slice& bytes() const { return bytes_; }

  /// The node leaders, by the lowest rank that they speak for.
  std::uint32_t node_leader_count() const { return node_leaders_; }
  Rank NodeLeader(std::uint32_t index) const;
  Result<Rank> NodeLeaderOf(Rank rank) const;

  /// Errors  kProtocol  the record does not parse.
  Result<MemberAddress> At(Rank rank) const;
  /// As At, still encoded.
  Result<Bytes> RecordAt(Rank rank) const;
  /// As Describe(rank, At(rank)); just "rank 3" when the record cannot be had.
  std::string DescribeRank(Rank rank) const;

  /// bootstrap::StoppedText of its process; empty when the record cannot be had.
  std::string StoppedText(Rank rank, const IsStopped& is_stopped) const;

  /// The roster of some of these ranks, renumbered from 0 in the order given.
  /// Errors  kProtocol  a record does not parse.
  Result<Roster> Subset(const std::vector<std::uint32_t>& ranks) const;

 private:
  friend class RosterInbox;
  friend class RosterShelf;
  Status ReadHead(View prefix);
  std::optional<View> BodyAt(std::uint32_t index) const;
  Status CheckBodies() const;

  Slice bytes_;  // in an inbox: what has arrived so far
  std::uint32_t total_ = 0, first_ = 0, size_ = 0, node_leaders_ = 0;
  std::uint64_t digest_ = 0;
};

/// Rosters that one process has received: each of its ranks gets the same one, and one copy will
/// do. Holds none alive. One thread at a time.
class RosterShelf {
 public:
  /// As Roster::Parse; a roster that is here already is not checked again and is shared.
  Result<Roster> Adopt(const Slice& bytes);

 private:
  struct Entry {
    std::weak_ptr<const Bytes> alive;
    Roster roster;  // borrowed from `alive`
  };
  std::vector<Entry> entries_;
};

/// A roster on its way: pieces in order.
class RosterInbox {
 public:
  /// Errors  kProtocol  not a roster, or longer than it says.
  /// Cost    keeps a piece without a copy where it lies behind the one before in the same buffer.
  Status Push(const Slice& piece);

  bool complete() const { return head_ && so_far_.size() == partial_.total_; }
  /// The node leaders' number, once that much has arrived.
  std::optional<std::uint32_t> node_leader_count() const;
  /// Node leader number `index` and its record, once they have arrived.
  Result<std::optional<std::pair<Rank, MemberAddress>>> FindNodeLeader(std::uint32_t index) const;

  /// \param shelf  may be null
  Result<Roster> Finish(RosterShelf* shelf);

 private:
  Slice view() const;

  bool head_ = false;
  View so_far_;
  SharedBytes owner_;              // of a roster whose pieces lie side by side
  std::shared_ptr<Bytes> copied_;  // of one whose pieces do not
  Roster partial_;
};

/// Of one roster: 2^24 ranks at 60 bytes.
inline constexpr std::size_t kRosterBytesMax = std::size_t{1} << 30;

}  // namespace ringlet::bootstrap
