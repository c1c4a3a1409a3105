#include "topology/check/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topology/check/check_context.hpp"

namespace ringlet::topology {
namespace {

struct MachineAbility {
  std::string model;    ///< of its first GPU; empty: it has none
  std::string ability;  ///< all that it can do
};

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
      if (nic.beside_gpu)
        words.push_back(fmt::format("port {} {}", view.nets[net].speed_mbit_per_s.value_or(0),
                                    LinkOf(context.At(nic)).mb_per_s));
  std::ranges::sort(words);
  MachineAbility machine;
  if (!context.gpus().empty()) machine.model = context.ModelKey(context.gpus().front());
  for (const std::string& word : words) machine.ability += word + '\n';
  return machine;
}

/// The machines of one class: by ability, those that have it.
using MachineClass = std::map<std::string, std::vector<std::size_t>>;

std::optional<std::size_t> UsualOf(const MachineClass& machines, std::size_t of) {
  for (const auto& [ability, members] : machines)
    if (members.size() >= 2 && members.size() * 2 > of) return members.front();
  return std::nullopt;
}

std::size_t CountOf(const MachineClass& machines) {
  std::size_t count = 0;
  for (const auto& [ability, members] : machines) count += members.size();
  return count;
}

}  // namespace

std::string AbilityOf(const HostView& view) {
  const Positions none;
  return AbilityIn(CheckContext(view, none)).ability;
}

std::vector<std::optional<std::size_t>> UsualMachines(std::span<const HostView* const> views) {
  const Positions none;
  std::map<std::string, MachineClass> classes;
  std::size_t all = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (views[i] == nullptr) continue;
    MachineAbility machine = AbilityIn(CheckContext(*views[i], none));
    classes[machine.model][machine.ability].push_back(i);
    ++all;
  }
  std::vector<std::optional<std::size_t>> usual(views.size());
  std::optional<std::size_t> of_fleet;
  for (const auto& [model, machines] : classes) {
    if (model.empty()) continue;
    const std::size_t count = CountOf(machines);
    const std::optional<std::size_t> like = UsualOf(machines, count);
    if (count * 2 > all) of_fleet = like;
    for (const auto& [ability, members] : machines)
      for (const std::size_t i : members)
        if (like && std::ranges::count(members, *like) == 0) usual[i] = like;
  }
  const auto without = classes.find("");
  if (without == classes.end()) return usual;
  for (const auto& [ability, members] : without->second)
    for (const std::size_t i : members) usual[i] = of_fleet;
  return usual;
}

}  // namespace ringlet::topology
