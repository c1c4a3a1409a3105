// Posts: the posts of the ranks of one host in the arena, as one rank writes and reads them.
//
// A post describes its rank's call and may carry a payload. Ranks compare the posts of an operation
// and of all earlier ones, so that they detect calls that differ.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collective/call/fingerprint.hpp"
#include "collective/shm/post_ring.hpp"
#include "collective/shm/post_waiter.hpp"
#include "ringlet/status.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::collective {

class Posts {
 public:
  /// The part of the user's call that an operation performs.
  enum class PartOf : std::uint8_t {
    kFirst,       ///< the first or only part
    kNext,        ///< the ranks have met in an earlier part
    kAfterLinks,  ///< like kNext, but ranks wait for data from other hosts
  };

  /// \param self       below the arena's number of ranks
  /// \param names      ranks of the communicator by index in the arena; empty: equal numbers
  /// \param may_fence  this rank may fence all ranks before it sleeps
  Posts(std::shared_ptr<transport::Arena> arena, std::uint32_t self, std::vector<Rank> names,
        bool may_fence);

  /// Begins the next operation.
  /// \param whole          the user's call
  /// \param payload_bytes  equal on all ranks, at most the arena's slot_bytes
  void Begin(const Fingerprint& whole, PartOf part, std::size_t payload_bytes);
  /// Returns true if no rank reads the memory of the operation's post any more.
  bool MayPublish();
  /// Writes the description. Returns the memory for the payload.
  std::byte* Describe() {
    transport::ArenaPost& post = PostOf(self_);
    post.call = described_.word;
    post.count = described_.count;
    post.history = history_;
    return Payload(self_);
  }
  /// Publishes the post, and wakes the ranks that wait for it.
  void Publish();
  /// Returns the payload of a rank: the bytes of Begin, or at most ArenaPost::kInlineBytes.
  std::byte* Payload(std::uint32_t rank) const {
    return payload_bytes_ <= transport::ArenaPost::kInlineBytes
               ? PostOf(rank).inline_payload
               : arena_->payload(rank, place_.offset);
  }

  /// Compares the posts of other ranks. Returns true once all needed ranks have posted.
  /// \param part  the operation; its root is an index in the arena
  /// \param all   all ranks are needed, also those without data for this one
  /// Errors  kProtocol  a rank made a different call; the message names both ranks and their calls
  Result<bool> AwaitPosts(const Call& part, bool all);
  /// Compares the posts that exist.
  Status Compare() const;
  void End() { AddToHistory(described_.word, described_.count); }
  /// Counts an operation that no rank posts.
  void CountEmptyCall(const Fingerprint& call);

  transport::Arena& arena() const { return *arena_; }
  std::uint32_t self() const { return self_; }
  std::uint32_t ranks() const { return ranks_; }
  /// Returns the rank of the communicator at an index in the arena.
  std::uint32_t RankAt(std::uint32_t place) const {
    return names_.empty() ? place : Index(names_[place]);
  }
  PostWaiter& waiter() { return waiter_; }

  /// Index in the arena of the rank that was not ready at the last check; ranks() if all were.
  std::uint32_t awaited() const { return awaited_; }
  void Await(std::uint32_t rank) { awaited_ = rank; }
  /// Returns the next action of an awaited rank that has not posted this operation.
  const char* Awaited() const;

  std::uint64_t sequence() const { return sequence_; }        ///< of the operation; the first is 1
  std::uint64_t number() const { return described_.number; }  ///< the same, as callers count
  /// "all_reduce of 8 float sum".
  std::string CurrentCallText() const;

 private:
  // See PostWaiter. kPostsSoFar: posts fence until all ranks announce that sleepers do.
  enum class Fences : std::uint8_t { kPosts, kPostsSoFar, kSleepers };
  struct DescribedCall {
    std::uint64_t word = 0, count = 0;  // the user's call
    std::uint64_t number = 0;
    PartOf part = PartOf::kFirst;
  };

  transport::ArenaPost& PostOf(std::uint32_t rank) const { return arena_->post(rank, sequence_); }
  bool HasPosted(std::uint32_t peer, std::uint64_t sequence);
  void AgreeOnFences();
  bool IsEqual(std::uint32_t peer) const {
    const transport::ArenaPost& post = PostOf(peer);
    return post.call == described_.word && post.count == described_.count &&
           post.history == history_;
  }
  Error Difference(std::uint32_t peer) const;
  void AddToHistory(std::uint64_t word, std::uint64_t count);

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t self_, ranks_;
  std::vector<Rank> names_;
  std::uint32_t awaited_ = 0;
  Fences fences_;
  PostWaiter waiter_;
  PostRing ring_;
  std::vector<std::uint64_t> posted_;  // last post seen of each rank
  std::uint64_t history_ = 0;          // digest of all earlier calls
  std::uint64_t sequence_ = 0;         // of this operation, as all below
  DescribedCall described_;
  std::size_t payload_bytes_ = 0;
  PostRing::PostSlot place_;
};

}  // namespace ringlet::collective
