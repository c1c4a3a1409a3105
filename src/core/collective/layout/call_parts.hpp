// CallParts: the parts of a rank's call, as an algorithm builds them. A part is a schedule over
// links or an operation through the memory of a host.
#pragma once
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// An operation that the ranks of one host run through their memory. Averages are sums here. The
/// exchange between hosts divides them.
struct HostPart {
  CallKind kind = CallKind::kAllReduce;
  Rank root{};            ///< an index among the ranks of the host
  std::size_t count = 0;  ///< as in Call, among the ranks of the host
  Place input = {};
  Place output = {};
  /// True if this part needs an exchange with other hosts that followed the previous part.
  bool after_links = false;
  /// Number of this rank's parts over links that must end before this part begins.
  std::size_t links_before = 0;
  bool operator==(const HostPart&) const = default;
};

/// A part of a call. Places refer to the call's buffers and to one scratch that all parts share.
/// Run in order, the parts perform the call. Parts over links run one after the other, beside later
/// parts on the host unless `links_before` forbids it: neither touches memory that the other
/// writes.
using CallPart = std::variant<HostPart, Schedule>;
struct CallParts {
  std::size_t scratch_count = 0;
  std::vector<CallPart> parts = {};
};

/// Returns the parts of a call that consists of one schedule.
inline CallParts OnePart(Schedule schedule) {
  const std::size_t scratch_count = schedule.scratch_count;
  CallParts parts{.scratch_count = scratch_count};
  parts.parts.emplace_back(std::move(schedule));
  return parts;
}

}  // namespace ringlet::collective
