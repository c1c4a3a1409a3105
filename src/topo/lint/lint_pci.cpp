// Rules about PCI functions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/value/text.hpp"
#include "topo/lint/lint_context.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::uint16_t, 8> kWidths = {0, 1, 2, 4, 8, 12, 16, 32};
constexpr std::size_t kPciBytesShown = 40;

/// Returns true for texts of old and new kernels.
bool IsKernelText(std::string_view text) {
  if (text.ends_with(" PCIe")) text.remove_suffix(5);
  constexpr std::array<std::string_view, 13> kTexts = {
      "2.5 GT/s", "5 GT/s",    "5.0 GT/s", "8 GT/s",    "8.0 GT/s", "16 GT/s",   "16.0 GT/s",
      "32 GT/s",  "32.0 GT/s", "64 GT/s",  "64.0 GT/s", "128 GT/s", "128.0 GT/s"};
  return std::find(kTexts.begin(), kTexts.end(), text) != kTexts.end();
}

void LintSpeed(LintContext& context, Part part, const PciDevice& device) {
  const PcieSpeed& speed = device.link_speed;
  const std::string shown = Printable(speed.text, kPciBytesShown);
  if (speed.text.empty())
    return context.AddFinding(Severity::kNote, "no-speed", part, "link_speed",
                              "the speed is unknown; NCCL assumes PCIe 3.0, 12 GB/s with 16 lanes",
                              "");
  if (speed.generation == 0)
    return context.AddFinding(
        Severity::kError, "unknown-speed", part, "link_speed",
        fmt::format("\"{}\" is not a PCIe speed; NCCL assumes PCIe 3.0", shown),
        "write the speed as the kernel does, such as \"16.0 GT/s PCIe\"");
  const std::string cure = fmt::format("write \"{}\"", PcieSpeed::Of(speed.generation).text);
  if (!NcclLaneSpeed(speed.text))
    return context.AddFinding(
        Severity::kWarning, "unknown-speed", part, "link_speed",
        fmt::format("NCCL does not know \"{}\" and assumes PCIe 3.0 instead of {}.0", shown,
                    speed.generation),
        speed.generation <= 6 ? cure : "versions of NCCL before 2.31 do not know this speed");
  if (!IsKernelText(speed.text))
    context.AddFinding(
        Severity::kWarning, "unknown-speed", part, "link_speed",
        fmt::format("kernels do not write \"{}\"; NCCL 2.30 reads only its beginning, as "
                    "PCIe {}.0, and other versions may assume 3.0",
                    shown, speed.generation),
        cure);
}

/// Finds impossible addresses. For GPUs and NICs NCCL then does not find the device on the machine.
/// For an invented switch they are harmless.
void LintAddress(LintContext& context, Part part, const PciDevice& device, bool has_nic) {
  if (IsPossible(device.bus)) return;
  const PciRole role = device.device_class ? device.device_class->role() : PciRole::kOther;
  const bool is_device = has_nic || !context.GpusOf(part.index).empty() || role == PciRole::kGpu ||
                         role == PciRole::kNic;
  context.AddFinding(
      is_device ? Severity::kError : Severity::kWarning, "impossible-bus-id", part, "busid",
      fmt::format("{} is not a possible PCI address: a bus has devices 00 to 1f, a device "
                  "has functions 0 to 7{}",
                  ToString(device.bus),
                  is_device ? "; NCCL does not find the device on the machine" : ""),
      "copy the address from lspci -D");
}

void LintBusId(LintContext& context, Part part, const PciDevice& device) {
  const auto& same = context.PciAt(context.HostOf(part), device.bus);
  if (same.front() == part.index) return;
  const Part first{PartKind::kPci, same.front()};
  context.AddFinding(Severity::kError, "duplicate-bus-id", part, "busid",
                     fmt::format("bus id {} is already used at {}; bus ids are unique on a host",
                                 ToString(device.bus), context.Where(first)),
                     "look both up with lspci -D");
}

void LintPeers(LintContext& context, Part part, const PciDevice& device) {
  for (std::uint32_t i = 0; i < device.peers.size(); ++i) {
    const Part link{PartKind::kPciLink, part.index, i};
    const auto& targets = context.PciAt(context.HostOf(part), device.peers[i]);
    if (targets.empty()) {
      context.AddFinding(Severity::kWarning, "unknown-peer", link, "target",
                         fmt::format("PCI function {} does not exist", ToString(device.peers[i])),
                         "");
      continue;
    }
    const std::vector<BusId>& back = context.view().pci[targets.front()].peers;
    if (std::find(back.begin(), back.end(), device.bus) == back.end())
      context.AddFinding(
          Severity::kError, "one-way-peer", link, "target",
          fmt::format("{} lacks the pcilink back; NCCL stops with \"Failed to find reverse path\"",
                      ToString(device.peers[i])),
          "write the pcilink at both ends, or at neither");
  }
}

/// Finds a class that contradicts the function's children.
void LintClass(LintContext& context, Part part, const PciDevice& device, bool has_nic) {
  if (!device.device_class)
    return context.AddFinding(
        Severity::kWarning, "missing-class", part, "",
        "class is missing; NCCL stops unless it finds the function on the machine",
        "write class=\"0x060400\" for a switch, 0x030200 for a GPU, 0x020000 for a NIC");
  const PciRole role = device.device_class->role();
  const bool has_gpu = !context.GpusOf(part.index).empty();
  if (has_gpu && role != PciRole::kGpu)
    context.AddFinding(Severity::kWarning, "odd-class", part, "class",
                       fmt::format("the function has a gpu, but its class {} is not that of a GPU",
                                   ToString(*device.device_class)),
                       "write 0x030200");
  if (has_nic && role != PciRole::kNic && role != PciRole::kGpu)
    context.AddFinding(Severity::kNote, "odd-class", part, "class",
                       fmt::format("the function has a nic, but its class {} is not that of a NIC",
                                   ToString(*device.device_class)),
                       "");
}

void LintBelow(LintContext& context, Part part, bool parent_has_nic) {
  const PciDevice& device = context.view().pci[part.index];
  if (device.parent.kind != PartKind::kPci) return;
  const PciDevice& parent = context.view().pci[device.parent.index];
  if (parent_has_nic)
    return context.AddFinding(
        Severity::kWarning, "hidden-function", part, "",
        "the function above has a nic, so NCCL ignores other functions below it",
        "give the nic its own pci");
  const PciRole role = parent.device_class ? parent.device_class->role() : PciRole::kOther;
  if (role == PciRole::kGpu || role == PciRole::kNic)
    context.AddFinding(
        Severity::kWarning, "hidden-function", part, "",
        fmt::format("by its class, {} above is not a switch, so NCCL ignores functions below it",
                    ToString(parent.bus)),
        "");
}

}  // namespace

void LintPci(LintContext& context) {
  const HostView& view = context.view();
  std::vector<bool> has_nic(view.pci.size(), false);
  for (const Nic& nic : view.nics)
    if (nic.parent.kind == PartKind::kPci) has_nic[nic.parent.index] = true;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    const Part part{PartKind::kPci, i};
    LintAddress(context, part, device, has_nic[i]);
    LintBusId(context, part, device);
    LintClass(context, part, device, has_nic[i]);
    LintSpeed(context, part, device);
    if (std::find(kWidths.begin(), kWidths.end(), device.link_width) == kWidths.end())
      context.AddFinding(Severity::kWarning, "odd-width", part, "link_width",
                         fmt::format("a PCIe link cannot have {} lanes", device.link_width), "");
    LintPeers(context, part, device);
    LintBelow(context, part, device.parent.kind == PartKind::kPci && has_nic[device.parent.index]);
  }
}

}  // namespace ringlet::topology
