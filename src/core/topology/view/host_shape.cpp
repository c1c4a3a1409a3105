#include "topology/view/host_shape.hpp"

#include <map>
#include <utility>

#include "base/value/digest.hpp"

namespace ringlet::topology {

HostView ShapeOf(HostView view) {
  view.name.clear();
  view.identity = 0;
  view.cpu.name.clear();
  for (NumaNode& node : view.numa_nodes) {
    node.memory_bytes = 0;
    if (node.cpu) node.cpu->name.clear();
  }
  for (Gpu& gpu : view.gpus) gpu.rank.reset();
  std::map<std::uint64_t, std::uint64_t> chips;
  for (NetInterface& net : view.nets)
    if (net.guid) net.guid = chips.emplace(*net.guid, chips.size() + 1).first->second;
  return view;
}

HostView HostOfShape(HostView shape, std::string name, std::uint64_t identity) {
  shape.name = std::move(name);
  shape.identity = identity;
  for (NetInterface& net : shape.nets)
    if (net.guid) net.guid = Digest().Add(identity).Add(*net.guid).value();
  return shape;
}

}  // namespace ringlet::topology
