// The exchange of one rank of each host with the others: the parts of hierarchical collectives that
// cross between hosts. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/algorithm/call_cost.hpp"
#include "collective/algorithm/groups.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// How the ranks of one rail talk.
enum class Between : std::uint8_t {
  kRing,      ///< for much
  kDoubling,  ///< for little
  kDirect,    ///< for very little that is far away: each with each at once
};

/// The rank at place `local` of each host. \pre  each host has so many
std::vector<Rank> RailAt(const Groups& groups, std::size_t local);
/// Of each host the rank that talks to other hosts: the root, or the first.
std::vector<Rank> LeadersFor(const Groups& groups, Rank root);

/// Among the ranks of `rail`, of which `self` is one.
Schedule RailAllReduce(std::span<const Rank> rail, Between between, Rank self, std::size_t count);
Schedule RailBroadcast(std::span<const Rank> rail, Between between, Rank self, Rank root,
                       std::size_t count);
Schedule RailReduce(std::span<const Rank> rail, Between between, Rank self, Rank root,
                    std::size_t count);

/// A schedule among ranks 0 to n - 1 as one among the ranks of `rail`.
Schedule OnRail(Schedule schedule, std::span<const Rank> rail);

/// Returns the time that a hierarchical all-reduce on `rails` rails takes between hosts.
std::uint64_t RailsNs(const CallCost& one, Between between, std::uint64_t rails);
/// Returns the time that a broadcast or reduce among one rank of each host takes.
std::uint64_t RailWithRootNs(const CallCost& one, Between between);

}  // namespace ringlet::collective
