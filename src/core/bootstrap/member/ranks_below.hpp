// The ranks below a joining member in the tree, and the pieces of the roster for those not
// connected.
#pragma once
#include <optional>
#include <vector>

#include "bootstrap/member/common.hpp"

namespace ringlet::bootstrap {

/// A part of a Machine, not one itself; no I/O.
class RanksBelow {
 public:
  /// Sets the part of the tree that the parent has assigned to this member. Only the first call
  /// counts.
  void Define(const PlaceRange& subtree, std::uint16_t arity) {
    if (ranges_.empty()) ranges_ = ChildrenOf(subtree, arity);
  }
  std::size_t size() const { return ranges_.size(); }
  const std::vector<PlaceRange>& ranges() const { return ranges_; }

  /// Keeps a piece for ranks that are not connected yet.
  void Keep(const Slice& piece) {
    if (!ranges_.empty()) pieces_.push_back(piece);
  }
  /// Calls each rank as soon as its address has arrived.
  /// Errors  kProtocol  an address that cannot be read.
  Status Call(const RosterInbox& inbox, MemberCommon& common);
  /// Sends the pieces so far to a rank that has been reached.
  /// \param whole  no more pieces will follow
  void OnOpened(LineId id, bool whole, Connections& connections);
  /// Called when no more pieces will follow.
  void Complete() {
    if (opened_ == ranges_.size()) pieces_.clear();
  }

 private:
  std::vector<PlaceRange> ranges_;  // of places of the node leaders
  std::size_t called_ = 0;          // number of `ranges_` that have been called
  std::size_t opened_ = 0;          // number of `ranges_` that have received the pieces
  std::vector<Slice> pieces_;
};

/// Checks that the roster gives this rank the place that its caller gave it.
/// \param subtree  assigned by the parent that called; empty if this rank called its node leader
/// \param upper    the node leader
/// Errors  kProtocol  another place, or another number of ranks.
Status CheckPlace(const Roster& roster, const MemberConfig& config,
                  const std::optional<PlaceRange>& subtree, std::uint32_t upper);

}  // namespace ringlet::bootstrap
