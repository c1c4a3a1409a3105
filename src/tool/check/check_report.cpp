#include "tool/check/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

using topology::Defect;
using topology::DefectRule;
using topology::Severity;

constexpr std::size_t kInFullMax = 3;         // findings of a rule on one machine
constexpr std::size_t kMachinesOfARule = 10;  // machines of a rule in a fleet
constexpr std::size_t kNamesMax = 12;

/// Formats a place: "0000:5b:00.0 GPU3 (h100-sxm5)".
std::string PlaceText(const Defect& defect) {
  std::string text = defect.where;
  if (!defect.name.empty()) text += (text.empty() ? "" : " ") + defect.name;
  return text;
}

std::string RuleText(const Defect& defect) {
  const std::string_view word = defect.lint_rule.empty() ? defect.rule->word : defect.lint_rule;
  return fmt::format("[{}]", word);
}

std::string LineText(const std::string& title, const Defect& defect) {
  std::string at;
  if (defect.at.line != 0) at = fmt::format(":{}:{}", defect.at.line, defect.at.column);
  return fmt::format("{}{}: {}: {}: {} {}\n", title, at, SeverityName(defect.severity),
                     PlaceText(defect), defect.reason, RuleText(defect));
}

std::string RestText(const std::vector<const Defect*>& rest) {
  std::string names;
  for (std::size_t i = 0; i < std::min(rest.size(), kNamesMax); ++i)
    names += (names.empty() ? "" : ", ") + PlaceText(*rest[i]);
  return fmt::format("  and {} more {}: {}{}\n", rest.size(), RuleText(*rest.front()), names,
                     rest.size() > kNamesMax ? ", ..." : "");
}

std::string KindOf(const Defect& defect) {
  return fmt::format("{}/{}", defect.rule->word, defect.lint_rule);
}

std::string CountsText(const CheckedMachine& machine) {
  std::array<std::size_t, 3> counts = {};
  for (const Defect& defect : machine.defects) ++counts[static_cast<std::size_t>(defect.severity)];
  std::string text;
  const auto add = [&](std::size_t severity, std::string_view word) {
    if (counts[severity] > 0) text += (text.empty() ? "" : ", ") + Counted(counts[severity], word);
  };
  add(2, "error");
  add(1, "warning");
  add(0, "note");
  return text.empty() ? "healthy" : text;
}

topology::Remedy RemedyOf(const CheckedMachine& machine) {
  topology::Remedy remedy = topology::Remedy::kNone;
  for (const Defect& defect : machine.defects) remedy = std::max(remedy, defect.rule->remedy);
  return remedy;
}

/// The machines on which one rule has findings.
struct RuleGroup {
  const DefectRule* rule = nullptr;
  std::string lint_rule;
  Severity severity = Severity::kNote;
  std::vector<std::pair<const CheckedMachine*, std::vector<std::size_t>>> machines;
};

std::vector<RuleGroup> GroupsOf(const std::vector<CheckedMachine>& machines) {
  std::map<std::string, RuleGroup> groups;
  for (const CheckedMachine& machine : machines) {
    for (std::size_t i = 0; i < machine.defects.size(); ++i) {
      const Defect& defect = machine.defects[i];
      RuleGroup& group = groups[KindOf(defect)];
      group.rule = defect.rule;
      group.lint_rule = defect.lint_rule;
      group.severity = std::max(group.severity, defect.severity);
      if (group.machines.empty() || group.machines.back().first != &machine)
        group.machines.emplace_back(&machine, std::vector<std::size_t>());
      group.machines.back().second.push_back(i);
    }
  }
  std::vector<RuleGroup> sorted;
  for (auto& [kind, group] : groups) sorted.push_back(std::move(group));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RuleGroup& a, const RuleGroup& b) { return a.severity > b.severity; });
  return sorted;
}

std::string GroupText(const RuleGroup& group, bool all) {
  std::string text = fmt::format("\n{}, {}: {} [{}]: {}\n", SeverityName(group.severity),
                                 NameOf(group.rule->remedy), group.rule->title,
                                 group.lint_rule.empty() ? group.rule->word : group.lint_rule,
                                 Counted(group.machines.size(), "machine"));
  std::size_t shown = 0;
  for (const auto& [machine, indices] : group.machines) {
    if (!all && shown++ == kMachinesOfARule) {
      text += fmt::format("  and {} more; --all shows them\n",
                          group.machines.size() - kMachinesOfARule);
      break;
    }
    const Defect& first = machine->defects[indices.front()];
    text += fmt::format("  {}: {}: {}", machine->title, PlaceText(first), first.reason);
    if (const auto& cost = machine->costs.each[indices.front()]) text += "; costs " + ToText(*cost);
    if (indices.size() > 1) text += fmt::format("; and {} more", indices.size() - 1);
    text += '\n';
  }
  return text;
}

nlohmann::ordered_json CostJson(const std::optional<DefectCost>& cost) {
  if (!cost) return nullptr;
  return {{"hosts", cost->hosts},
          {"gb_per_s", cost->with.mb_per_s / 1000.0},
          {"repaired_gb_per_s", cost->without.mb_per_s / 1000.0},
          {"lost_gb_per_s", cost->lost().mb_per_s / 1000.0}};
}

}  // namespace

std::string MachineReport(const CheckedMachine& machine, bool all) {
  if (!machine.refusal.empty())
    return fmt::format("{}: no verdict: {}\n", machine.title, machine.refusal);
  std::string text;
  std::map<std::string, std::size_t> shown;
  std::map<std::string, std::vector<const Defect*>> rest;
  for (std::size_t i = 0; i < machine.defects.size(); ++i) {
    const Defect& defect = machine.defects[i];
    if (!all && ++shown[KindOf(defect)] > kInFullMax) {
      rest[KindOf(defect)].push_back(&defect);
      continue;
    }
    text += LineText(machine.title, defect);
    if (machine.costs.each[i]) text += fmt::format("  costs: {}\n", ToText(*machine.costs.each[i]));
    if (!defect.cure.empty())
      text += fmt::format("  to do: {}: {}\n", NameOf(defect.rule->remedy), defect.cure);
  }
  for (const auto& [kind, defects] : rest) text += RestText(defects);
  text += fmt::format("{}: {}", machine.title, CountsText(machine));
  if (RemedyOf(machine) != topology::Remedy::kNone)
    text += fmt::format("; to do: {}", NameOf(RemedyOf(machine)));
  if (machine.costs.together && machine.costs.together->lost().mb_per_s > 0)
    text += fmt::format("; all together cost {}", ToText(*machine.costs.together));
  if (!machine.costs.together && !machine.costs.why_not.empty())
    text += fmt::format("; cost unknown: {}", machine.costs.why_not);
  return text + "\n";
}

std::string FleetReport(const std::vector<CheckedMachine>& machines, bool all) {
  const auto refused = std::ranges::count_if(
      machines, [](const CheckedMachine& machine) { return !machine.refusal.empty(); });
  const auto faulty = std::ranges::count_if(
      machines, [](const CheckedMachine& machine) { return machine.worst() > Severity::kNote; });
  std::string text =
      fmt::format("{}: {} healthy, {} with findings, {} without a verdict\n",
                  Counted(machines.size(), "machine"),
                  static_cast<std::ptrdiff_t>(machines.size()) - refused - faulty, faulty, refused);
  for (const RuleGroup& group : GroupsOf(machines)) text += GroupText(group, all);
  if (refused > 0) text += "\nno verdict:\n";
  for (const CheckedMachine& machine : machines)
    if (!machine.refusal.empty()) text += fmt::format("  {}: {}\n", machine.title, machine.refusal);
  return text;
}

std::string CheckJson(const std::vector<CheckedMachine>& machines) {
  std::string text;
  for (const CheckedMachine& machine : machines) {
    if (!machine.refusal.empty())
      text += JsonText({{"machine", machine.title},
                        {"rule", "no-verdict"},
                        {"severity", "error"},
                        {"action", "none"},
                        {"reason", machine.refusal}},
                       JsonLayout::kLine);
    for (std::size_t i = 0; i < machine.defects.size(); ++i) {
      const Defect& defect = machine.defects[i];
      text += JsonText({{"machine", machine.title},
                        {"rule", defect.rule->word},
                        {"lint_rule", defect.lint_rule},
                        {"severity", SeverityName(defect.severity)},
                        {"action", NameOf(defect.rule->remedy)},
                        {"where", defect.where},
                        {"name", defect.name},
                        {"line", defect.at.line},
                        {"reason", defect.reason},
                        {"cure", defect.cure},
                        {"cost", CostJson(machine.costs.each[i])}},
                       JsonLayout::kLine);
    }
  }
  return text;
}

}  // namespace ringlet::cli
