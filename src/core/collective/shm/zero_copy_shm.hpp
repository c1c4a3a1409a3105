// An operation of ShmCollective on the memory of the ranks itself, without stages: memory that
// their users have registered, that of other threads of this process, or, in operations that only
// copy, any memory of a process that the kernel lets this one read.
//
//   offer    posted with the call: where peers find my input, and my output if they write there
//   vote     once all have offered: can I reach what I need of all? One that cannot: all copy
//   work     reductions of which all have a share: my share of all inputs into all outputs that
//   want
//            it. All others: what I need of the inputs into my output
//   leave    my buffers are mine again when all have done their work
//
// Sums run over the ranks in rank order, as through stages: the same result, bit for bit.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/value/remote_address.hpp"
#include "collective/shm/in_process_buffers.hpp"
#include "collective/shm/slicing.hpp"
#include "transport/arena/arena.hpp"
#include "transport/arena/shared_buffers.hpp"

namespace ringlet::collective {

/// How a rank can reach the memory of the others, and let them reach its own.
struct HostReach {
  std::shared_ptr<transport::SharedBuffers> shared = {};  ///< published in the arena
  std::shared_ptr<InProcessBuffers> near = {};            ///< of the ranks below, and this one
  std::vector<bool> is_near = {};                         ///< of each rank: in this process
};

class ZeroCopyShm {
 public:
  /// \param reach  both pointers are set, and one truth for each rank of the arena
  ZeroCopyShm(std::shared_ptr<transport::Arena> arena, std::uint32_t self, HostReach reach);

  ~ZeroCopyShm() { End(); }
  ZeroCopyShm(const ZeroCopyShm&) = delete;
  ZeroCopyShm& operator=(const ZeroCopyShm&) = delete;

  struct CopyMode {
    bool stream = false;  ///< outputs are written past the caches
    bool fetch = false;   ///< memory that is not registered may be fetched
  };
  /// Begins: gives what is posted with `call`.
  transport::ArenaPlaces Begin(const Call& call, std::uint64_t sequence, CopyMode mode);

  enum class Step {
    kWaits,    ///< for `awaited`
    kMoved,    ///< something was done; go on
    kRefused,  ///< not on all ranks: they copy instead. Ends it
    kLost,     ///< the memory of `awaited` could be read before and cannot now. Ends it
    kDone,     ///< ends it
  };
  /// All ranks have posted the same. `finished` is what ArenaProgress::got of a rank is once it has
  /// done its work.
  Step Advance(std::uint64_t finished, std::uint32_t& awaited);

  /// Whether others read this rank's memory without a sign that they do: they look afterwards
  /// whether it has given up.
  bool lets_read() const { return lets_read_; }

  /// The buffers are the caller's again, whatever has become of the operation. Waits for threads
  /// that are at them.
  void End();

 private:
  enum class Phase : std::uint8_t { kOffers, kVotes, kWork, kLeaves };

  bool WritesTo(std::uint32_t rank) const;
  bool Offers(const Call& call, bool fetch, transport::ArenaPlaces& places) const;
  bool OffersRegistered(const Call& call, transport::ArenaPlaces& places) const;
  bool OffersAddress(const Call& call, transport::ArenaPlaces& places) const;
  Step CountOffers();
  bool Reaches();
  bool ReachesNear(std::uint32_t peer);
  bool ReachesShared(std::uint32_t peer);
  bool ReachesProcess(std::uint32_t peer, RemoteAddress address, std::size_t bytes);
  Step CountVotes(std::uint32_t& awaited);
  void PlanWork();
  void PlanCopy(std::uint32_t from);
  Step Work(std::uint64_t finished, std::uint32_t& awaited);
  bool Publish(std::uint64_t finished);
  bool DoChunk(std::uint32_t& awaited);
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
  std::vector<const std::byte*> inputs_;  // of each rank, as this one sees them; or, where null,
  std::vector<std::optional<RemoteAddress>> far_inputs_;  // as the rank's process does
  std::vector<std::byte*> outputs_;                       // of each rank that this one writes to
  // The work: a reduction of all sources into all targets, or copies, one after the other.
  struct Transfer {
    const std::byte* from = nullptr;          // the memory that this rank sees, or
    std::optional<RemoteAddress> far_from{};  // that `far_rank` sees
    std::uint32_t far_rank = 0;
    std::byte* to = nullptr;
  };
  std::vector<Transfer> copies_;
  std::vector<const std::byte*> sources_, block_sources_;
  std::vector<std::byte*> targets_;
  std::vector<std::byte> scratch_;
  std::size_t work_bytes_ = 0;  // of the reduction, or of each copy
  std::size_t copy_ = 0, at_ = 0;
  std::size_t others_copies_ = 0;  // the copies from others, which come first
  bool published_ = false;         // that they are done
};

}  // namespace ringlet::collective
