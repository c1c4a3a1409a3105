// How one rank of a group helps to spread the group's failure: which ranks know of it, and which
// have to be told. By rank of the group.
#pragma once
#include <functional>
#include <set>
#include <vector>

#include "bootstrap/group.hpp"

namespace ringlet::bootstrap {

class FailureNews {
 public:
  using IsLost = std::function<bool(std::uint32_t rank)>;

  /// True once: the group has failed, and this rank begins to spread it.
  bool Begin() { return !std::exchange(begun_, true); }
  bool begun() const { return begun_; }
  /// Has been told over a line that stood already.
  void MarkTold(std::uint32_t rank) { called_.insert(rank); }
  bool has_told() const { return !called_.empty(); }

  /// A rank has told of the failure. True: it has to be told that this rank knows, too. A rank that
  /// tells of a failure stays until those that it tells have said so.
  bool Hear(std::uint32_t from);
  /// No process listens at the address of a rank. True if it was to be told: go on with Next.
  bool MarkAbsent(std::uint32_t rank);

  /// Those that are to be told now, each once: the ranks next to this one; in the place of one that
  /// is gone and did not know, those next to it, so that the parts into which the tree has fallen
  /// hear of each other. Ask again when more are found to be gone.
  /// \param arity  of the tree, where the group is one
  std::vector<std::uint32_t> Next(const Group& group, std::uint32_t arity, const IsLost& is_lost);

  /// Ranks that have been told have not said yet that they know.
  bool Owes(const Group& group, const IsLost& is_lost) const;

 private:
  bool MayPass(std::uint32_t rank) const;

  bool begun_ = false;
  std::set<std::uint32_t> knows_;   // ranks that have told us
  std::set<std::uint32_t> called_;  // ranks that have been told, or are being called; this one, too
  std::set<std::uint32_t> absent_;  // ranks that do not answer
  std::set<std::uint32_t> passed_;  // in whose place those next to it have been told
};

}  // namespace ringlet::bootstrap
