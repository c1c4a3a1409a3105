#include "topo/check/check_context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kDeviceNameBytesShown = 40;

bool IsOfRole(const PciDevice& device, PciRole role) {
  return device.device_class && device.device_class->role() == role;
}

std::string ModelNameOf(const PciIds& ids) {
  if (const GpuBoard* board = FindGpuBoard(ids)) return std::string(board->model);
  if (const GpuModel* model = FindGpuModel(ids)) return std::string(model->name);
  return ids.vendor == 0 ? "" : fmt::format("{:04x}:{:04x}", ids.vendor, ids.device);
}

}  // namespace

CheckContext::CheckContext(const HostView& view, const Positions& positions)
    : view_(view), positions_(positions) {
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const Part parent = view.pci[i].parent;
    roots_.push_back(parent.kind == PartKind::kPci ? roots_[parent.index] : i);
  }
  AddGpus();
  AddNics();
}

void CheckContext::AddGpus() {
  std::vector<std::optional<std::uint32_t>> first(view_.pci.size());
  for (std::uint32_t i = 0; i < view_.gpus.size(); ++i)
    if (!first[view_.gpus[i].pci]) first[view_.gpus[i].pci] = i;
  for (std::uint32_t i = 0; i < view_.pci.size(); ++i) {
    // In a file with GPUs, display controllers and GPUs outside the job are not peers.
    const bool is_gpu =
        view_.gpus.empty() ? IsOfRole(view_.pci[i], PciRole::kGpu) : first[i].has_value();
    if (is_gpu)
      gpus_.push_back({i, first[i], HostOf({PartKind::kPci, i}), FindGpuBoard(view_.pci[i].ids)});
  }
}

void CheckContext::AddNics() {
  std::vector<bool> leads_to_gpu(view_.pci.size(), false);
  for (const CheckedGpu& gpu : gpus_) leads_to_gpu[roots_[gpu.pci]] = true;
  std::map<std::uint32_t, CheckedNic> places;
  for (std::uint32_t i = 0; i < view_.pci.size(); ++i)
    if (view_.nics.empty() && IsOfRole(view_.pci[i], PciRole::kNic)) places[i].pci = i;
  for (std::uint32_t i = 0; i < view_.nics.size(); ++i) {
    if (view_.nics[i].parent.kind != PartKind::kPci) continue;
    CheckedNic& place = places[view_.nics[i].parent.index];
    place.pci = view_.nics[i].parent.index;
    place.nic = i;
  }
  for (std::uint32_t i = 0; i < view_.nets.size(); ++i) {
    if (!view_.nets[i].nic || view_.nics[*view_.nets[i].nic].parent.kind != PartKind::kPci)
      continue;
    places[view_.nics[*view_.nets[i].nic].parent.index].nets.push_back(i);
  }
  for (auto& [pci, place] : places) {
    place.host = HostOf({PartKind::kPci, pci});
    place.beside_gpu = leads_to_gpu[roots_[pci]];
    nics_.push_back(std::move(place));
  }
}

std::uint64_t CheckContext::HostOf(Part part) const {
  const std::optional<std::uint32_t> numa = view_.NumaIndexOf(part);
  return numa ? view_.HostOf(view_.numa_nodes[*numa]) : view_.identity;
}

std::optional<std::uint32_t> CheckContext::RateOf(std::uint32_t net) const {
  constexpr std::uint32_t kOtherNetworkClass = 0x028000;  // the class of Wi-Fi cards
  const NetInterface& port = view_.nets[net];
  if (port.speed_mbit_per_s.value_or(0) > kPortRateMaxMbitPerS) return std::nullopt;
  if (port.speed_mbit_per_s != kUnknownNetSpeedMbitPerS) return port.speed_mbit_per_s;
  bool is_wifi = port.name.starts_with("wl");
  if (port.nic && view_.nics[*port.nic].parent.kind == PartKind::kPci) {
    const PciDevice& card = view_.pci[view_.nics[*port.nic].parent.index];
    is_wifi = is_wifi || (card.device_class && card.device_class->code == kOtherNetworkClass);
  }
  return is_wifi ? std::nullopt : port.speed_mbit_per_s;
}

std::uint32_t CheckContext::NumaOf(std::uint32_t pci) const {
  const std::optional<std::uint32_t> numa = view_.NumaIndexOf({PartKind::kPci, pci});
  return numa ? view_.numa_nodes[*numa].id : kUnknownNuma;
}

std::string CheckContext::ModelKey(const CheckedGpu& gpu) const {
  const PciIds& ids = At(gpu).ids;
  if (ids.vendor != 0) return fmt::format("{:04x}:{:04x}", ids.vendor, ids.device);
  return gpu.gpu ? fmt::format("sm {} {}", view_.gpus[*gpu.gpu].compute_capability,
                               view_.gpus[*gpu.gpu].gcn)
                 : "";
}

std::string CheckContext::ModelKey(const CheckedNic& nic) const {
  return fmt::format("{:016x} {} ports {}", At(nic).ids.packed(), nic.nets.size(), nic.beside_gpu);
}

std::string CheckContext::NameOf(const CheckedGpu& gpu) const {
  const auto at = std::find_if(gpus_.begin(), gpus_.end(),
                               [&](const CheckedGpu& other) { return other.pci == gpu.pci; });
  std::uint32_t number = static_cast<std::uint32_t>(at - gpus_.begin());
  if (gpu.gpu) number = view_.gpus[*gpu.gpu].dev.value_or(number);
  const std::string model = ModelNameOf(At(gpu).ids);
  return fmt::format("GPU{}{}", number, model.empty() ? "" : fmt::format(" ({})", model));
}

std::string CheckContext::NameOf(const CheckedNic& nic) const {
  if (nic.nets.empty()) return "NIC";
  return "NIC " + Printable(view_.nets[nic.nets.front()].name, kDeviceNameBytesShown);
}

std::string CheckContext::NameOfPort(std::uint32_t net) const {
  return "port " + Printable(view_.nets[net].name, kDeviceNameBytesShown);
}

std::string CheckContext::NameOfFunction(std::uint32_t pci) const {
  for (const CheckedGpu& gpu : gpus_)
    if (gpu.pci == pci) return NameOf(gpu);
  for (const CheckedNic& nic : nics_)
    if (nic.pci == pci) return NameOf(nic);
  return "PCIe switch";
}

void CheckContext::Add(std::string_view rule, Part part, std::string name, std::string reason,
                       std::string cure, std::vector<Change> repair) {
  Defect defect{.rule = &DefectRuleOf(rule), .part = part, .at = positions_.Of(part)};
  const bool is_known = part.kind != PartKind::kSystem &&
                        std::any_of(defects_.begin(), defects_.end(), [&](const Defect& other) {
                          return other.rule == defect.rule && other.part == part;
                        });
  if (is_known) return;
  std::optional<std::uint32_t> pci;
  if (part.kind == PartKind::kPci) pci = part.index;
  if (part.kind == PartKind::kGpu) pci = view_.gpus[part.index].pci;
  if (part.kind == PartKind::kNet && view_.nets[part.index].nic) {
    const Part parent = view_.nics[*view_.nets[part.index].nic].parent;
    if (parent.kind == PartKind::kPci) pci = parent.index;
  }
  if (pci) defect.where = ToString(view_.pci[*pci].bus);
  defect.name = std::move(name);
  defect.reason = std::move(reason);
  defect.cure = std::move(cure);
  defect.repair = std::move(repair);
  defect.severity = defect.rule->severity;
  defects_.push_back(std::move(defect));
}

bool CheckContext::Has(std::string_view rule) const {
  return std::any_of(defects_.begin(), defects_.end(),
                     [&](const Defect& defect) { return defect.rule->word == rule; });
}

bool CheckContext::Has(std::string_view rule, Part part) const {
  return std::any_of(defects_.begin(), defects_.end(), [&](const Defect& defect) {
    return defect.rule->word == rule && defect.part == part;
  });
}

std::string LinkText(const PciDevice& device) {
  constexpr std::uint16_t kTaken = 16;
  const std::uint16_t lanes = device.link_width == 0 ? kTaken : device.link_width;
  if (device.link_speed.generation == 0) return fmt::format("PCIe of unknown speed x{}", lanes);
  return fmt::format("PCIe {}.0 x{}", device.link_speed.generation, lanes);
}

std::string RateText(Bandwidth bandwidth) {
  const double gb = bandwidth.mb_per_s / 1000.0;
  if (gb >= 10 || bandwidth.mb_per_s % 1000 == 0) return fmt::format("{:.0f} GB/s", gb);
  return fmt::format("{:.1f} GB/s", gb);
}

std::string GigabitText(std::uint64_t mbit_per_s) {
  if (mbit_per_s % 1000 == 0) return fmt::format("{} Gbit/s", mbit_per_s / 1000);
  return fmt::format("{:.1f} Gbit/s", static_cast<double>(mbit_per_s) / 1000);
}

Bandwidth LinkOf(const PciDevice& device) {
  return device.link_speed.generation == 0 ? Bandwidth{}
                                           : PcieLink(device.link_speed, device.link_width);
}

std::uint32_t LinkCount(const Gpu& gpu) {
  std::uint32_t count = 0;
  for (const GpuLink& link : gpu.links) count += link.count;
  return count;
}

Majority MajorityOf(const std::vector<std::uint64_t>& values) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const std::uint64_t value : values) ++counts[value];
  Majority majority;
  for (const auto& [value, count] : counts)
    if (count >= majority.count) majority = {value, count};
  return majority;
}

bool IsNorm(const Majority& majority, std::size_t of) {
  return majority.count * 2 > of || (of == 2 && majority.count == 1);
}

}  // namespace ringlet::topology
