// What the ranks of a communicator that all run on one host share: an arena, made while it forms,
// and the engine that runs collectives through it.
//
// Whether it is there is decided by all ranks together, so that never one uses the arena while
// another uses links.
#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "collective/shm/shm_collective.hpp"
#include "comm/control/control.hpp"
#include "comm/establish/config.hpp"
#include "comm/establish/peer_table.hpp"
#include "comm/process/process_proof.hpp"
#include "transport/shm/arena_meeting.hpp"

namespace ringlet::comm {

/// Pure: whether so many ranks share memory where all are on one host and in one network namespace.
bool AllowsHostMemory(const Settings& settings, std::uint32_t ranks);

/// Pure: the ranks of `peer table` are on one host, meet in one network namespace, and no setting
/// has them do without. The same on all of them.
bool UsesHostMemory(const Origin& origin, const PeerTable& peer_table);

/// What the first rank has for the others: made before it tells them anything more, so that whoever
/// comes finds it. Empty on other ranks, and where there is to be none. Does not block.
/// Errors  kSystem  no descriptors left. Want of memory is none: the others hear of it.
Result<transport::ArenaOffer> OfferHostMemory(const Origin& origin, const PeerTable& peer_table);

/// What came of an offer on this rank.
struct HostMemoryShare {
  std::shared_ptr<transport::Arena> arena;  ///< null: it has none
  std::string why_not;
};

/// Blocks until this rank has its share of the arena or knows that it cannot have it. Called by all
/// ranks, once the offer stands. Errors  kAborted, kTimeout
Result<HostMemoryShare> FetchHostMemory(const Origin& origin, const PeerTable& peer_table,
                                        transport::ArenaOffer offer, Control& control,
                                        const std::stop_token& abort);

/// What all ranks of a communicator have, or none.
struct HostMemoryParts {
  std::shared_ptr<transport::Arena> arena;  ///< null: collectives go over links
  std::vector<os::KnownProcess> processes;  ///< see ProcessProof
  std::optional<ProcessProof> proof;        ///< kept, for who has not read it yet
};

/// Ends when all ranks have called it. With an arena if all of them have it; without, and with a
/// warning of rank 0, if one has not. Errors  those of the control network; kSystem  no random
/// source
Result<HostMemoryParts> AgreeOnHostMemory(const Origin& origin, const PeerTable& peer_table,
                                          Control& control, HostMemoryShare share);

class HostMemory {
 public:
  /// Pure.
  /// \param wait_policy  how this rank waits for the others
  HostMemory(const Origin& origin, const PeerTable& peer_table, collective::WaitPolicy wait_policy,
             HostMemoryParts parts);

  /// Whether collectives go through it; else over links.
  bool IsHere() const { return engine_ != nullptr; }
  /// Where it is here. The rank's thread's.
  collective::ShmCollective& engine() { return *engine_; }

  /// Of the arena; 0 where there is none.
  std::uint64_t shared_bytes() const { return engine_ ? engine_->arena().shape().TotalBytes() : 0; }

  /// Where this rank's registered memory is, whether it is here or not. Any thread.
  transport::SharedBuffers& buffers() { return *buffers_; }
  /// The same, where peers can see it; else null.
  std::shared_ptr<transport::SharedBuffers> published_buffers() const {
    return IsHere() ? buffers_ : nullptr;
  }

  /// Lets the others know that this rank calls no more.
  void Leave();
  /// Ends what runs on all ranks. Any thread, any time.
  void GiveUp();

 private:
  std::optional<ProcessProof> proof_;
  std::shared_ptr<transport::SharedBuffers> buffers_;
  std::unique_ptr<collective::ShmCollective> engine_;
};

/// The operation that the engine was started with last.
class HostRun final : public collective::Operation {
 public:
  explicit HostRun(collective::ShmCollective& engine) : engine_(engine) {}
  /// The buffers are the caller's again, also when the operation has not come to its end.
  ~HostRun() override { engine_.Withdraw(); }
  Result<bool> Advance() override { return engine_.Advance(); }
  bool moved() const override { return engine_.moved(); }
  std::string WaitingFor() const override { return engine_.WaitingFor(); }
  std::optional<Rank> Awaits() const override { return engine_.Awaits(); }
  const collective::WaitTarget* place() const override { return engine_.place(); }

 private:
  collective::ShmCollective& engine_;
};

}  // namespace ringlet::comm
