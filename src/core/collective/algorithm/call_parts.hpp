// The parts of one call on one rank, as an algorithm makes them: schedules over links, and
// operations through the memory of a host.
#pragma once
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// An operation of the ranks of one host through their memory. Averages are sums here: they are
/// divided on their way between hosts.
struct HostPart {
  CallKind kind = CallKind::kAllReduce;
  Rank root{};            ///< a place among the ranks of the host
  std::size_t count = 0;  ///< as in Call, among the ranks of the host
  Place input = {};
  Place output = {};
  /// Ranks of the host have talked to other hosts since the part before, which this one needs.
  bool after_links = false;
  /// So many of this rank's parts over links are done before it begins.
  std::size_t links_before = 0;
  bool operator==(const HostPart&) const = default;
};

/// Of the whole call: places are in its buffers and in one scratch that all parts share. In order,
/// parts do what the call says. Parts over links go on, one after the other, beside those on the
/// host that follow, but for what `links_before` says: neither touches what the other writes.
using CallPart = std::variant<HostPart, Schedule>;
struct CallParts {
  std::size_t scratch_count = 0;
  std::vector<CallPart> parts = {};
};

/// The parts of a call that one schedule does.
inline CallParts OnePart(Schedule schedule) {
  const std::size_t scratch_count = schedule.scratch_count;
  CallParts parts{.scratch_count = scratch_count};
  parts.parts.emplace_back(std::move(schedule));
  return parts;
}

}  // namespace ringlet::collective
