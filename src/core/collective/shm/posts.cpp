#include "collective/shm/posts.hpp"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <utility>

namespace ringlet::collective {
namespace {

using transport::ArenaPost;
using transport::ArenaShape;

// Distance beyond the needed post at which a rank looks first. If a peer has posted that already,
// the rank does not look again for as many operations.
constexpr std::uint64_t kPostsAhead = ArenaShape::kPosts / 2;

std::uint64_t CallWord(const Fingerprint& call) {
  return static_cast<std::uint64_t>(call.operation) | static_cast<std::uint64_t>(call.type) << 8 |
         static_cast<std::uint64_t>(call.op) << 16 |
         static_cast<std::uint64_t>(call.selection) << 24 | std::uint64_t{Index(call.root)} << 32;
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

}  // namespace

Posts::Posts(std::shared_ptr<transport::Arena> arena, std::uint32_t self, std::vector<Rank> names,
             bool may_fence)
    : arena_(std::move(arena)),
      self_(self),
      ranks_(arena_->shape().ranks),
      names_(std::move(names)),
      fences_(may_fence ? Fences::kPostsSoFar : Fences::kPosts),
      waiter_(arena_->rank(self), awaited_),
      ring_(arena_->shape().PayloadBytes()),
      posted_(ranks_, 0) {
  RINGLET_ASSERT(self_ < ranks_);
  AgreeOnFences();
}

void Posts::Begin(const Fingerprint& whole, PartOf part, std::size_t payload_bytes) {
  described_ = {
      .word = CallWord(whole), .count = whole.count, .number = whole.sequence, .part = part};
  ++sequence_;
  payload_bytes_ = payload_bytes;
  place_ = ring_.Next(payload_bytes > ArenaPost::kInlineBytes ? payload_bytes : 0);
}

// An operation is over for a rank that has posted the next one.
bool Posts::MayPublish() {
  if (place_.after == 0) return true;
  const std::uint64_t needed = place_.after + 1;
  for (std::uint32_t peer = 0; peer < ranks_; ++peer) {
    if (peer == self_ || posted_[peer] >= needed || HasPosted(peer, needed + kPostsAhead) ||
        HasPosted(peer, needed))
      continue;
    awaited_ = peer;
    return false;
  }
  return true;
}

bool Posts::HasPosted(std::uint32_t peer, std::uint64_t sequence) {
  const std::uint64_t seen = arena_->post(peer, sequence).sequence.load(std::memory_order_seq_cst);
  if (seen < sequence) return false;
  posted_[peer] = seen;
  return true;
}

// A process takes part in fences some time after its start (os::JoinRemoteFences).
void Posts::AgreeOnFences() {
  if (fences_ != Fences::kPostsSoFar || !transport::Arena::MayFence()) return;
  waiter_.set_fence(&transport::Arena::Fence);
  arena_->FenceForOthers(self_);
  if (arena_->AllFenceForOthers()) fences_ = Fences::kSleepers;
}

// Publishes before bells are read. Checks ever more rarely whether all ranks fence.
void Posts::Publish() {
  ArenaPost& post = PostOf(self_);
  if (fences_ == Fences::kPostsSoFar && std::has_single_bit(sequence_)) AgreeOnFences();
  if (fences_ == Fences::kSleepers) {
    post.sequence.store(sequence_, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // no bell is read before
  } else {
    post.sequence.store(sequence_, std::memory_order_seq_cst);
  }
  arena_->RingAwaiting(self_);
  awaited_ = 0;
}

// Each rank that gives data to this one must have called. Even without such data, the root compares
// existing posts of the others, and they the root's. One of two ranks that differ detects it.
Result<bool> Posts::AwaitPosts(const Call& part, bool all) {
  for (; awaited_ < ranks_; ++awaited_) {
    if (awaited_ == self_) continue;
    const bool needed = all || SendsData(part, Rank{awaited_}, Rank{self_});
    if (!needed && Index(part.root) != self_ && Index(part.root) != awaited_) continue;
    const std::uint64_t seen = PostOf(awaited_).sequence.load(std::memory_order_seq_cst);
    if (seen != sequence_) {
      if (needed) return false;
      continue;
    }
    posted_[awaited_] = seen;
    if (!IsEqual(awaited_)) return Difference(awaited_);
  }
  return true;
}

Status Posts::Compare() const {
  for (std::uint32_t peer = 0; peer < ranks_; ++peer)
    if (PostOf(peer).sequence.load(std::memory_order_seq_cst) == sequence_ && !IsEqual(peer))
      return Difference(peer);
  return Ok();
}

Error Posts::Difference(std::uint32_t peer) const {
  const ArenaPost& post = PostOf(peer);
  const std::uint64_t word = post.call, count = post.count;
  if (word == described_.word && count == described_.count)
    return {Code::kProtocol,
            fmt::format("rank {} and rank {} called different operations before operation {}: all "
                        "ranks must call the same operations in the same order",
                        RankAt(peer), RankAt(self_), described_.number)};
  const Call theirs = CallOf(word, count);
  return {Code::kProtocol,
          fmt::format("rank {} called {}, rank {} called {}, as operation {}: all ranks must call "
                      "the same operations in the same order",
                      RankAt(peer), Readable(theirs) ? ToText(theirs) : "an unreadable operation",
                      RankAt(self_), CurrentCallText(), described_.number)};
}

void Posts::CountEmptyCall(const Fingerprint& call) {
  AddToHistory(CallWord(call), call.count);
}

// Not cryptographic: it detects mistakes, not malice.
void Posts::AddToHistory(std::uint64_t word, std::uint64_t count) {
  const std::uint64_t mixed = (history_ ^ word) * 0x9e3779b97f4a7c15 + count;
  history_ = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9;
}

const char* Posts::Awaited() const {
  static constexpr const char* kByPart[] = {"call it", "continue it",
                                            "receive data from the other hosts"};
  return kByPart[static_cast<std::size_t>(described_.part)];
}

std::string Posts::CurrentCallText() const {
  return ToText(CallOf(described_.word, described_.count));
}

}  // namespace ringlet::collective
