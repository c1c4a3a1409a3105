// Kills ranks of a simulated job after all ranks have connected, and lets the others reform the
// group until one works.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tool/sim/sim_world.hpp"

namespace ringlet::cli {

/// The ranks that die.
struct SimDeaths {
  std::uint32_t count = 1;  ///< of ranks, or of hosts
  double share = 0;         ///< if not 0: this share of the ranks or hosts instead of `count`
  enum class Which : std::uint8_t {
    kAny,    ///< drawn at random
    kFirst,  ///< rank 0 and the ranks after it
    kHosts,  ///< all ranks of hosts that are drawn at random
  } which = Which::kAny;
  std::uint32_t later = 0;  ///< ranks drawn at random that die once the first rank is told
};

/// The result for one number of ranks. Times are since the first deaths.
struct SimReformRow {
  std::uint32_t ranks = 0, hosts = 0;
  std::uint32_t died = 0;
  std::uint32_t reformed = 0;      ///< survivors in the same working group of all that remain
  std::uint32_t left_out = 0;      ///< survivors that the others have lost
  std::uint32_t waiting = 0;       ///< survivors in neither state at the end
  std::uint32_t attempts = 0;      ///< the most groups that one rank formed
  Instant told{0};                 ///< the last survivor learned of a death
  Instant agreed{0};               ///< the last survivor knew that all survivors have the same list
  std::uint64_t connections = 0;   ///< new ones
  std::uint64_t messages_max = 0;  ///< the most messages that one rank received
  std::uint64_t bytes_max = 0;     ///< the most bytes that one rank received
  std::uint64_t events = 0;
  Instant cpu{0};                  ///< processor time of the simulation of this part
  Instant wall{0};                 ///< duration of the whole simulation
  std::uint64_t memory_bytes = 0;  ///< memory of this process at the end
  std::string wrong = {};          ///< the first failure that is not the loss of a rank
};

/// The ranks that die first, ascending. At least one rank remains.
/// Errors  kInvalidArgument  no rank would die or remain
Result<std::vector<std::uint32_t>> FirstToDie(const SimDeaths& deaths, const SimWorld& world,
                                              Prng& prng);

/// Runs a world, in which no event has run yet, until its survivors have reformed it.
/// Errors  kInvalidArgument  see FirstToDie
///         kProtocol         the ranks do not even connect
/// \param on_progress  called now and then
Result<SimReformRow> RunReform(SimWorld& world, const SimOptions& options, const SimDeaths& deaths,
                               const std::function<void()>& on_progress);

/// Errors  kProtocol  not all survivors are in one group, or one failed for another reason than the
/// loss of a rank
Status ReformVerdict(const SimReformRow& row);

}  // namespace ringlet::cli
