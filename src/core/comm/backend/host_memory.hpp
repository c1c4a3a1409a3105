// The memory that the ranks of each host share: an arena, made while the communicator forms, and
// the engine that runs collectives through it, or the part that one of several hosts has in them.
//
// Whether arenas are there is decided by all ranks together, so that never one uses them while
// another uses links.
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

/// Pure: whether so many ranks share memory where all are on one host and in one network namespace.
bool AllowsHostMemory(const Settings& settings, std::uint32_t ranks);

/// Pure: the ranks of each host in ascending order, hosts in that of their lowest ranks. Empty
/// unless all hosts that have several ranks can share memory: at least one has, those of a host
/// meet in one network namespace, and no setting has them do without. The same on all ranks.
collective::Groups HostsWithMemory(const Settings& settings, const PeerTable& peer_table);
/// Pure: whether this rank's host is one of them and has several ranks.
bool UsesHostMemory(const Origin& origin, const PeerTable& peer_table);

/// The memory that a rank brings along where it expects all ranks on its host.
struct HostMemoryDraft {
  std::optional<ProcessProof> proof;  ///< empty: it expects nothing, as all others then
  /// Of the last rank, for all; null where it has no memory. Rank 0 has enough to do: it makes the
  /// root, for which the last one waits.
  std::shared_ptr<transport::Arena> arena;
};
/// Makes it on the last rank, while that waits for the id. Null on other ranks, where there is to
/// be none, and where it cannot be made, which the offer reports if it comes to it.
std::shared_ptr<transport::Arena> MakeHostMemory(const Process& process, const Config& config);
/// Before a rank checks in. \param made  from MakeHostMemory; null: it is made now
/// Errors  kSystem  no random source
Result<HostMemoryDraft> DraftHostMemory(const Process& process, const Config& config,
                                        std::shared_ptr<transport::Arena> made = nullptr);

/// Pure: whether the peer infos say where the arena of all ranks is. The same on all ranks.
bool KnowsHostMemory(const Settings& settings, const PeerTable& peer_table);

/// The first rank's offer to the others of its host: made before it tells them anything more, so
/// that each rank that comes finds it. Empty on other ranks, and where there is to be none. Does
/// not block. Errors  kSystem  no descriptors left. Want of memory is none: the others hear of it.
Result<transport::ArenaOffer> OfferHostMemory(const Origin& origin, const PeerTable& peer_table);

/// The outcome of an offer on this rank.
struct HostMemoryShare {
  std::shared_ptr<transport::Arena> arena;  ///< null: it has none
  std::string why_not;
};

/// Blocks until this rank has its share of its host's arena or knows that it cannot have it. Called
/// by all ranks, once the offers stand. Errors  kAborted, kTimeout
Result<HostMemoryShare> FetchHostMemory(const Origin& origin, const PeerTable& peer_table,
                                        transport::ArenaOffer offer, Control& control,
                                        const std::stop_token& abort);

/// The memory that all hosts of a communicator have, or none.
struct HostMemoryParts {
  collective::Groups hosts;                 ///< HostsWithMemory; empty: collectives go over links
  std::shared_ptr<transport::Arena> arena;  ///< of this host; null where this rank is alone on it
  std::vector<os::KnownProcess> processes;  ///< of the ranks of this host; see ProcessProof
  std::optional<ProcessProof> proof;        ///< kept, for who has not read it yet
};

/// The part of a rank in proving which process it is.
struct Proving {
  ProcessProof proof;
  std::vector<Secret> nonces;  ///< of all ranks
};

/// Ends when all ranks have called it. With arenas if all of them have theirs; without, and with a
/// warning of rank 0, if one has not. Errors  those of the control network
Result<HostMemoryParts> AgreeOnHostMemory(const Origin& origin, const PeerTable& peer_table,
                                          Control& control, HostMemoryShare share, Proving proving);

/// The same in one exchange, and without a meeting, where KnowsHostMemory: each rank maps what the
/// last one shows. Empty where one of them cannot, on all of them: they meet for it then. \param
/// plan_digest  of the channels, which must be the same on all ranks
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

  /// Whether all ranks are on this host and share its memory: nothing goes over links.
  bool IsHere() const { return engine_ != nullptr && hosts_.size() == 1; }
  /// The ranks of each of several hosts, where those of a host share memory; else empty.
  const collective::Groups& hosts() const { return hosts_.size() > 1 ? hosts_ : none_; }
  /// Of the ranks of this host, where several share its memory; else null. The rank's thread's.
  collective::ShmCollective* engine() { return engine_.get(); }

  /// Of the arena; 0 where there is none.
  std::uint64_t shared_bytes() const { return engine_ ? engine_->arena().shape().TotalBytes() : 0; }

  /// The address of this rank's registered memory, whether it is here or not. Any thread.
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
  collective::Groups hosts_, none_;
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
  void Withdraw() override { engine_.Withdraw(); }
  bool moved() const override { return engine_.moved(); }
  std::string WaitingFor() const override { return engine_.WaitingFor(); }
  std::optional<Rank> Awaits() const override { return engine_.Awaits(); }
  const collective::WaitTarget* place() const override { return engine_.place(); }

 private:
  collective::ShmCollective& engine_;
};

}  // namespace ringlet::comm
