#include "comm/tuning.hpp"

#include <algorithm>

namespace ringlet::comm {

collective::Layout LayoutOf(const plan::ChannelPlan& plan, const Census& census) {
  collective::Layout layout{.order = plan.Ring(0), .groups = {}};
  layout.groups.resize(census.hosts.size());
  for (const Rank rank : layout.order)
    layout.groups[census.places[Index(rank)].host].push_back(rank);
  std::erase_if(layout.groups, [](const auto& group) { return group.empty(); });
  return layout;
}

collective::Tuner TunerFor(const Settings& settings) {
  collective::Tuner tuner;
  tuner.choice = collective::ParseAlgorithmChoice(settings.host_algo).value();
  // Loopback on one machine: half of what a round trip of 24 us costs, 2 GB/s each way.
  if (settings.links == LinkChoice::kTcp || settings.shm_disable)
    tuner.model.local = {.latency_ns = 12'000, .overhead_ns = 4'000, .mb_per_s = 2'000};
  return tuner;
}

}  // namespace ringlet::comm
