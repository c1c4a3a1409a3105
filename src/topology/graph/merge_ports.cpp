#include "topology/graph/merge_ports.hpp"

#include <map>
#include <utility>

namespace ringlet::topology {
namespace {

void Join(NetInterface& into, const NetInterface& port) {
  if (into.members.empty()) into.members.push_back(into.name);
  into.members.push_back(port.name);
  into.name += "+" + port.name;
  const std::uint32_t speed = into.speed_mbit_per_s.value_or(0) + port.speed_mbit_per_s.value_or(0);
  if (speed > 0) into.speed_mbit_per_s = speed;
  if (into.rail != port.rail) into.rail.reset();
  if (into.plane != port.plane) into.plane.reset();
}

}  // namespace

HostView MergePorts(HostView view) {
  std::map<std::uint32_t, std::uint32_t> ports;  // of each device
  for (const NetInterface& net : view.nets)
    if (net.nic) ++ports[*net.nic];
  std::vector<NetInterface> merged;
  std::map<std::uint32_t, std::size_t> first;  // of each device: where its interface is
  for (NetInterface& net : view.nets) {
    if (!net.nic || ports[*net.nic] < 2) {
      merged.push_back(std::move(net));
      continue;
    }
    if (view.nics[*net.nic].parent.kind != PartKind::kPci) continue;
    const auto [at, added] = first.try_emplace(*net.nic, merged.size());
    const bool full = !added && merged[at->second].members.size() >= kMergedPortsMax;
    if (added || full) {
      at->second = merged.size();
      merged.push_back(std::move(net));
    } else {
      Join(merged[at->second], net);
    }
  }
  view.nets = std::move(merged);
  return view;
}

}  // namespace ringlet::topology
