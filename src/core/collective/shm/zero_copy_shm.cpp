#include "collective/shm/zero_copy_shm.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "collective/reduce/reduce.hpp"
#include "transport/arena/bell_waiter.hpp"
#include "transport/link/copy.hpp"
#include "transport/link/doorbell.hpp"
#include "transport/link/last_look.hpp"

namespace ringlet::collective {
namespace {

using transport::ArenaPlaces;
using transport::BufferPlace;
using transport::DoorbellButton;

// Bytes between checks for ranks that have given up or closed their buffers.
constexpr std::size_t kChunkBytes = 256 << 10;
constexpr int kChunksAtOnce = 16;
// Bytes to fetch at a time.
constexpr std::size_t kFetchBytes = 4 << 20;
// Limits of the wait of a rank that gives up, for the root's write to its memory.
constexpr int kLooksForDelivery = 1000;
constexpr std::chrono::milliseconds kBetweenLooks(1);

// Values of ArenaPlaces::offered.
constexpr std::uint32_t kRegistered = 1, kAddress = 2;

}  // namespace

ZeroCopyShm::ZeroCopyShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                         HostReach reach)
    : arena_(std::move(arena)),
      self_(self),
      ranks_(arena_->shape().ranks),
      reach_(std::move(reach)),
      inputs_(ranks_, nullptr),
      far_inputs_(ranks_),
      outputs_(ranks_, nullptr),
      readable_(ranks_),
      scratch_(kReduceBlockBytes) {
  RINGLET_ASSERT(reach_.shared && reach_.near && reach_.is_near.size() == ranks_);
  for (std::uint32_t rank = 0; rank < ranks_; ++rank)
    if (rank != self_ && reach_.is_near[rank]) near_peers_.push_back(rank);
  all_near_ = near_peers_.size() + 1 == ranks_;
}

// ---- offers and votes ---------------------------------------------------------------------------

// Returns true if all ranks write to the output of `rank`.
bool ZeroCopyShm::WritesTo(std::uint32_t rank) const {
  return call_.kind == CallKind::kAllReduce ||
         (call_.kind == CallKind::kReduce && Index(call_.root) == rank);
}

ArenaPlaces ZeroCopyShm::Begin(const Call& call, std::uint64_t sequence, CopyMode mode) {
  call_ = call;
  sequence_ = sequence;
  phase_ = Phase::kOffers;
  lets_read_ = false;
  ArenaPlaces places;
  if (!Offers(call, mode.fetch, places)) return {};
  // A root that offers an address may write there.
  const bool splits = mode.fetch && call.kind == CallKind::kBroadcast;
  if (splits) places.output_offset = RemoteAddress::Of(call.output.data()).told();
  stream_ = mode.stream && places.offered != kAddress;  // the caches hold fetched data
  lets_read_ = splits || places.offered == kAddress;
  open_ = !near_peers_.empty();
  if (open_) reach_.near->Open(self_, {call.input.data(), call.output.data()});
  return places;
}

bool ZeroCopyShm::Offers(const Call& call, bool fetch, ArenaPlaces& places) const {
  places.offered = kRegistered;
  return all_near_ || OffersRegistered(call, places) || (fetch && OffersAddress(call, places));
}

bool ZeroCopyShm::OffersRegistered(const Call& call, ArenaPlaces& places) const {
  const CallPlace here{Rank{self_}, ranks_};
  if (const std::size_t bytes = InputBytes(call, here); bytes > 0) {
    const auto place = reach_.shared->Find(call.input.data(), bytes);
    if (!place) return false;
    places.input = place->name;
    places.input_offset = place->offset;
  }
  if (WritesTo(self_)) {
    const auto place = reach_.shared->Find(call.output.data(), OutputBytes(call, here));
    if (!place) return false;
    places.output = place->name;
    places.output_offset = place->offset;
  }
  return true;
}

// Offers an address. The root of a broadcast then waits until all ranks have read all data. Through
// stages it waits for all but two slices.
bool ZeroCopyShm::OffersAddress(const Call& call, ArenaPlaces& places) const {
  // If the kernel forbids reading, it mostly does for all ranks, which would vote an offer down.
  for (std::uint32_t peer = 0; peer < ranks_; ++peer)
    if (peer != self_ && !reach_.shared->VerifyProcess(peer)) return false;
  places = {.input_offset = RemoteAddress::Of(call.input.data()).told(), .offered = kAddress};
  return true;
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::Advance(std::uint64_t finished, std::uint32_t& awaited) {
  switch (phase_) {
    case Phase::kOffers: return CountOffers();
    case Phase::kVotes: return CountVotes(awaited);
    case Phase::kWork: return Work(finished, awaited);
    case Phase::kLeaves: break;
  }
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    if (peer == self_ ||
        arena_->rank(peer).progress.got.load(std::memory_order_seq_cst) >= finished)
      continue;
    awaited = peer;
    return AdvanceResult::kWaits;
  }
  return AdvanceResult::kDone;
}

ArenaPlaces ZeroCopyShm::PlacesOf(std::uint32_t rank) const {
  ArenaPlaces places;
  std::memcpy(&places, arena_->post(rank, sequence_).inline_payload, sizeof places);
  return places;
}

bool ZeroCopyShm::AllRegistered() const {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank)
    if (PlacesOf(rank).offered != kRegistered) return false;
  return true;
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::CountOffers() {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::uint32_t offered = PlacesOf(rank).offered;
    if (offered != kRegistered && offered != kAddress) return AdvanceResult::kRefused;
  }
  split_.reset();
  if (IsSplit(self_)) split_.emplace(SplitOf(self_)).Open();
  const bool reaches = MapInputs();
  arena_->rank(self_).vote.store(sequence_ * 2 + (reaches ? 1 : 0), std::memory_order_seq_cst);
  arena_->RingAwaiting(self_);
  phase_ = Phase::kVotes;
  return AdvanceResult::kMoved;
}

bool ZeroCopyShm::MapInputs() {
  inputs_.assign(ranks_, nullptr);
  far_inputs_.assign(ranks_, std::nullopt);
  inputs_[self_] = call_.input.data();
  outputs_[self_] = call_.output.data();
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    if (peer == self_) continue;
    if (!(reach_.is_near[peer] ? MapNearInput(peer) : MapSharedInput(peer))) return false;
  }
  return true;
}

bool ZeroCopyShm::MapNearInput(std::uint32_t peer) {
  const InProcessBuffers::Visit visit(*reach_.near, {peer});
  if (!visit.granted()) return false;
  inputs_[peer] = reach_.near->pair(peer).input;
  outputs_[peer] = reach_.near->pair(peer).output;
  return true;
}

bool ZeroCopyShm::MapSharedInput(std::uint32_t peer) {
  const ArenaPlaces places = PlacesOf(peer);
  const CallPlace there{Rank{peer}, ranks_};
  const std::size_t input_bytes = InputBytes(call_, there);
  if (places.offered == kAddress)
    return MapProcessInput(peer, RemoteAddress(places.input_offset), input_bytes);
  const auto reach = [&](std::uint32_t name, std::uint64_t offset, std::size_t bytes) {
    return reach_.shared->Reach(peer, BufferPlace{.name = name, .offset = offset}, bytes);
  };
  const bool reads = Reduces(call_.kind) || SendsData(call_, Rank{peer}, Rank{self_});
  if (reads && !(inputs_[peer] = reach(places.input, places.input_offset, input_bytes)))
    return false;
  if (!WritesTo(peer)) return true;
  outputs_[peer] = reach(places.output, places.output_offset, OutputBytes(call_, there));
  return outputs_[peer] != nullptr;
}

// Tries both ends, so that unreadable memory is detected before anything is written. Programs use
// the same buffers again and again, and each attempt costs a system call, so memory that was
// readable before is not tried again.
bool ZeroCopyShm::MapProcessInput(std::uint32_t peer, RemoteAddress address, std::size_t bytes) {
  if (Reduces(call_.kind) || bytes == 0) return false;
  std::array<ReadableMemory, kReadableKept>& known = readable_[peer];
  const auto covers = [&](const ReadableMemory& one) {
    return one.bytes >= bytes && one.address == address.told();
  };
  if (std::ranges::none_of(known, covers)) {
    std::byte probe{};
    if (!reach_.shared->Get(peer, address, {&probe, 1}) ||
        !reach_.shared->Get(peer, address + bytes - 1, {&probe, 1}))
      return false;
    known[readable_next_++ % kReadableKept] = {.address = address.told(), .bytes = bytes};
  }
  far_inputs_[peer] = address;
  return true;
}

// Returns true if the root may write a part of the data of `receiver`. Both ranks get the same
// result.
bool ZeroCopyShm::IsSplit(std::uint32_t receiver) const {
  const std::uint32_t root = Index(call_.root);
  if (call_.kind != CallKind::kBroadcast || receiver == root) return false;
  if (reach_.is_near[self_ == root ? receiver : root]) return false;
  return PlacesOf(root).offered == kAddress && PlacesOf(receiver).output_offset != 0;
}

SplitCopy ZeroCopyShm::SplitOf(std::uint32_t receiver) const {
  return {arena_->rank(receiver), sequence_, BlockBytes(call_)};
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::CountVotes(std::uint32_t& awaited) {
  bool all = true;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::uint64_t vote = arena_->rank(rank).vote.load(std::memory_order_seq_cst);
    if (vote / 2 != sequence_) {
      awaited = rank;
      return AdvanceResult::kWaits;
    }
    all = all && vote % 2 == 1;
  }
  if (!all) return AdvanceResult::kRefused;
  PlanWork();
  phase_ = Phase::kWork;
  return AdvanceResult::kMoved;
}

// ---- work ---------------------------------------------------------------------------------------

void ZeroCopyShm::PlanWork() {
  copies_.clear();
  helped_.clear();
  sources_.clear();
  targets_.clear();
  copy_ = at_ = 0;
  published_ = false;
  work_bytes_ = BlockBytes(call_);
  if (!Reduces(call_.kind)) {
    const bool writes = call_.kind == CallKind::kBroadcast && Index(call_.root) == self_;
    for (std::uint32_t peer = 0; peer < ranks_ && writes; ++peer) {
      if (!IsSplit(peer)) continue;
      helped_.push_back({peer, RemoteAddress(PlacesOf(peer).output_offset), SplitOf(peer)});
    }
    // Each rank starts at another rank, so that they do not all read the same memory. Each ends
    // with itself, because no rank waits for that copy.
    for (std::uint32_t i = 1; i <= ranks_; ++i) {
      if (i == ranks_) others_copies_ = copies_.size();
      PlanCopy((self_ + i) % ranks_);
    }
    return;
  }
  std::size_t begin = InputOffset(call_, Rank{self_});
  if (call_.kind == CallKind::kReduceScatter) {
    targets_.push_back(call_.output.data());
  } else {
    const Piece share = ShareOf(work_bytes_, self_, ranks_);
    begin = share.begin;
    work_bytes_ = share.bytes;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      if (WritesTo(rank)) targets_.push_back(outputs_[rank] + begin);
  }
  for (const std::byte* const input : inputs_) sources_.push_back(input + begin);
  copies_.resize(1);  // one pass over work_bytes_
  others_copies_ = copies_.size();
}

// Data of another process is always copied. Data that this rank already sees in its place is not.
void ZeroCopyShm::PlanCopy(std::uint32_t from) {
  if (!SendsData(call_, Rank{from}, Rank{self_})) return;
  const std::size_t offset = InputOffset(call_, Rank{self_});
  ZeroCopyTransfer copy{.to = call_.output.data() + OutputOffset(call_, Rank{from})};
  if (far_inputs_[from]) {
    copy.far_from = *far_inputs_[from] + offset;
    copy.far_rank = from;
    copies_.push_back(copy);
    return;
  }
  copy.from = inputs_[from] + offset;
  if (copy.from != copy.to) copies_.push_back(copy);
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::Work(std::uint64_t finished, std::uint32_t& awaited) {
  if (!helped_.empty()) return WriteForPeers(awaited);
  for (int chunk = 0; chunk < kChunksAtOnce && copy_ < copies_.size(); ++chunk) {
    // Other ranks may have given up and reclaimed their memory while this rank was suspended.
    if (arena_->header().failed.load(std::memory_order_acquire) != 0) return AdvanceResult::kWaits;
    const bool own = copy_ >= others_copies_;
    if (own && !Publish(finished)) return AdvanceResult::kWaits;
    // From then on, other ranks may have ended and closed their buffers.
    const InProcessBuffers::Visit visit(*reach_.near, own ? nobody_ : near_peers_);
    if (!visit.granted()) {  // it has given up, as this rank is about to detect
      awaited = visit.closed();
      return AdvanceResult::kWaits;
    }
    const AdvanceResult step = DoChunk(awaited);
    if (step != AdvanceResult::kMoved) return step;
  }
  if (copy_ < copies_.size()) return AdvanceResult::kMoved;
  if (!Publish(finished)) return AdvanceResult::kWaits;
  phase_ = Phase::kLeaves;
  return AdvanceResult::kMoved;
}

// Publishes that this rank no longer needs the memory of others. Returns false if the last read may
// have accessed memory of a rank that had given up already.
bool ZeroCopyShm::Publish(std::uint64_t finished) {
  if (std::exchange(published_, true)) return true;
  if (transport::RaisedBefore(arena_->header().failed)) return false;
  transport::ArenaProgress& mine = arena_->rank(self_).progress;
  mine.put.store(finished, std::memory_order_seq_cst);
  mine.reduced.store(finished, std::memory_order_seq_cst);
  mine.got.store(finished, std::memory_order_seq_cst);
  arena_->RingAwaiting(self_);
  return true;
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::DoChunk(std::uint32_t& awaited) {
  const ZeroCopyTransfer& copy = copies_[copy_];
  if (sources_.empty() && copy.far_from) return split_ ? ReadPiece(awaited) : ReadChunk(awaited);
  const std::size_t bytes = std::min(kChunkBytes, work_bytes_ - at_);
  if (sources_.empty())
    Write(copy.from + at_, copy.to + at_, bytes);
  else
    ReduceChunk(at_, bytes);
  at_ += bytes;
  return at_ < work_bytes_ ? AdvanceResult::kMoved : EndCopy();
}

ZeroCopyShm::AdvanceResult ZeroCopyShm::EndCopy() {
  at_ = 0;
  ++copy_;
  return AdvanceResult::kMoved;
}

// Reads the next part of the current copy from memory of another process.
ZeroCopyShm::AdvanceResult ZeroCopyShm::ReadChunk(std::uint32_t& awaited) {
  const ZeroCopyTransfer& copy = copies_[copy_];
  const std::size_t bytes = std::min(kFetchBytes, work_bytes_ - at_);
  awaited = copy.far_rank;
  if (!reach_.shared->Get(copy.far_rank, *copy.far_from + at_, {copy.to + at_, bytes}))
    return AdvanceResult::kLost;
  at_ += bytes;
  return at_ < work_bytes_ ? AdvanceResult::kMoved : EndCopy();
}

// Does the same with the next piece of a split copy. Without a piece left, waits for the sender.
ZeroCopyShm::AdvanceResult ZeroCopyShm::ReadPiece(std::uint32_t& awaited) {
  const ZeroCopyTransfer& copy = copies_[copy_];
  awaited = copy.far_rank;
  const auto piece = split_->TakeFront();
  if (!piece) return split_->delivered() ? EndCopy() : AdvanceResult::kWaits;
  const bool read = reach_.shared->Get(copy.far_rank, *copy.far_from + piece->begin,
                                       {copy.to + piece->begin, piece->bytes});
  return read ? AdvanceResult::kMoved : AdvanceResult::kLost;
}

// Writes a piece to each peer with pieces left.
ZeroCopyShm::AdvanceResult ZeroCopyShm::WriteForPeers(std::uint32_t& awaited) {
  for (std::size_t i = 0; i < helped_.size();) {
    HelpedPeer& peer = helped_[i];
    const auto piece = peer.split.TakeBack();
    if (!piece) {
      helped_.erase(helped_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    // A peer that gives up stores that first, then waits for Deliver.
    const bool failed = arena_->header().failed.load(std::memory_order_seq_cst) != 0;
    const bool written =
        !failed && reach_.shared->Put(peer.rank, peer.to + piece->begin,
                                      call_.input.subspan(piece->begin, piece->bytes));
    peer.split.Deliver();
    DoorbellButton(arena_->rank(peer.rank).bell, -1).Ring();
    if (failed) return AdvanceResult::kWaits;
    awaited = peer.rank;
    if (!written) return AdvanceResult::kLost;
    ++i;
  }
  return AdvanceResult::kMoved;
}

// Waits until the root no longer writes to memory of this rank. It cannot take a further piece,
// because this rank is done or has announced that it gives up. A dead root does not write either.
void ZeroCopyShm::AwaitDelivery() {
  const auto split = std::exchange(split_, std::nullopt);
  if (!split || split->delivered()) return;
  transport::BellWaiter waiter(arena_->rank(self_).bell);
  std::byte probe{};
  for (int look = 0; look < kLooksForDelivery; ++look) {
    const auto ticket = waiter.Prepare();
    if (split->delivered()) break;
    const auto& root = far_inputs_[Index(call_.root)];
    if (root && !reach_.shared->Get(Index(call_.root), *root, {&probe, 1})) break;
    waiter.Wait(ticket, kBetweenLooks);
  }
  arena_->rank(self_).bell.value.store(0, std::memory_order_relaxed);  // awake
}

void ZeroCopyShm::ReduceChunk(std::size_t begin, std::size_t bytes) {
  const Reduction what{call_.type, call_.op, ranks_};
  block_sources_.resize(ranks_);
  for (std::size_t at = begin; at < begin + bytes; at += kReduceBlockBytes) {
    const std::size_t size = std::min(kReduceBlockBytes, begin + bytes - at);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) block_sources_[rank] = sources_[rank] + at;
    const std::span<std::byte> block(stream_ ? scratch_.data() : targets_.front() + at, size);
    ReduceMany(what, block_sources_, block);
    for (std::byte* const target : targets_)
      if (target + at != block.data()) Write(block.data(), target + at, size);
  }
}

void ZeroCopyShm::Write(const std::byte* from, std::byte* to, std::size_t bytes) const {
  const auto copy = stream_ ? transport::StreamCopy : transport::Copy;
  copy({from, bytes}, to);
}

void ZeroCopyShm::End() {
  AwaitDelivery();
  if (std::exchange(open_, false)) reach_.near->Close(self_);
}

}  // namespace ringlet::collective
