// The part of one rank in spreading the group's failure: the ranks that know of it, and the ranks
// that must be notified. By rank of the group.
#pragma once
#include <functional>
#include <set>
#include <vector>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

class FailureSpread {
 public:
  using IsLost = std::function<bool(std::uint32_t rank)>;

  /// Returns true once: the group has failed, and this rank begins to spread the failure.
  bool Begin() { return !std::exchange(begun_, true); }
  bool begun() const { return begun_; }
  /// Records that a rank was notified over an existing connection.
  void MarkNotified(std::uint32_t rank) { called_.insert(rank); }
  bool has_notified() const { return !called_.empty(); }
  /// Returns true if the rank was notified, or is being called for that.
  bool IsNotified(std::uint32_t rank) const { return called_.contains(rank); }

  /// Records that a rank has sent the failure. Returns true if this rank must send it back as an
  /// answer: a rank that sends a failure stays until its receivers have answered.
  bool RecordReceived(std::uint32_t from);
  /// Records that no process listens at the address of a rank. Returns true if the rank had to be
  /// notified; the caller then calls Next.
  bool MarkAbsent(std::uint32_t rank);

  /// The ranks to notify now, each returned once: the neighbours of this rank, and the neighbours
  /// of each absent rank that did not know, so that the failure reaches every part of a broken
  /// tree. Call again when more ranks turn out to be absent.
  /// \param arity  of the tree, if the group is one
  std::vector<std::uint32_t> Next(const GroupProtocol& group, std::uint32_t arity,
                                  const IsLost& is_lost);

  /// Returns true if notified ranks have not answered yet.
  bool AwaitsAnswers(const GroupProtocol& group, const IsLost& is_lost) const;

 private:
  bool MayPass(std::uint32_t rank) const;

  bool begun_ = false;
  std::set<std::uint32_t> knows_;   // ranks that have sent us the failure
  std::set<std::uint32_t> called_;  // ranks notified or being called, and this rank
  std::set<std::uint32_t> absent_;  // ranks that do not answer
  std::set<std::uint32_t> passed_;  // ranks with neighbours that were notified in their place
};

}  // namespace ringlet::bootstrap
