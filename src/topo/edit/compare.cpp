#include "topo/edit/compare.hpp"

#include <fmt/format.h>

#include <map>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kPartBytesShown = 60;

/// The properties of a part: names and values, in the same order for parts of a kind.
struct ComparedFacts {
  std::string name;
  std::size_t number = 1;  ///< index among parts of the same name
  std::vector<std::pair<std::string, std::string>> values;
};

std::string ShownName(const ComparedFacts& facts) {
  return facts.number == 1 ? facts.name : fmt::format("{} ({})", facts.name, facts.number);
}

std::string Text(const std::optional<std::uint32_t>& number) {
  return number ? fmt::format("{}", *number) : "unknown";
}
std::string Text(const std::optional<bool>& flag) {
  if (!flag) return "unknown";
  return *flag ? "yes" : "no";
}
std::string Text(const std::string& text) {
  return text.empty() ? "unknown" : Printable(text, kPartBytesShown);
}

/// The compared parts, as texts.
class Listing {
 public:
  explicit Listing(const HostView& view) : view_(view) {
    for (std::uint32_t i = 0; i < view.numa_nodes.size(); ++i) AddNuma(i);
    for (std::uint32_t i = 0; i < view.pci.size(); ++i) AddPci(view.pci[i]);
    for (const Gpu& gpu : view.gpus) AddGpu(gpu);
    for (const NetInterface& net : view.nets) AddNet(net);
  }

  const std::vector<ComparedFacts>& facts() const { return facts_; }
  const ComparedFacts* FindLike(const ComparedFacts& other) const {
    const auto at = index_.find({other.name, other.number});
    return at == index_.end() ? nullptr : &facts_[at->second];
  }

 private:
  void Add(std::string name, std::vector<std::pair<std::string, std::string>> values) {
    const std::size_t number = ++counts_[name];
    index_.emplace(std::pair(name, number), facts_.size());
    facts_.push_back({std::move(name), number, std::move(values)});
  }

  /// Returns "host 2, " for parts outside the first host.
  std::string HostPrefix(Part part) {
    const std::optional<std::uint32_t> numa = view_.NumaIndexOf(part);
    const std::uint64_t host = numa ? view_.HostOf(view_.numa_nodes[*numa]) : view_.identity;
    const auto [at, is_new] = hosts_.emplace(host, hosts_.size() + 1);
    return at->second == 1 ? "" : fmt::format("host {}, ", at->second);
  }

  std::string NameOf(Part part) {
    switch (part.kind) {
      case PartKind::kNuma: {
        const NumaNode& node = view_.numa_nodes[part.index];
        return fmt::format("NUMA node {}",
                           node.id == kUnknownNuma ? "-1" : fmt::format("{}", node.id));
      }
      case PartKind::kPci:
        return fmt::format("PCI function {}", ToString(view_.pci[part.index].bus));
      case PartKind::kSystem:
      case PartKind::kGpu:
      case PartKind::kNic:
      case PartKind::kNet:
      case PartKind::kGpuLink:
      case PartKind::kC2c:
      case PartKind::kPciLink: break;
    }
    return "host";
  }

  void AddNuma(std::uint32_t index) {
    const NumaNode& node = view_.numa_nodes[index];
    const CpuModel& cpu = view_.ModelOf(node);
    const Part part{PartKind::kNuma, index};
    Add(HostPrefix(part) + NameOf(part),
        {{"the set of CPUs", Text(ToString(node.cpus))},
         {"the architecture", Text(cpu.arch)},
         {"the vendor", Text(cpu.vendor)},
         {"the processor's family and model", fmt::format("{} and {}", cpu.family, cpu.model)},
         {"the distances", fmt::format("[{}]", fmt::join(node.distances, " "))}});
  }

  void AddPci(const PciDevice& device) {
    std::string peers;
    for (const BusId peer : device.peers) peers += (peers.empty() ? "" : " ") + ToString(peer);
    Add(HostPrefix(device.parent) + fmt::format("PCI function {}", ToString(device.bus)),
        {{"the place", "below " + NameOf(device.parent)},
         {"the class", device.device_class ? ToString(*device.device_class) : "unknown"},
         {"the device id", fmt::format("{:#018x}", device.ids.packed())},
         {"the link speed", Text(device.link_speed.text)},
         {"the number of lanes", fmt::format("{}", device.link_width)},
         {"the list of peers", Text(peers)}});
  }

  void AddGpu(const Gpu& gpu) {
    const Part pci{PartKind::kPci, gpu.pci};
    const std::string name =
        HostPrefix(pci) + fmt::format("GPU {}", ToString(view_.pci[gpu.pci].bus));
    Add(name, {{"the device number", Text(gpu.dev)},
               {"the compute capability", fmt::format("{}", gpu.compute_capability)},
               {"GPUDirect RDMA", Text(gpu.gdr)},
               {"the architecture", Text(gpu.gcn)},
               {"the half", Text(gpu.mlopart)},
               {"the NVLink domain",
                gpu.fabric ? fmt::format("{:016x}{:016x} clique {}", gpu.fabric->cluster[0],
                                         gpu.fabric->cluster[1], gpu.fabric->clique)
                           : "none"}});
    for (const GpuLink& link : gpu.links) {
      const std::string_view kind = link.kind == GpuLinkKind::kXgmi ? "xGMI" : "NVLink";
      Add(fmt::format("{}'s {} to {}", name, kind,
                      link.target ? ToString(*link.target) : "a hidden device"),
          {{"the number of links", fmt::format("{}", link.count)},
           {"the class of the target",
            link.target_class ? ToString(*link.target_class) : "unknown"}});
    }
    for (const C2cLink& c2c : gpu.c2c)
      Add(name + "'s link to its processor",
          {{"the number of links", fmt::format("{}", c2c.count)},
           {"the bandwidth of one", fmt::format("{} MB/s", c2c.mb_per_s)}});
  }

  void AddNet(const NetInterface& net) {
    const Part place = net.nic ? view_.nics[*net.nic].parent : Part{};
    Add(HostPrefix(place) + fmt::format("interface {}", Text(net.name)),
        {{"the place", "at " + NameOf(place)},
         {"the speed", Text(net.speed_mbit_per_s) + (net.speed_mbit_per_s ? " Mbit/s" : "")},
         {"the device number", Text(net.dev)},
         {"the port", Text(net.port)},
         {"GPUDirect RDMA", Text(net.gdr)},
         {"in-network reduction", Text(net.collective)},
         {"the rail", Text(net.rail)},
         {"the plane", Text(net.plane)}});
  }

  const HostView& view_;
  std::vector<ComparedFacts> facts_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> index_;
  std::map<std::string, std::size_t> counts_;  // by name
  std::map<std::uint64_t, std::size_t> hosts_;
};

/// Returns true if the common parts have the same order.
bool SameOrder(const Listing& a, const Listing& b) {
  for (std::size_t i = 0; i < a.facts().size(); ++i)
    if (a.facts()[i].name != b.facts()[i].name || a.facts()[i].number != b.facts()[i].number)
      return false;
  return true;
}

}  // namespace

std::vector<std::string> Compare(const HostView& first, const HostView& second) {
  const Listing a(first);
  const Listing b(second);
  std::vector<std::string> differences;
  for (const ComparedFacts& facts : a.facts()) {
    const ComparedFacts* other = b.FindLike(facts);
    if (other == nullptr) {
      differences.push_back(ShownName(facts) + " is only in the first");
      continue;
    }
    for (std::size_t i = 0; i < facts.values.size(); ++i) {
      const auto& [what, value] = facts.values[i];
      if (value != other->values[i].second)
        differences.push_back(fmt::format("{}: {} is {} in the first, {} in the second",
                                          ShownName(facts), what, value, other->values[i].second));
    }
  }
  for (const ComparedFacts& facts : b.facts())
    if (a.FindLike(facts) == nullptr)
      differences.push_back(ShownName(facts) + " is only in the second");
  if (differences.empty() && !SameOrder(a, b))
    differences.push_back(
        "the parts are equal but in another order, which NCCL's search depends on");
  return differences;
}

}  // namespace ringlet::topology
