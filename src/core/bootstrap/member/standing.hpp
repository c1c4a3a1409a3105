// A member among ranks that are all connected, and the groups on its connections. The state ends
// when the member has left the last group.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "bootstrap/member/common.hpp"
#include "bootstrap/member/early_frames.hpp"
#include "bootstrap/member/left_groups.hpp"

namespace ringlet::bootstrap {

/// The fate of a rank that does not answer: it has left, or no process listens at its addresses.
enum class RankAbsence : std::uint8_t { kUnknown, kLeft, kAbsent };

/// A part of a Machine, not one itself; no I/O. After each command its owner checks has_left_all(),
/// and replaces it by the result of End.
class StandingMember {
 public:
  using Line = Connections::Line;
  using CallInProgress = Connections::CallInProgress;

  /// \param common  outlives this
  StandingMember(MemberCommon& common, std::unique_ptr<GroupMembership> world, EarlyFrames early);

  // ---- Connections and calls, as in JoiningMember.
  void OnFrame(LineId id, const Line& line, const Frame& frame);
  void OnUpwardClosed(const Line&, const std::string&) {
  }  // a standing member does not need the root
  void OnBroken(LineId id, const std::string& why);
  bool IsLoss(const Line& line) const { return line.role != MemberLine::kPeerOut || line.spoke; }
  void OnLost(std::uint32_t peer, Code code, const std::string& why);
  void OnDoubt(std::uint32_t peer);
  void OnDialClosed(const CallInProgress& call, bool reached, const std::string&) {
    if (call.role != MemberLine::kPeerOut || reached) return;
    if (call.dialler.failures() == 0) return;  // another of its addresses may work
    if (call.dialler.failures() == 1) OnDoubt(call.peer);
    OnUnanswered(call.peer);
  }
  void OnAllAddressesWrong(CallInProgress& call);
  void OnExpired(const CallInProgress& call, const std::string& reasons);

  // ---- Time.
  std::optional<Instant> Deadline() const;
  void OnTick() { CheckAwaitedRanks(); }

  // ---- Results.
  /// Returns null if this rank has left the group or has not formed it.
  GroupProtocol* Find(GroupId group) const;
  std::string Phase(GroupId group) const {
    const GroupProtocol* const found = Find(group);
    return found ? found->Phase() : "after having left";
  }
  std::string WhyStopped(const Line& line) const;
  RankAbsence AbsenceOf(std::uint32_t rank, GroupId group) const;
  bool AwaitsFailureAnswers(GroupId group) const;

  // ---- Commands: see Member.
  Status Form(GroupId id, GroupId parent, const std::vector<std::uint32_t>& ranks, Instant now);
  Result<std::vector<std::uint32_t>> Reform(GroupId id, GroupId parent, Instant now);
  static Error CannotForm();
  void Gather(bool barrier, Bytes payload, GroupId group);
  std::optional<Table> TakeTable(GroupId group);
  void Post(std::uint32_t to, std::uint64_t tag, Bytes message, Instant now, GroupId group);
  void Ask(std::uint32_t whom, Instant now, GroupId group);
  void Abort(Code code, const std::string& why, GroupId group, std::uint32_t lost = kNoOrigin);
  void Leave(GroupId group);
  bool has_left_all() const { return memberships_.empty(); }
  /// \pre  has_left_all
  MemberOver End() &&;

 private:
  GroupMembership* FindMembership(GroupId id) const;
  bool IsLost(std::uint32_t peer) const { return lost_.contains(peer); }
  FailureSpread::IsLost LostIn(const GroupMembership& membership) const;
  bool RefuseLostRank(std::uint32_t from, const ReceivedInGroup& received);
  void OnGroupFrame(GroupMembership& membership, std::uint32_t from,
                    const ReceivedInGroup& received);
  void OnUnexpectedSender(GroupMembership& membership, std::uint32_t from,
                          const ReceivedInGroup& received);
  void OnFormationOfReformed(GroupMembership& membership, std::uint32_t from,
                             const FormAnnouncement& theirs);
  void RecordLostOf(GroupMembership& membership, std::uint32_t sender, const LostRanks& theirs);
  void RecordLost(GroupMembership& membership, std::uint32_t peer);
  void RecordLostOrigin(GroupMembership& membership);
  void OnUnanswered(std::uint32_t peer);
  void CheckAwaitedRanks();
  bool AwaitsDoubtedRank(const GroupMembership& membership) const;
  bool CallAwaitedRanks(GroupMembership& membership);
  void CallNewTopRanks(GroupMembership& membership);
  bool Call(GroupMembership& membership, std::uint32_t rank);
  void CallSuccessors(GroupMembership& membership, std::uint32_t rank);
  bool IsDead(const GroupMembership& membership, std::uint32_t peer) const;
  bool IsRefusedOften(std::uint32_t peer) const;
  void RecordDead(GroupMembership& membership, std::uint32_t rank);
  void Enter(std::unique_ptr<GroupMembership> membership);
  void Replay(GroupMembership& membership);
  void Fail(const Failure& failure);
  void FailOn(std::uint32_t peer, Code code, const std::string& what);
  void Settle(GroupMembership& membership);
  void NotifyNeighbours(GroupMembership& membership);
  void SendFailureTo(const GroupMembership& membership, std::uint32_t peer);
  void NotifyUnnotified(const GroupMembership& membership);
  void PostTo(std::uint32_t peer, const Slice& frame);
  void Require(const Status& sent);
  std::vector<std::uint32_t> SendToGroup(const GroupMembership& membership, const Slice& frame);

  MemberCommon* common_;
  std::map<GroupId, std::unique_ptr<GroupMembership>> memberships_;
  EarlyFrames early_;
  struct NextLook {
    Instant due{0};  // 0: not set yet
    Instant period{0};
  };
  std::map<GroupId, NextLook> awaiting_;  // groups in a collective: when to check their ranks
  std::unordered_map<std::uint32_t, std::string> lost_;  // lost ranks, with the reason
  std::set<std::uint32_t> called_ahead_;  // called in case that they replace a top rank
  std::set<std::uint32_t> replaced_;  // ranks with addresses at which other processes listen now
  LeftGroups left_;
};

}  // namespace ringlet::bootstrap
