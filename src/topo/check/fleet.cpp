#include "topo/check/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

struct MachineAbility {
  std::string model;    ///< of its first GPU; empty without GPUs
  std::string ability;  ///< all its abilities
  std::string processor;
  std::vector<std::uint64_t> functions;  ///< their models, ascending
};

/// Machines of one kind have one processor, and most of their PCI functions are of the same models.
/// A machine without a few of them is still of its kind.
bool AreOfOneKind(const MachineAbility& a, const MachineAbility& b) {
  if (a.model != b.model || a.processor != b.processor) return false;
  std::vector<std::uint64_t> common;
  std::ranges::set_intersection(a.functions, b.functions, std::back_inserter(common));
  return common.size() * 5 > std::max(a.functions.size(), b.functions.size()) * 3;
}

MachineAbility AbilityIn(const CheckContext& context) {
  const HostView& view = context.view();
  std::vector<std::string> words;
  for (const CheckedGpu& gpu : context.gpus()) {
    const std::uint32_t links = gpu.gpu ? LinkCount(view.gpus[*gpu.gpu]) : 0;
    words.push_back(fmt::format("gpu {} {} {}", context.ModelKey(gpu),
                                LinkOf(context.At(gpu)).mb_per_s, links));
  }
  for (const CheckedNic& nic : context.nics())
    for (const std::uint32_t net : nic.nets)
      words.push_back(fmt::format("port {} {} {}", nic.beside_gpu ? "beside" : "apart",
                                  context.RateOf(net).value_or(0),
                                  LinkOf(context.At(nic)).mb_per_s));
  std::ranges::sort(words);
  MachineAbility machine;
  if (!context.gpus().empty()) machine.model = context.ModelKey(context.gpus().front());
  for (const std::string& word : words) machine.ability += word + '\n';
  machine.processor =
      fmt::format("{} {} {} {}", view.cpu.arch, view.cpu.vendor, view.cpu.family, view.cpu.model);
  for (const PciDevice& device : view.pci) machine.functions.push_back(device.ids.packed());
  std::ranges::sort(machine.functions);
  return machine;
}

/// The machines of one kind, by ability.
struct MachineKind {
  MachineAbility first;
  std::map<std::string, std::vector<std::size_t>> machines = {};

  std::size_t count() const {
    std::size_t count = 0;
    for (const auto& [ability, members] : machines) count += members.size();
    return count;
  }
  std::optional<std::size_t> usual() const {
    for (const auto& [ability, members] : machines)
      if (members.size() >= 2 && members.size() * 2 > count()) return members.front();
    return std::nullopt;
  }
};

}  // namespace

std::string AbilityOf(const HostView& view) {
  const Positions none;
  return AbilityIn(CheckContext(view, none)).ability;
}

std::vector<std::optional<std::size_t>> UsualMachines(std::span<const HostView* const> views) {
  const Positions none;
  std::vector<MachineKind> kinds;
  std::vector<std::size_t> without;  // indices of machines without a GPU
  std::size_t all = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i] == nullptr) continue;
    ++all;
    MachineAbility machine = AbilityIn(CheckContext(*views[i], none));
    if (machine.model.empty()) {
      without.push_back(i);
      continue;
    }
    auto kind = std::ranges::find_if(
        kinds, [&](const MachineKind& one) { return AreOfOneKind(one.first, machine); });
    if (kind == kinds.end()) kind = kinds.insert(kind, MachineKind{machine});
    kind->machines[machine.ability].push_back(i);
  }
  std::vector<std::optional<std::size_t>> usual(views.size());
  for (const MachineKind& kind : kinds) {
    const std::optional<std::size_t> like = kind.usual();
    for (const auto& [ability, members] : kind.machines)
      for (const std::size_t i : members)
        if (like && std::ranges::count(members, *like) == 0) usual[i] = like;
    if (kind.count() * 2 <= all) continue;
    for (const std::size_t i : without) usual[i] = like;
  }
  return usual;
}

}  // namespace ringlet::topology
