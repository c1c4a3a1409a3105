#include "discovery/pci_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "discovery/kernel_text.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::CpuSet;
using topology::HostView;
using topology::PciClass;
using topology::PcieSpeed;

constexpr std::string_view kDevices = "/sys/bus/pci/devices";
constexpr std::string_view kSwitchLinks = "/sys/kernel/pci_switch_link";
constexpr std::uint16_t kBroadcom = 0x1000;
constexpr std::uint32_t kWidthMax = 64;  // maximum of PCI Express is 32 lanes

PciLink ReadLink(const Sysfs& sysfs, const std::string& path, std::string_view which) {
  const std::string prefix = fmt::format("{}/{}_link_", path, which);
  PciLink link;
  const std::string text = sysfs.Peek(prefix + "speed").value_or("");
  // A port without a card reports "Unknown", which equals a missing value.
  if (text.size() <= HostView::kNameBytesMax && !text.starts_with("Unknown"))
    link.speed = PcieSpeed::Parse(text);
  const auto width = sysfs.PeekNumber(prefix + "width");
  if (width && *width <= kWidthMax) link.width = static_cast<std::uint16_t>(*width);
  return link;
}

std::uint16_t ReadId(const Sysfs& sysfs, const std::string& path) {
  return static_cast<std::uint16_t>(sysfs.PeekHex(path, 0xffff).value_or(0));
}

}  // namespace

std::vector<PciFunction> ListPci(Sysfs& sysfs) {
  std::vector<PciFunction> functions;
  const Result<std::vector<std::string>> entries = sysfs.files().List(kDevices);
  if (!entries.ok()) {
    sysfs.RecordMissing(entries.error().message + "; no PCI functions are known");
    return functions;
  }
  for (const std::string& entry : *entries) {
    const Result<BusId> bus = BusId::Parse(entry);
    if (!bus.ok() || functions.size() == HostView::kPciMax) continue;
    PciFunction function;
    function.bus = *bus;
    function.path = sysfs.Folder(fmt::format("{}/{}", kDevices, entry));
    function.above = FunctionsIn(function.path);
    if (!function.above.empty() && function.above.front() == *bus)
      function.above.erase(function.above.begin());
    const Result<PciClass> code =
        PciClass::Parse(sysfs.Peek(function.path + "/class").value_or(""));
    if (code.ok()) function.device_class = *code;
    functions.push_back(std::move(function));
  }
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.bus < b.bus; });
  // Only hand-made trees have two spellings of one address.
  const auto same = [](const auto& a, const auto& b) { return a.bus == b.bus; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
  return functions;
}

void ReadDetails(Sysfs& sysfs, PciFunction& function) {
  const std::string& path = function.path;
  function.ids = {.vendor = ReadId(sysfs, path + "/vendor"),
                  .device = ReadId(sysfs, path + "/device"),
                  .subsystem_vendor = ReadId(sysfs, path + "/subsystem_vendor"),
                  .subsystem_device = ReadId(sysfs, path + "/subsystem_device")};
  function.max = ReadLink(sysfs, path, "max");
  function.current = ReadLink(sysfs, path, "current");
  function.numa = sysfs.PeekNumber(path + "/numa_node");
  const Result<CpuSet> cpus = CpuSet::ParseMask(sysfs.Peek(path + "/local_cpus").value_or(""));
  if (cpus.ok()) function.local_cpus = *cpus;
  if (const auto physical = sysfs.Linked(path + "/physfn")) {
    const std::vector<BusId> functions = FunctionsIn(*physical);
    if (!functions.empty() && functions.front() != function.bus)
      function.physical = functions.front();
  }
}

const PciFunction* Find(const std::vector<PciFunction>& functions, BusId bus) {
  const auto at =
      std::lower_bound(functions.begin(), functions.end(), bus,
                       [](const PciFunction& each, BusId wanted) { return each.bus < wanted; });
  return at != functions.end() && at->bus == bus ? &*at : nullptr;
}

PciLink Slower(const PciLink& a, const PciLink& b) {
  PciLink link = a;
  if (b.speed.generation != 0 &&
      (a.speed.generation == 0 || b.speed.generation < a.speed.generation))
    link.speed = b.speed;
  if (b.width != 0 && (a.width == 0 || b.width < a.width)) link.width = b.width;
  return link;
}

std::vector<topology::LinkState> ReadLinkStates(const os::FileTree& files) {
  std::vector<std::string> missing;
  Sysfs sysfs(files, missing);
  std::vector<PciFunction> functions = ListPci(sysfs);
  for (PciFunction& function : functions) ReadDetails(sysfs, function);
  std::vector<topology::LinkState> states;
  for (const PciFunction& function : functions) {
    const bool has_role =
        function.device_class && function.device_class->role() != topology::PciRole::kOther;
    const PciFunction* const port =
        function.above.empty() ? nullptr : Find(functions, function.above.front());
    if (!has_role || port == nullptr) continue;
    const PciLink best = Slower(function.max, port->max);
    states.push_back({.bus = function.bus,
                      .speed = function.current.speed,
                      .width = function.current.width,
                      .best_speed = best.speed,
                      .best_width = best.width});
  }
  return states;
}

std::vector<BusId> ReadPeers(Sysfs& sysfs, const std::vector<PciFunction>& functions, BusId bus,
                             const topology::PciIds& ids) {
  std::vector<BusId> peers;
  if (ids.vendor != kBroadcom) return peers;
  // Reading this file makes the driver scan again. The driver misspells its name.
  (void)sysfs.Peek(fmt::format("{}/refresh_switch_toplogy", kSwitchLinks));
  const auto entries =
      sysfs.files().List(fmt::format("{}/virtual_switch_links/{}", kSwitchLinks, ToString(bus)));
  if (!entries.ok()) return peers;
  for (const std::string& entry : *entries) {
    const Result<BusId> peer = BusId::Parse(entry);
    if (!peer.ok() || *peer == bus || Find(functions, *peer) == nullptr) continue;
    if (peers.size() < HostView::kLinksMax) peers.push_back(*peer);
  }
  return peers;
}

}  // namespace ringlet::discovery
