// Arena: the memory that all ranks of a communicator on one host share. Each rank posts its calls
// there, lays out data for the other ranks and publishes its progress.
//
//   ArenaHeader                version, sizes, and the first failure
//   for each rank, aligned to a page:
//     ArenaRank                doorbell, progress, registered buffers
//     kPosts posts             the rank's calls, with payloads that fit inline
//   for each rank, aligned to a page:
//     payloads                 a ring of kSlots times `slot_bytes`: whole small operations
//     stages                   a ring of StagesBytes(): slices of large operations
//
// Each rank writes only to its own part, except that any rank may ring a doorbell or report a
// failure, and that the sender of a block takes part in its copy (SplitCopy). The parts are aligned
// to pages so that each rank's part lies in memory near that rank, which touches it first. Every
// rank reads the first parts of all ranks. They lie side by side, so that one call can map them.
// Data that a peer writes is outside input: a rank validates each length and position before it
// uses them.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "os/fs/shm.hpp"
#include "transport/link/doorbell.hpp"

namespace ringlet::transport {

struct ArenaShape {
  std::uint32_t ranks = 0;
  std::uint64_t slot_bytes = 32 << 10;
  std::uint64_t stage_bytes = 256 << 10;
  /// Slices of full size that a rank may be ahead, at least 2. A ring that is larger than a core's
  /// cache is faster than a small one: the lines of a new slice have left the caches of the ranks
  /// that read them, so that writing does not wait for these caches. (EPYC, 1 MiB of L2 a core:
  /// 32 KiB take 1.7 us in a ring of 2 MiB, and 4.2 us in a ring of 512 KiB.)
  std::uint32_t stages = 8;

  static constexpr std::uint32_t kRanksMax = 256;  // limit of one pass of a reduction
  static constexpr std::uint32_t kPosts = 64;      // operations that a rank may be ahead
  static constexpr std::uint32_t kSlots = 4;       // operations ahead with payloads of full size
  // With more ranks than this, their memory matters.
  static constexpr std::uint32_t kFewRanks = 16, kStagesOfMany = 4;
  static constexpr std::uint32_t kManyRanks = 64, kStagesOfMost = 2;
  static constexpr std::uint64_t kPartBytesMax = 64 << 20;

  /// Returns true if the sizes are multiples of 64 within bounds, as on every honest rank.
  bool Valid() const;
  constexpr std::size_t PayloadBytes() const {
    return kSlots * static_cast<std::size_t>(slot_bytes);
  }
  constexpr std::size_t StagesBytes() const {
    const std::uint32_t most = ranks <= kFewRanks    ? stages
                               : ranks <= kManyRanks ? kStagesOfMany
                                                     : kStagesOfMost;
    return std::min(stages, most) * static_cast<std::size_t>(stage_bytes);
  }
  /// The place of the payloads and stages of `rank`.
  std::size_t DataOffset(std::uint32_t rank) const;
  std::size_t TotalBytes() const { return DataOffset(ranks); }
  bool operator==(const ArenaShape&) const = default;
};

struct ArenaHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t ranks = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t stage_bytes = 0;
  std::uint32_t stages = 0;
  /// Zero while no rank has failed. Otherwise 1 + the first rank that gave up, plus 65,536 times (1
  /// + the rank that it blames) if a rank has left.
  alignas(64) std::atomic<std::uint32_t> failed{0};
  /// While it is not zero, waiting ranks sleep instead of yielding (collective::YieldPause).
  alignas(64) std::atomic<std::uint64_t> yield_pause{0};
};

/// Progress of a rank, in slices since the arena was created. Only that rank writes it.
struct ArenaProgress {
  alignas(64) std::atomic<std::uint64_t> put{0};  ///< its input is in its stage
  /// Its share of the result, or of its node's result, is in its stage.
  std::atomic<std::uint64_t> reduced{0};
  std::atomic<std::uint64_t> joined{0};  ///< its share of all nodes' result is in its stage
  std::atomic<std::uint64_t> got{0};     ///< it no longer needs the stages of other ranks
};

/// A call of a rank. Only that rank writes it, and it writes `sequence` last.
struct ArenaPost {
  alignas(64) std::atomic<std::uint64_t> sequence{0};
  std::uint64_t call = 0;     ///< operation, type, reduction, selection mark, root
  std::uint64_t count = 0;    ///< elements
  std::uint64_t history = 0;  ///< digest of all earlier calls

  static constexpr std::size_t kInlineBytes = 32;
  std::byte inline_payload[kInlineBytes] = {};  ///< fills the cache line of the post
};
static_assert(sizeof(ArenaPost) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Memory that peers may map. Only its owner writes this, and it writes `generation` last.
struct ArenaBuffer {
  std::atomic<std::uint32_t> generation{0};  ///< differs for each buffer that uses this entry
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t device = 0, inode = 0;  ///< identity of the file; peers reject others
  std::uint64_t bytes = 0;
};

/// Posted in place of a payload if the operation does not fit in a slot. States whether and where
/// peers may access this rank's memory directly. A name of 0 means nowhere.
struct ArenaPlaces {
  std::uint32_t input = 0, output = 0;                ///< see shared_buffers.hpp
  std::uint64_t input_offset = 0, output_offset = 0;  ///< or addresses
  std::uint32_t offered = 0;  ///< 1: registered memory; 2: an address in this process; 0: none
  std::uint32_t way = 0;      ///< of an adaptive operation; one rank sets it for all
};
static_assert(sizeof(ArenaPlaces) <= ArenaPost::kInlineBytes);

struct ArenaRank {
  DoorbellWord bell;
  /// Awaiting(r) if the owner waits for news of rank r. Valid while the owner polls or sleeps.
  std::atomic<std::uint32_t> awaits{0};
  /// 1 if the owner fences all ranks before it sleeps for a post (Arena::FenceForOthers).
  std::atomic<std::uint32_t> fences{0};
  ArenaProgress progress;
  alignas(64) std::atomic<std::uint32_t> left{0};  ///< 1: the rank has stopped taking part
  /// Twice the last operation where all ranks offered memory, plus 1 if this rank can access it.
  std::atomic<std::uint64_t> vote{0};
  /// The state of a SplitCopy to memory of this rank.
  alignas(64) std::atomic<std::uint64_t> split{0};
  std::atomic<std::uint64_t> delivered{0};  ///< only that peer writes it
  static constexpr std::uint32_t Awaiting(std::uint32_t rank) { return rank + 1; }
  static constexpr std::size_t kBuffers = 64;
  alignas(64) ArenaBuffer buffers[kBuffers];
};

/// A rank's ArenaRank and its posts, in whole pages.
inline constexpr std::size_t kArenaPageBytes = 4096;
inline constexpr std::size_t kArenaPostsBytes =
    (sizeof(ArenaRank) + ArenaShape::kPosts * sizeof(ArenaPost) + kArenaPageBytes - 1) /
    kArenaPageBytes * kArenaPageBytes;

/// An arena that a process has open, for processes of the same host and user to map.
struct ArenaPlace {
  std::uint32_t pid = 0;
  std::uint32_t descriptor = 0;
  std::uint64_t device = 0, inode = 0;  ///< identity of the file; peers reject others
  bool operator==(const ArenaPlace&) const = default;
};

/// A mapping of an arena. The ranks of one process share a mapping, or each rank has its own.
class Arena {
 public:
  /// \param shape  valid
  /// Errors  kSystem  memory or descriptors are exhausted
  static Result<std::shared_ptr<Arena>> Create(const ArenaShape& shape);

  /// Maps the arena that another rank created and sent. Always closes the descriptor.
  /// Errors  kProtocol  the memory is not an arena of this shape
  static Result<std::shared_ptr<Arena>> Map(os::Fd received, const ArenaShape& shape);

  /// Maps an arena that another process has open.
  /// Errors  kProtocol  the descriptor refers to something else
  ///         kSystem  opening fails, for example because the kernel isolates processes
  static Result<std::shared_ptr<Arena>> MapAt(const ArenaPlace& place, const ArenaShape& shape);
  /// Returns the place of this mapping. \pre  The descriptor is open. \param pid  of this process
  Result<ArenaPlace> PlaceIn(std::uint32_t pid) const;

  const ArenaShape& shape() const { return shape_; }
  const os::Fd& fd() const { return shm_.fd(); }
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(shm_.bytes().data()); }
  /// \param rank  below shape().ranks, here and below
  ArenaRank& rank(std::uint32_t rank) const {
    return *reinterpret_cast<ArenaRank*>(posts_ + rank * kArenaPostsBytes);
  }
  ArenaPost& post(std::uint32_t rank, std::uint64_t sequence) const {
    return *reinterpret_cast<ArenaPost*>(posts_ + rank * kArenaPostsBytes + sizeof(ArenaRank) +
                                         sequence % ArenaShape::kPosts * sizeof(ArenaPost));
  }
  /// Returns the memory for the payload of a post. \param offset  below shape().PayloadBytes()
  std::byte* payload(std::uint32_t rank, std::size_t offset) const;
  /// Returns the memory for slices. \param offset  below shape().StagesBytes()
  std::byte* stage(std::uint32_t rank, std::size_t offset) const;

  /// Wakes all ranks except `self`. \pre  `self` has stored its news, which may end an operation.
  void RingOthers(std::uint32_t self) const {
    for (std::uint32_t peer = 0; peer < shape_.ranks; ++peer)
      if (peer != self) DoorbellButton(rank(peer).bell, -1).Ring();
  }

  /// Wakes the ranks that wait for a post or for progress of `self`. A rank may also need progress
  /// of other ranks, but waits for one at a time. \pre  `self` has stored its news.
  void RingAwaiting(std::uint32_t self) const {
    for (std::uint32_t peer = 0; peer < shape_.ranks; ++peer) {
      if (peer == self) continue;
      ArenaRank& other = rank(peer);
      const DoorbellButton button(other.bell, -1);
      if (button.WouldWake() &&
          other.awaits.load(std::memory_order_seq_cst) == ArenaRank::Awaiting(self))
        button.Ring();
    }
  }

  /// Returns true once this process has joined remote fences (os::JoinRemoteFences).
  static bool MayFence();
  /// Announces that `self` issues a fence on all ranks each time before it sleeps for a post.
  void FenceForOthers(std::uint32_t self) const;
  /// Issues that fence. Returns false if the kernel refuses.
  static bool Fence();
  /// Returns true if all ranks issue that fence. A post then does not need its own fence.
  bool AllFenceForOthers() const;

  /// Brings the parts of `rank` into memory near the calling thread. Every operation needs the
  /// posts, and only large operations need the stages.
  void PrefaultPosts(std::uint32_t rank) const;
  void PrefaultStages(std::uint32_t rank) const;
  /// Maps the posts of all ranks. \pre  each rank has called PrefaultPosts; otherwise its posts lie
  /// near the calling thread
  void MapPosts() const { shm_.Prefault(0, shape_.DataOffset(0)); }

  /// Closes the descriptor, after which no rank can receive the arena. Makes fd() invalid.
  void CloseDescriptor() { shm_.CloseDescriptor(); }

 private:
  Arena(os::Shm shm, const ArenaShape& shape);
  static Result<std::shared_ptr<Arena>> Of(os::Shm shm, const ArenaShape& shape);

  os::Shm shm_;
  ArenaShape shape_;
  std::byte* posts_;  // of all ranks, one after the other
  std::byte* data_;   // likewise
  std::size_t data_bytes_;
};

}  // namespace ringlet::transport
