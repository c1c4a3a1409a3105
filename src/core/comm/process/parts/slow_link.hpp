// Links of an emulated machine that a user makes slow: RINGLET_SLOW. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::comm {

/// Both directions of a link, or of all links of a node.
struct SlowLink {
  std::string first;        ///< "NET/0-2", as reports name it, or its kind and number, "NET2"
  std::string second = {};  ///< the other end; empty: all links of `first`
  std::string host = {};    ///< RINGLET_HOSTID of the host that has it; empty: all hosts
  std::uint32_t millionths = kWhole;  ///< of its rate

  static constexpr std::uint32_t kWhole = 1'000'000;
  bool operator==(const SlowLink&) const = default;
};

/// Reads "link=NET2:0.1", "link=DEV/0-7000,NVS/0-0@HOST:0.25", or several of these, separated by
/// semicolons. Fractions are from 0.001 to 1.
/// Errors  kInvalidArgument  quotes the part and states the valid form
Result<std::vector<SlowLink>> ParseSlowLinks(std::string_view text);
/// Returns the form that ParseSlowLinks reads.
std::string ToText(const SlowLink& link);

/// Returns true if it is the link between two nodes of a host. Ignores SlowLink::host.
bool IsBetween(const SlowLink& link, const topology::Graph& graph, topology::NodeIndex one,
               topology::NodeIndex other);

/// Returns the links of a graph, one direction of each, without those within a device.
std::vector<std::pair<topology::NodeIndex, topology::NodeIndex>> LinksOf(
    const topology::Graph& graph);

/// Returns the names that SlowLink::first may have for a node: "NET/0-2", and "NET2".
std::vector<std::string> NamesOfEnd(const topology::Graph& graph, topology::NodeIndex node);

}  // namespace ringlet::comm
