// Chooses the PCI functions that a topology needs and puts them into a view, with what is above
// them.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "discovery/pci_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Whether a function is a GPU or another accelerator by its class and vendor, and not the display
/// of a server's management chip: class 0x12 and 0x0302 always; other displays (0x03) only of
/// NVIDIA and AMD, Intel's data-center cards (0x0380), and where the vendor is not told.
bool IsGpu(const PciFunction& function);

/// A bridge is one device with both of its levels: a function's parent is the second function above
/// it. A function right below a root port has that one above it and nothing else: it belongs to the
/// NUMA node.
/// Source  NCCL's rule: of the functions in the path of /sys it skips every other one.
class PciView {
 public:
  /// \param functions  as ListPci gives them; details are added to those that are looked at
  /// \param view       has its NUMA nodes; outlives the object
  PciView(Sysfs& sysfs, std::vector<PciFunction>& functions, topology::HostView& view)
      : sysfs_(sysfs), functions_(functions), view_(view) {}

  /// The function with its details, or null where the machine has none at `bus`.
  const PciFunction* Detailed(topology::BusId bus);

  /// Makes the function part of the view, and the bridges above it. One that /sys does not know, as
  /// in a container, counts as one without anything above.
  void Want(topology::BusId bus);

  /// Fills HostView::pci: parents before children, neighbours in the order of addresses. Functions
  /// of unknown node get a NUMA node of their own, topology::kUnknownNuma, if the host has several.
  void Build();

  /// The place that Build has given a wanted function.
  std::optional<std::uint32_t> IndexOf(topology::BusId bus) const;

  /// Id of the NUMA node that a function is at; empty: unknown.
  std::optional<std::uint32_t> NumaOf(topology::BusId bus);

 private:
  struct Element {
    std::optional<topology::BusId> parent;  ///< empty: a NUMA node
    std::optional<std::uint32_t> numa;      ///< of those without a parent
    PciLink link;
    std::vector<topology::BusId> children = {};
    std::uint32_t depth = 1;
  };

  PciFunction& Know(topology::BusId bus, const PciFunction* below);
  void Place(topology::BusId bus, std::optional<topology::BusId> parent, const PciFunction& leaf);
  std::optional<std::uint32_t> NodeOf(const PciFunction& function) const;
  std::uint32_t UnknownNode();
  void Emit(topology::BusId bus, topology::Part parent);

  Sysfs& sysfs_;
  std::vector<PciFunction>& functions_;
  topology::HostView& view_;
  std::set<topology::BusId> detailed_ = {};
  /// Those that are not in /sys/bus/pci/devices, but in the path of one that is.
  std::map<topology::BusId, PciFunction> others_ = {};
  std::map<topology::BusId, Element> elements_ = {};
  std::map<topology::BusId, std::uint32_t> index_ = {};
};

}  // namespace ringlet::discovery
