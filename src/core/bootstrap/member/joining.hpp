// A joining member: from the first dial until all ranks are connected.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "bootstrap/member/common.hpp"
#include "bootstrap/member/early_frames.hpp"
#include "bootstrap/member/ranks_below.hpp"
#include "bootstrap/member/root_calls.hpp"

namespace ringlet::bootstrap {

class StandingMember;

// The states of MemberState before kStanding, in its order, with the data of each.

struct MemberCalling {};

/// The inbox stays empty in a ring.
struct MemberCheckedIn {
  RosterInbox inbox = {};
  LineId upper = 0;  ///< the parent or node leader that sends the roster; 0: the root sends it
  RanksBelow below = {};
};

struct MemberConnecting {
  LineId upper = 0;
  RanksBelow below = {};
  std::uint32_t ready = 0;  ///< number of children that have reported
};

struct MemberReported {
  bool may_go = false;  ///< all ranks are connected
};

/// A part of a Machine, not one itself; no I/O. After each call its owner checks failure() and
/// may_go(), and replaces it by the result of End or BecomeStanding.
class JoiningMember {
 public:
  using Line = Connections::Line;
  using CallInProgress = Connections::CallInProgress;

  /// \param common  outlives this
  explicit JoiningMember(MemberCommon& common) : common_(&common), roots_(common) {}

  MemberState state() const { return static_cast<MemberState>(step_.index()); }
  void Begin();

  // ---- Connections and calls.
  bool CanAcceptLocalRanks() const {
    return common_->config.speaks && state() != MemberState::kReported;
  }
  void OnLocalRank(LineId id, CheckIn check_in) { roots_.AddLocalRank(id, std::move(check_in)); }
  bool CanAcceptParent() const { return common_->is_tree() && !subtree_; }
  void AcceptParent(const PlaceRange& subtree) { subtree_ = subtree; }
  void OnOpened(LineId id, MemberLine role, std::uint32_t peer);
  void OnFrame(LineId id, Line& line, const Frame& frame);
  /// The bytes on a connection cannot be read, or a frame does not belong there.
  void OnBroken(LineId id, const std::string& why);
  /// The connection to a root closed, or to a node leader that has not identified itself.
  void OnUpwardClosed(const Line& line, const std::string& why);
  /// Returns true if the end of the connection proves the loss of its rank.
  bool IsLoss(const Line& line) const { return line.local_rank && common_->roster.size() == 0; }
  void OnLost(std::uint32_t peer, Code code, const std::string& what);
  /// A dial of the call has failed. \param reached  a process listens there
  void OnDialClosed(CallInProgress& call, bool reached, const std::string& why);
  /// Does nothing, because a joining rank waits for the report of the root.
  void OnDoubt(std::uint32_t) {}
  /// Every address of the call belongs to another process than the called one.
  void OnAllAddressesWrong(CallInProgress& call);
  /// The call has reached its deadline. \param reasons  the results of its addresses
  void OnExpired(const CallInProgress& call, const std::string& reasons);

  // ---- Time.
  Instant Deadline() const;
  void OnTick();

  // ---- Results.
  const std::optional<Failure>& failure() const { return failure_; }
  bool may_go() const {
    const auto* const at = std::get_if<MemberReported>(&step_);
    return at && at->may_go;
  }
  std::string Phase(GroupId group = kWorld) const;
  std::string WhyStopped(const Line& line) const { return roots_.WhyStopped(line); }
  GroupProtocol* Find(GroupId group) const {
    return group == kWorld && world_ ? &world_->group : nullptr;
  }
  /// Fails joining. Only the first failure counts.
  void Fail(const Failure& failure);
  void FailHere(Code code, const std::string& text) { Fail({code, common_->self(), text}); }

  // ---- Commands: see Member. During joining they apply to joining.
  void Abort(Code code, const std::string& why, GroupId, std::uint32_t = kNoOrigin) {
    FailHere(code, why);
  }
  void Leave(GroupId);

  /// \pre  may_go
  StandingMember BecomeStanding() &&;
  /// Sends the failure to all peers. \pre  failure
  MemberOver End() &&;

 private:
  // Return false if the frame does not fit.
  bool TakeRootFrame(Line& line, const Frame& frame);
  bool HandleUpperFrame(LineId id, Line& line, const Frame& frame);
  bool TakeReject(View payload);
  void OnRosterPiece(const Slice& piece, LineId upper);
  void FinishRoster();
  void OnChildReady(Line& line);
  void ReportIfReady();
  void OnNeighbour(View payload);
  void FinishRingRoster();
  void OpenWorld(TreePlace place);
  void OnGroupFrame(const Line& line, const Frame& frame);
  void Settle();

  MemberCommon* common_;
  RootCalls roots_;
  // The node leaders below this member, by place. A caller may set it even after this rank
  // reported.
  std::optional<PlaceRange> subtree_;
  std::variant<MemberCalling, MemberCheckedIn, MemberConnecting, MemberReported> step_;
  std::unique_ptr<GroupMembership> world_;  // set as soon as the neighbours of this rank are known
  EarlyFrames early_;
  std::optional<Failure> failure_;
};

}  // namespace ringlet::bootstrap
