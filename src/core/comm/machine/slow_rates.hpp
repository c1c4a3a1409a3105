// The effect of slow links on a plan that was made without them: the rates of links, and the time
// model of the channels on these links. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "comm/process/parts/slow_link.hpp"
#include "plan/gpus/gpu_route.hpp"

namespace ringlet::comm {

class SlowRates {
 public:
  /// \param identities  of the hosts of the plan, as RINGLET_HOSTID names them
  SlowRates(const plan::GpuPlan& plan, std::span<const std::uint64_t> identities,
            std::vector<SlowLink> links)
      : plan_(plan), identities_(identities.begin(), identities.end()), links_(std::move(links)) {}

  /// Returns the millionths of its rate that a link has. SlowLink::kWhole: not slow.
  std::uint32_t ShareOf(const plan::HardwareLink& link) const;

  /// Returns the time model with the bandwidth that remains for each graph's channels. The slowest
  /// link limits all channels equally. If channels use half of a link, it matters only below that
  /// half. Rings and trees need the bandwidth of their edges. Other algorithms count as if they
  /// filled every link of rings.
  /// \param choice  of the plan
  /// \return empty if no channel uses a slow link
  std::optional<plan::Tuning> TuningOf(const plan::TuningChoice& choice) const;

 private:
  struct Loads;
  std::uint32_t RemainingShare(plan::GraphId id, const plan::Common& graph,
                               const Loads& loads) const;
  /// Counts the channels of the collectives over a graph.
  std::uint32_t ChannelsOf(plan::GraphId id) const;
  Loads LoadsOf(plan::GraphId id) const;

  const plan::GpuPlan& plan_;
  std::vector<std::uint64_t> identities_;
  std::vector<SlowLink> links_;
};

/// Returns the host of a link, as an index into the hosts of PlanGpus. A switch belongs to several
/// hosts. Its links belong to the host of the GPU at the other end.
std::uint32_t HostOf(const plan::GpuPlan& plan, const plan::HardwareLink& link);

}  // namespace ringlet::comm
