// The memory that all ranks of a communicator on one host share: where each posts its calls, lays
// out its data for the others and says how far it is.
//
//   ArenaHeader                what it is and how large; who has failed
//   for each rank, from a page boundary on:
//     ArenaRank                its doorbell, its progress, its registered buffers
//     kPosts posts             what it called, with data that fit in
//     payloads                 a ring of kSlots times `slot_bytes`: small operations, whole
//     kStages stages           `stage_bytes` each: slices of large ones
//
// Each rank writes in its own part only, except that any rank may ring a doorbell or report a
// failure. The parts begin on pages so that each rank's lie in memory near it (it touches them
// first). Data that a peer has written are outside input: no rank takes a length or a place from
// them without holding it against its own.
#pragma once
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

  static constexpr std::uint32_t kRanksMax = 64;  // that one pass of a reduction takes
  static constexpr std::uint32_t kPosts = 64;     // a rank may be this many operations ahead
  static constexpr std::uint32_t kSlots = 4;      // of those with the largest payloads, this many
  static constexpr std::uint32_t kStages = 2;     // and this many slices
  static constexpr std::uint64_t kPartBytesMax = 64 << 20;

  /// False for what no honest rank makes: sizes are multiples of 64 and bounded.
  bool Valid() const;
  constexpr std::size_t PayloadBytes() const {
    return kSlots * static_cast<std::size_t>(slot_bytes);
  }
  std::size_t RankOffset(std::uint32_t rank) const;
  std::size_t TotalBytes() const { return RankOffset(ranks); }
  bool operator==(const ArenaShape&) const = default;
};

struct ArenaHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t ranks = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t stage_bytes = 0;
  /// 1 + the first rank that gave up, and 65,536 times 1 + the rank that it blames for that, if one
  /// has left; 0 as long as all is well.
  alignas(64) std::atomic<std::uint32_t> failed{0};
};

/// How far a rank is, in slices since the arena was made. Written by that rank alone.
struct ArenaProgress {
  alignas(64) std::atomic<std::uint64_t> put{0};  ///< its input lies in its stage
  std::atomic<std::uint64_t> reduced{0};  ///< so does its share of the result, or of its node's
  std::atomic<std::uint64_t> joined{0};   ///< and its share of all nodes'
  std::atomic<std::uint64_t> got{0};      ///< it needs the others' stages no more
};

/// The call of a rank. Written by that rank alone, before `sequence`.
struct ArenaPost {
  alignas(64) std::atomic<std::uint64_t> sequence{0};
  std::uint64_t call = 0;     ///< operation, type, reduction, ways offered, root
  std::uint64_t count = 0;    ///< elements
  std::uint64_t history = 0;  ///< digest of all calls before

  static constexpr std::size_t kInlineBytes = 32;
  std::byte inline_payload[kInlineBytes] = {};  ///< as much as needs no further cache line
};
static_assert(sizeof(ArenaPost) == 64 && std::atomic<std::uint64_t>::is_always_lock_free);

/// Memory that its owner lets its peers map. Written by the owner alone, `generation` last.
struct ArenaBuffer {
  std::atomic<std::uint32_t> generation{0};  ///< another one for each that has this place
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t device = 0, inode = 0;  ///< of the file, so that no other is taken for it
  std::uint64_t bytes = 0;
};

/// The post, in place of a payload, for an operation that does not fit in a slot: whether peers may
/// work on this rank's memory itself, and its address. 0: nowhere.
struct ArenaPlaces {
  std::uint32_t input = 0, output = 0;  ///< see shared_buffers.hpp
  std::uint64_t input_offset = 0, output_offset = 0;
  std::uint64_t offered = 0;  ///< 1: this rank's memory can be reached by all that need it
};
static_assert(sizeof(ArenaPlaces) <= ArenaPost::kInlineBytes);

struct ArenaRank {
  DoorbellWord bell;
  /// Read where the owner looks or sleeps: `Awaiting` the rank whose post it waits for.
  std::atomic<std::uint32_t> awaits{0};
  /// 1: before it sleeps for a post, the owner makes a fence for all ranks (Arena::FenceForOthers).
  std::atomic<std::uint32_t> fences{0};
  ArenaProgress progress;
  alignas(64) std::atomic<std::uint32_t> left{0};  ///< 1: it will not do anything any more
  /// Twice the last operation in which all offered their memory; plus 1: this rank reaches it.
  std::atomic<std::uint64_t> vote{0};
  static constexpr std::uint32_t Awaiting(std::uint32_t rank) { return rank + 1; }
  static constexpr std::size_t kBuffers = 64;
  alignas(64) ArenaBuffer buffers[kBuffers];
};

/// The place where a process has an arena open, for others of its host and user to map.
struct ArenaPlace {
  std::uint32_t pid = 0;
  std::uint32_t descriptor = 0;
  std::uint64_t device = 0, inode = 0;  ///< of its file, so that no other is taken for it
  bool operator==(const ArenaPlace&) const = default;
};

/// One mapping of an arena. Shared by the engines of threads in one process, or one each.
class Arena {
 public:
  /// \param shape  valid
  /// Errors  kSystem  no memory or descriptors left
  static Result<std::shared_ptr<Arena>> Create(const ArenaShape& shape);

  /// Maps what the rank that created it has sent. The descriptor is closed either way.
  /// Errors  kProtocol  it is no arena of this shape
  static Result<std::shared_ptr<Arena>> Map(os::Fd received, const ArenaShape& shape);

  /// Maps what another process shows. Errors  kProtocol  something else is there; kSystem  it
  /// cannot be opened, as where the kernel keeps processes from looking at each other
  static Result<std::shared_ptr<Arena>> MapAt(const ArenaPlace& place, const ArenaShape& shape);
  /// The place of this mapping, whose descriptor is open. \param pid  of this process
  Result<ArenaPlace> PlaceIn(std::uint32_t pid) const;

  const ArenaShape& shape() const { return shape_; }
  const os::Fd& fd() const { return shm_.fd(); }
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(shm_.bytes().data()); }
  /// \param rank  below shape().ranks, here and below
  ArenaRank& rank(std::uint32_t rank) const {
    return *reinterpret_cast<ArenaRank*>(parts_ + rank * rank_bytes_);
  }
  ArenaPost& post(std::uint32_t rank, std::uint64_t sequence) const {
    return *reinterpret_cast<ArenaPost*>(parts_ + rank * rank_bytes_ + sizeof(ArenaRank) +
                                         sequence % ArenaShape::kPosts * sizeof(ArenaPost));
  }
  /// Data that go with a post. \param offset  below shape().PayloadBytes()
  std::byte* payload(std::uint32_t rank, std::size_t offset) const;
  /// shape().stage_bytes.
  std::byte* stage(std::uint32_t rank, std::uint64_t slice) const;

  /// Wakes all but `self`, after what it has stored for them.
  void RingOthers(std::uint32_t self) const {
    for (std::uint32_t peer = 0; peer < shape_.ranks; ++peer)
      if (peer != self) DoorbellButton(rank(peer).bell, -1).Ring();
  }

  /// Wakes those that wait for a post of `self`, after it has stored one.
  void RingForPost(std::uint32_t self) const {
    for (std::uint32_t peer = 0; peer < shape_.ranks; ++peer) {
      if (peer == self) continue;
      ArenaRank& other = rank(peer);
      const DoorbellButton button(other.bell, -1);
      if (button.WouldWake() &&
          other.awaits.load(std::memory_order_seq_cst) == ArenaRank::Awaiting(self))
        button.Ring();
    }
  }

  /// Whether this process can make fences on other ranks: not at once (os::JoinRemoteFences).
  static bool MayFence();
  /// `self` will make one on all ranks before it sleeps for a post, from here on.
  void FenceForOthers(std::uint32_t self) const;
  /// That fence. False: it could not be made
  static bool Fence();
  /// Whether all ranks will: then posts need none of their own.
  bool AllFenceForOthers() const;

  /// Brings the part of `rank` into memory, near the calling thread: what every operation needs,
  /// and the stages, which only large ones do.
  void PrefaultPosts(std::uint32_t rank) const;
  void PrefaultStages(std::uint32_t rank) const;

  /// No rank will be given it any more. fd() is invalid then.
  void CloseDescriptor() { shm_.CloseDescriptor(); }

 private:
  Arena(os::Shm shm, const ArenaShape& shape);
  static Result<std::shared_ptr<Arena>> Of(os::Shm shm, const ArenaShape& shape);

  os::Shm shm_;
  ArenaShape shape_;
  std::size_t rank_bytes_;
  std::byte* parts_;  // of the ranks, one after the other
};

}  // namespace ringlet::transport
