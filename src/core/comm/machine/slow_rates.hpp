// The effect of slow links on a plan that does not know of them: rates of links, and the model of
// times of the channels that go over them. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm/process/slow_link.hpp"
#include "plan/gpus/gpu_route.hpp"

namespace ringlet::comm {

class SlowRates {
 public:
  /// \param identities  of the hosts of the plan, as RINGLET_HOSTID names them
  SlowRates(const plan::GpuPlan& plan, std::span<const std::uint64_t> identities,
            std::vector<SlowLink> links)
      : plan_(plan), identities_(identities.begin(), identities.end()), links_(std::move(links)) {}

  /// Millionths of its rate that a link has; SlowLink::kWhole: it is not slow.
  std::uint32_t ShareOf(const plan::HardwareLink& link) const;

  /// The model of times where each graph's channels have the bandwidth that is left to them: all
  /// channels are as slow as the slowest link below them lets one be. A link of which channels take
  /// a half loses nothing until it has less than that half. Rings and trees take what their edges
  /// need; other algorithms are counted as if they filled every link that rings use.
  /// \param choice  of the plan
  /// \return nothing if no channel goes over a slow link
  std::optional<plan::Tuning> TuningOf(const plan::TuningChoice& choice) const;

 private:
  struct Loads;
  std::uint32_t LeftTo(plan::GraphId id, const plan::Common& graph, const Loads& loads) const;
  /// Of the collectives over a graph.
  std::uint32_t ChannelsOf(plan::GraphId id) const;
  Loads LoadsOf(plan::GraphId id) const;

  const plan::GpuPlan& plan_;
  std::vector<std::uint64_t> identities_;
  std::vector<SlowLink> links_;
};

/// The host that a link belongs to, as an index among those that were given to PlanGpus. Switches
/// of several hosts belong to each of them: to that of the GPU at the other end.
std::uint32_t HostOf(const plan::GpuPlan& plan, const plan::HardwareLink& link);

}  // namespace ringlet::comm
