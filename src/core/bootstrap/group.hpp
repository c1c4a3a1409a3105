// A communicator on the control network as one rank sees it: its collectives, messages and
// failure. Several groups share the connections of one Member: the world, and the groups split or
// shrunk from it. No I/O and no connections: frames enter and leave by rank of the group.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "bootstrap/gather.hpp"
#include "bootstrap/mailbox.hpp"
#include "bootstrap/protocol.hpp"
#include "bootstrap/roster.hpp"

namespace ringlet::bootstrap {

/// Identifies a group on the connections of a member. All ranks of the group use the same id.
using GroupId = std::uint64_t;
/// The group of all ranks that joined together.
inline constexpr GroupId kWorld = 0;

struct GroupConfig {
  GroupId id = kWorld;
  std::uint32_t self = 0;
  std::uint32_t size = 0;
  std::uint64_t digest = 0;  ///< of the list of its ranks
  Shape shape = Shape::kTree;
  TreePlace place = {};  ///< used if shape is kTree
  MailboxLimits mailbox = {};
};

class GroupProtocol {
 public:
  explicit GroupProtocol(GroupConfig config);

  GroupId id() const { return config_.id; }
  std::uint32_t self() const { return config_.self; }
  std::uint32_t size() const { return config_.size; }
  std::uint64_t digest() const { return config_.digest; }
  Shape shape() const { return config_.shape; }
  const TreePlace& place() const { return config_.place; }

  const Roster& roster() const { return roster_; }
  void set_roster(Roster roster) { roster_ = std::move(roster); }

  /// A frame for another rank. `head` precedes `body`.
  struct OutgoingFrame {
    std::uint32_t to = 0;
    FrameType type{};
    Bytes head = {};
    Slice body = {};
  };
  /// The frames to send; usually empty. Call it after every other call.
  std::vector<OutgoingFrame> TakeOutgoing() { return std::exchange(out_, {}); }

  // ---- Input.
  void OnFrame(std::uint32_t from, FrameType type, const Slice& payload);
  /// A rank is lost: its connection broke, or it was silent for too long.
  void OnLost(std::uint32_t rank, Code code, const std::string& why);

  // ---- Requests of the owner.
  void Gather(bool barrier, Bytes payload);
  std::optional<Table> TakeTable() { return std::exchange(table_, std::nullopt); }
  void Post(std::uint32_t to, std::uint64_t tag, Bytes message);
  std::optional<Bytes> TakeMessage(std::uint32_t from, std::uint64_t tag) {
    return mailbox_.Take(Rank{from}, tag);
  }
  std::optional<PushedMessage> TakePushed() { return mailbox_.TakePushed(); }
  void Ask(std::uint32_t whom);
  std::optional<Activity> TakeAnswer(std::uint32_t from);
  /// A rank that waits for this rank's activity. Returns each such rank once.
  std::optional<std::uint32_t> TakeQuestion();
  void Answer(std::uint32_t whom, const Activity& activity);

  /// Fails the group, unless it has failed already. The member sends the failure to other ranks.
  void Fail(const Failure& failure);
  /// Fails because of an error of this rank, or because it knows that `lost` is gone (kPeerLost).
  void FailHere(Code code, const std::string& text, std::uint32_t lost = kNoOrigin) {
    Fail({code, code == Code::kPeerLost ? lost : config_.self, text});
  }
  void FailOn(std::uint32_t peer, Code code, const std::string& what);
  const std::optional<Failure>& failure() const { return failure_; }

  bool HasLeft(std::uint32_t rank) const { return left_.contains(rank); }
  /// The ranks that must send the next frame of a collective. Empty in a ring, which has its
  /// connections from the beginning.
  std::vector<std::uint32_t> AwaitedRanks() const {
    return tree_ ? tree_->AwaitedRanks() : std::vector<std::uint32_t>();
  }
  bool gathering() const { return tree_ ? tree_->running() : ring_->running(); }
  /// "in normal operation", or the running collective and the ranks that it waits for.
  std::string Phase() const;
  std::string Name(std::uint32_t rank) const { return roster_.DescribeRank(Rank{rank}); }
  std::string Awaited() const { return tree_ ? tree_->Awaited() : ring_->Awaited(); }

 private:
  void OnGatherFrame(std::uint32_t from, FrameType type, const Slice& payload);
  void OnMessage(std::uint32_t from, const Slice& payload);
  void Advance(const Status& status, std::uint32_t peer);
  bool IsNeeded(std::uint32_t rank) const;
  void RequirePresent();
  void FailUnexpectedFrame(std::uint32_t from, FrameType type);
  void Emit(std::uint32_t to, FrameType type, Bytes head, Slice body = Slice()) {
    out_.push_back({to, type, std::move(head), std::move(body)});
  }

  GroupConfig config_;
  Roster roster_;
  std::optional<TreeGather> tree_;
  std::optional<RingGather> ring_;
  Mailbox mailbox_;
  std::vector<OutgoingFrame> out_;
  std::optional<Table> table_;
  std::set<std::uint32_t> left_;
  std::vector<std::uint32_t> questions_;                      // at most one per rank
  std::map<std::uint32_t, std::optional<Activity>> answers_;  // by rank that was asked
  std::optional<Failure> failure_;
  std::uint32_t gathers_ = 0;
};

}  // namespace ringlet::bootstrap
