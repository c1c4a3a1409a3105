// ShmCollective: collectives among the ranks of one host, through shared memory.
//
// Every operation begins with a post that describes this rank's call, so that ranks detect calls
// that differ. In a one-shot operation, the post contains the data, and each rank reads all posts.
// Larger operations either access the ranks' memory directly (zero_copy_shm.hpp) or pass stages in
// slices (pipelined_shm.hpp). The result of each is bitwise equal on all ranks.
//
// Data that peers write is outside input. This rank computes all positions and lengths from its own
// call. It reads only counters, which it compares, and data from other ranks.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/groups.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "collective/shm/pipelined_shm.hpp"
#include "collective/shm/post_ring.hpp"
#include "collective/shm/post_waiter.hpp"
#include "collective/shm/slicing.hpp"
#include "collective/shm/zero_copy_shm.hpp"
#include "ringlet/status.hpp"
#include "transport/arena/arena.hpp"

namespace ringlet::collective {

struct ShmOptions {
  /// Outputs of at least this size on all ranks together bypass the caches, which cannot hold them.
  std::size_t stream_bytes_min = 6 << 20;
  /// Indices in the arena per NUMA node in order, each once. Empty: reductions have one level.
  Groups nodes = {};
  /// Ranks of the communicator by index in the arena. Empty: both numbers are equal.
  std::vector<Rank> ranks = {};
};

/// Runs one operation after the other. Drive each as an Operation from Start on.
class ShmCollective final : public Operation {
 public:
  /// \param arena  has at least 64 bytes of stage per rank
  /// \param self   below the arena's number of ranks
  /// \param reach  access to other ranks' memory; null pointers make all data pass through the
  ///               arena
  ShmCollective(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                WaitPolicy wait_policy = {}, ShmOptions options = {}, HostReach reach = {});

  /// Begins an operation after the last one is done. Does not block or allocate. A barrier, and the
  /// meeting before the messages of all_to_all_v, have a count of 0. All-to-all cannot be in place.
  /// Buffers that only the root has are ignored on other ranks.
  ///
  /// \param how     kOneShot, if a rank gives at most the arena's slot_bytes; kSlices; or kZeroCopy
  ///                or kFetch, which become kSlices if one rank cannot run them. Equal on all
  ///                ranks.
  /// \param number  number of earlier operations, as callers count
  void Start(const Call& call, Algorithm how, std::uint64_t number) {
    StartPart(call, how, FingerprintOf(call, number));
  }

  /// The part of the user's call that an operation performs.
  enum class PartOf : std::uint8_t {
    kFirst,       ///< the first or only part
    kNext,        ///< the ranks have met in an earlier part
    kAfterLinks,  ///< like kNext, but ranks wait for data from other hosts
  };
  /// Does the same for a part of a call among several hosts. Ranks detect whole calls that differ,
  /// and messages describe the whole call.
  /// \param part   among the ranks of the arena; its root is an index in the arena
  /// \param whole  the user's call
  void StartPart(const Call& part, Algorithm how, const Fingerprint& whole,
                 PartOf which = PartOf::kFirst);

  /// Counts an operation of all ranks without elements, which moves no data and waits for no rank.
  /// \pre  The last operation is done
  void CountEmptyCall(const Fingerprint& call);

  /// Makes progress; never blocks. Returns true if this rank's part is done and its buffers belong
  /// to the caller again. After an error, every further call returns the same error.
  /// Errors  kProtocol  a rank made a different call; the message names both ranks and their calls
  ///         kPeerLost  a rank has given up
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::optional<Rank> Awaits() const override;
  /// "rank 1 in all_reduce of 8 float sum as operation 17 waits for rank 0 to call it".
  std::string WaitingFor() const override;

  /// Waits on this rank's bell in the arena. A rank that waits for another host yields its core for
  /// a while, then sleeps (WaitPolicy::ForOtherHosts).
  const WaitTarget* place() const override { return &place_; }

  void Withdraw() override;

  /// Announces to all ranks of the arena that this idle rank makes no more calls. A rank that
  /// awaits it then fails.
  void Leave();
  /// Announces to all ranks of the arena that this rank has failed, and wakes it. Any thread.
  void GiveUp();

  transport::Arena& arena() const { return *arena_; }
  std::uint32_t self() const { return self_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kPost, kMeet, kDirect, kSlices };

  /// Returns the rank of the communicator at an index in the arena.
  std::uint32_t RankAt(std::uint32_t place) const {
    return options_.ranks.empty() ? place : Index(options_.ranks[place]);
  }
  std::string CurrentCallText() const;
  const char* Awaited() const;
  bool MayPost();
  bool HasPosted(std::uint32_t peer, std::uint64_t sequence);
  std::byte* PayloadAt(std::uint32_t rank) const {
    return arena_->payload(rank, post_place_.offset);
  }
  void Post();
  void AgreeOnFences();
  void Publish(transport::ArenaPost& post);
  void Offer(transport::ArenaPost& post);
  Result<bool> Wait();
  Result<bool> AwaitPosts();
  Status Compare(std::uint32_t peer);
  void FinishOneShot();
  Result<bool> AdvanceDirect();
  Result<bool> AdvanceSlices();
  void FailBecauseOf(std::uint32_t blamed);
  Error Fail(Error error);
  std::string FailedRankText() const;
  const std::byte* Payload(std::uint32_t rank) const;

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t self_, ranks_;
  const bool may_fence_;       // may fence all ranks before it sleeps
  bool others_fence_ = false;  // all ranks do, so that posts need no fence
  PostWaiter waiter_;
  Spinner spinner_, spinner_for_hosts_;
  WaitTarget place_;
  ShmOptions options_;

  Call call_;
  Algorithm how_ = Algorithm::kOneShot;
  Phase phase_ = Phase::kIdle;
  bool one_shot_ = false, meets_ = false, shared_ = false, stream_ = false, moved_ = false;
  bool met_ = false;
  std::uint64_t sequence_ = 0;   // of the operation; the first is 1
  std::uint64_t number_ = 0;     // of the operation, as callers count
  std::uint64_t call_word_ = 0;  // the user's call and its count
  std::uint64_t call_count_ = 0;
  PartOf part_ = PartOf::kFirst;
  std::uint64_t history_ = 0;  // digest of all earlier calls
  std::size_t put_bytes_ = 0;
  std::uint32_t gone_ = 0;     // 1 + the awaited peer, once it has left
  std::uint32_t blamed_ = 0;   // 1 + the peer that left, if this rank gives up because of it
  std::uint32_t awaited_ = 0;  // the peer that was not ready at the last check
  std::uint64_t base_ = 0;     // slices before this operation
  PostRing ring_;
  PostRing::PostSlot post_place_;      // of this operation
  std::vector<std::uint64_t> posted_;  // last post seen of each rank
  std::vector<const std::byte*> sources_;
  PipelinedShm slices_;
  std::optional<ZeroCopyShm> direct_;
  bool offers_ = false;  // its memory, in this operation
  std::optional<Error> error_;
};

}  // namespace ringlet::collective
