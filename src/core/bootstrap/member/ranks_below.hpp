// The ranks below a member in the tree, while it joins: which they are, and the pieces of the
// roster for those that are not connected yet.
#pragma once
#include <optional>
#include <vector>

#include "bootstrap/member/common.hpp"

namespace ringlet::bootstrap {

/// A part of a Machine, not one itself; no I/O.
class RanksBelow {
 public:
  /// The part of the tree that this member's parent has left to it. Only the first call counts.
  void Define(const PlaceRange& subtree, std::uint16_t arity) {
    if (ranges_.empty()) ranges_ = ChildrenOf(subtree, arity);
  }
  std::size_t size() const { return ranges_.size(); }
  const std::vector<PlaceRange>& ranges() const { return ranges_; }

  /// Keeps a piece for those that are not connected yet.
  void Keep(const Slice& piece) {
    if (!ranges_.empty()) pieces_.push_back(piece);
  }
  /// Calls those whose addresses have come.
  /// Errors  kProtocol  an address that cannot be read.
  Status Call(const RosterInbox& inbox, MemberCommon& common);
  /// One of them has been reached: it gets the pieces so far.
  /// \param whole  there will be no more
  void OnOpened(LineId id, bool whole, Connections& connections);
  /// There will be no more pieces.
  void Complete() {
    if (opened_ == ranges_.size()) pieces_.clear();
  }

 private:
  std::vector<PlaceRange> ranges_;  // among the node leaders
  std::size_t called_ = 0;          // of `ranges_`
  std::size_t opened_ = 0;          // that have got the pieces
  std::vector<Slice> pieces_;
};

/// Whether the roster gives this rank the place that it was called for.
/// \param subtree  left to it by the parent that called; none: it has called its node leader
/// \param upper    the node leader
/// Errors  kProtocol  another place, or another number of ranks.
Status CheckPlace(const Roster& roster, const MemberConfig& config,
                  const std::optional<PlaceRange>& subtree, std::uint32_t upper);

}  // namespace ringlet::bootstrap
