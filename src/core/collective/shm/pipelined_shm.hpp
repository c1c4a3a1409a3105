// PipelinedShm: an operation of ShmCollective in slices that fit the caches. Each slice passes
// through stages in memory that all ranks share:
//
//   put      copy the parts of my input that others need into my stage
//   reduce   (all-reduce, reduce) add up my share of the slice, of all inputs, into my stage
//   get      copy the data that I need from the stages into my output
//
// If the ranks are on several NUMA nodes, reductions have two levels, which reduces reads across
// nodes:
//
//   put      only for the ranks of my node
//   reduce   my share of the slice, of my node's inputs. (Reduce-scatter: my node's sum for the
//            blocks of the ranks on other nodes that have my index there)
//   join     (all-reduce, reduce) my share of all nodes
//   get      from the stages of my node. (Reduce-scatter: also the other nodes' sums for my block)
//
// Counters in the arena publish the progress of each rank. They never return to zero, so no reset
// is needed between operations. Every rank computes sums in the same order: over the nodes, and
// within each over its ranks. So the result is bitwise equal on all ranks.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/layout/groups.hpp"
#include "collective/shm/post_ring.hpp"
#include "collective/shm/slicing.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::collective {

/// Returns true if reductions on these NUMA nodes have two levels: two or more nodes with two or
/// more ranks each. With n ranks on each of k nodes, an all-reduce then reads k (k - 1) times the
/// data across nodes instead of 2 n (k - 1) times: less if n > k / 2. (By count; not measured.)
bool TwoLevels(const Groups& nodes);

class PipelinedShm {
 public:
  /// \param arena  has at least 64 bytes of stage per rank
  /// \param nodes  the ranks of each NUMA node in order, every rank of the arena once; or empty
  PipelinedShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self, const Groups& nodes);

  struct SliceMode {
    bool stream = false;   ///< outputs bypass the caches
    bool through = false;  ///< stages bypass them: faster between cores that share no cache
  };
  /// \param before  number of slices of all earlier operations
  void Begin(const Call& call, std::uint64_t before, SliceMode mode);

  /// Counts an operation without slices as one slice.
  void CountOther();

  /// Puts the next slice into the stage. False: no slice is left, or `awaited` must read first.
  bool Put(std::uint32_t& awaited);
  /// Processes slices that were put, once all peers that give data have posted the same call.
  /// Returns false if it must wait for progress of `awaited`.
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

  bool ReceivesResult() const;
  bool NodeReceivesResult() const;
  std::uint32_t RepresentativeOf(std::size_t node, std::uint32_t rank) const;
  bool Represents(std::uint32_t rank) const;

  std::byte* Stage(std::uint32_t rank, std::uint64_t slice) const;
  std::byte* Joined(std::uint32_t rank, std::uint64_t slice) const;
  std::span<const std::byte*> NearSources(std::uint64_t slice, std::size_t in_stage,
                                          const std::byte* mine);
  Piece Share(std::uint32_t place, Piece range) const {
    return ShareOf(range.bytes, place, static_cast<std::uint32_t>(near_->size()));
  }

  void Copy(const std::byte* from, std::byte* to, std::size_t bytes) const;
  void Lay(const std::byte* from, std::byte* to, std::size_t bytes) const;
  void ReduceInto(std::span<const std::byte*> sources, std::span<std::byte> out, std::byte* copy,
                  bool last);
  void ReduceIntoStage(std::span<const std::byte*> sources, std::span<std::byte> stage,
                       std::byte* copy, bool last);
  void WriteSlice(std::uint64_t slice) const;
  void WriteSliceForAll(std::uint64_t slice) const;
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
  std::vector<std::vector<std::uint32_t>> nodes_;  // for reductions in two levels; otherwise empty
  std::vector<GroupPosition> seats_;               // position of each rank in nodes_
  std::vector<const std::byte*> sources_;
  bool touched_ = false;  // its stages

  Call call_;
  SliceMode mode_;
  std::vector<std::byte> block_;  // a reduced block on its way to the stage and the output
  bool levels_ = false, reduces_ = false, joins_ = false;  // two levels; these steps exist
  const std::vector<std::uint32_t>* near_ = nullptr;       // ranks to add up first
  std::uint32_t local_ = 0;                                // index of this rank in near_
  Slicing slicing_;
  std::size_t in_stage_bytes_ = 0;                          // size of a slice there
  PostRing ring_;                                           // of the stages
  std::optional<PostRing::PostSlot> next_;                  // of the next slice to put
  std::array<std::size_t, PostRing::kPosts> offsets_ = {};  // by slice
  std::uint64_t before_ = 0;
  std::uint64_t put_ = 0, reduced_ = 0, joined_ = 0, got_ = 0;
};

}  // namespace ringlet::collective
