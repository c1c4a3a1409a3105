#include "topology/xml/xml_writer.hpp"

#include <fmt/format.h>

#include <map>

#include "base/value/text.hpp"
#include "topology/view/host_tree.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

std::string MicrosecondsText(std::uint32_t ns) {
  if (ns % 1000 == 0) return fmt::format("{}", ns / 1000);
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class XmlWriter {
 public:
  explicit XmlWriter(const HostView& view) : view_(view), tree_(view) {
    for (const UnknownAttribute& one : view.unknown_attributes)
      attributes_[one.part].push_back(&one);
    for (const UnknownElement& one : view.unknown_elements) elements_[one.parent].push_back(&one);
  }

  std::string Run() {
    const Part system;
    Open("system");
    Number("version", view_.version);
    if (!view_.name.empty()) Text("name", view_.name);
    Fill(system, [&] {
      for (const Part& part : tree_.Below(system)) WriteNuma(part);
    });
    Close("system");
    return std::move(out_);
  }

 private:
  void Open(std::string_view name) {
    out_ += fmt::format("{:{}}<{}", "", 2 * depth_, name);
    ++depth_;
  }
  void Text(std::string_view name, std::string_view value) {
    out_ += fmt::format(" {}=\"{}\"", name, EscapedXml(value));
  }
  void Number(std::string_view name, std::uint64_t value) { Text(name, fmt::format("{}", value)); }
  void Number(std::string_view name, std::optional<std::uint32_t> value) {
    if (value) Number(name, std::uint64_t{*value});
  }
  void Flag(std::string_view name, std::optional<bool> value) {
    if (value) Text(name, *value ? "1" : "0");
  }
  void Hex(std::string_view name, std::uint64_t value) { Text(name, fmt::format("0x{:x}", value)); }

  /// Ends the start tag: writes unknown attributes and the output of `children`. Close() follows.
  template <typename Children>
  void Fill(Part part, Children children) {
    if (const auto unknown = attributes_.find(part); unknown != attributes_.end())
      for (const UnknownAttribute* one : unknown->second) Text(one->name, one->value);
    const std::size_t start = out_.size();
    children();
    if (const auto unknown = elements_.find(part); unknown != elements_.end())
      for (const UnknownElement* one : unknown->second)
        out_ += fmt::format("{:{}}{}\n", "", 2 * depth_, one->xml);
    has_children_ = out_.size() > start;
    out_.insert(start, has_children_ ? ">\n" : "/>\n");
  }
  void Leaf(Part part) {
    Fill(part, [] {});
    Close("");
  }
  void Close(std::string_view name) {
    --depth_;
    if (has_children_) out_ += fmt::format("{:{}}</{}>\n", "", 2 * depth_, name);
  }

  void WriteNuma(Part part) {
    const NumaNode& numa = view_.numa_nodes[part.index];
    const CpuModel& model = view_.ModelOf(numa);
    Open("cpu");
    if (view_.HostOf(numa) != 0 || numa.host) Hex("host_hash", view_.HostOf(numa));
    Text("numaid", numa.id == kUnknownNuma ? "-1" : fmt::format("{}", numa.id));
    if (!numa.cpus.empty()) Text("affinity", ToMask(numa.cpus));
    if (!model.arch.empty()) Text("arch", model.arch);
    if (!model.vendor.empty()) Text("vendor", model.vendor);
    if (model.family != 0 || model.model != 0) {
      // As NCCL does: 15, plus sixteen times the extended family. The kernel adds it once.
      constexpr std::uint64_t kBase = 15, kLast = kBase + 255;
      const std::uint64_t family = model.family;
      const bool extended = family > kBase && family <= kLast;
      Number("familyid", extended ? kBase + (family - kBase) * 16 : family);
      Number("modelid", std::uint64_t{model.model});
    }
    if (!numa.distances.empty())
      Text("distances", fmt::format("{}", fmt::join(numa.distances, " ")));
    Fill(part, [&] {
      WriteBelow(part);
      WriteLooseNets(part.index);
    });
    Close("cpu");
  }

  void WriteBelow(Part part) {
    for (const Part& below : tree_.Below(part)) {
      switch (below.kind) {
        case PartKind::kPci: WritePci(below); break;
        case PartKind::kGpu: WriteGpu(below); break;
        case PartKind::kNic: WriteNic(below); break;
        case PartKind::kNet: WriteNet(below); break;
        case PartKind::kSystem:
        case PartKind::kNuma:
        case PartKind::kGpuLink:
        case PartKind::kC2c:
        case PartKind::kPciLink: break;  // written with their parent
      }
    }
  }

  void WriteLooseNets(std::uint32_t numa) {
    bool open = false;
    for (const std::uint32_t net : tree_.loose_nets()) {
      if (view_.NumaIndexOf({PartKind::kNet, net}).value_or(0) != numa) continue;
      if (!open) {
        Open("nic");
        out_ += ">\n";
      }
      open = true;
      WriteNet({PartKind::kNet, net});
    }
    if (!open) return;
    has_children_ = true;
    Close("nic");
  }

  void WritePci(Part part) {
    const PciDevice& pci = view_.pci[part.index];
    Open("pci");
    Text("busid", ToString(pci.bus));
    if (pci.device_class) Text("class", ToString(*pci.device_class));
    if (pci.ids != PciIds()) {
      Text("vendor", fmt::format("0x{:04x}", pci.ids.vendor));
      Text("device", fmt::format("0x{:04x}", pci.ids.device));
      Text("subsystem_vendor", fmt::format("0x{:04x}", pci.ids.subsystem_vendor));
      Text("subsystem_device", fmt::format("0x{:04x}", pci.ids.subsystem_device));
    }
    Text("link_speed", pci.link_speed.text);
    Text("link_width", pci.link_width == 0 ? "" : fmt::format("{}", pci.link_width));
    Fill(part, [&] {
      for (std::uint32_t i = 0; i < pci.peers.size(); ++i) {
        Open("pcilink");
        Text("target", ToString(pci.peers[i]));
        Leaf({PartKind::kPciLink, part.index, i});
      }
      WriteBelow(part);
    });
    Close("pci");
  }

  void WriteGpu(Part part) {
    const Gpu& gpu = view_.gpus[part.index];
    Open("gpu");
    Number("dev", gpu.dev);
    if (gpu.compute_capability != 0) Number("sm", std::uint64_t{gpu.compute_capability});
    if (!gpu.gcn.empty()) Text("gcn", gpu.gcn);
    Number("arch", gpu.rccl_arch);
    Number("rank", gpu.rank);
    Flag("gdr", gpu.gdr);
    Number("mlopart", gpu.mlopart);
    if (gpu.fabric) {
      Text("fabric_cluster",
           fmt::format("{:016x}{:016x}", gpu.fabric->cluster[0], gpu.fabric->cluster[1]));
      Number("fabric_clique", std::uint64_t{gpu.fabric->clique});
    }
    Fill(part, [&] { WriteLinks(part.index, gpu); });
    Close("gpu");
  }

  void WriteLinks(std::uint32_t index, const Gpu& gpu) {
    for (std::uint32_t i = 0; i < gpu.links.size(); ++i) {
      const GpuLink& link = gpu.links[i];
      Open(link.kind == GpuLinkKind::kXgmi ? "xgmi" : "nvlink");
      Text("target", link.target ? ToString(*link.target) : std::string(kNotVisible));
      Number("count", std::uint64_t{link.count});
      if (link.target_class) Text("tclass", ToString(*link.target_class));
      Leaf({PartKind::kGpuLink, index, i});
    }
    for (std::uint32_t i = 0; i < gpu.c2c.size(); ++i) {
      Open("c2c");
      Number("bw", std::uint64_t{gpu.c2c[i].mb_per_s});
      Number("count", std::uint64_t{gpu.c2c[i].count});
      Leaf({PartKind::kC2c, index, i});
    }
  }

  void WriteNic(Part part) {
    Open("nic");
    Fill(part, [&] { WriteBelow(part); });
    Close("nic");
  }

  void WriteNet(Part part) {
    const NetInterface& net = view_.nets[part.index];
    Open("net");
    Text("name", net.name);
    Number("dev", net.dev);
    if (net.latency_ns) Text("latency", MicrosecondsText(*net.latency_ns));
    Number("speed", net.speed_mbit_per_s);
    Number("port", net.port);
    Number("rail", net.rail);
    Number("plane", net.plane);
    if (net.guid) Hex("guid", *net.guid);
    Number("maxconn", net.max_connections);
    Flag("gdr", net.gdr);
    Flag("net", net.net_api);
    Flag("coll", net.collective);
    Flag("gin", net.gin_api);
    Flag("rma", net.rma_api);
    Leaf(part);
  }

  const HostView& view_;
  HostTree tree_;
  std::map<Part, std::vector<const UnknownAttribute*>> attributes_;
  std::map<Part, std::vector<const UnknownElement*>> elements_;
  std::string out_;
  std::size_t depth_ = 0;
  bool has_children_ = false;  // the element of the latest Fill() has children
};

}  // namespace

std::string ToXml(const HostView& view) {
  return XmlWriter(view).Run();
}

}  // namespace ringlet::topology
