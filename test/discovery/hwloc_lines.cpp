#include "hwloc_lines.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "machine.hpp"

namespace ringlet::discovery {
namespace {

bool IsPci(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_PCI_DEVICE ||
         (object->type == HWLOC_OBJ_BRIDGE &&
          object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI);
}

const auto& PciOf(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_BRIDGE ? object->attr->bridge.upstream.pci
                                          : object->attr->pcidev;
}

std::string BusOf(hwloc_obj_t object) {
  const auto& pci = PciOf(object);
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func);
}

FunctionLine LineOf(hwloc_topology_t topology, hwloc_obj_t object) {
  const auto& pci = PciOf(object);
  FunctionLine line;
  line.bus = BusOf(object);
  line.parent = object->parent != nullptr && IsPci(object->parent) ? BusOf(object->parent) : "root";
  line.device_class = pci.class_id;
  line.ids = static_cast<unsigned long long>(pci.vendor_id) << 48 |
             static_cast<unsigned long long>(pci.device_id) << 32 |
             static_cast<unsigned long long>(pci.subvendor_id) << 16 | pci.subdevice_id;
  line.mb_per_s = static_cast<unsigned>(std::lround(pci.linkspeed * 1000));
  char* text = nullptr;
  const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, object);
  hwloc_bitmap_list_asprintf(&text, place->nodeset);
  const std::unique_ptr<char, decltype(&free)> owner(text, &free);
  line.nodes = text;
  return line;
}

}  // namespace

std::vector<std::string> LinesOfHwloc(const std::string& root) {
  const Variable fsroot("HWLOC_FSROOT", root);
  const Variable components("HWLOC_COMPONENTS", "linux,stop");
  const Variable quiet("HWLOC_HIDE_ERRORS", "2");
  hwloc_topology_t topology = nullptr;
  std::vector<std::string> lines;
  if (hwloc_topology_init(&topology) != 0) return lines;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(topology) == 0) {
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_pcidev(topology, o)) != nullptr;)
      lines.push_back(ToString(LineOf(topology, o)));
    for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_bridge(topology, o)) != nullptr;)
      if (IsPci(o)) lines.push_back(ToString(LineOf(topology, o)));
  }
  hwloc_topology_destroy(topology);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace ringlet::discovery
