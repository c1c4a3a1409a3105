// Collectives among the ranks of one host, through the memory that they share.
//
// Every operation begins with a post: what this rank called, so that ranks which disagree find out.
// One-shot the data are in the post, and each rank reads those of all. Larger operations either
// work on the ranks' own memory (zero_copy_shm.hpp) or pass stages in slices (pipelined_shm.hpp).
// In each the result is the same on all ranks, bit for bit.
//
// Data that peers write are outside input: this rank computes all places and lengths from its own
// call, and takes from the others only counters, which it compares, and data.
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
  /// From this much output of all ranks on it is written past the caches: more than they hold.
  std::size_t stream_bytes_min = 6 << 20;
  /// The places of each NUMA node in order, each once; empty: reductions have one level.
  Groups nodes = {};
  /// Which rank of the communicator has each place in the arena; empty: the places are the ranks.
  std::vector<Rank> ranks = {};
};

/// One operation after the other, each of which is driven as an Operation from Start on.
class ShmCollective final : public Operation {
 public:
  /// \param arena  has at least 64 bytes of stage for each rank
  /// \param self   below the arena's ranks
  /// \param reach  of the memory of the others; without its pointers all is laid out
  ShmCollective(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                WaitPolicy wait_policy = {}, ShmOptions options = {}, HostReach reach = {});

  /// Begins an operation; the last one is done. Does not block. Allocates nothing.
  /// \param number  how many operations the callers count before this one
  /// A barrier and the wireup before the messages of all_to_all_v have a count of 0. All-to-all
  /// cannot be in place. Of what only the root has, the others' buffers are not looked at.
  ///
  /// \param how  kOneShot, of at most the arena's slot_bytes that a rank gives; kSlices; kZeroCopy
  /// or
  ///             kFetch, which become kSlices where one rank cannot. The same on all ranks.
  void Start(const Call& call, Algorithm how, std::uint64_t number) {
    StartPart(call, how, FingerprintOf(call, number));
  }

  /// Which part of what the user called an operation here is.
  enum class PartOf : std::uint8_t {
    kFirst,       ///< or the only one
    kNext,        ///< the ranks have met in another part
    kAfterLinks,  ///< the same, and wait for what comes from other hosts
  };
  /// The same for what the ranks of this host do of a call among several hosts. Ranks that differ
  /// in the whole find out, and texts speak of it.
  /// \param part  among the ranks of the arena: its root is a place among them
  /// \param whole  the user's call, of which an operation here is a part
  void StartPart(const Call& part, Algorithm how, const Fingerprint& whole,
                 PartOf which = PartOf::kFirst);

  /// Counts an operation without elements, which moves nothing and waits for no rank, as one that
  /// all ranks call. The last one is done.
  void Skip(const Fingerprint& call);

  /// Does what can be done now; never blocks. True: this rank's part is done and its buffers are
  /// the caller's again. After an error every further call gives the same one.
  /// Errors  kProtocol  a rank called something else; the sentence names both and their calls
  ///         kPeerLost  a rank has given up
  Result<bool> Advance() override;
  bool moved() const override { return moved_; }
  std::optional<Rank> Awaits() const override;
  /// "rank 1 in all_reduce of 8 float sum as operation 17 waits for rank 0 to call it".
  std::string WaitingFor() const override;

  /// On the bell of this rank in the arena. A rank that waits for another host gives its core away
  /// for a while, then sleeps (WaitPolicy::ForOtherHosts).
  const WaitTarget* place() const override { return &place_; }

  void Withdraw() override;

  /// Lets all ranks of the arena know that this one, which is in no operation, calls no more:
  /// a rank that awaits it then fails.
  void Leave();
  /// Lets all ranks of the arena know that this one is out, and wakes it. Any thread.
  void GiveUp();

  transport::Arena& arena() const { return *arena_; }
  std::uint32_t self() const { return self_; }

 private:
  enum class Phase : std::uint8_t { kIdle, kPost, kMeet, kDirect, kSlices };

  /// Of a place in the arena, the rank in the communicator.
  std::uint32_t RankAt(std::uint32_t place) const {
    return options_.ranks.empty() ? place : Index(options_.ranks[place]);
  }
  std::string WhatIsCalled() const;
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
  Result<bool> Meet();
  Status Compare(std::uint32_t peer);
  void FinishOneShot();
  Result<bool> AdvanceDirect();
  Result<bool> AdvanceSlices();
  void GiveUpFor(std::uint32_t blamed);
  Error Fail(Error error);
  std::string WhoGaveUp() const;
  const std::byte* Payload(std::uint32_t rank) const;

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t self_, ranks_;
  const bool may_fence_;       // before it sleeps, for all ranks
  bool others_fence_ = false;  // all do, so that posts need no fence
  PostWaiter waiter_;
  Spinner spinner_, spinner_for_hosts_;
  WaitTarget place_;
  ShmOptions options_;

  Call call_;
  Algorithm how_ = Algorithm::kOneShot;
  Phase phase_ = Phase::kIdle;
  bool one_shot_ = false, meets_ = false, shared_ = false, stream_ = false, moved_ = false;
  bool met_ = false, touched_ = false;
  std::uint64_t sequence_ = 0;   // of the operation; the first is 1
  std::uint64_t number_ = 0;     // of the operation, as the callers count
  std::uint64_t call_word_ = 0;  // of what the user called, and its count
  std::uint64_t call_count_ = 0;
  PartOf part_ = PartOf::kFirst;
  std::uint64_t history_ = 0;  // digest of all calls before this one
  std::size_t put_bytes_ = 0;
  std::uint32_t gone_ = 0;     // 1 + the awaited peer, once it was seen to have left
  std::uint32_t blamed_ = 0;   // 1 + the peer that has left, if this rank gives up for that
  std::uint32_t awaited_ = 0;  // the peer that was not ready when last looked
  std::uint64_t base_ = 0;     // slices before this operation
  PostRing ring_;
  PostRing::Place post_place_;         // of this operation
  std::vector<std::uint64_t> posted_;  // the last post seen of each rank
  std::vector<const std::byte*> sources_;
  PipelinedShm slices_;
  std::optional<ZeroCopyShm> direct_;
  bool offers_ = false;  // its memory, in this operation
  std::optional<Error> error_;
};

}  // namespace ringlet::collective
