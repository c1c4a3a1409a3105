// The roots as a member sees them while it joins: its lines to them, what its own root has said,
// and the ranks of its host for which it speaks there.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/member/common.hpp"

namespace ringlet::bootstrap {

/// A part of a Machine, not one itself; no I/O.
class RootCalls {
 public:
  /// \param common  outlives this
  explicit RootCalls(MemberCommon& common)
      : common_(&common), lines_(common.roots(), 0), seen_(common.roots(), false) {}

  /// The root of a rank. The member that brings the first rank of a root's share is its root
  /// delegate: it carries the others' records to the first root, and failures between the two.
  void CallFor(std::uint32_t rank);
  /// Its line closed before it said a word: perhaps too many called at once.
  void CallAgain(std::uint32_t root);
  /// Checks in there, and those of this host whose root it is.
  void OnOpened(LineId id, std::uint32_t root);
  void CheckInAt(LineId id, std::uint32_t root);
  /// A rank of this host has called on this line.
  void AddLocalRank(LineId id, CheckIn check_in);

  /// Of the own root, from it or from the node leader.
  void set_welcome(Welcome welcome) { welcome_ = std::move(welcome); }
  /// Passes it on to the ranks of this host.
  void PassOn(const Welcome& welcome);
  const std::optional<Welcome>& welcome() const { return welcome_; }

  /// A root that was there and had no room for its callers is called again, one that is gone not.
  /// \param call  of which a dial has met no process that listens
  bool IsGone(const Connections::CallInProgress& call) const;
  bool IsDelegateOf(std::uint32_t root) const;
  void SendToFirst(FrameType type);
  /// A piece of what another root has collected.
  void CarryToFirst(const Slice& piece);
  /// The failure of joining because of a root that is lost.
  Failure LossOf(std::uint32_t root, const std::string& phase, const std::string& why) const;
  /// The other roots' work is done when the first one's is, and one that has not been reached by
  /// then is not needed any more.
  void Dismiss();

  std::size_t local_ranks() const { return local_ranks_.size(); }
  void AddLocalRanksTo(TreePlace& place) const;
  /// As those of MemberCommon, of the ranks of this host as well.
  std::string Name(std::uint32_t rank) const;
  std::string WhyStopped(std::uint32_t rank) const;
  /// Of the root or the rank at the other end.
  std::string WhyStopped(const Connections::Line& line) const;

 private:
  void Call(std::uint32_t root);
  // Null: not a rank for which this one speaks.
  const MemberAddress* LocalAddressOf(std::uint32_t rank) const;
  void SendLocalRank(LineId line, const CheckIn& local_rank);

  MemberCommon* common_;
  std::vector<LineId> lines_;         // by root; 0: none
  std::vector<bool> seen_;            // by root: it was connected once
  std::optional<Welcome> welcome_;    // of the own root
  std::vector<CheckIn> local_ranks_;  // of which this rank is the node leader
};

}  // namespace ringlet::bootstrap
