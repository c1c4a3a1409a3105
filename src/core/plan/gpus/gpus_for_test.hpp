// Hosts with GPUs, with ranks on some of them.
#pragma once
#include <string_view>
#include <vector>

#include "topo/edit/synthetic.hpp"

namespace ringlet::plan {

inline constexpr std::string_view kTwoSwitches =
    "2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))";

/// Creates hosts of one kind.
/// \param ranks  by host, the ranks of its first GPUs in order
inline std::vector<topology::HostView> HostsForTest(
    std::string_view machine, const std::vector<std::vector<std::uint32_t>>& ranks) {
  std::vector<topology::HostView> hosts;
  for (const auto& of_host : ranks) {
    topology::HostView view = topology::ParseSynthetic(machine).value();
    view.identity = hosts.size() + 1;
    for (std::size_t i = 0; i < view.gpus.size(); ++i)
      view.gpus[i].rank = i < of_host.size() ? std::optional(of_host[i]) : std::nullopt;
    hosts.push_back(std::move(view));
  }
  return hosts;
}

}  // namespace ringlet::plan
