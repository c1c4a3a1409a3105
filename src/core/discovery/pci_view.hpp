// Adds the PCI functions that a topology needs to a view, with their ancestors.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "discovery/pci_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Returns true if the function is a GPU or another accelerator by class and vendor, and not the
/// display of a server's management chip. Always: classes 0x12 and 0x0302. Other displays (0x03):
/// only from NVIDIA and AMD, Intel's data-center cards (0x0380), and with an unknown vendor.
bool IsGpu(const PciFunction& function);

/// A bridge and both of its levels count as one device: a function's parent is the second function
/// above it. A function directly below a root port belongs to the NUMA node.
/// Source  NCCL's rule: it skips every other function in the path of /sys.
class PciView {
 public:
  /// \param functions  from ListPci; the object adds details to the functions that it reads
  /// \param view       already contains NUMA nodes; outlives the object
  PciView(Sysfs& sysfs, std::vector<PciFunction>& functions, topology::HostView& view)
      : sysfs_(sysfs), functions_(functions), view_(view) {}

  /// Returns the function with its details; null if no function exists at `bus`.
  const PciFunction* Detailed(topology::BusId bus);

  /// Adds the function and the bridges above it to the view. A function that is missing in /sys, as
  /// in a container, is added alone.
  void AddWithBridges(topology::BusId bus);

  /// Fills HostView::pci: parents before children, siblings in address order. If the host has
  /// several nodes, functions without a known node get their own NUMA node, topology::kUnknownNuma.
  void Build();

  /// Returns the index of a wanted function after Build.
  std::optional<std::uint32_t> IndexOf(topology::BusId bus) const;

  /// Returns the id of the function's NUMA node; empty if unknown.
  std::optional<std::uint32_t> NumaOf(topology::BusId bus);

 private:
  struct Element {
    std::optional<topology::BusId> parent;  ///< empty: a NUMA node
    std::optional<std::uint32_t> numa;      ///< only without a parent
    PciLink link;
    std::vector<topology::BusId> children = {};
    std::uint32_t depth = 1;
  };

  PciFunction& FindOrAdd(topology::BusId bus, const PciFunction* below);
  void Place(topology::BusId bus, std::optional<topology::BusId> parent, const PciFunction& leaf);
  std::optional<std::uint32_t> NodeOf(const PciFunction& function) const;
  std::uint32_t UnknownNode();
  void Emit(topology::BusId bus, topology::Part parent);

  Sysfs& sysfs_;
  std::vector<PciFunction>& functions_;
  topology::HostView& view_;
  std::set<topology::BusId> detailed_ = {};
  /// Functions that are missing in /sys/bus/pci/devices, but appear in another function's path.
  std::map<topology::BusId, PciFunction> others_ = {};
  std::map<topology::BusId, Element> elements_ = {};
  std::map<topology::BusId, std::uint32_t> index_ = {};
};

}  // namespace ringlet::discovery
