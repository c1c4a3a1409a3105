// Measures one bootstrap of many ranks: the share of each process, and the result of all.
#pragma once
#include <memory>
#include <vector>

#include "comm/control/control.hpp"
#include "comm/establish/establish.hpp"
#include "tool/peers/init_options.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// The measurements of one process in one bootstrap.
struct JoinShare {
  // Times over all its ranks. CLOCK_MONOTONIC is the same in all processes of a machine.
  Instant begun{0};
  Instant first_roster{0}, last_roster{0};
  Instant first_standing{0}, last_standing{0};
  Instant cpu{0};
  std::uint64_t connections = 0;  ///< accepted
  std::uint64_t bytes = 0;        ///< sent
  std::uint64_t system_calls = 0;
  bool operator==(const JoinShare&) const = default;
};
Bytes Encode(const JoinShare& share);
/// Errors  kProtocol  `bytes` do not contain a share.
Result<JoinShare> DecodeJoinShare(View bytes);

/// Combines the shares of all processes. \param ranks  at least 1
Repetition Combine(const std::vector<JoinShare>& shares, std::uint32_t ranks);

/// Starts to join the communicator of `id` as `rank`. Listens on this host's addresses.
Result<comm::Control::Pending> BeginJoin(const std::shared_ptr<comm::Process>& process,
                                         const UniqueId& id, std::uint32_t rank,
                                         std::uint32_t size);

/// The initial counters of this process. Read them before a peer can dial it.
struct Baseline {
  os::SocketDriver::Counters counters;
  Instant cpu{0};
};
Baseline ReadBaseline(comm::Process& process);

struct Joined {
  JoinShare share;
  std::vector<std::unique_ptr<comm::Control>> controls;  ///< each leaves when it is destroyed
};
/// Joins all ranks of `block` at once from this thread.
/// Errors  as Control::Join for the first rank that fails
Result<Joined> JoinAll(const std::shared_ptr<comm::Process>& process,
                       const std::vector<UniqueId>& ids, const RankBlock& block, std::uint32_t size,
                       const Baseline& before);

/// The processes that share the ranks, as seen from one of them. They exchange data over their own
/// small communicator with one rank per process. A single process does not need one.
class Team {
 public:
  Team() = default;
  static Result<Team> Join(const std::shared_ptr<comm::Process>& process, const UniqueId& id,
                           std::uint32_t index, std::uint32_t size);

  std::uint32_t index() const { return index_; }
  /// Returns the ids of all processes in the order of the processes, at every process.
  Result<std::vector<UniqueId>> Agree(const std::vector<UniqueId>& own);
  /// Returns all shares, at every process. An error of one process is returned by all.
  Result<std::vector<JoinShare>> Gather(Result<JoinShare> share);
  Status Barrier();

 private:
  std::uint32_t index_ = 0;
  std::unique_ptr<comm::Control> control_;
};

/// Runs one repetition: creates the ids and joins all ranks with them.
Result<Repetition> Repeat(const std::shared_ptr<comm::Process>& process, Team& team,
                          const InitHead& head);

}  // namespace ringlet::cli
