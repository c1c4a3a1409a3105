// An operation of ShmCollective whose data are cut into slices that stay in the caches, each of
// which goes through stages of memory that all ranks share:
//
//   put      copy what the others need of my input into my stage
//   reduce   (all-reduce, reduce) my share of the slice, of all inputs, into my stage
//   get      copy what I need from the others' stages into my output
//
// If the ranks live at several NUMA nodes, reductions have two levels, so that little is read
// across:
//
//   put      only for the ranks of my node
//   reduce   my share of the slice, of my node's inputs. (Reduce-scatter: what my node adds to the
//            blocks of those ranks of other nodes that have my place in theirs)
//   join     (all-reduce, reduce) my share of all nodes
//   get      from the stages of my node. (Reduce-scatter: and what the other nodes have for me)
//
// Counters in the arena say how far each rank is; they never return to zero, so nothing needs to be
// cleared between operations. Sums run over the nodes in order, within each over its ranks in
// order, whichever rank computes them, so the result is the same on all ranks, bit for bit.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "collective/algorithm/groups.hpp"
#include "collective/shm/slicing.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::collective {

/// Whether reductions among the ranks of these NUMA nodes have two levels: two nodes or more, each
/// with two ranks or more. With n ranks on each of k nodes an all-reduce then reads k (k - 1) times
/// the data across instead of 2 n (k - 1) times: less where n > k / 2. (By count; not measured.)
bool TwoLevels(const Groups& nodes);

class PipelinedShm {
 public:
  /// \param arena  has at least 64 bytes of stage for each rank
  /// \param nodes  the ranks of each NUMA node in order, every rank of the arena once; or empty
  PipelinedShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self, const Groups& nodes);

  /// \param before  slices of all operations before this one
  /// \param stream  outputs are written past the caches
  void Begin(const Call& call, std::uint64_t before, bool stream);

  /// Lays out the next slice. False: there is none, or no room until `awaited` has got more.
  bool Put(std::uint32_t& awaited);
  /// Does what can be done with what is laid out, once all peers that give data have posted the
  /// same call. False: nothing, until `awaited` is farther.
  bool Work(std::uint32_t& awaited);

  bool done() const { return got_ == slicing_.slices; }
  std::uint64_t slices() const { return slicing_.slices; }
  /// "put 3, reduced 2 and got 1 of 5 slices".
  std::string ToText() const;

 private:
  using Counter = std::atomic<std::uint64_t> transport::ArenaProgress::*;

  bool Step(Counter counter, std::uint64_t& count);
  bool Reached(std::uint32_t peer, Counter counter, std::uint64_t slice,
               std::uint32_t& awaited) const;
  bool NearReach(Counter counter, std::uint64_t slice, std::uint32_t& awaited) const;
  bool MayPut(std::uint32_t& awaited) const;
  bool MayJoin(std::uint32_t& awaited) const;
  bool MayGet(std::uint32_t& awaited) const;

  bool Takes() const;
  bool NodeTakes() const;
  std::uint32_t StandIn(std::size_t node, std::uint32_t rank) const;
  bool StandsInFor(std::uint32_t rank) const;

  std::byte* Stage(std::uint32_t rank, std::uint64_t slice) const;
  std::byte* Joined(std::uint32_t rank, std::uint64_t slice) const;
  std::span<const std::byte*> NearSources(std::uint64_t slice, std::size_t in_stage,
                                          const std::byte* mine);
  Piece Share(std::uint32_t place, Piece range) const {
    return ShareOf(range.bytes, place, static_cast<std::uint32_t>(near_->size()));
  }

  void Copy(const std::byte* from, std::byte* to, std::size_t bytes) const;
  void ReduceInto(std::span<const std::byte*> sources, std::span<std::byte> out, std::byte* copy,
                  bool last) const;
  void Lay(std::uint64_t slice) const;
  void LayForAll(std::uint64_t slice) const;
  void ReduceShare(std::uint64_t slice);
  void ReduceForOthers(std::uint64_t slice);
  void Join(std::uint64_t slice);
  void Get(std::uint64_t slice);
  void GetShares(std::uint64_t slice) const;
  void GetReduced(std::uint64_t slice);
  void GetGiven(std::uint64_t slice) const;

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t self_, ranks_;
  std::vector<std::uint32_t> everybody_;
  std::vector<std::vector<std::uint32_t>> nodes_;  // of reductions in two levels; or none
  std::vector<GroupPlace> seats_;                  // of each rank in nodes_
  std::vector<const std::byte*> sources_;

  Call call_;
  bool stream_ = false;
  bool levels_ = false, reduces_ = false, joins_ = false;  // has two levels; has these steps
  const std::vector<std::uint32_t>* near_ = nullptr;       // those whose inputs come first
  std::uint32_t local_ = 0;                                // place of this rank among them
  Slicing slicing_;
  std::uint64_t before_ = 0;
  std::uint64_t put_ = 0, reduced_ = 0, joined_ = 0, got_ = 0;
};

}  // namespace ringlet::collective
