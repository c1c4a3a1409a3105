#include "testbed/sys_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/value/text.hpp"
#include "testbed/pci_config.hpp"
#include "testbed/pci_slots.hpp"

namespace ringlet::testbed {
namespace {

using topology::BusId;
using topology::HostView;
using topology::NetInterface;
using topology::NumaNode;
using topology::PartKind;
using topology::PciDevice;
using topology::PciIds;

constexpr std::string_view kPciFunctions = "/sys/bus/pci/devices";
constexpr std::string_view kInterfaces = "/sys/class/net";
constexpr std::string_view kRdmaDevices = "/sys/class/infiniband";
constexpr std::string_view kPciBuses = "/sys/class/pci_bus";
constexpr std::string_view kNumaNodes = "/sys/devices/system/node";

/// Returns "../../../devices/a/b" for a link in "/sys/bus/pci/devices" to "/sys/devices/a/b".
std::string RelativeTo(std::string_view folder, std::string_view path) {
  const std::vector<std::string_view> from = Split(folder, '/'), to = Split(path, '/');
  std::size_t common = 0;
  while (common < from.size() && common < to.size() && from[common] == to[common]) ++common;
  std::string link;
  for (std::size_t i = common; i < from.size(); ++i) link += "../";
  for (std::size_t i = common; i < to.size(); ++i) link.append(to[i]).append("/");
  link.pop_back();
  return link;
}

/// Interfaces and RDMA devices have different folders, but a topology file contains only a port's
/// name. The port number on a card starts at 1 for RDMA, and is 0 for interfaces.
bool IsRdma(const NetInterface& net) {
  if (!net.rdma_device.empty()) return true;
  if (net.port) return *net.port > 0;
  constexpr std::array<std::string_view, 8> kDrivers = {"mlx",  "cxi", "rdma", "efa",
                                                        "bnxt", "hfi", "qed",  "nic"};
  return net.guid.value_or(0) != 0 ||
         std::ranges::any_of(kDrivers, [&](auto driver) { return net.name.starts_with(driver); });
}

class SysWriter {
 public:
  SysWriter(const HostView& view, const ComputerSys& computer, SysCpus cpus)
      : view_(view),
        computer_(computer),
        cpus_(cpus),
        layout_(LayOutPci(view, computer.functions)) {}

  SysTree Write() {
    Folder(kPciFunctions, OtherEntries::kNone);
    Folder(kPciBuses, OtherEntries::kNone);
    Folder(kRdmaDevices, OtherEntries::kNone);
    Folder(kInterfaces);
    WriteNodes();
    if (cpus_ == SysCpus::kMachine) WriteCpus();
    for (const PciBusFolder& bus : layout_.buses) WriteBus(bus);
    for (const PciSlot& slot : layout_.slots) WriteFunction(slot);
    for (std::size_t i = 0; i < view_.nets.size(); ++i) WriteNet(view_.nets[i]);
    WritePeers();
    std::string cpu_info = CpuInfoOf(computer_.cpu_info, view_.cpu);
    if (!cpu_info.empty()) File(std::string(kSysCpuInfo), std::move(cpu_info));
    return std::move(tree_);
  }

 private:
  void Folder(std::string_view path, OtherEntries others = OtherEntries::kAll) {
    for (std::size_t slash = path.find('/', 1); slash != std::string_view::npos;
         slash = path.find('/', slash + 1))
      tree_.entries.try_emplace(std::string(path.substr(0, slash)));
    tree_.entries[std::string(path)].others = others;
  }
  void File(const std::string& path, std::string content) {
    tree_.entries[path] = {.type = SysEntry::EntryType::kFile, .content = std::move(content)};
  }
  void Line(const std::string& path, std::string_view text) {
    File(path, fmt::format("{}\n", text));
  }
  void Link(std::string_view folder, std::string_view name, std::string_view path) {
    tree_.entries[fmt::format("{}/{}", folder, name)] = {.type = SysEntry::EntryType::kLink,
                                                         .content = RelativeTo(folder, path)};
  }

  void WriteNodes() {
    Folder(kNumaNodes, OtherEntries::kNone);
    std::map<std::uint32_t, const NumaNode*> nodes;  // as the kernel lists them, by number
    std::vector<std::uint32_t> all, with_cpus;
    for (const NumaNode& node : view_.numa_nodes)
      if (node.id != topology::kUnknownNuma) nodes.emplace(node.id, &node);
    for (const auto& [id, node] : nodes) {
      all.push_back(id);
      if (!node->cpus.empty()) with_cpus.push_back(id);
      WriteNode(*node, nodes);
    }
    const std::string folder(kNumaNodes);
    for (const char* list : {"online", "possible", "has_memory", "has_normal_memory"})
      Line(fmt::format("{}/{}", folder, list), fmt::format("{}", fmt::join(all, ",")));
    Line(folder + "/has_cpu", fmt::format("{}", fmt::join(with_cpus, ",")));
  }

  void WriteNode(const NumaNode& node, const std::map<std::uint32_t, const NumaNode*>& nodes) {
    const std::string folder = fmt::format("{}/node{}", kNumaNodes, node.id);
    Folder(folder, OtherEntries::kNone);
    Line(folder + "/cpulist", ToString(node.cpus));
    Line(folder + "/cpumap", ToMask(node.cpus));
    if (node.distances.size() == view_.numa_nodes.size()) {
      std::vector<std::uint32_t> distances;
      for (const auto& [id, other] : nodes)
        distances.push_back(
            node.distances[static_cast<std::size_t>(other - view_.numa_nodes.data())]);
      Line(folder + "/distance", fmt::format("{}", fmt::join(distances, " ")));
    }
    constexpr std::uint64_t kKib = 1024;
    const std::uint64_t memory = node.memory_bytes != 0
                                     ? node.memory_bytes / kKib
                                     : computer_.memory_kib / view_.numa_nodes.size();
    File(folder + "/meminfo",
         fmt::format("Node {0} MemTotal: {1} kB\nNode {0} MemFree: {1} kB\n", node.id, memory));
  }

  void WriteCpus() {
    topology::CpuSet all;
    for (const NumaNode& node : view_.numa_nodes) all = all.JoinedWith(node.cpus);
    const std::string folder = "/sys/devices/system/cpu";
    Folder(folder);
    for (const char* list : {"online", "possible", "present"})
      Line(fmt::format("{}/{}", folder, list), ToString(all));
    for (const CpuRange& range : all.ranges())
      for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu) {
        const topology::CpuSet self = topology::CpuSet::Of(cpu, cpu);
        const std::string topology = fmt::format("{}/cpu{}/topology", folder, cpu);
        Folder(topology, OtherEntries::kNone);
        Line(topology + "/core_id", std::to_string(cpu));
        for (const char* name : {"core_cpus", "thread_siblings"}) {
          Line(fmt::format("{}/{}", topology, name), ToMask(self));
          Line(fmt::format("{}/{}_list", topology, name), ToString(self));
        }
      }
  }

  void WriteBus(const PciBusFolder& bus) {
    const std::string name = fmt::format("{:04x}:{:02x}", bus.domain, bus.bus);
    const std::string folder = bus.path + "/pci_bus/" + name;
    Folder(folder);
    const topology::CpuSet& cpus = view_.numa_nodes[bus.numa].cpus;
    Line(folder + "/cpuaffinity", ToMask(cpus));
    Line(folder + "/cpulistaffinity", ToString(cpus));
    Link(kPciBuses, name, folder);
  }

  /// Ports of a switch have its ids. For root ports only the vendor is known.
  PciIds IdsOf(const PciSlot& slot) const {
    if (slot.level == PciSlot::Level::kDevice) return view_.pci[slot.device].ids;
    if (slot.level == PciSlot::Level::kDownstreamPort) return view_.pci[slot.above].ids;
    constexpr std::uint16_t kIntel = 0x8086, kAmd = 0x1022;
    const std::string& vendor = view_.ModelOf(view_.numa_nodes[slot.numa]).vendor;
    PciIds ids;
    ids.vendor = vendor == "GenuineIntel" ? kIntel : vendor == "AuthenticAMD" ? kAmd : 0;
    return ids;
  }

  void WriteFunction(const PciSlot& slot) {
    const PciDevice& device = view_.pci[slot.device];
    const PciIds ids = IdsOf(slot);
    const std::string& path = slot.path;
    Folder(path, OtherEntries::kFolders);
    Link(kPciFunctions, ToString(slot.bus), path);
    Link(path, "subsystem", "/sys/bus/pci");
    Line(path + "/vendor", fmt::format("{:#06x}", ids.vendor));
    Line(path + "/device", fmt::format("{:#06x}", ids.device));
    Line(path + "/subsystem_vendor", fmt::format("{:#06x}", ids.subsystem_vendor));
    Line(path + "/subsystem_device", fmt::format("{:#06x}", ids.subsystem_device));
    const topology::PciClass code = ClassOf(slot, device);
    Line(path + "/class", ToString(code));
    Line(path + "/revision", "0x00");
    Line(path + "/irq", "0");
    Line(path + "/enable", "1");
    WriteResources(path);
    File(path + "/config", ConfigSpaceOf(slot, device, ids));
    File(path + "/uevent",
         fmt::format("PCI_CLASS={:X}\nPCI_ID={:04X}:{:04X}\nPCI_SUBSYS_ID={:04X}:{:04X}\n"
                     "PCI_SLOT_NAME={}\n",
                     code.code, ids.vendor, ids.device, ids.subsystem_vendor, ids.subsystem_device,
                     ToString(slot.bus)));
    WriteLink(path, device);
    WritePlace(path, slot.numa);
  }

  void WriteResources(const std::string& path) {
    constexpr int kRegions = 13;
    std::string lines;
    for (int i = 0; i < kRegions; ++i)
      lines += fmt::format("{0:#018x} {0:#018x} {0:#018x}\n", std::uint64_t{0});
    File(path + "/resource", std::move(lines));
  }

  /// The file contains the speed of a device in its slot, so the port above has at least that.
  void WriteLink(const std::string& path, const PciDevice& device) {
    for (const char* which : {"max", "current"}) {
      if (!device.link_speed.text.empty())
        Line(fmt::format("{}/{}_link_speed", path, which), device.link_speed.text);
      if (device.link_width != 0)
        Line(fmt::format("{}/{}_link_width", path, which), std::to_string(device.link_width));
    }
  }

  void WritePlace(const std::string& path, std::uint32_t numa) {
    const NumaNode& node = view_.numa_nodes[numa];
    const bool known = node.id != topology::kUnknownNuma;
    Line(path + "/numa_node", known ? std::to_string(node.id) : "-1");
    Line(path + "/local_cpus", ToMask(node.cpus));
    Line(path + "/local_cpulist", ToString(node.cpus));
  }

  /// The functions of a card are its network devices in the order of the file.
  struct NetPlace {
    std::string folder = "/sys/devices/virtual";
    bool on_pci = false;
    std::uint32_t function = 0;
    std::optional<std::uint32_t> numa = {};
  };
  NetPlace PlaceOf(const NetInterface& net) {
    NetPlace place;
    if (!net.nic || view_.nics[*net.nic].parent.kind != PartKind::kPci) return place;
    const std::uint32_t device = view_.nics[*net.nic].parent.index;
    auto& names = names_[device];
    const std::string name = net.name.substr(0, net.name.find(':'));
    const auto number =
        static_cast<std::uint32_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (number == names.size()) names.push_back(name);
    for (const PciSlot& slot : layout_.slots) {
      if (slot.level != PciSlot::Level::kDevice || slot.device != device) continue;
      if (slot.function_of_card != 0 && slot.function_of_card != number) continue;
      place = {.folder = slot.path,
               .on_pci = true,
               .function = slot.function_of_card,
               .numa = slot.numa};
    }
    return place;
  }

  void WriteNet(const NetInterface& net) {
    const bool named = !net.name.empty() && net.name != "." && net.name != ".." &&
                       net.name.find_first_of("/\n") == std::string::npos;
    if (!named) return;
    const NetPlace place = PlaceOf(net);
    if (IsRdma(net)) return WriteRdma(net, place);
    if (computer_.interfaces.count(net.name) == 0) WriteInterface(net, place);
  }

  void WriteInterface(const NetInterface& net, const NetPlace& place) {
    const std::string folder = fmt::format("{}/net/{}", place.folder, net.name);
    Folder(folder);
    Link(kInterfaces, net.name, folder);
    Link(folder, "subsystem", kInterfaces);
    if (place.on_pci) Link(folder, "device", place.folder);
    if (net.speed_mbit_per_s) Line(folder + "/speed", std::to_string(*net.speed_mbit_per_s));
    constexpr std::array<std::pair<const char*, const char*>, 9> kFacts = {
        {{"operstate", "up"},
         {"carrier", "1"},
         {"duplex", "full"},
         {"mtu", "1500"},
         {"type", "1"},
         {"flags", "0x1003"},
         {"dev_port", "0"},
         {"address", "02:00:00:00:00:00"},
         {"addr_len", "6"}}};
    for (const auto& [name, text] : kFacts) Line(fmt::format("{}/{}", folder, name), text);
    Line(folder + "/uevent", "INTERFACE=" + net.name);
  }

  static std::string GuidText(std::uint64_t guid) {
    // A topology file has the card's bytes as a little-endian number.
    std::string text;
    for (unsigned byte = 0; byte < sizeof guid; ++byte)
      text +=
          fmt::format("{}{:02x}", byte > 0 && byte % 2 == 0 ? ":" : "", guid >> (byte * 8) & 0xff);
    return text;
  }

  void WriteRdma(const NetInterface& net, const NetPlace& place) {
    const std::size_t colon = net.name.find(':');
    const std::string name = net.name.substr(0, colon);
    const std::string folder = fmt::format("{}/infiniband/{}", place.folder, name);
    Folder(folder);
    Link(kRdmaDevices, name, folder);
    Link(folder, "subsystem", kRdmaDevices);
    if (place.on_pci) Link(folder, "device", place.folder);
    Line(folder + "/node_type", "1: CA");
    Line(folder + "/node_desc", name);
    if (net.guid) {
      Line(folder + "/node_guid", GuidText(*net.guid));
      Line(folder + "/sys_image_guid", GuidText(*net.guid));
    }
    // Topology files count the ports of a card; the kernel counts those of each function.
    const std::uint32_t counted = net.port.value_or(1);
    const std::uint32_t own = counted > place.function ? counted - place.function : 1;
    const auto told =
        colon == std::string::npos ? std::nullopt : ParseUnsigned(net.name.substr(colon + 1));
    WritePort(net, fmt::format("{}/ports/{}", folder, told.value_or(own)));
  }

  void WritePort(const NetInterface& net, const std::string& folder) {
    Folder(folder);
    Line(folder + "/state", "4: ACTIVE");
    Line(folder + "/phys_state", "5: LinkUp");
    constexpr std::uint32_t kInfiniband = 0x0207;
    const auto on_pci = net.nic ? std::optional(view_.nics[*net.nic].parent) : std::nullopt;
    bool infiniband = false;
    if (on_pci && on_pci->kind == PartKind::kPci)
      infiniband = view_.pci[on_pci->index].device_class.value_or(topology::PciClass{}).code >> 8 ==
                   kInfiniband;
    Line(folder + "/link_layer", infiniband ? "InfiniBand" : "Ethernet");
    if (!net.speed_mbit_per_s) return;
    const std::uint32_t mbit = *net.speed_mbit_per_s;
    const std::uint32_t tenths = mbit % 1000 / 100;
    Line(folder + "/rate", tenths == 0 ? fmt::format("{} Gb/sec", mbit / 1000)
                                       : fmt::format("{}.{} Gb/sec", mbit / 1000, tenths));
  }

  /// Writes the files of switch and RDMA drivers from the facts of the topology file.
  void WritePeers() {
    for (const PciDevice& device : view_.pci)
      for (const BusId peer : device.peers)
        Folder(fmt::format("/sys/kernel/pci_switch_link/virtual_switch_links/{}/{}",
                           ToString(device.bus), ToString(peer)));
    const bool direct = std::ranges::any_of(
        view_.nets, [](const NetInterface& net) { return IsRdma(net) && net.gdr.value_or(false); });
    if (!direct) return;
    Folder("/sys/kernel/mm/memory_peers/nv_mem");
    Line("/sys/kernel/mm/memory_peers/nv_mem/version", "1");
  }

  const HostView& view_;
  const ComputerSys& computer_;
  SysCpus cpus_;
  PciLayout layout_;
  SysTree tree_ = {};
  std::map<std::uint32_t, std::vector<std::string>> names_ = {};  // network devices, by card
};

/// Reads "MemTotal:       196608000 kB"; 0 if the line is missing.
std::uint64_t MemTotalKib(std::string_view text) {
  constexpr std::string_view kKey = "MemTotal:";
  for (const std::string_view line : Split(text, '\n')) {
    if (!line.starts_with(kKey) || !line.ends_with(" kB")) continue;
    return ParseDecimal(Trim(line.substr(kKey.size(), line.size() - kKey.size() - 3))).value_or(0);
  }
  return 0;
}

}  // namespace

ComputerSys ReadComputerSys(const os::FileTree& files) {
  ComputerSys computer;
  if (const auto functions = files.List(kPciFunctions); functions.ok())
    for (const std::string& name : *functions)
      if (const auto bus = BusId::Parse(name); bus.ok()) computer.functions.insert(*bus);
  if (const auto interfaces = files.List(kInterfaces); interfaces.ok())
    computer.interfaces = {interfaces->begin(), interfaces->end()};
  if (auto text = files.Read("/proc/cpuinfo"); text.ok()) computer.cpu_info = *std::move(text);
  if (const auto text = files.Read("/proc/meminfo"); text.ok())
    computer.memory_kib = MemTotalKib(*text);
  return computer;
}

Result<SysTree> SysTreeOf(const HostView& view, const ComputerSys& computer, SysCpus cpus) {
  if (view.pci.size() > kSysFunctionsMax)
    return Error{Code::kUnsupported,
                 fmt::format("the machine has {} PCI devices; at most {} can be shown in /sys",
                             view.pci.size(), kSysFunctionsMax)};
  return SysWriter(view, computer, cpus).Write();
}

std::string CpuInfoOf(std::string_view text, const topology::CpuModel& cpu) {
  const bool same_kind = text.find("vendor_id") != std::string_view::npos;
  if (!same_kind || cpu.arch != "x86_64" || cpu.vendor.empty()) return "";
  const std::string name =
      cpu.name.empty() ? fmt::format("{} family {} model {}", cpu.vendor, cpu.family, cpu.model)
                       : cpu.name;
  const std::map<std::string_view, std::string> values = {
      {"vendor_id", cpu.vendor},
      {"cpu family", std::to_string(cpu.family)},
      {"model", std::to_string(cpu.model)},
      {"model name", name}};
  bool differs = false;
  std::string changed;
  for (const std::string_view line : Split(text, '\n')) {
    const std::string_view key = line.substr(0, line.find(':'));
    const auto value = values.find(Trim(key));
    if (value == values.end()) {
      changed.append(line).append("\n");
      continue;
    }
    const std::string own = fmt::format("{}: {}", key, value->second);
    differs = differs || (own != line && value->first != "model name");
    changed.append(own).append("\n");
  }
  changed.pop_back();  // after the last newline
  return differs ? changed : "";
}

}  // namespace ringlet::testbed
