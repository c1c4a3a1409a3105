#include "collective/shm/shm_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "collective/reduce/reduce.hpp"

namespace ringlet::collective {
namespace {

using transport::ArenaPost;
using transport::ArenaShape;

// Slices per Advance. After some milliseconds the driver of the operation has its turn, and the
// rank checks for failed ranks.
constexpr int kSlicesAtOnce = 16;

// Distance beyond the needed post at which a rank looks first. If a peer has posted that already,
// the rank does not look again for as many operations.
constexpr std::uint64_t kPostsAhead = ArenaShape::kPosts / 2;

// ArenaHeader::failed: the first rank that gave up is in the lower bits, the one it blames above.
constexpr std::uint32_t kBlamedShift = 16, kGivenUpMask = 0xffff;

std::uint64_t CallWord(const Fingerprint& said) {
  return static_cast<std::uint64_t>(said.operation) | static_cast<std::uint64_t>(said.type) << 8 |
         static_cast<std::uint64_t>(said.op) << 16 |
         static_cast<std::uint64_t>(said.selection) << 24 | std::uint64_t{Index(said.root)} << 32;
}

Call CallOf(std::uint64_t word, std::uint64_t count) {
  return {.kind = static_cast<CallKind>(word & 0xff),
          .count = static_cast<std::size_t>(count),
          .type = static_cast<DataType>(word >> 8 & 0xff),
          .op = static_cast<ReduceOp>(word >> 16 & 0xff),
          .root = Rank{static_cast<std::uint32_t>(word >> 32)},
          .algorithms = static_cast<std::uint32_t>(word >> 24 & 0xff)};
}

bool Readable(const Call& call) {
  return static_cast<std::size_t>(call.kind) < kCallKinds &&
         static_cast<std::size_t>(call.type) < kDataTypes &&
         static_cast<std::size_t>(call.op) < kReduceOps;
}

// Not cryptographic: it detects mistakes, not malice.
std::uint64_t Mix(std::uint64_t history, std::uint64_t word, std::uint64_t count) {
  const std::uint64_t mixed = (history ^ word) * 0x9e3779b97f4a7c15 + count;
  return (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
}

}  // namespace

ShmCollective::ShmCollective(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                             WaitPolicy wait_policy, ShmOptions options, HostReach reach)
    : arena_(std::move(arena)),
      self_(self),
      ranks_(arena_->shape().ranks),
      may_fence_(wait_policy.looks > 0),
      waiter_(arena_->rank(self), awaited_),
      spinner_(wait_policy),
      spinner_for_hosts_(wait_policy.ForOtherHosts()),
      place_{.waiter = &waiter_, .spinner = &spinner_},
      options_(std::move(options)),
      ring_(arena_->shape().PayloadBytes()),
      posted_(ranks_, 0),
      sources_(ranks_, nullptr),
      slices_(arena_, self_, options_.nodes) {
  RINGLET_ASSERT(self_ < ranks_ && arena_->shape().stage_bytes >= std::size_t{64} * ranks_);
  if (reach.shared) direct_.emplace(arena_, self_, std::move(reach));
  AgreeOnFences();
}

void ShmCollective::StartPart(const Call& call, Algorithm how, const Fingerprint& whole,
                              PartOf which) {
  RINGLET_ASSERT(phase_ == Phase::kIdle);
  call_ = call;
  call_word_ = CallWord(whole);
  call_count_ = whole.count;
  number_ = whole.sequence;
  part_ = which;
  place_.spinner = part_ == PartOf::kAfterLinks ? &spinner_for_hosts_ : &spinner_;
  ++sequence_;
  gone_ = 0;
  phase_ = Phase::kPost;

  put_bytes_ = PieceEach(call.kind) ? ranks_ * BlockBytes(call_) : BlockBytes(call_);
  how_ = how;
  one_shot_ = how == Algorithm::kOneShot;
  RINGLET_ASSERT(!one_shot_ || put_bytes_ <= arena_->shape().slot_bytes);
  post_place_ = ring_.Next(one_shot_ && put_bytes_ > ArenaPost::kInlineBytes ? put_bytes_ : 0);
  meets_ = call.kind == CallKind::kBarrier || call.kind == CallKind::kAllToAllV;
  shared_ = offers_ = false;
  if (one_shot_) return;
  shared_ = call.kind == CallKind::kAllReduce || call.kind == CallKind::kReduce;
  const std::size_t output_bytes = OutputBytes(call, {Rank{self_}, ranks_});
  stream_ = output_bytes * ranks_ >= options_.stream_bytes_min;
  slices_.Begin(call, base_, stream_);
  met_ = false;
}

void ShmCollective::CountEmptyCall(const Fingerprint& call) {
  RINGLET_ASSERT((error_ || phase_ == Phase::kIdle) && call.count == 0);
  history_ = Mix(history_, CallWord(call), call.count);
}

Result<bool> ShmCollective::Advance() {
  moved_ = false;
  if (error_) return *error_;
  if (phase_ == Phase::kPost) {
    // Without this check, a rank that does not wait for others would continue long after another
    // rank found an operation to be wrong.
    if (arena_->header().failed.load(std::memory_order_relaxed) != 0)
      return Fail({Code::kPeerLost, ""});
    if (!MayPost()) return Wait();
    Post();
    moved_ = true;
    phase_ = one_shot_ ? Phase::kMeet : offers_ ? Phase::kDirect : Phase::kSlices;
  }
  bool done = false;
  if (phase_ == Phase::kMeet) {
    RINGLET_TRY_ASSIGN(done, AwaitPosts());
    if (done) FinishOneShot();
  } else if (phase_ == Phase::kDirect) {
    RINGLET_TRY_ASSIGN(done, AdvanceDirect());
  } else {
    RINGLET_TRY_ASSIGN(done, AdvanceSlices());
  }
  if (!done) return Wait();
  history_ = Mix(history_, call_word_, call_count_);
  phase_ = Phase::kIdle;
  moved_ = true;
  return true;
}

// Fails if the awaited rank has left or any rank has failed. Otherwise returns false: not done.
Result<bool> ShmCollective::Wait() {
  if (arena_->header().failed.load(std::memory_order_seq_cst) != 0)  // is news: see doorbell.hpp
    return Fail({Code::kPeerLost, ""});
  const bool left = awaited_ < ranks_ && awaited_ != self_ &&
                    arena_->rank(awaited_).left.load(std::memory_order_seq_cst) != 0;
  if (!left || moved_) return false;
  if (gone_ != awaited_ + 1) {
    // It may have done the awaited work before it left, so check once more.
    gone_ = awaited_ + 1;
    moved_ = true;
    return false;
  }
  blamed_ = awaited_ + 1;
  return Fail(
      {Code::kPeerLost,
       fmt::format(
           "rank {} left the communicator (destroyed or aborted it) before operation {}: {}",
           RankAt(awaited_), number_, WaitingFor())});
}

// ---- posts --------------------------------------------------------------------------------------

// An operation is over for a rank that has posted the next one.
bool ShmCollective::MayPost() {
  if (post_place_.after == 0) return true;
  const std::uint64_t needed = post_place_.after + 1;
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    if (peer == self_ || posted_[peer] >= needed || HasPosted(peer, needed + kPostsAhead) ||
        HasPosted(peer, needed))
      continue;
    awaited_ = peer;
    return false;
  }
  return true;
}

bool ShmCollective::HasPosted(std::uint32_t peer, std::uint64_t sequence) {
  const std::uint64_t seen = arena_->post(peer, sequence).sequence.load(std::memory_order_seq_cst);
  if (seen < sequence) return false;
  posted_[peer] = seen;
  return true;
}

void ShmCollective::Post() {
  ArenaPost& post = arena_->post(self_, sequence_);
  post.call = call_word_;
  post.count = call_count_;
  post.history = history_;
  const bool carries = one_shot_ && put_bytes_ > 0 &&
                       (!HasRoot(call_.kind) || call_.kind == CallKind::kReduce ||
                        call_.kind == CallKind::kGather || Index(call_.root) == self_);
  if (carries) {
    std::byte* const to =
        put_bytes_ <= ArenaPost::kInlineBytes ? post.inline_payload : PayloadAt(self_);
    std::memcpy(to, call_.input.data(), put_bytes_);
  }
  if (!one_shot_) Offer(post);
  Publish(post);
  arena_->RingForPost(self_);
  awaited_ = 0;
}

// A process takes part in fences some time after its start (os::JoinRemoteFences).
void ShmCollective::AgreeOnFences() {
  if (!may_fence_ || !transport::Arena::MayFence()) return;
  waiter_.set_fence(&transport::Arena::Fence);
  arena_->FenceForOthers(self_);
  others_fence_ = arena_->AllFenceForOthers();
}

// Publishes a post before bells are read. Checks ever more rarely whether all ranks fence.
void ShmCollective::Publish(ArenaPost& post) {
  if (!others_fence_ && std::has_single_bit(sequence_)) AgreeOnFences();
  if (others_fence_) {
    post.sequence.store(sequence_, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // no bell is read before
  } else {
    post.sequence.store(sequence_, std::memory_order_seq_cst);
  }
}

void ShmCollective::Offer(ArenaPost& post) {
  transport::ArenaPlaces places;
  if (direct_ && how_ != Algorithm::kSlices)
    places =
        direct_->Begin(call_, sequence_, {.stream = stream_, .fetch = how_ == Algorithm::kFetch});
  offers_ = places.offered != 0;
  std::memcpy(post.inline_payload, &places, sizeof places);
}

// Each rank that gives data to this one must have called. Even without such data, the root compares
// existing posts of the others, and they the root's. One of two ranks that differ detects it.
Result<bool> ShmCollective::AwaitPosts() {
  for (; awaited_ < ranks_; ++awaited_) {
    if (awaited_ == self_) continue;
    const bool needed =
        meets_ || shared_ || offers_ || SendsData(call_, Rank{awaited_}, Rank{self_});
    if (!needed && Index(call_.root) != self_ && Index(call_.root) != awaited_) continue;
    const std::uint64_t seen =
        arena_->post(awaited_, sequence_).sequence.load(std::memory_order_seq_cst);
    if (seen != sequence_) {
      if (needed) return false;
      continue;
    }
    posted_[awaited_] = seen;
    RINGLET_TRY(Compare(awaited_));
  }
  return true;
}

Status ShmCollective::Compare(std::uint32_t peer) {
  const ArenaPost& post = arena_->post(peer, sequence_);
  const std::uint64_t word = post.call, count = post.count, history = post.history;
  if (word == call_word_ && count == call_count_ && history == history_) [[likely]]
    return Ok();
  const Call theirs = CallOf(word, count);
  const bool same = word == call_word_ && count == call_count_;
  return Fail({Code::kProtocol,
               same
                   ? fmt::format("rank {} and rank {} called different operations before operation "
                                 "{}: all ranks must call the same operations in the same order",
                                 RankAt(peer), RankAt(self_), number_)
                   : fmt::format("rank {} called {}, rank {} called {}, as operation {}: all ranks "
                                 "must call the same operations in the same order",
                                 RankAt(peer),
                                 Readable(theirs) ? ToText(theirs) : "an unreadable operation",
                                 RankAt(self_), CurrentCallText(), number_)});
}

const std::byte* ShmCollective::Payload(std::uint32_t rank) const {
  return put_bytes_ <= ArenaPost::kInlineBytes ? arena_->post(rank, sequence_).inline_payload
                                               : PayloadAt(rank);
}

void ShmCollective::FinishOneShot() {
  const std::size_t block = BlockBytes(call_);
  if (block == 0) return;
  const std::size_t mine = PieceEach(call_.kind) ? self_ * block : 0;
  if (Reduces(call_.kind)) {
    if (call_.kind == CallKind::kReduce && Index(call_.root) != self_) return;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      sources_[rank] = (rank == self_ ? call_.input.data() : Payload(rank)) + mine;
    const std::span<std::byte> out(call_.output.data(), block);
    return ReduceMany({call_.type, call_.op, ranks_}, sources_, out);
  }
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (!SendsData(call_, Rank{rank}, Rank{self_})) continue;
    std::byte* const to = call_.output.data() + OutputOffset(call_, Rank{rank});
    const std::byte* const from = (rank == self_ ? call_.input.data() : Payload(rank)) + mine;
    if (from != to) std::memcpy(to, from, block);
  }
}

// ---- direct access to the ranks' memory ---------------------------------------------------------

Result<bool> ShmCollective::AdvanceDirect() {
  if (!met_) {
    RINGLET_TRY_ASSIGN(met_, AwaitPosts());
    if (!met_) return false;
  }
  const auto step = direct_->Advance(base_ + 1, awaited_);
  moved_ = moved_ || step != ZeroCopyShm::AdvanceResult::kWaits;
  if (step == ZeroCopyShm::AdvanceResult::kLost)
    return Fail(
        {Code::kPeerLost, fmt::format("the memory of rank {} cannot be read any more: its process "
                                      "has ended, or has freed memory that it passed to {}",
                                      RankAt(awaited_), CurrentCallText())});
  if (step == ZeroCopyShm::AdvanceResult::kRefused) {
    direct_->End();
    phase_ = Phase::kSlices;
  }
  if (step != ZeroCopyShm::AdvanceResult::kDone) return false;
  direct_->End();
  ++base_;  // counts as one slice
  return true;
}

// After reading, peers in other processes check whether a rank has given up.
void ShmCollective::Withdraw() {
  if (phase_ == Phase::kDirect && direct_->lets_read()) FailBecauseOf(blamed_);
  if (direct_) direct_->End();
}

// ---- slices -------------------------------------------------------------------------------------

Result<bool> ShmCollective::AdvanceSlices() {
  for (int turn = 0; turn < kSlicesAtOnce; ++turn) {
    std::uint32_t awaited = ranks_;
    bool moved = slices_.Put(awaited);
    moved_ = moved_ || moved;
    if (!met_) {
      RINGLET_TRY_ASSIGN(met_, AwaitPosts());
      if (!met_) return false;
    }
    moved = slices_.Work(awaited) || moved;
    if (awaited < ranks_) awaited_ = awaited;
    moved_ = moved_ || moved;
    if (!moved) break;
  }
  if (!slices_.done()) return false;
  base_ += slices_.slices();
  return true;
}

// ---- failures -----------------------------------------------------------------------------------

void ShmCollective::Leave() {
  arena_->rank(self_).left.store(1, std::memory_order_seq_cst);
  arena_->RingOthers(self_);
}

void ShmCollective::GiveUp() {
  FailBecauseOf(0);  // the rank's own thread names the rank to blame
}

void ShmCollective::FailBecauseOf(std::uint32_t blamed) {
  std::uint32_t none = 0;
  arena_->header().failed.compare_exchange_strong(none, (self_ + 1) | blamed << kBlamedShift);
  arena_->RingOthers(self_);
  waiter_.Wake();
}

// An empty message means that another rank has given up. If its reason is a different call, this
// rank sees that call now.
Error ShmCollective::Fail(Error error) {
  if (error.message.empty()) {
    for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
      if (peer == self_ ||
          arena_->post(peer, sequence_).sequence.load(std::memory_order_seq_cst) != sequence_)
        continue;
      if (const Status same = Compare(peer); !same.ok()) return same.error();
    }
    error.message = fmt::format("{} while rank {} was in {} as operation {}", FailedRankText(),
                                RankAt(self_), CurrentCallText(), number_);
  }
  error_ = error;
  FailBecauseOf(blamed_);
  return error;
}

std::string ShmCollective::FailedRankText() const {
  const std::uint32_t failed = arena_->header().failed.load(std::memory_order_relaxed);
  const std::uint32_t place = (failed & kGivenUpMask) - 1, blamed = failed >> kBlamedShift;
  // Data in the arena is outside input.
  if (place >= ranks_ || blamed > ranks_) return "a rank of this host has given up";
  const std::uint32_t rank = RankAt(place);
  if (blamed == 0) return fmt::format("rank {} has given up", rank);
  return fmt::format(
      "rank {} left the communicator (destroyed or aborted it) before operation {}: rank {} has "
      "given up",
      RankAt(blamed - 1), number_, rank);
}

std::optional<Rank> ShmCollective::Awaits() const {
  if (phase_ == Phase::kIdle || awaited_ >= ranks_) return std::nullopt;
  return Rank{RankAt(awaited_)};
}

std::string ShmCollective::CurrentCallText() const {
  return ToText(CallOf(call_word_, call_count_));
}

/// Returns the next action of an awaited rank that has not posted this operation.
const char* ShmCollective::Awaited() const {
  switch (part_) {
    case PartOf::kFirst: return "call it";
    case PartOf::kNext: return "continue it";
    case PartOf::kAfterLinks: return "receive data from the other hosts";
  }
  return "";
}

std::string ShmCollective::WaitingFor() const {
  const std::string what =
      fmt::format("rank {} in {} as operation {}", RankAt(self_), CurrentCallText(), number_);
  if (phase_ == Phase::kIdle) return what + " waits for no rank";
  const std::uint32_t awaited = awaited_ < ranks_ ? RankAt(awaited_) : awaited_;
  if (phase_ == Phase::kPost)
    return fmt::format("{} waits for rank {} to finish an operation before", what, awaited);
  if (one_shot_ || !met_)
    return fmt::format("{} waits for rank {} to {}", what, awaited, Awaited());
  if (phase_ == Phase::kDirect)
    return fmt::format("{} waits for rank {} to finish with the memory of both ranks", what,
                       awaited);
  return fmt::format("{} waits for rank {}; {}", what, awaited, slices_.ToText());
}

}  // namespace ringlet::collective
