#include "discovery/nets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/value/text.hpp"
#include "discovery/kernel_text.hpp"

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::HostView;
using topology::NetKind;

constexpr std::string_view kNets = "/sys/class/net";
constexpr std::string_view kRdma = "/sys/class/infiniband";
constexpr std::size_t kRdmaPortsMax = 256;  // per device

NetKind KindOf(const Sysfs& sysfs, const std::string& folder, bool has_device) {
  if (has_device) return NetKind::kPhysical;
  const std::optional<std::string> uevent = sysfs.Peek(folder + "/uevent");
  const std::string_view type = uevent ? FindAssigned(*uevent, "DEVTYPE") : std::string_view();
  // Hand-made trees have the folders but not the file.
  const auto has = [&](std::string_view what) {
    return !uevent && sysfs.files().Exists(fmt::format("{}/{}", folder, what));
  };
  if (type == "bond" || has("bonding")) return NetKind::kBond;
  if (type == "bridge" || has("bridge")) return NetKind::kBridge;
  if (type == "vlan") return NetKind::kVlan;
  return NetKind::kVirtual;
}

/// True if the kernel lists the interface among those without hardware.
bool IsVirtual(const std::string& folder) {
  return folder.starts_with("/sys/devices/virtual/");
}

/// True for frame types that carry packets without frames, such as IP tunnels, tun and WireGuard.
/// Source  ARPHRD_TUNNEL, _TUNNEL6, _SIT, _IPGRE, _IP6GRE, _NONE of linux/if_arp.h
bool IsTunnel(const Sysfs& sysfs, const std::string& folder) {
  constexpr std::array<std::uint32_t, 6> kTypes = {768, 769, 776, 778, 823, 65'534};
  const std::optional<std::uint32_t> type = sysfs.PeekNumber(folder + "/type");
  return type && std::ranges::find(kTypes, *type) != kTypes.end();
}

bool IsDown(const Sysfs& sysfs, const std::string& folder) {
  const std::string state = sysfs.Peek(folder + "/operstate").value_or("unknown");
  return state == "down" || state == "lowerlayerdown" || state == "notpresent";
}

/// The nearest PCI function in the path of a device.
std::optional<BusId> FunctionOf(std::string_view path) {
  const std::vector<BusId> functions = FunctionsIn(path);
  return functions.empty() ? std::nullopt : std::optional(functions.front());
}

std::vector<std::string> MembersOf(const Sysfs& sysfs, const std::string& folder) {
  constexpr std::string_view kLower = "lower_";
  std::vector<std::string> members;
  const auto entries = sysfs.files().List(folder);
  if (!entries.ok()) return members;
  for (const std::string& entry : *entries)
    if (entry.starts_with(kLower) && members.size() < HostView::kLinksMax)
      members.push_back(entry.substr(kLower.size()));
  return members;
}

InterfaceFacts ReadInterface(const Sysfs& sysfs, const std::string& name,
                             const std::string& folder) {
  InterfaceFacts facts;
  facts.name = name;
  std::optional<std::string> device;
  bool has_device = false;
  if (!IsVirtual(folder)) {
    device = sysfs.Linked(folder + "/device");
    has_device = device || sysfs.files().Exists(folder + "/device");
  }
  facts.kind = KindOf(sysfs, folder, has_device);
  facts.down = IsDown(sysfs, folder);
  // The kernel refuses the speed of an interface that is down, and reports -1 or 0 for some.
  if (!facts.down) facts.speed_mbit_per_s = sysfs.PeekNumber(folder + "/speed");
  if (facts.speed_mbit_per_s == 0u) facts.speed_mbit_per_s.reset();
  if (has_device) {
    const std::string at = device.value_or(folder + "/device");
    facts.function = FunctionOf(at);
    facts.numa = sysfs.PeekNumber(at + "/numa_node");
    facts.device_port = sysfs.PeekNumber(folder + "/dev_port").value_or(0);
  } else {
    facts.members = MembersOf(sysfs, folder);
    facts.tunnel = IsTunnel(sysfs, folder);
  }
  if (const auto master = sysfs.Linked(folder + "/master"))
    facts.master = master->substr(master->rfind('/') + 1);
  return facts;
}

/// Loopback, and interfaces that Docker, libvirt, LXC, Kubernetes' networks (Calico, Cilium,
/// Flannel, Weave, GKE, kube-router, OVN) and VPNs create on a host.
bool IsLocalName(std::string_view name) {
  constexpr auto kPrefixes = std::to_array<std::string_view>(
      {"docker",    "veth",    "virbr",   "br-",   "vnet",  "lxc",    "lxd",       "cali",
       "cilium",    "cni",     "flannel", "weave", "gke",   "kube-",  "nodelocal", "ovn",
       "podman",    "nerdctl", "tun",     "tap",   "vxlan", "geneve", "gre",       "wg",
       "tailscale", "dummy",   "ifb",     "sit",   "ip6tnl"});
  return name == "lo" ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// True for a virtual interface that may reach other hosts, for hosts without hardware interfaces.
bool MayReachOtherHosts(const InterfaceFacts& one) {
  return !IsLocalName(one.name) && !one.tunnel && one.kind != NetKind::kBridge &&
         one.master.empty();
}

using ByName = std::map<std::string_view, const InterfaceFacts*>;

const InterfaceFacts* FindInterface(const ByName& all, std::string_view name) {
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

/// True for hardware, or a bond of hardware.
bool IsHardware(const ByName& all, const InterfaceFacts& one) {
  if (one.kind == NetKind::kPhysical) {
    const InterfaceFacts* const master = FindInterface(all, one.master);
    return master == nullptr || master->kind != NetKind::kBond || master->down;
  }
  if (one.kind != NetKind::kBond) return false;
  return std::any_of(one.members.begin(), one.members.end(), [&](const std::string& name) {
    const InterfaceFacts* const member = FindInterface(all, name);
    return member != nullptr && member->kind == NetKind::kPhysical;
  });
}

RdmaPort ReadPort(const Sysfs& sysfs, const RdmaPort& device, const std::string& folder,
                  std::uint32_t number) {
  const std::string at = fmt::format("{}/ports/{}", folder, number);
  RdmaPort port = device;
  port.port = number;
  port.active = sysfs.Peek(at + "/state").value_or("").find("ACTIVE") != std::string::npos;
  port.speed_mbit_per_s = ParseRdmaRate(sysfs.Peek(at + "/rate").value_or(""));
  const std::string interface = sysfs.Peek(at + "/gid_attrs/ndevs/0").value_or("");
  if (interface.size() <= HostView::kNameBytesMax) port.interface = interface;
  return port;
}

}  // namespace

std::vector<InterfaceFacts> ReadInterfaces(Sysfs& sysfs) {
  std::vector<InterfaceFacts> interfaces;
  const Result<std::vector<std::string>> entries = sysfs.files().List(kNets);
  if (!entries.ok()) {
    sysfs.RecordMissing(entries.error().message + "; no network interfaces are known");
    return interfaces;
  }
  for (const std::string& name : *entries) {
    if (name.size() > HostView::kNameBytesMax) continue;
    // Some entries are files of a driver, such as bonding_masters.
    const std::string folder = sysfs.Folder(fmt::format("{}/{}", kNets, name));
    if (!sysfs.files().Exists(folder + "/.")) continue;
    if (interfaces.size() == HostView::kNetsMax) {
      sysfs.RecordMissing(fmt::format("only {} network interfaces are kept", HostView::kNetsMax));
      break;
    }
    interfaces.push_back(ReadInterface(sysfs, name, folder));
  }
  return interfaces;
}

std::vector<InterfaceFacts> Choose(const std::vector<InterfaceFacts>& interfaces,
                                   const os::NameRule& rule, Sysfs& sysfs) {
  ByName all;
  for (const InterfaceFacts& one : interfaces) all.emplace(one.name, &one);
  std::vector<InterfaceFacts> wanted, hardware, virtual_ones;
  for (const InterfaceFacts& one : interfaces) {
    if (!rule.Allows(one.name)) continue;
    const bool is_hardware = IsHardware(all, one);
    if (one.down) {
      if (is_hardware || rule.picks())
        sysfs.RecordMissing(fmt::format("network interface {} is down and is left out", one.name));
      continue;
    }
    wanted.push_back(one);
    if (is_hardware) hardware.push_back(one);
    if (MayReachOtherHosts(one)) virtual_ones.push_back(one);
  }
  std::vector<InterfaceFacts> chosen = rule.picks()       ? std::move(wanted)
                                       : hardware.empty() ? std::move(virtual_ones)
                                                          : std::move(hardware);
  if (chosen.empty())
    sysfs.RecordMissing(
        fmt::format("{} does not contain a network interface to other hosts", kNets));
  return chosen;
}

std::vector<RdmaPort> ReadRdmaPorts(Sysfs& sysfs) {
  std::vector<RdmaPort> ports;
  Result<std::vector<std::string>> entries = sysfs.files().List(kRdma);
  if (!entries.ok()) return ports;
  std::ranges::sort(*entries, IsNaturallyBefore);  // in the order of drivers
  for (const std::string& name : *entries) {
    const std::string folder = sysfs.Folder(fmt::format("{}/{}", kRdma, name));
    RdmaPort device;
    device.device = name.substr(0, HostView::kNameBytesMax);
    device.guid = ParseGuid(sysfs.Peek(folder + "/sys_image_guid").value_or(""));
    const std::string hardware = sysfs.Folder(folder + "/device");
    device.function = FunctionOf(hardware);
    device.numa = sysfs.PeekNumber(hardware + "/numa_node");
    const auto numbers = sysfs.files().List(folder + "/ports");
    if (!numbers.ok()) {
      sysfs.RecordMissing(
          fmt::format("RDMA device {}: {}", device.device, numbers.error().message));
      continue;
    }
    for (const std::string& text : *numbers) {
      const auto number = ParseKnown(text);
      if (!number || *number == 0 || *number > kRdmaPortsMax) continue;
      if (ports.size() == HostView::kNetsMax) return ports;
      ports.push_back(ReadPort(sysfs, device, folder, *number));
    }
  }
  return ports;
}

bool HasPeerMemory(const Sysfs& sysfs) {
  constexpr std::array<std::string_view, 3> kFiles = {
      "/sys/kernel/mm/memory_peers/nv_mem/version", "/sys/kernel/mm/memory_peers/nv_mem_nc/version",
      "/sys/module/nvidia_peermem/version"};
  return std::any_of(kFiles.begin(), kFiles.end(),
                     [&](std::string_view path) { return sysfs.files().Exists(path); });
}

}  // namespace ringlet::discovery
