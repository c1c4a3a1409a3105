#include "topo/edit/fuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

class Fuser {
 public:
  explicit Fuser(const HostView& first) {
    HostView& view = fused_.view;
    view.name = first.name;
    view.identity = first.identity;
    view.cpu = first.cpu;
    view.version = first.version;
  }

  void Add(const HostView& from) {
    from_ = &from;
    ++views_;
    numas_.assign(from.numa_nodes.size(), 0);
    pcis_.assign(from.pci.size(), 0);
    gpus_.assign(from.gpus.size(), 0);
    nics_.assign(from.nics.size(), 0);
    nets_.assign(from.nets.size(), 0);
    fused_.view.version = std::max(fused_.view.version, from.version);
    AddNumas();
    AddPcis();
    AddGpus();
    AddNics();
    AddNets();
    AddUnknown();
  }

  Result<Fused> Finish() && {
    HostView& view = fused_.view;
    const bool several = std::any_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                                     [](const NumaNode& node) { return node.host.has_value(); });
    for (NumaNode& node : view.numa_nodes)
      if (several || node.distances.size() != view.numa_nodes.size()) node.distances.clear();
    Renumber();
    RINGLET_TRY(view.Check());
    return std::move(fused_);
  }

 private:
  using PciKey = std::tuple<std::uint64_t, BusId, std::uint32_t>;  // host, address, index

  void Note(std::string text) {
    if (fused_.notes.size() < kFusedNotesMax) fused_.notes.push_back(std::move(text));
  }

  void NoteConflict(std::string_view of, std::string_view what) {
    Note(fmt::format("{} has another {} in a later view; the first is kept", of, what));
  }

  /// Fills an unknown value, and notes a conflict.
  template <typename Value>
  void Settle(Value& kept, const Value& other, const Value& unknown, std::string_view of,
              std::string_view what) {
    if (other == unknown || kept == other) return;
    if (kept == unknown)
      kept = other;
    else
      NoteConflict(of, what);
  }
  template <typename Value>
  void Settle(std::optional<Value>& kept, const std::optional<Value>& other, std::string_view of,
              std::string_view what) {
    Settle(kept, other, std::optional<Value>(), of, what);
  }
  template <typename Item>
  void Settle(std::vector<Item>& kept, const std::vector<Item>& other, std::string_view of,
              std::string_view what) {
    if (kept.empty())
      kept = other;
    else if (!other.empty() && kept != other)
      NoteConflict(of, what);
  }

  std::uint64_t HostOf(Part part) const {
    const auto numa = from_->NumaIndexOf(part);
    return numa ? from_->HostOf(from_->numa_nodes[*numa]) : from_->identity;
  }

  Part Mapped(Part part) const {
    switch (part.kind) {
      case PartKind::kSystem: break;
      case PartKind::kNuma: part.index = numas_[part.index]; break;
      case PartKind::kPci:
      case PartKind::kPciLink: part.index = pcis_[part.index]; break;
      case PartKind::kGpu:
      case PartKind::kGpuLink:
      case PartKind::kC2c: part.index = gpus_[part.index]; break;
      case PartKind::kNic: part.index = nics_[part.index]; break;
      case PartKind::kNet: part.index = nets_[part.index]; break;
    }
    return part;
  }

  void AddNumas() {
    HostView& view = fused_.view;
    for (std::size_t i = 0; i < from_->numa_nodes.size(); ++i) {
      NumaNode node = from_->numa_nodes[i];
      const std::uint64_t host = from_->HostOf(node);
      const CpuModel& model = from_->ModelOf(node);
      const auto [it, fresh] = known_numas_.emplace(
          std::pair(host, node.id), static_cast<std::uint32_t>(view.numa_nodes.size()));
      numas_[i] = it->second;
      if (fresh) {
        node.host = host == view.identity ? std::optional<std::uint64_t>() : host;
        node.cpu = model == view.cpu ? std::optional<CpuModel>() : model;
        view.numa_nodes.push_back(std::move(node));
        continue;
      }
      NumaNode& kept = view.numa_nodes[it->second];
      const std::string of = fmt::format("NUMA node {} of host {:#x}", node.id, host);
      Settle(kept.cpus, node.cpus, CpuSet(), of, "set of CPUs");
      Settle(kept.memory_bytes, node.memory_bytes, std::uint64_t{0}, of, "memory");
      Settle(kept.distances, node.distances, of, "distances");
      if (view.ModelOf(kept) != model)
        Note(of + " has another processor in a later view; the first is kept");
    }
  }

  void AddPcis() {
    HostView& view = fused_.view;
    std::map<std::pair<std::uint64_t, BusId>, std::uint32_t> times;
    for (std::uint32_t i = 0; i < from_->pci.size(); ++i) {
      const PciDevice& device = from_->pci[i];
      const std::uint64_t host = HostOf({PartKind::kPci, i});
      const std::uint32_t which = times[{host, device.bus}]++;
      const auto [it, fresh] = known_pcis_.emplace(PciKey(host, device.bus, which),
                                                   static_cast<std::uint32_t>(view.pci.size()));
      pcis_[i] = it->second;
      if (fresh) {
        view.pci.push_back(device);
        view.pci.back().parent = Mapped(device.parent);
      } else {
        SettlePci(view.pci[it->second], device);
      }
    }
  }

  void SettlePci(PciDevice& kept, const PciDevice& other) {
    const std::string of = fmt::format("PCI function {}", ToString(other.bus));
    if (kept.parent != Mapped(other.parent))
      Note(of + " has another place in a later view; the first is kept");
    Settle(kept.device_class, other.device_class, of, "class");
    Settle(kept.ids, other.ids, PciIds(), of, "vendor or device");
    const bool other_speed = kept.link_speed != other.link_speed &&
                             kept.link_speed.generation != 0 && other.link_speed.generation != 0;
    if (other_speed ||
        (kept.link_width != other.link_width && kept.link_width != 0 && other.link_width != 0))
      Note(of + " has another link speed or width in a later view; the higher is kept");
    if (other.link_speed.generation > kept.link_speed.generation ||
        (kept.link_speed.text.empty() && !other.link_speed.text.empty()))
      kept.link_speed = other.link_speed;
    kept.link_width = std::max(kept.link_width, other.link_width);
    for (const BusId peer : other.peers)
      if (std::find(kept.peers.begin(), kept.peers.end(), peer) == kept.peers.end())
        kept.peers.push_back(peer);
  }

  /// Returns the same device, but not another rank on it.
  std::optional<std::uint32_t> KnownGpu(const Gpu& gpu, std::uint32_t pci) const {
    const auto known = gpus_of_pci_.find(pci);
    if (known == gpus_of_pci_.end()) return std::nullopt;
    for (const std::uint32_t index : known->second) {
      const Gpu& one = fused_.view.gpus[index];
      if (gpu_seen_in_[index] == views_) continue;  // another GPU of the same view
      if (one.mlopart == gpu.mlopart && (one.rank == gpu.rank || !one.rank || !gpu.rank))
        return index;
    }
    return std::nullopt;
  }

  void AddGpus() {
    HostView& view = fused_.view;
    for (std::size_t i = 0; i < from_->gpus.size(); ++i) {
      const Gpu& gpu = from_->gpus[i];
      const std::uint32_t pci = pcis_[gpu.pci];
      const std::optional<std::uint32_t> known = KnownGpu(gpu, pci);
      gpus_[i] = known.value_or(static_cast<std::uint32_t>(view.gpus.size()));
      if (known) {
        gpu_seen_in_[*known] = views_;
        SettleGpu(view.gpus[*known], gpu);
        continue;
      }
      gpu_seen_in_.push_back(views_);
      gpus_of_pci_[pci].push_back(gpus_[i]);
      view.gpus.push_back(gpu);
      view.gpus.back().pci = pci;
    }
  }

  void SettleGpu(Gpu& kept, const Gpu& other) {
    const std::string of = fmt::format("GPU {}", ToString(fused_.view.pci[kept.pci].bus));
    Settle(kept.dev, other.dev, of, "NVML number");
    Settle(kept.compute_capability, other.compute_capability, 0u, of, "compute capability");
    Settle(kept.rank, other.rank, of, "rank");
    Settle(kept.gdr, other.gdr, of, "GPUDirect RDMA flag");
    Settle(kept.gcn, other.gcn, std::string(), of, "name");
    Settle(kept.rccl_arch, other.rccl_arch, of, "arch");
    Settle(kept.fabric, other.fabric, of, "NVLink domain");
    Settle(kept.links, other.links, of, "set of NVLinks");
    Settle(kept.c2c, other.c2c, of, "chip-to-chip link");
  }

  std::uint32_t NicFor(Part parent, std::uint32_t which) {
    HostView& view = fused_.view;
    const auto [it, fresh] =
        known_nics_.emplace(std::pair(parent, which), static_cast<std::uint32_t>(view.nics.size()));
    if (fresh) view.nics.push_back({parent});
    return it->second;
  }

  void AddNics() {
    std::map<Part, std::uint32_t> times;
    for (std::size_t i = 0; i < from_->nics.size(); ++i) {
      const Part parent = Mapped(from_->nics[i].parent);
      nics_[i] = NicFor(parent, times[parent]++);
    }
  }

  /// Returns the NIC of a port. A port without one gets one on its NUMA node, because its number is
  /// ambiguous among several hosts.
  std::uint32_t NicOf(const NetInterface& net, std::uint32_t index) {
    if (net.nic) return nics_[*net.nic];
    const auto numa = from_->NumaIndexOf({PartKind::kNet, index});
    return NicFor({PartKind::kNuma, numas_[numa.value_or(0)]}, 0);
  }

  void AddNets() {
    HostView& view = fused_.view;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> times;
    for (std::uint32_t i = 0; i < from_->nets.size(); ++i) {
      NetInterface net = from_->nets[i];
      net.nic = NicOf(net, i);
      net.numa.reset();
      const std::uint32_t which = times[{*net.nic, net.name}]++;
      const auto [it, fresh] = known_nets_.emplace(std::tuple(*net.nic, net.name, which),
                                                   static_cast<std::uint32_t>(view.nets.size()));
      nets_[i] = it->second;
      if (fresh)
        view.nets.push_back(std::move(net));
      else
        SettleNet(view.nets[it->second], net);
    }
  }

  void SettleNet(NetInterface& kept, const NetInterface& other) {
    const std::string of = fmt::format("port {}", Quoted(other.name));
    Settle(kept.speed_mbit_per_s, other.speed_mbit_per_s, of, "speed");
    Settle(kept.dev, other.dev, of, "number");
    Settle(kept.port, other.port, of, "port number");
    Settle(kept.guid, other.guid, of, "guid");
    Settle(kept.latency_ns, other.latency_ns, of, "latency");
    Settle(kept.max_connections, other.max_connections, of, "number of connections");
    Settle(kept.gdr, other.gdr, of, "GPUDirect RDMA flag");
    Settle(kept.collective, other.collective, of, "in-network reduction flag");
    Settle(kept.net_api, other.net_api, of, "net flag");
    Settle(kept.gin_api, other.gin_api, of, "gin flag");
    Settle(kept.rma_api, other.rma_api, of, "rma flag");
    Settle(kept.rail, other.rail, of, "rail");
    Settle(kept.plane, other.plane, of, "plane");
  }

  void AddUnknown() {
    HostView& view = fused_.view;
    for (const UnknownAttribute& one : from_->unknown_attributes) {
      UnknownAttribute mapped{Mapped(one.part), one.name, one.value};
      // The links of the first view stay, with their attributes.
      const bool of_link = one.part.kind == PartKind::kGpuLink || one.part.kind == PartKind::kC2c ||
                           one.part.kind == PartKind::kPciLink;
      const auto same = [&](const UnknownAttribute& other) {
        return other.part == mapped.part && other.name == mapped.name;
      };
      std::vector<UnknownAttribute>& known = view.unknown_attributes;
      if (std::none_of(known.begin(), known.end(), same) && (!of_link || IsThere(mapped.part)))
        known.push_back(std::move(mapped));
    }
    for (const UnknownElement& one : from_->unknown_elements) {
      UnknownElement mapped{Mapped(one.parent), one.xml};
      std::vector<UnknownElement>& known = view.unknown_elements;
      if (std::find(known.begin(), known.end(), mapped) == known.end())
        known.push_back(std::move(mapped));
    }
  }

  bool IsThere(Part link) const {
    const HostView& view = fused_.view;
    if (link.kind == PartKind::kPciLink) return link.item < view.pci[link.index].peers.size();
    const Gpu& gpu = view.gpus[link.index];
    return link.item < (link.kind == PartKind::kC2c ? gpu.c2c.size() : gpu.links.size());
  }

  void Renumber() {
    std::set<std::uint32_t> seen;
    std::vector<Gpu>& gpus = fused_.view.gpus;
    const bool collide = std::any_of(gpus.begin(), gpus.end(), [&](const Gpu& gpu) {
      return gpu.rank && !seen.insert(*gpu.rank).second;
    });
    if (!collide) return;
    std::uint32_t next = 0;
    for (Gpu& gpu : gpus)
      if (gpu.rank) gpu.rank = next++;
    Note(fmt::format("several GPUs claimed the same rank; all {} GPUs were renumbered", next));
  }

  Fused fused_;
  const HostView* from_ = nullptr;
  std::vector<std::uint32_t> numas_, pcis_, gpus_, nics_, nets_;  // new indices of from_'s parts
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> known_numas_;
  std::map<PciKey, std::uint32_t> known_pcis_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> gpus_of_pci_;
  std::map<std::pair<Part, std::uint32_t>, std::uint32_t> known_nics_;
  std::map<std::tuple<std::uint32_t, std::string, std::uint32_t>, std::uint32_t> known_nets_;
  std::uint32_t views_ = 0;
  std::vector<std::uint32_t> gpu_seen_in_;  // the last view with this GPU
};

/// The parts that Prune keeps, and their new indices.
struct Kept {
  explicit Kept(std::size_t size) : keep(size, false) {}
  void Number() {
    std::uint32_t next = 0;
    for (const bool kept : keep) position.push_back(kept ? next++ : 0);
  }
  std::vector<bool> keep;
  std::vector<std::uint32_t> position;
};

template <typename Value>
void Shrink(std::vector<Value>& values, const Kept& kept) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!kept.keep[i]) continue;
    if (next != i) values[next] = std::move(values[i]);
    ++next;
  }
  values.resize(next);
}

class Pruner {
 public:
  explicit Pruner(const HostView& view)
      : view_(view),
        numas_(view.numa_nodes.size()),
        pcis_(view.pci.size()),
        gpus_(view.gpus.size()),
        nics_(view.nics.size()) {}

  HostView Run() && {
    for (std::uint32_t i = 0; i < view_.gpus.size(); ++i) {
      gpus_.keep[i] = view_.gpus[i].rank.has_value();
      if (gpus_.keep[i]) KeepAncestors({PartKind::kPci, view_.gpus[i].pci});
    }
    for (const NetInterface& net : view_.nets) {
      if (net.nic) KeepAncestors({PartKind::kNic, *net.nic});
      for (std::uint32_t i = 0; !net.nic && i < view_.numa_nodes.size(); ++i)
        if (view_.numa_nodes[i].id == net.numa) numas_.keep[i] = true;
    }
    if (std::find(numas_.keep.begin(), numas_.keep.end(), true) == numas_.keep.end())
      numas_.keep[0] = true;
    for (Kept* kept : {&numas_, &pcis_, &gpus_, &nics_}) kept->Number();
    Apply();
    return std::move(view_);
  }

 private:
  void KeepAncestors(Part part) {
    while (true) {
      Kept& kept = part.kind == PartKind::kNuma  ? numas_
                   : part.kind == PartKind::kPci ? pcis_
                                                 : nics_;
      if (kept.keep[part.index]) return;
      kept.keep[part.index] = true;
      if (part.kind == PartKind::kNuma) return;
      part = part.kind == PartKind::kPci ? view_.pci[part.index].parent
                                         : view_.nics[part.index].parent;
    }
  }

  /// Returns true if the part stays, and renumbers it.
  bool Move(Part& part) const {
    const auto at = [&](const Kept& kept) {
      const bool stays = kept.keep[part.index];
      part.index = kept.position[part.index];
      return stays;
    };
    switch (part.kind) {
      case PartKind::kSystem:
      case PartKind::kNet: return true;
      case PartKind::kNuma: return at(numas_);
      case PartKind::kPci:
      case PartKind::kPciLink: return at(pcis_);
      case PartKind::kGpu:
      case PartKind::kGpuLink:
      case PartKind::kC2c: return at(gpus_);
      case PartKind::kNic: return at(nics_);
    }
    return false;
  }

  void Apply() {
    for (PciDevice& device : view_.pci) Move(device.parent);
    for (Gpu& gpu : view_.gpus) gpu.pci = pcis_.position[gpu.pci];
    for (Nic& nic : view_.nics) Move(nic.parent);
    for (NetInterface& net : view_.nets)
      if (net.nic) net.nic = nics_.position[*net.nic];
    for (NumaNode& node : view_.numa_nodes)
      if (!node.distances.empty()) Shrink(node.distances, numas_);
    std::erase_if(view_.unknown_attributes, [&](UnknownAttribute& one) { return !Move(one.part); });
    std::erase_if(view_.unknown_elements, [&](UnknownElement& one) { return !Move(one.parent); });
    Shrink(view_.numa_nodes, numas_);
    Shrink(view_.pci, pcis_);
    Shrink(view_.gpus, gpus_);
    Shrink(view_.nics, nics_);
  }

  HostView view_;
  Kept numas_, pcis_, gpus_, nics_;
};

}  // namespace

Result<Fused> Fuse(std::span<const HostView> views) {
  if (views.empty()) return Error{Code::kInvalidArgument, "no views to fuse: name at least one"};
  for (const HostView& view : views) RINGLET_TRY(view.Check());
  Fuser fuser(views.front());
  for (const HostView& view : views) fuser.Add(view);
  return std::move(fuser).Finish();
}

HostView Prune(const HostView& view) {
  return Pruner(view).Run();
}

}  // namespace ringlet::topology
