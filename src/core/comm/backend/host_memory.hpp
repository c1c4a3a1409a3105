// The memory that the ranks of each host share: an arena, which is made while the communicator
// forms, and the engine that runs collectives, or one host's parts of them, through the arena.
//
// All ranks together decide if arenas are used, so that one rank never uses them while another uses
// links.
#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "collective/shm/shm_collective.hpp"
#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/process/config.hpp"
#include "comm/process/process_proof.hpp"
#include "transport/wireup/arena_meeting.hpp"

namespace ringlet::comm {

/// Pure. True if this number of ranks, all on one host and in one network namespace, share memory.
bool AllowsHostMemory(const Settings& settings, std::uint32_t ranks);

/// Pure. Returns the ranks of each host in ascending order, and hosts in the order of their lowest
/// ranks. Empty unless at least one host has several ranks, the ranks of each host share a network
/// namespace, and no setting disables shared memory. The same on all ranks.
collective::Groups HostsWithMemory(const Settings& settings, const PeerTable& peer_table);
/// Pure. True if this rank's host has shared memory and several ranks.
bool UsesHostMemory(const Origin& origin, const PeerTable& peer_table);

/// The memory that a rank prepares if it expects all ranks on its host.
struct HostMemoryDraft {
  std::optional<ProcessProof> proof;  ///< empty unless all ranks expect one host
  /// The arena for all ranks, on the last rank only. Null if creation failed. Rank 0 does not make
  /// it, because the last rank already waits for rank 0 to make the root.
  std::shared_ptr<transport::Arena> arena;
};
/// Creates the arena on the last rank, which waits for the id. Null on other ranks, if not needed,
/// and after a failure. A later offer reports the failure if it matters.
std::shared_ptr<transport::Arena> MakeHostMemory(const Process& process, const Config& config);
/// Called before a rank checks in. \param made  from MakeHostMemory; null: created now
/// Errors  kSystem  no random source
Result<HostMemoryDraft> DraftHostMemory(const Process& process, const Config& config,
                                        std::shared_ptr<transport::Arena> made = nullptr);

/// Pure. True if the peer infos contain the place of the arena of all ranks. Equal on all ranks.
bool HasHostMemoryPlace(const Settings& settings, const PeerTable& peer_table);

/// Returns the offer of a host's first rank to its other ranks. Made before any further exchange,
/// so that each arriving rank finds it. Empty on other ranks, and without shared memory. Does not
/// block. The offer reports a lack of memory. Errors  kSystem  no descriptors left
Result<transport::ArenaOffer> OfferHostMemory(const Origin& origin, const PeerTable& peer_table);

/// The outcome of an offer on this rank.
struct HostMemoryShare {
  std::shared_ptr<transport::Arena> arena;  ///< null without an arena
  std::string why_not;
};

/// Blocks until this rank has its host's arena or an error shows that it cannot have it. All ranks
/// call it once the offers are made. Errors  kAborted, kTimeout
Result<HostMemoryShare> FetchHostMemory(const Origin& origin, const PeerTable& peer_table,
                                        transport::ArenaOffer offer, Control& control,
                                        const std::stop_token& abort);

/// The shared memory of all hosts of a communicator, or of none.
struct HostMemoryParts {
  collective::Groups hosts;                 ///< HostsWithMemory; empty: collectives use links
  std::shared_ptr<transport::Arena> arena;  ///< of this host; null if this rank is alone on it
  std::vector<os::KnownProcess> processes;  ///< of the ranks of this host; see ProcessProof
  std::optional<ProcessProof> proof;        ///< kept, because peers check its sign with each read
};

/// The data that proves the process of a rank.
struct ProofOfProcess {
  ProcessProof proof;
  std::vector<Secret> nonces;  ///< of all ranks
};

/// Returns when all ranks have called it. The result has arenas if every rank has its arena.
/// Otherwise the result is empty, and rank 0 logs a warning. Errors  those of the control network
Result<HostMemoryParts> AgreeOnHostMemory(const Origin& origin, const PeerTable& peer_table,
                                          Control& control, HostMemoryShare share,
                                          ProofOfProcess proving);

/// Agrees in one exchange, without a wireup. Each rank maps the last rank's arena. If one cannot,
/// the result is empty on all ranks, which continue with FetchHostMemory. \pre  HasHostMemoryPlace
/// \param plan_digest  of the channels, which must be the same on all ranks
Result<std::optional<HostMemoryParts>> UseKnownHostMemory(const Origin& origin,
                                                          const PeerTable& peer_table,
                                                          Control& control, HostMemoryDraft draft,
                                                          std::uint64_t plan_digest);

class HostMemory {
 public:
  /// Pure.
  /// \param wait_policy  how this rank waits for the others
  HostMemory(const Origin& origin, const PeerTable& peer_table, collective::WaitPolicy wait_policy,
             HostMemoryParts parts);

  /// True if all ranks are on this host and share its memory. No data then uses links.
  bool IsHere() const { return engine_ != nullptr && hosts_.size() == 1; }
  /// Returns the ranks of each of several hosts that share memory within each. Otherwise empty.
  const collective::Groups& hosts() const { return hosts_.size() > 1 ? hosts_ : none_; }
  /// Null unless several ranks of this host share its memory. Belongs to the rank's thread.
  collective::ShmCollective* engine() { return engine_.get(); }

  /// Returns the size of the arena. 0 without an arena.
  std::uint64_t shared_bytes() const { return engine_ ? engine_->arena().shape().TotalBytes() : 0; }

  /// Returns the addresses of this rank's registered memory, on this host or not. Any thread.
  transport::SharedBuffers& buffers() { return *buffers_; }
  /// Returns the same if peers can see it. Otherwise null.
  std::shared_ptr<transport::SharedBuffers> published_buffers() const {
    return IsHere() ? buffers_ : nullptr;
  }

  /// Notifies the other ranks that this rank makes no further calls.
  void Leave();
  /// Ends running operations on all ranks. Any thread, any time.
  void GiveUp();

 private:
  collective::Groups hosts_, none_;
  std::optional<ProcessProof> proof_;
  std::shared_ptr<transport::SharedBuffers> buffers_;
  std::unique_ptr<collective::ShmCollective> engine_;
};

/// The operation that was last started on the engine.
class HostRun final : public collective::Operation {
 public:
  explicit HostRun(collective::ShmCollective& engine) : engine_(engine) {}
  /// Returns the buffers to the caller, even if the operation is not complete.
  ~HostRun() override { engine_.Withdraw(); }
  Result<bool> Advance() override { return engine_.Advance(); }
  void Withdraw() override { engine_.Withdraw(); }
  bool moved() const override { return engine_.moved(); }
  std::string WaitingFor() const override { return engine_.WaitingFor(); }
  std::optional<Rank> Awaits() const override { return engine_.Awaits(); }
  const collective::WaitTarget* place() const override { return engine_.place(); }

 private:
  collective::ShmCollective& engine_;
};

}  // namespace ringlet::comm
