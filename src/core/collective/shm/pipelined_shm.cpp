#include "collective/shm/pipelined_shm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "collective/reduce/reduce.hpp"
#include "transport/link/copy.hpp"

namespace ringlet::collective {
namespace {

using transport::ArenaProgress;

}  // namespace

bool TwoLevels(const Groups& nodes) {
  return nodes.size() > 1 && SmallestOf(nodes) > 1;
}

PipelinedShm::PipelinedShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                           const Groups& nodes)
    : arena_(std::move(arena)),
      self_(self),
      ranks_(arena_->shape().ranks),
      ring_(arena_->shape().StagesBytes()) {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) everybody_.push_back(rank);
  if (!TwoLevels(nodes)) return;
  seats_.resize(ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const auto place = PlaceIn(nodes, Rank{rank});
    RINGLET_ASSERT(place);
    seats_[rank] = *place;
  }
  for (const std::vector<Rank>& node : nodes) {
    auto& ranks = nodes_.emplace_back();
    for (const Rank rank : node) ranks.push_back(Index(rank));
  }
}

void PipelinedShm::Begin(const Call& call, std::uint64_t before, SliceMode mode) {
  call_ = call;
  before_ = before;
  mode_ = mode;
  if (mode.through) block_.resize(kReduceBlockBytes);
  put_ = reduced_ = joined_ = got_ = 0;
  const bool shares = call.kind == CallKind::kAllReduce || call.kind == CallKind::kReduce;
  levels_ = !nodes_.empty() && Reduces(call.kind);
  reduces_ = shares || levels_;
  joins_ = shares && levels_;
  near_ = levels_ ? &nodes_[seats_[self_].group] : &everybody_;
  local_ = levels_ ? static_cast<std::uint32_t>(seats_[self_].local) : self_;
  // The stage holds joined blocks behind blocks that are only added up.
  const std::size_t stage_bytes = arena_->shape().stage_bytes;
  slicing_ = SlicingOf(call, ranks_, joins_ ? stage_bytes / 2 : stage_bytes);
  in_stage_bytes_ = slicing_.slice_bytes * (PieceEach(call.kind) ? ranks_ : 1) * (joins_ ? 2 : 1);
}

void PipelinedShm::CountOther() {
  ring_.Next(0);
}

bool PipelinedShm::Put(std::uint32_t& awaited) {
  if (!std::exchange(touched_, true)) arena_->PrefaultStages(self_);
  if (put_ == slicing_.slices) return false;
  if (!next_) next_ = ring_.Next(in_stage_bytes_);
  if (!MayPut(awaited)) return false;
  offsets_[(before_ + put_) % PostRing::kPosts] = std::exchange(next_, std::nullopt)->offset;
  WriteSlice(put_);
  return Step(&ArenaProgress::put, put_);
}

bool PipelinedShm::Work(std::uint32_t& awaited) {
  bool moved = false;
  if (reduces_ && reduced_ < put_ && NearReach(&ArenaProgress::put, reduced_, awaited)) {
    if (call_.kind == CallKind::kReduceScatter)
      ReduceForOthers(reduced_);
    else
      ReduceShare(reduced_);
    moved = Step(&ArenaProgress::reduced, reduced_);
  }
  if (joins_ && joined_ < reduced_ && MayJoin(awaited)) {
    if (NodeReceivesResult()) Join(joined_);
    moved = Step(&ArenaProgress::joined, joined_);
  }
  if (got_ < (joins_ ? joined_ : reduces_ ? reduced_ : put_) && MayGet(awaited)) {
    Get(got_);
    moved = Step(&ArenaProgress::got, got_);
  }
  return moved;
}

std::string PipelinedShm::ToText() const {
  const std::string joined = joins_ ? fmt::format(", joined {}", joined_) : "";
  return fmt::format("put {}, reduced {}{} and got {} of {} slices", put_, reduced_, joined, got_,
                     slicing_.slices);
}

// ---- progress -----------------------------------------------------------------------------------

// Publishes the end of a step for one slice.
bool PipelinedShm::Step(Counter counter, std::uint64_t& count) {
  (arena_->rank(self_).progress.*counter).store(before_ + ++count, std::memory_order_seq_cst);
  arena_->RingAwaiting(self_);
  return true;
}

bool PipelinedShm::Reached(std::uint32_t peer, Counter counter, std::uint64_t slice,
                           std::uint32_t& awaited) const {
  const auto& theirs = arena_->rank(peer).progress.*counter;
  if (peer == self_ || theirs.load(std::memory_order_seq_cst) > before_ + slice) return true;
  awaited = peer;
  return false;
}

bool PipelinedShm::NearReach(Counter counter, std::uint64_t slice, std::uint32_t& awaited) const {
  return std::ranges::all_of(
      *near_, [&](std::uint32_t peer) { return Reached(peer, counter, slice, awaited); });
}

// Memory is free once all ranks have read its last slices, even those of an operation before.
bool PipelinedShm::MayPut(std::uint32_t& awaited) const {
  if (next_->after == 0) return true;
  const std::uint64_t old = next_->after - 1 - before_;  // wraps around together with before_
  return std::ranges::all_of(everybody_, [&](std::uint32_t peer) {
    return Reached(peer, &ArenaProgress::got, old, awaited);
  });
}

bool PipelinedShm::MayJoin(std::uint32_t& awaited) const {
  if (!NodeReceivesResult()) return true;
  return std::ranges::all_of(everybody_, [&](std::uint32_t peer) {
    return Reached(peer, &ArenaProgress::reduced, joined_, awaited);
  });
}

bool PipelinedShm::MayGet(std::uint32_t& awaited) const {
  if (joins_) return NearReach(&ArenaProgress::joined, got_, awaited);
  if (call_.kind == CallKind::kReduceScatter) {
    for (std::size_t node = 0; node < nodes_.size() && levels_; ++node) {
      if (node != seats_[self_].group &&
          !Reached(RepresentativeOf(node, self_), &ArenaProgress::reduced, got_, awaited))
        return false;
    }
    return NearReach(&ArenaProgress::put, got_, awaited);
  }
  if (reduces_) return NearReach(&ArenaProgress::reduced, got_, awaited);
  return std::ranges::all_of(everybody_, [&](std::uint32_t peer) {
    return !SendsData(call_, Rank{peer}, Rank{self_}) ||
           Reached(peer, &ArenaProgress::put, got_, awaited);
  });
}

// ---- ranks --------------------------------------------------------------------------------------

// Return true if this rank, or one on its node, receives the result of an all-reduce or reduce.
bool PipelinedShm::ReceivesResult() const {
  return call_.kind == CallKind::kAllReduce || Index(call_.root) == self_;
}
bool PipelinedShm::NodeReceivesResult() const {
  return call_.kind == CallKind::kAllReduce ||
         std::ranges::find(*near_, Index(call_.root)) != near_->end();
}

// Returns the rank of `node` that adds up the node's data for `rank`, which is on another node.
std::uint32_t PipelinedShm::RepresentativeOf(std::size_t node, std::uint32_t rank) const {
  return nodes_[node][seats_[rank].local % nodes_[node].size()];
}

bool PipelinedShm::Represents(std::uint32_t rank) const {
  const std::size_t node = seats_[self_].group;
  return seats_[rank].group != node && RepresentativeOf(node, rank) == self_;
}

// ---- memory -------------------------------------------------------------------------------------

std::byte* PipelinedShm::Stage(std::uint32_t rank, std::uint64_t slice) const {
  return arena_->stage(rank, offsets_[(before_ + slice) % PostRing::kPosts]);
}

std::byte* PipelinedShm::Joined(std::uint32_t rank, std::uint64_t slice) const {
  return Stage(rank, slice) + (joins_ ? slicing_.slice_bytes : 0);
}

// Collects into sources_ the near ranks' data at `in_stage` and this rank's at `mine`.
std::span<const std::byte*> PipelinedShm::NearSources(std::uint64_t slice, std::size_t in_stage,
                                                      const std::byte* mine) {
  sources_.clear();
  for (const std::uint32_t rank : *near_)
    sources_.push_back(rank == self_ ? mine : Stage(rank, slice) + in_stage);
  return sources_;
}

// ---- steps --------------------------------------------------------------------------------------

void PipelinedShm::Copy(const std::byte* from, std::byte* to, std::size_t bytes) const {
  const auto copy = mode_.stream ? transport::StreamCopy : transport::Copy;
  copy({from, bytes}, to);
}

// Copies into this rank's stage.
void PipelinedShm::Lay(const std::byte* from, std::byte* to, std::size_t bytes) const {
  const auto copy = mode_.through ? transport::StreamCopy : transport::Copy;
  copy({from, bytes}, to);
}

// Reduces `sources` into `out` and copies the result to `copy`, if that is not null. Divides
// averages if `last` is true.
void PipelinedShm::ReduceInto(std::span<const std::byte*> sources, std::span<std::byte> out,
                              std::byte* copy, bool last) {
  const Reduction what{call_.type, call_.op, last ? ranks_ : 1};
  for (std::size_t at = 0; at < out.size(); at += kReduceBlockBytes) {
    const auto block = out.subspan(at, std::min(kReduceBlockBytes, out.size() - at));
    ReduceMany(what, sources, block);
    if (copy) Copy(block.data(), copy + at, block.size());
    for (const std::byte*& source : sources) source += block.size();
  }
}

// Does the same with `stage` for `out`.
void PipelinedShm::ReduceIntoStage(std::span<const std::byte*> sources, std::span<std::byte> stage,
                                   std::byte* copy, bool last) {
  if (!mode_.through) return ReduceInto(sources, stage, copy, last);
  for (std::size_t at = 0; at < stage.size(); at += kReduceBlockBytes) {
    const std::size_t bytes = std::min(kReduceBlockBytes, stage.size() - at);
    const auto block = std::span(block_).first(bytes);
    ReduceInto(sources, block, copy ? copy + at : nullptr, last);
    Lay(block.data(), stage.data() + at, bytes);
  }
}

void PipelinedShm::WriteSlice(std::uint64_t slice) const {
  if (!Reduces(call_.kind) && !PieceEach(call_.kind)) return WriteSliceForAll(slice);
  const Piece range = slicing_.At(slice);
  std::byte* const stage = Stage(self_, slice);
  if (PieceEach(call_.kind)) {
    for (const std::uint32_t peer : everybody_) {
      if (peer == self_ || !SendsData(call_, Rank{self_}, Rank{peer}) ||
          (levels_ && Represents(peer)))
        continue;
      Lay(call_.input.data() + InputOffset(call_, Rank{peer}) + range.begin,
          stage + peer * slicing_.slice_bytes, range.bytes);
    }
    return;
  }
  const Piece mine = Share(local_, range);
  const std::size_t behind = mine.begin + mine.bytes;
  Lay(call_.input.data() + range.begin, stage, mine.begin);
  Lay(call_.input.data() + range.begin + behind, stage + behind, range.bytes - behind);
}

void PipelinedShm::WriteSliceForAll(std::uint64_t slice) const {
  const Piece range = slicing_.At(slice);
  const bool gives =
      !HasRoot(call_.kind) || (call_.kind == CallKind::kGather) != (Index(call_.root) == self_);
  if (gives) Lay(call_.input.data() + range.begin, Stage(self_, slice), range.bytes);
}

void PipelinedShm::ReduceShare(std::uint64_t slice) {
  const Piece range = slicing_.At(slice);
  const Piece share = Share(local_, range);
  const auto sources =
      NearSources(slice, share.begin, call_.input.data() + range.begin + share.begin);
  std::byte* const copy =
      ReceivesResult() && !joins_ ? call_.output.data() + range.begin + share.begin : nullptr;
  ReduceIntoStage(sources, {Stage(self_, slice) + share.begin, share.bytes}, copy, !joins_);
}

// Adds up this node's data for the blocks of the ranks on other nodes that this rank stands in for.
void PipelinedShm::ReduceForOthers(std::uint64_t slice) {
  const Piece range = slicing_.At(slice);
  for (const std::uint32_t rank : everybody_) {
    if (!Represents(rank)) continue;
    const std::size_t piece = rank * slicing_.slice_bytes;
    const auto sources = NearSources(
        slice, piece, call_.input.data() + InputOffset(call_, Rank{rank}) + range.begin);
    ReduceIntoStage(sources, {Stage(self_, slice) + piece, range.bytes}, nullptr, false);
  }
}

// Adds up this rank's share over all nodes. In a node of another size, several ranks hold it.
void PipelinedShm::Join(std::uint64_t slice) {
  const Piece range = slicing_.At(slice);
  const Piece share = Share(local_, range);
  const std::size_t end = share.begin + share.bytes;
  for (std::size_t at = share.begin, next = end; at < end; at = next, next = end) {
    sources_.clear();
    for (const auto& node : nodes_) {
      const auto ranks = static_cast<std::uint32_t>(node.size());
      std::uint32_t holder = 0;
      Piece theirs = ShareOf(range.bytes, holder, ranks);
      while (theirs.begin + theirs.bytes <= at) theirs = ShareOf(range.bytes, ++holder, ranks);
      next = std::min(next, theirs.begin + theirs.bytes);
      sources_.push_back(Stage(node[holder], slice) + at);
    }
    ReduceIntoStage(sources_, {Joined(self_, slice) + at, next - at},
                    ReceivesResult() ? call_.output.data() + range.begin + at : nullptr, true);
  }
}

void PipelinedShm::Get(std::uint64_t slice) {
  if (call_.kind == CallKind::kReduceScatter) return GetReduced(slice);
  if (!reduces_) return GetGiven(slice);
  if (ReceivesResult()) GetShares(slice);
}

void PipelinedShm::GetShares(std::uint64_t slice) const {
  const Piece range = slicing_.At(slice);
  for (std::uint32_t place = 0; place < near_->size(); ++place) {
    if (place == local_) continue;
    const Piece share = Share(place, range);
    Copy(Joined((*near_)[place], slice) + share.begin,
         call_.output.data() + range.begin + share.begin, share.bytes);
  }
}

void PipelinedShm::GetReduced(std::uint64_t slice) {
  const Piece range = slicing_.At(slice);
  const std::size_t piece = self_ * slicing_.slice_bytes;
  const std::span<std::byte> out(call_.output.data() + range.begin, range.bytes);
  ReduceInto(
      NearSources(slice, piece, call_.input.data() + InputOffset(call_, Rank{self_}) + range.begin),
      out, nullptr, !levels_);
  if (!levels_) return;
  sources_.clear();
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    sources_.push_back(node == seats_[self_].group
                           ? out.data()
                           : Stage(RepresentativeOf(node, self_), slice) + piece);
  ReduceInto(sources_, out, nullptr, true);
}

void PipelinedShm::GetGiven(std::uint64_t slice) const {
  const Piece range = slicing_.At(slice);
  const std::size_t piece = PieceEach(call_.kind) ? self_ * slicing_.slice_bytes : 0;
  for (const std::uint32_t rank : everybody_) {
    if (!SendsData(call_, Rank{rank}, Rank{self_})) continue;
    std::byte* const to = call_.output.data() + OutputOffset(call_, Rank{rank}) + range.begin;
    const std::byte* const from =
        rank == self_ ? call_.input.data() + InputOffset(call_, Rank{self_}) + range.begin
                      : Stage(rank, slice) + piece;
    if (from != to) Copy(from, to, range.bytes);
  }
}

}  // namespace ringlet::collective
