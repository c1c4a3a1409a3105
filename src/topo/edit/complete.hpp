// Fills in what a skeleton file leaves to the machine: GPUs, their links, NICs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {

/// Whether a view has PCI functions that by their class are GPUs or NICs, but says nothing more of
/// any GPU: NCCL fills in the rest on the machine, but it cannot be done without.
bool IsSkeleton(const HostView& view);

/// The facts that the view does not say itself.
struct Completion {
  const GpuModel* gpu = nullptr;  ///< of functions with no device id that is known; nullptr: none
  LinkLayout layout = LinkLayout::kNone;
  std::optional<std::uint32_t> nic_mbit_per_s = {};
};
Completion CompletionOf(const KnownMachine& machine);

struct Completed {
  HostView view;
  std::vector<std::string> notes;  ///< a sentence for each thing that was assumed
};

/// Adds a GPU to every PCI function whose class says GPU and that has none, a NIC with one port to
/// every one whose class says NIC; then links the GPUs of each host that have no links yet. GPUs
/// are numbered, as NVML does, by bus id; ranks follow if no GPU has one. A function of a GPU that
/// has no ids gets those of the model.
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
