#include "tool/input/machine_list.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::cli {
namespace {

std::string LinksOf(const topology::HostView& view, std::uint32_t& switches) {
  std::set<topology::BusId> shown;
  bool hidden = false, to_gpus = false;
  std::string kind = "NVLink";
  for (const topology::Gpu& gpu : view.gpus)
    for (const topology::GpuLink& link : gpu.links) {
      if (link.kind == topology::GpuLinkKind::kXgmi) kind = "xGMI";
      const bool is_switch =
          link.target_class && link.target_class->role() == topology::PciRole::kNvSwitch;
      if (is_switch && link.target) shown.insert(*link.target);
      hidden = hidden || (is_switch && !link.target);
      to_gpus = to_gpus || !is_switch;
    }
  switches = static_cast<std::uint32_t>(shown.size());
  if (switches > 0) return fmt::format("{} to {}", kind, Counted(switches, "switch", "switches"));
  if (hidden) return kind + " to hidden switches";
  return to_gpus ? kind : "none";
}

std::string NetsText(const std::map<std::uint32_t, std::uint32_t>& nets) {
  std::string text;
  for (const auto& [speed, count] : nets) {
    if (!text.empty()) text += ", ";
    text += speed == 0 ? fmt::format("{} of unknown speed", count)
                       : fmt::format("{}x {} Gbit/s", count, speed / 1000.0);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

MachineSummary Summarize(std::string name, std::string path, const topology::HostView& view) {
  MachineSummary machine{.name = std::move(name), .path = std::move(path)};
  machine.gpus = static_cast<std::uint32_t>(view.gpus.size());
  if (!view.gpus.empty()) {
    const topology::Gpu& first = view.gpus.front();
    const topology::GpuModel* model = topology::FindGpuModel(view.pci[first.pci].ids);
    machine.compute_capability = first.compute_capability;
    machine.gpu = model != nullptr ? std::string(model->product)
                                   : fmt::format("sm_{}", first.compute_capability);
    machine.cuda = first.gcn.empty();
  }
  machine.links = LinksOf(view, machine.nv_switches);
  for (const topology::NetInterface& net : view.nets)
    ++machine.nets[net.speed_mbit_per_s.value_or(0)];
  return machine;
}

std::string MachineListText(const std::vector<MachineSummary>& machines) {
  std::string text;
  for (const MachineSummary& machine : machines)
    text += fmt::format("{:<20} {:>2}x {:<24} {:<26} {}{}\n", machine.name, machine.gpus,
                        machine.gpu, machine.links, NetsText(machine.nets),
                        machine.cuda ? "" : "; not for CUDA programs");
  return text;
}

std::string MachineListJson(const std::vector<MachineSummary>& machines) {
  nlohmann::ordered_json json{{"machines", nlohmann::ordered_json::array()}};
  for (const MachineSummary& machine : machines) {
    auto nets = nlohmann::ordered_json::array();
    for (const auto& [speed, count] : machine.nets) {
      nlohmann::ordered_json net{{"count", count}, {"mbit_per_s", nullptr}};
      if (speed != 0) net["mbit_per_s"] = speed;
      nets.push_back(std::move(net));
    }
    json["machines"].push_back({{"name", machine.name},
                                {"gpus", machine.gpus},
                                {"gpu", machine.gpu},
                                {"compute_capability", machine.compute_capability},
                                {"links", machine.links},
                                {"nv_switches", machine.nv_switches},
                                {"nets", std::move(nets)},
                                {"cuda", machine.cuda},
                                {"path", machine.path}});
  }
  return JsonText(json);
}

}  // namespace ringlet::cli
