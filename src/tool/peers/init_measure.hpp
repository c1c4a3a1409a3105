// One bootstrap of many ranks, timed: what one process does of it, and all processes together.
#pragma once
#include <memory>
#include <vector>

#include "comm/control/control.hpp"
#include "comm/establish/establish.hpp"
#include "tool/peers/init_options.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// The figures of one process in one bootstrap.
struct JoinShare {
  // Over its ranks; CLOCK_MONOTONIC is the same in all processes of a machine.
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
/// Errors  kProtocol  not a share.
Result<JoinShare> DecodeJoinShare(View bytes);

/// The whole of which `shares` are the parts. \param ranks  at least 1
Repetition Combine(const std::vector<JoinShare>& shares, std::uint32_t ranks);

/// Begins to join the communicator of `id` as `rank`; listens on this host's addresses.
Result<comm::Control::Pending> BeginJoin(const std::shared_ptr<comm::Process>& process,
                                         const UniqueId& id, std::uint32_t rank,
                                         std::uint32_t size);

/// The counters of this process from before; read before a peer can dial it.
struct Baseline {
  os::SocketDriver::Counters counters;
  Instant cpu{0};
};
Baseline ReadBaseline(comm::Process& process);

struct Joined {
  JoinShare share;
  std::vector<std::unique_ptr<comm::Control>> controls;  ///< each leaves when it goes
};
/// Joins the ranks of `block` all at once, from this one thread.
/// Errors  as Control::Join, of the first rank that failed.
Result<Joined> JoinAll(const std::shared_ptr<comm::Process>& process,
                       const std::vector<UniqueId>& ids, const RankBlock& block, std::uint32_t size,
                       const Baseline& before);

/// The processes that the ranks are spread over, as one of them sees it. They agree over a small
/// communicator of their own, one rank a process; a process alone needs none.
class Team {
 public:
  Team() = default;
  static Result<Team> Join(const std::shared_ptr<comm::Process>& process, const UniqueId& id,
                           std::uint32_t index, std::uint32_t size);

  std::uint32_t index() const { return index_; }
  /// The ids that all processes have made, in order of process, at every process.
  Result<std::vector<UniqueId>> Agree(const std::vector<UniqueId>& own);
  /// The shares of all, at every process. An error of one is an error of all.
  Result<std::vector<JoinShare>> Gather(Result<JoinShare> share);
  Status Barrier();

 private:
  std::uint32_t index_ = 0;
  std::unique_ptr<comm::Control> control_;
};

/// One repetition: an id that the first process makes, and all ranks with it.
Result<Repetition> Repeat(const std::shared_ptr<comm::Process>& process, Team& team,
                          const InitHead& head);

}  // namespace ringlet::cli
