// ZeroCopyShm: an operation of ShmCollective that accesses the ranks' memory directly, without
// stages. The memory is registered by users, belongs to threads of this process, or, in operations
// that only copy, is any memory of a process that the kernel lets this one read.
//
//   offer    posted with the call: where peers find my input, and my output if they write there
//   vote     once all have offered: can I access all memory that I need? If one rank cannot,
//            all copy
//   work     reductions with shares of all ranks: my share of all inputs into all outputs that
//            need it. Other operations: the inputs that I need into my output
//   leave    my buffers are mine again when all have done their work
//
// The root of a fetched broadcast has no work of its own, so it writes a part of each peer's data
// (SplitCopy).
//
// Sums are added up in rank order, as through stages, so the results are bitwise equal.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/value/remote_address.hpp"
#include "collective/shm/in_process_buffers.hpp"
#include "collective/shm/slicing.hpp"
#include "collective/shm/split_copy.hpp"
#include "transport/arena/arena.hpp"
#include "transport/arena/shared_buffers.hpp"

namespace ringlet::collective {

/// How a rank accesses the memory of other ranks, and gives access to its own.
struct HostReach {
  std::shared_ptr<transport::SharedBuffers> shared = {};  ///< published in the arena
  std::shared_ptr<InProcessBuffers> near = {};            ///< of this rank and those with `is_near`
  std::vector<bool> is_near = {};                         ///< by rank: true within this process
};

class ZeroCopyShm {
 public:
  /// \param reach  both pointers are set, and `is_near` has an entry per rank of the arena
  ZeroCopyShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self, HostReach reach);

  ~ZeroCopyShm() { End(); }
  ZeroCopyShm(const ZeroCopyShm&) = delete;
  ZeroCopyShm& operator=(const ZeroCopyShm&) = delete;

  struct CopyMode {
    bool stream = false;  ///< outputs bypass the caches
    bool fetch = false;   ///< unregistered memory may be fetched
  };
  /// Begins an operation. Returns the data to post with `call`, except for ArenaPlaces::way.
  transport::ArenaPlaces Begin(const Call& call, std::uint64_t sequence, CopyMode mode);

  /// Returns the data that a rank has posted with the call. Outside input.
  transport::ArenaPlaces PlacesOf(std::uint32_t rank) const;
  /// True if all ranks have registered their memory. \pre  all have posted the same call
  bool AllRegistered() const;

  enum class AdvanceResult {
    kWaits,    ///< for `awaited`
    kMoved,    ///< made progress; continue
    kRefused,  ///< impossible on some rank: all copy instead; final
    kLost,     ///< the memory of `awaited` has become unreadable; final
    kDone,     ///< final
  };
  /// Makes progress, once all ranks have posted the same call. `finished` is the value of a rank's
  /// ArenaProgress::got after its work.
  AdvanceResult Advance(std::uint64_t finished, std::uint32_t& awaited);

  /// Returns true if other ranks read or write this rank's memory without announcing it. They check
  /// whether it has given up: after they have read, and before they write.
  bool lets_read() const { return lets_read_; }

  /// Returns the buffers to the caller in any state of the operation. Waits for threads that use
  /// them.
  void End();

 private:
  enum class Phase : std::uint8_t { kOffers, kVotes, kWork, kLeaves };

  bool WritesTo(std::uint32_t rank) const;
  bool Offers(const Call& call, bool fetch, transport::ArenaPlaces& places) const;
  bool OffersRegistered(const Call& call, transport::ArenaPlaces& places) const;
  bool OffersAddress(const Call& call, transport::ArenaPlaces& places) const;
  AdvanceResult CountOffers();
  bool MapInputs();
  bool MapNearInput(std::uint32_t peer);
  bool MapSharedInput(std::uint32_t peer);
  bool MapProcessInput(std::uint32_t peer, RemoteAddress address, std::size_t bytes);
  bool IsSplit(std::uint32_t receiver) const;
  SplitCopy SplitOf(std::uint32_t receiver) const;
  AdvanceResult CountVotes(std::uint32_t& awaited);
  void PlanWork();
  void PlanCopy(std::uint32_t from);
  AdvanceResult Work(std::uint64_t finished, std::uint32_t& awaited);
  bool Publish(std::uint64_t finished);
  AdvanceResult DoChunk(std::uint32_t& awaited);
  AdvanceResult ReadChunk(std::uint32_t& awaited);
  AdvanceResult ReadPiece(std::uint32_t& awaited);
  AdvanceResult EndCopy();
  AdvanceResult WriteForPeers(std::uint32_t& awaited);
  void AwaitDelivery();
  void ReduceChunk(std::size_t begin, std::size_t bytes);
  void Write(const std::byte* from, std::byte* to, std::size_t bytes) const;

  std::shared_ptr<transport::Arena> arena_;
  std::uint32_t self_, ranks_;
  HostReach reach_;
  bool all_near_ = false;
  std::vector<std::uint32_t> near_peers_;
  const std::vector<std::uint32_t> nobody_;

  Call call_;
  std::uint64_t sequence_ = 0;
  bool stream_ = false, open_ = false, lets_read_ = false;
  Phase phase_ = Phase::kOffers;
  std::vector<const std::byte*> inputs_;  // by rank, as this rank sees them; or, if null,
  std::vector<std::optional<RemoteAddress>> far_inputs_;  // as the rank's process sees them
  std::vector<std::byte*> outputs_;                       // by rank, if this rank writes to it
  // Memory of peers that this rank has read before.
  struct ReadableMemory {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kReadableKept = 4;
  std::vector<std::array<ReadableMemory, kReadableKept>> readable_;  // by rank
  std::size_t readable_next_ = 0;
  // The work is a reduction of all sources into all targets, or a list of copies.
  struct ZeroCopyTransfer {
    const std::byte* from = nullptr;          // memory that this rank sees, or
    std::optional<RemoteAddress> far_from{};  // memory that `far_rank` sees
    std::uint32_t far_rank = 0;
    std::byte* to = nullptr;
  };
  std::vector<ZeroCopyTransfer> copies_;
  std::vector<const std::byte*> sources_, block_sources_;
  std::vector<std::byte*> targets_;
  std::vector<std::byte> scratch_;
  std::size_t work_bytes_ = 0;  // of the reduction, or of each copy
  std::size_t copy_ = 0, at_ = 0;
  std::size_t others_copies_ = 0;   // number of copies from other ranks, which are first
  std::optional<SplitCopy> split_;  // of the only copy from another rank
  struct HelpedPeer {
    std::uint32_t rank;
    RemoteAddress to;
    SplitCopy split;
  };
  std::vector<HelpedPeer> helped_;  // peers with pieces left to write
  bool published_ = false;          // that this rank's work is done
};

}  // namespace ringlet::collective
