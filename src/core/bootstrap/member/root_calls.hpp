// The roots as a joining member sees them: its connections to them, the welcome of its root, and
// the ranks of its host that it checks in there.
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

  /// Calls the root of a rank. The member that checks in the first rank of a root's share is its
  /// root delegate and calls the first root too. It carries the collected records there, and
  /// failures both ways.
  void CallFor(std::uint32_t rank);
  /// Calls a root again after it closed the connection without a welcome. It may have had too many
  /// callers.
  void CallAgain(std::uint32_t root);
  /// Checks in this rank and the ranks of its host that belong to this root.
  void OnOpened(LineId id, std::uint32_t root);
  void CheckInAt(LineId id, std::uint32_t root);
  /// Registers a rank of this host that has called on this connection.
  void AddLocalRank(LineId id, CheckIn check_in);

  /// Sets the welcome of this rank's root, received from it or from the node leader.
  void set_welcome(Welcome welcome) { welcome_ = std::move(welcome); }
  /// Also sends the welcome to the ranks of this host.
  void ForwardWelcome(const Welcome& welcome);
  const std::optional<Welcome>& welcome() const { return welcome_; }

  /// Returns true if the root's process has ended. A root that had no room for its callers is
  /// called again.
  /// \param call  a call with a dial that reached no listening process
  bool IsGone(const Connections::CallInProgress& call) const;
  bool IsDelegateOf(std::uint32_t root) const;
  void SendToFirst(FrameType type);
  /// Carries a piece of another root's records to the first root.
  void ForwardToFirst(const Slice& piece);
  /// The failure of joining after the loss of a root.
  Failure FailureOfRoot(std::uint32_t root, const std::string& phase, const std::string& why) const;
  /// Releases the other roots when the first root is done, and cancels calls to unreached roots.
  void Dismiss();

  std::size_t local_ranks() const { return local_ranks_.size(); }
  void AddLocalRanksTo(TreePlace& place) const;
  /// Name and WhyStopped of MemberCommon, which also know the ranks of this host.
  std::string Name(std::uint32_t rank) const;
  std::string WhyStopped(std::uint32_t rank) const;
  /// StoppedText of the root or rank at the other end.
  std::string WhyStopped(const Connections::Line& line) const;

 private:
  void Call(std::uint32_t root);
  // Returns null if this rank is not the node leader of `rank`.
  const MemberAddress* LocalAddressOf(std::uint32_t rank) const;
  void SendLocalRank(LineId line, const CheckIn& local_rank);

  MemberCommon* common_;
  std::vector<LineId> lines_;         // by root; 0: not connected
  std::vector<bool> seen_;            // by root: it has been connected once
  std::optional<Welcome> welcome_;    // of this rank's root
  std::vector<CheckIn> local_ranks_;  // ranks with this rank as node leader
};

}  // namespace ringlet::bootstrap
