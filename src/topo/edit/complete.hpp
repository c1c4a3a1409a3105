// Fills in the parts that a skeleton file leaves to the machine: GPUs, their links, NICs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {

/// Returns true if a view has PCI functions of a GPU's or NIC's class, but no GPU. NCCL fills in
/// the rest on the machine; elsewhere the rest is missing.
bool IsSkeleton(const HostView& view);

/// The facts missing from the view.
struct Completion {
  const GpuModel* gpu = nullptr;  ///< for functions with an unknown device id; nullptr: not given
  LinkLayout layout = LinkLayout::kNone;
  std::optional<std::uint32_t> nic_mbit_per_s = {};
};
Completion CompletionOf(const KnownMachine& machine);

struct Completed {
  HostView view;
  std::vector<std::string> notes;  ///< one sentence per assumption
};

/// Adds a GPU to every PCI function of a GPU's class without one, and a NIC with one port to every
/// function of a NIC's class. Then links the GPUs of each host if they have no links. Numbers GPUs
/// by bus id, as NVML does; ranks follow unless a GPU has one. A GPU's function without ids gets
/// those of the model.
///
/// Errors  kInvalidArgument  a GPU is of unknown model and `completion` names none; the layout does
///                           not fit the number of GPUs or links
Result<Completed> Complete(const HostView& view, const Completion& completion);

/// Adds the links of a layout between GPUs of one host.
/// \param gpus  indices into view.gpus, in the order of their numbers
/// Errors  kInvalidArgument  the layout does not fit
Status LinkGpus(HostView& view, const std::vector<std::uint32_t>& gpus, LinkLayout layout,
                std::uint32_t links, GpuLinkKind kind);

}  // namespace ringlet::topology
