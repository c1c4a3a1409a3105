#include "topology/xml/xml_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "topology/xml/nccl_number.hpp"
#include "topology/xml/xml_element.hpp"
#include "topology/xml/xml_text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kTextBytesShown = 60;

template <typename T>
std::uint32_t Next(const std::vector<T>& parts) {
  return static_cast<std::uint32_t>(parts.size());
}

/// NCCL multiplies the extended family of an x86 processor by sixteen: 175 is the kernel's 25.
std::uint32_t KernelFamily(std::uint32_t family) {
  constexpr std::uint32_t kBase = 15, kLast = kBase + 255 * 16;
  const bool extended = family > kBase && family <= kLast && family % 16 == kBase;
  return extended ? kBase + family / 16 : family;
}

/// The kind of file with such an outermost element. "" if unknown.
std::string_view OtherFile(std::string_view root) {
  if (root == "graphs") return "this is a graph file, for NCCL_GRAPH_FILE";
  if (root == "topology")
    return "this is hwloc's XML, as lstopo writes it; NCCL writes its own with "
           "NCCL_TOPO_DUMP_FILE=FILE";
  if (root == "nvidia_smi_log")
    return "this is what nvidia-smi -q -x writes; NCCL writes its topology with "
           "NCCL_TOPO_DUMP_FILE=FILE";
  return "";
}

class ViewReader {
 public:
  ViewReader(const XmlText& text, std::string_view file) : context_{text, std::string(file)} {}

  XmlReading Run() {
    const bool read = ReadSystem(context_.text.root());
    XmlReading reading;
    if (read) {
      const auto by_part = [](const auto& a, const auto& b) { return a.part < b.part; };
      const auto by_parent = [](const auto& a, const auto& b) { return a.parent < b.parent; };
      std::stable_sort(view().unknown_attributes.begin(), view().unknown_attributes.end(), by_part);
      std::stable_sort(view().unknown_elements.begin(), view().unknown_elements.end(), by_parent);
      const Status status = view().Check();
      if (status.ok()) {
        reading.view = std::move(context_.view);
      } else {
        AddFindingAt(context_.text.root(), "system", Severity::kError, "impossible",
                     status.error().message, "");
      }
    }
    reading.findings = context_.findings.Take();
    reading.positions = std::move(context_.positions);
    return reading;
  }

 private:
  HostView& view() { return context_.view; }

  void AddFindingAt(pugi::xml_node node, std::string path, Severity severity, std::string rule,
                    std::string reason, std::string cure) {
    context_.findings.Add({.severity = severity,
                           .rule = std::move(rule),
                           .file = context_.file,
                           .at = context_.text.At(node),
                           .path = std::move(path),
                           .reason = std::move(reason),
                           .cure = std::move(cure)});
  }

  /// Calls `read` for the child elements with one of the names, and stores the others as unknown.
  template <typename Read>
  void ForChildren(const XmlElement& element, std::initializer_list<std::string_view> names,
                   Read read) {
    for (const pugi::xml_node child : element.node().children()) {
      const std::string_view name = child.name();
      if (child.type() != pugi::node_element) {
        AddFindingAt(child, element.path(), Severity::kError, "text", "text between elements",
                     "take it out; NCCL refuses the file");
      } else if (std::find(names.begin(), names.end(), name) != names.end()) {
        read(child, name);
      } else {
        Keep(child, element, "an element that does not belong here; NCCL ignores it");
      }
    }
  }

  void Keep(pugi::xml_node child, const XmlElement& parent, std::string_view reason,
            Severity severity = Severity::kWarning) {
    const std::string path =
        fmt::format("{}/{}", parent.path(), Printable(child.name(), kTextBytesShown));
    std::string xml = RawXml(child);
    const bool fits = xml.size() <= HostView::kUnknownBytesMax;
    AddFindingAt(child, path, fits ? severity : Severity::kError, "unknown-element",
                 std::string(reason), fits ? "it is kept" : "it is too long to be kept");
    if (fits) view().unknown_elements.push_back({parent.part(), std::move(xml)});
  }

  bool ReadSystem(pugi::xml_node root) {
    if (std::string_view(root.name()) != "system") {
      AddFindingAt(root, Printable(root.name(), kTextBytesShown), Severity::kError,
                   "not-a-topology",
                   fmt::format("the outermost element is <{}>, not <system>",
                               Printable(root.name(), kTextBytesShown)),
                   std::string(OtherFile(root.name())));
      return false;
    }
    XmlElement system(context_, root, "system", {PartKind::kSystem});
    ReadVersion(system);
    view().name = system.Text("name").value_or("");
    system.StoreUnread();
    if (root.next_sibling())
      AddFindingAt(root.next_sibling(), "", Severity::kWarning, "text",
                   "something follows </system>", "it is left out");
    ForChildren(system, {"cpu"}, [&](pugi::xml_node child, auto) { ReadCpu(child, system); });
    for (const std::vector<XmlElement>& elements : cpus_)
      for (const XmlElement& cpu : elements) ReadCpuChildren(cpu);
    if (view().numa_nodes.empty()) {
      system.AddFinding(Severity::kError, "no-cpu", "", "the system has no <cpu>",
                        "give it one for each NUMA node");
      return false;
    }
    ForgetOddDistances();
    return true;
  }

  void ReadVersion(XmlElement& system) {
    const std::optional<std::uint32_t> version = system.Number("version");
    if (!version)
      system.AddFinding(Severity::kError, "no-version", "version", "the version is missing",
                        "write version=\"1\", or NCCL stops");
    if (version.value_or(1) != 1 && version != 2u)
      system.AddFinding(Severity::kError, "unknown-version", "version",
                        fmt::format("version {} is unknown: NCCL writes 1, RCCL 2", *version),
                        "it is read as version 1");
    view().version = version == 2u ? 2 : 1;
  }

  void ReadCpu(pugi::xml_node node, const XmlElement& system) {
    if (view().numa_nodes.size() == HostView::kNumaNodesMax)
      return Keep(node, system, "there are too many NUMA nodes");
    const std::string path = fmt::format(
        "system/cpu[{}]", Printable(node.attribute("numaid").as_string("?"), kTextBytesShown));
    XmlElement cpu(context_, node, path, {PartKind::kNuma, Next(view().numa_nodes)});
    NumaNode numa;
    if (!node.attribute("numaid"))
      cpu.AddFinding(Severity::kError, "no-numaid", "", "numaid is missing",
                     "write the number of the NUMA node, or NCCL stops");
    numa.id = cpu.Number("numaid").value_or(kUnknownNuma);
    ReadAffinity(cpu, numa);
    ReadModel(cpu, numa);
    const std::optional<std::uint64_t> host = cpu.Hex("host_hash");
    if (view().numa_nodes.empty()) {
      view().identity = host.value_or(0);
    } else if (host && *host != view().identity) {
      numa.host = host;
    }
    ReadDistances(cpu, numa);
    cpu.Ignore("keep");
    AddCpu(cpu, std::move(numa));
  }

  /// Merges the children of a NUMA node that occurs twice.
  void AddCpu(XmlElement& cpu, NumaNode numa) {
    const auto same = std::find_if(
        view().numa_nodes.begin(), view().numa_nodes.end(), [&](const NumaNode& other) {
          return other.id == numa.id && view().HostOf(other) == view().HostOf(numa);
        });
    const auto index = static_cast<std::uint32_t>(same - view().numa_nodes.begin());
    if (same != view().numa_nodes.end()) {
      cpu.AddFinding(
          Severity::kError, "numaid-twice", "numaid",
          fmt::format("NUMA node {} occurs twice",
                      Printable(cpu.node().attribute("numaid").value(), kTextBytesShown)),
          "its content is taken as part of the first; join them");
    } else {
      cpu.StoreUnread();
      view().numa_nodes.push_back(std::move(numa));
      cpus_.emplace_back();
    }
    cpus_[index].push_back(cpu.As({PartKind::kNuma, index}));
  }

  void ReadCpuChildren(const XmlElement& cpu) {
    ForChildren(cpu, {"pci", "nic"}, [&](pugi::xml_node child, std::string_view name) {
      if (name == "pci") {
        ReadPci(child, cpu, 1);
      } else {
        ReadNic(child, cpu);
      }
    });
  }

  static void ReadAffinity(XmlElement& cpu, NumaNode& numa) {
    const std::optional<std::string_view> mask = cpu.LongText("affinity");
    if (!mask) return;
    Result<CpuSet> cpus = CpuSet::ParseMask(*mask);
    if (cpus.ok()) {
      numa.cpus = *std::move(cpus);
    } else {
      cpu.AddFinding(Severity::kError, "bad-value", "affinity", cpus.error().message,
                     "the attribute is left out");
    }
  }

  void ReadModel(XmlElement& cpu, NumaNode& numa) {
    CpuModel model;
    model.arch = cpu.Text("arch").value_or("");
    model.vendor = cpu.Text("vendor").value_or("");
    model.family = KernelFamily(cpu.Number("familyid").value_or(0));
    model.model = cpu.Number("modelid").value_or(0);
    if (view().numa_nodes.empty()) {
      view().cpu = model;
    } else if (model != view().cpu) {
      numa.cpu = model;
    }
  }

  static void ReadDistances(XmlElement& cpu, NumaNode& numa) {
    const std::optional<std::string_view> text = cpu.LongText("distances");
    if (!text || text->empty()) return;
    for (const std::string_view word : Split(*text, ' ')) {
      const auto distance = ParseDecimal(word);
      if (!distance || *distance > 0xffff || numa.distances.size() == HostView::kNumaNodesMax) {
        numa.distances.clear();
        return cpu.AddFinding(Severity::kError, "bad-value", "distances",
                              "distances are numbers between single blanks", "they are left out");
      }
      numa.distances.push_back(static_cast<std::uint32_t>(*distance));
    }
  }

  void ForgetOddDistances() {
    for (std::uint32_t i = 0; i < view().numa_nodes.size(); ++i) {
      NumaNode& numa = view().numa_nodes[i];
      if (numa.distances.empty() || numa.distances.size() == view().numa_nodes.size()) continue;
      context_.findings.Add({.severity = Severity::kWarning,
                             .rule = "bad-value",
                             .file = context_.file,
                             .at = context_.positions.Of({PartKind::kNuma, i}, "distances"),
                             .path = PathOf(view(), {PartKind::kNuma, i}),
                             .reason = fmt::format("{} distances to {} nodes",
                                                   numa.distances.size(), view().numa_nodes.size()),
                             .cure = "they are left out"});
      numa.distances.clear();
    }
  }

  void ReadPci(pugi::xml_node node, const XmlElement& parent, std::size_t depth) {
    const pugi::xml_attribute busid = node.attribute("busid");
    const Result<BusId> bus = BusId::Parse(busid.value());
    if (!bus.ok())
      return Keep(
          node, parent,
          busid ? bus.error().message : "busid is missing; NCCL stops here; take it from lspci -D",
          Severity::kError);
    if (depth > HostView::kDepthMax)
      return Keep(node, parent, fmt::format("PCI deeper than {} levels", HostView::kDepthMax));
    XmlElement element(context_, node, fmt::format("{}/pci[{}]", parent.path(), ToString(*bus)),
                       {PartKind::kPci, Next(view().pci)});
    PciDevice pci{.parent = parent.part(), .bus = *element.Bus("busid")};
    pci.device_class = element.Class("class");
    pci.ids = {element.Hex16("vendor").value_or(0), element.Hex16("device").value_or(0),
               element.Hex16("subsystem_vendor").value_or(0),
               element.Hex16("subsystem_device").value_or(0)};
    pci.link_speed = PcieSpeed::Parse(element.Text("link_speed").value_or(""));
    pci.link_width = static_cast<std::uint16_t>(element.Number("link_width", 64).value_or(0));
    element.Ignore("keep");
    element.StoreUnread();
    view().pci.push_back(std::move(pci));
    ReadPciChildren(element, depth);
  }

  /// Visits GPUs first, as NCCL does.
  void ReadPciChildren(const XmlElement& pci, std::size_t depth) {
    for (const pugi::xml_node child : pci.node().children("gpu")) ReadGpu(child, pci);
    for (const pugi::xml_node child : pci.node().children("pcilink")) ReadPciLink(child, pci);
    for (const pugi::xml_node child : pci.node().children("nic")) ReadNic(child, pci);
    ForChildren(pci, {"pci", "gpu", "pcilink", "nic"}, [&](pugi::xml_node child, auto name) {
      if (name == "pci") ReadPci(child, pci, depth + 1);
    });
  }

  void ReadPciLink(pugi::xml_node node, const XmlElement& pci) {
    std::vector<BusId>& peers = view().pci[pci.part().index].peers;
    const Result<BusId> target = BusId::Parse(node.attribute("target").value());
    if (!target.ok()) return Keep(node, pci, target.error().message, Severity::kError);
    if (peers.size() == HostView::kLinksMax) return Keep(node, pci, "too many pcilinks");
    XmlElement element(context_, node, fmt::format("{}/pcilink", pci.path()),
                       {PartKind::kPciLink, pci.part().index, Next(peers)});
    peers.push_back(*element.Bus("target"));
    element.StoreUnread();
    ForChildren(element, {}, [](auto, auto) {});
  }

  void ReadGpu(pugi::xml_node node, const XmlElement& pci) {
    XmlElement element(context_, node, pci.path() + "/gpu", {PartKind::kGpu, Next(view().gpus)});
    Gpu gpu{.pci = pci.part().index, .gcn = std::string(element.Text("gcn").value_or(""))};
    gpu.dev = element.Number("dev");
    gpu.compute_capability = element.Number("sm").value_or(0);
    gpu.rank = element.Number("rank");
    gpu.gdr = element.Flag("gdr");
    gpu.mlopart = element.Number("mlopart");
    gpu.rccl_arch = element.Number("arch");
    gpu.fabric = ReadFabric(element);
    element.Ignore("keep");
    element.StoreUnread();
    view().gpus.push_back(std::move(gpu));
    ForChildren(element, {"nvlink", "xgmi", "c2c"},
                [&](pugi::xml_node child, std::string_view name) {
                  if (name == "c2c") {
                    ReadC2c(child, element);
                  } else {
                    ReadLink(child, element, name);
                  }
                });
  }

  static std::optional<NvlinkFabric> ReadFabric(XmlElement& gpu) {
    const std::optional<std::string_view> cluster = gpu.Text("fabric_cluster");
    const std::optional<std::uint32_t> clique = gpu.Number("fabric_clique");
    if (!cluster) return std::nullopt;
    const bool long_enough = cluster->size() == 32;
    const auto high = ParseHex64(cluster->substr(0, long_enough ? 16 : 0));
    const auto low = ParseHex64(cluster->substr(long_enough ? 16 : cluster->size()));
    if (high && low && (*high | *low) != 0) return NvlinkFabric{{*high, *low}, clique.value_or(0)};
    gpu.AddFinding(Severity::kError, "bad-value", "fabric_cluster",
                   "fabric_cluster is not 32 hex digits, or all 0", "the attribute is left out");
    return std::nullopt;
  }

  /// Null if the other end is not visible.
  std::optional<BusId> ReadTarget(XmlElement& element, std::string_view text) {
    const Result<BusId> bus = BusId::Parse(text);
    if (text != kNotVisible && !(bus.ok() && IsHidden(*bus))) return element.Bus("target");
    element.LongText("target");
    constexpr std::string_view kHidden = "fffffff:ff:ff.0";  // the spelling of dumps
    if (text != kNotVisible && text != kHidden)
      element.AddFinding(
          Severity::kNote, "hidden-target", "target",
          fmt::format("{} is a driver's address of a neighbour that it hides, but dumps "
                      "spell it differently",
                      Printable(text, kTextBytesShown)),
          fmt::format("write {}", kHidden));
    return std::nullopt;
  }

  void ReadLink(pugi::xml_node node, const XmlElement& gpu, std::string_view name) {
    std::vector<GpuLink>& links = view().gpus[gpu.part().index].links;
    if (links.size() == HostView::kLinksMax) return Keep(node, gpu, "too many links of one GPU");
    const std::string_view target = node.attribute("target").value();
    const std::string path =
        fmt::format("{}/{}[{}]", gpu.path(), name, Printable(target, kTextBytesShown));
    XmlElement element(context_, node, path, {PartKind::kGpuLink, gpu.part().index, Next(links)});
    GpuLink link;
    link.kind = name == "xgmi" ? GpuLinkKind::kXgmi : GpuLinkKind::kNvLink;
    link.target = ReadTarget(element, target);
    if (!node.attribute("count"))
      element.AddFinding(Severity::kError, "no-count", "", "count is missing",
                         "write how many links there are, or NCCL stops");
    link.count = element.Number("count").value_or(0);
    link.target_class = element.Class("tclass");
    element.StoreUnread();
    links.push_back(link);
    ForChildren(element, {}, [](auto, auto) {});
  }

  void ReadC2c(pugi::xml_node node, const XmlElement& gpu) {
    std::vector<C2cLink>& links = view().gpus[gpu.part().index].c2c;
    if (links.size() == HostView::kLinksMax) return Keep(node, gpu, "too many c2c of one GPU");
    XmlElement element(context_, node, gpu.path() + "/c2c",
                       {PartKind::kC2c, gpu.part().index, Next(links)});
    links.push_back({element.Number("bw").value_or(0), element.Number("count").value_or(0)});
    element.StoreUnread();
    ForChildren(element, {}, [](auto, auto) {});
  }

  void ReadNic(pugi::xml_node node, const XmlElement& parent) {
    XmlElement element(context_, node, parent.path() + "/nic", {PartKind::kNic, Next(view().nics)});
    element.Ignore("keep");
    element.StoreUnread();
    view().nics.push_back({parent.part()});
    ForChildren(element, {"net"}, [&](pugi::xml_node child, auto) { ReadNet(child, element); });
  }

  void ReadNet(pugi::xml_node node, const XmlElement& nic) {
    const std::string_view name = node.attribute("name").value();
    XmlElement element(context_, node,
                       fmt::format("{}/net[{}]", nic.path(), Printable(name, kTextBytesShown)),
                       {PartKind::kNet, Next(view().nets)});
    NetInterface net{.name = std::string(element.Text("name").value_or("")),
                     .speed_mbit_per_s = element.Number("speed"),
                     .numa = NumaOf(nic),
                     .nic = nic.part().index};
    if (net.speed_mbit_per_s == 0u) net.speed_mbit_per_s.reset();
    net.dev = element.Number("dev");
    net.latency_ns = ReadLatency(element);
    net.port = element.Number("port");
    net.guid = element.Hex("guid");
    net.max_connections = element.Number("maxconn");
    net.gdr = element.Flag("gdr");
    net.collective = element.Flag("coll");
    net.net_api = element.Flag("net");
    net.gin_api = element.Flag("gin");
    net.rma_api = element.Flag("rma");
    net.rail = element.Number("rail");
    net.plane = element.Number("plane");
    element.Ignore("keep");
    element.StoreUnread();
    view().nets.push_back(std::move(net));
    ForChildren(element, {}, [](auto, auto) {});
  }

  std::optional<std::uint32_t> NumaOf(const XmlElement& nic) {
    const std::optional<std::uint32_t> index = view().NumaIndexOf(nic.part());
    const std::uint32_t id = index ? view().numa_nodes[*index].id : kUnknownNuma;
    return id == kUnknownNuma ? std::nullopt : std::optional(id);
  }

  static std::optional<std::uint32_t> ReadLatency(XmlElement& net) {
    const std::optional<std::string_view> text = net.Text("latency");
    if (!text || text->empty()) return std::nullopt;
    const std::optional<std::uint32_t> latency = ParseMicroseconds(*text);
    if (!latency)
      net.AddFinding(Severity::kError, "bad-value", "latency",
                     fmt::format("latency=\"{}\" is not a number of microseconds",
                                 Printable(*text, kTextBytesShown)),
                     "the attribute is left out");
    return latency;
  }

  XmlContext context_;
  std::vector<std::vector<XmlElement>> cpus_;  // by NUMA node, in order
};

}  // namespace

XmlReading ReadXml(std::string_view text, std::string_view file) {
  const XmlText parsed(text);
  if (parsed.refusal()) {
    const XmlRefusal& refusal = *parsed.refusal();
    return {.view = std::nullopt,
            .findings = {{.severity = Severity::kError,
                          .rule = refusal.rule,
                          .file = std::string(file),
                          .at = refusal.at,
                          .path = "",
                          .reason = refusal.reason,
                          .cure = refusal.cure}},
            .positions = {}};
  }
  return ViewReader(parsed, file).Run();
}

Result<HostView> ViewFromXml(std::string_view text, std::string_view file) {
  XmlReading reading = ReadXml(text, file);
  if (reading.view) return *std::move(reading.view);
  const auto worst = std::find_if(reading.findings.begin(), reading.findings.end(),
                                  [](const auto& f) { return f.severity == Severity::kError; });
  RINGLET_ASSERT(worst != reading.findings.end());
  return Error{Code::kInvalidArgument, ToText(*worst)};
}

}  // namespace ringlet::topology
