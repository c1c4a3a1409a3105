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
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/value/race.hpp"
#include "collective/algorithm/algorithm.hpp"
#include "collective/call/fingerprint.hpp"
#include "collective/call/operation.hpp"
#include "collective/layout/groups.hpp"
#include "collective/shm/pipelined_shm.hpp"
#include "collective/shm/posts.hpp"
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
  /// Returns a time in any unit, for adaptive operations. Null: they never change their way.
  std::uint64_t (*ticks)() = nullptr;
};

/// Returns true if ranks may fetch blocks from the memory of the others in an adaptive operation.
/// Such operations only copy. The result is the same for all blocks between two powers of two,
/// which share a Race.
bool MayFetch(CallKind kind, std::size_t block, std::uint32_t ranks);

/// Runs one operation after the other. Drive each as an Operation from Start on.
class ShmCollective final : public Operation {
 public:
  /// \param arena  has at least 64 bytes of stage per rank
  /// \param self   below the arena's number of ranks
  /// \param reach  access to other ranks' memory; null pointers make all data pass through the
  ///               arena
  ShmCollective(std::shared_ptr<transport::Arena> arena, std::uint32_t self,
                WaitPolicy wait_policy = {}, ShmOptions options = {}, HostReach reach = {});
  ~ShmCollective() override;

  /// Begins an operation after the last one is done. Does not block or allocate. A one-shot
  /// operation posts its data, and is done if the ranks that it needs have posted. A barrier, and
  /// the meeting before the messages of all_to_all_v, have a count of 0. All-to-all cannot be in
  /// place. Buffers that only the root has are ignored on other ranks.
  ///
  /// \param how     kOneShot, if a rank gives at most the arena's slot_bytes; kSlices; or
  ///                kZeroCopy, kFetch or kAdaptive, which become kSlices if one rank cannot run
  ///                them. Equal on all ranks.
  /// \param number  number of earlier operations, as callers count
  void Start(const Call& call, Algorithm how, std::uint64_t number) {
    StartPart(call, how, FingerprintOf(call, number));
  }

  using PartOf = Posts::PartOf;
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
  /// Announces to all ranks of the arena that this rank has failed, and wakes it. Any thread. The
  /// rank's own thread names the rank to blame.
  void GiveUp() { FailBecauseOf(0); }

  transport::Arena& arena() const { return posts_.arena(); }
  std::uint32_t self() const { return posts_.self(); }

 private:
  // The phases of an operation.
  struct Idle {};
  struct Posting {
    Algorithm how;
  };
  struct OneShot {};
  struct Direct {
    bool stream;    // outputs bypass the caches
    bool adaptive;  // one rank chooses the way for all
    bool met;       // all ranks have posted the same call
  };
  struct Slices {
    bool met;  // so have all ranks that this rank needs
  };

  std::uint32_t ranks() const { return posts_.ranks(); }
  /// Returns true if a rank of the arena has given up. Checked before each post, because a rank
  /// that never waits for others learns of a wrong operation in no other way.
  bool HasRankFailed() const {
    return arena().header().failed.load(std::memory_order_relaxed) != 0;
  }
  bool RunAtOnce(const Call& call);
  void Post(Algorithm how);
  void PostOneShot(const Call& call);
  Result<bool> FinishOneShot(const Call& call);
  enum class Way : std::uint32_t { kFetch, kSlices, kSlicesThrough };
  /// The races of a kind of operation, by its size.
  struct Races;
  std::uint32_t ChooserOf(const Call& call) const;
  Race* RaceOf(const Call& call);
  Way WayOf(const Call& call);
  void RecordTime();
  void BeginSlices(PipelinedShm::SliceMode mode, bool met);
  Result<bool> Wait();
  Result<bool> AdvanceDirect(Direct& direct);
  Result<bool> AdvanceSlices(Slices& slices);
  void FailBecauseOf(std::uint32_t blamed);
  Error Fail(Error error, std::uint32_t blamed = 0);
  Error FailureOfRank() const;

  Posts posts_;
  std::array<Spinner, 2> spinners_;  // for waits within the host, and for other hosts
  WaitTarget place_;
  std::size_t stream_bytes_min_;

  Call call_;
  std::variant<Idle, Posting, OneShot, Direct, Slices> phase_;
  bool moved_ = false;
  std::uint32_t gone_ = 0;  // 1 + the awaited peer, once it has left
  std::uint64_t base_ = 0;  // slices before this operation
  PipelinedShm slices_;
  std::optional<ZeroCopyShm> direct_;
  std::uint64_t (*ticks_)();
  std::unique_ptr<Races> races_;  // null before the first choice by this rank
  Race* race_ = nullptr;          // gets the time of this operation; null: none does
  std::uint64_t begun_ = 0;       // in ticks
  std::optional<Error> error_;
};

}  // namespace ringlet::collective
