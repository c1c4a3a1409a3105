#include "tool/check/topo_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "base/settings/settings.hpp"
#include "comm/machine/machine.hpp"
#include "os/fs/conf_files.hpp"
#include "os/process/env.hpp"
#include "tool/check/check_metrics.hpp"
#include "tool/check/check_report.hpp"
#include "tool/check/checked_machine.hpp"
#include "tool/input/machine_choice.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/suggest.hpp"
#include "tool/text/value_types.hpp"
#include "topo/check/fleet.hpp"

namespace ringlet::cli {
namespace {

using topology::HostView;
using topology::Severity;

constexpr std::string_view kCheck = "topo check";
constexpr std::size_t kMachinesMax = 100'000;

struct CheckOptions {
  std::vector<std::string> sources;
  std::string expect, fail_on = "warning", policy = "compat";
  bool json = false, prometheus = false, all = false;
};

/// Replaces each folder by its .xml files, sorted by name.
Result<std::vector<std::string>> Expanded(const std::vector<std::string>& sources) {
  std::vector<std::string> files;
  for (const std::string& source : sources) {
    std::error_code wrong;
    if (!std::filesystem::is_directory(source, wrong)) {
      files.push_back(source);
      continue;
    }
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator at(source, wrong), end; !wrong && at != end;
         at.increment(wrong))
      if (at->path().extension() == ".xml") found.push_back(at->path().string());
    if (wrong)
      return Error{Code::kSystem, fmt::format("{}: {}", source, wrong.message()), wrong.value()};
    if (found.empty())
      return Error{Code::kInvalidArgument,
                   fmt::format("{} does not contain a file that ends in .xml", source)};
    std::ranges::sort(found);
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) files.emplace_back("this");
  if (files.size() > kMachinesMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} machines; at most {} at a time", files.size(), kMachinesMax)};
  return files;
}

/// Reads a named machine or a file.
Result<HostView> ExpectedMachine(const std::string& words) {
  RINGLET_TRY_ASSIGN(const std::string folder, MachineFolder());
  RINGLET_TRY_ASSIGN(const std::vector<std::string> names, MachineNames(folder));
  const std::string name = MachineNamed(words, names);
  if (name.empty() && !IsThere(words))
    return Error{Code::kInvalidArgument, fmt::format("--expect: {} is neither a named machine of "
                                                     "ringlet emulate --list-machines nor a file{}",
                                                     words, DidYouMean(words, names))};
  const std::string path = name.empty() ? words : MachineFile(folder, name);
  RINGLET_TRY_ASSIGN(LoadedTopology loaded,
                     LoadTopology({.file = path, .root = {}, .synthetic = {}}));
  if (!topology::HasGpus(loaded.view))
    return Error{Code::kInvalidArgument, fmt::format("--expect: {} does not have GPUs", words)};
  return std::move(loaded.view);
}

Result<plan::GpuPlanOptions> PlanOptions(const CheckOptions& options) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(os::ReadEnvironment()));
  RINGLET_TRY_ASSIGN(plan::GpuPlanOptions planning, comm::GpuPlanOptionsOf(settings));
  planning.search.policy = options.policy == "best" ? plan::Policy::kBest : plan::Policy::kCompat;
  return planning;
}

int ExitOf(const std::vector<CheckedMachine>& machines, Severity fail_on) {
  bool refused = false;
  for (const CheckedMachine& machine : machines) {
    if (machine.worst() >= fail_on) return kExitFailed;
    refused = refused || !machine.refusal.empty();
  }
  return refused ? kExitUsage : kExitDone;
}

Severity FailOn(const CheckOptions& options) {
  if (options.fail_on == "error") return Severity::kError;
  return options.fail_on == "note" ? Severity::kNote : Severity::kWarning;
}

void Print(const CheckOptions& options, const std::vector<CheckedMachine>& machines) {
  std::string text;
  if (options.json)
    text = CheckJson(machines);
  else if (options.prometheus)
    text = CheckMetrics(machines);
  else
    text = machines.size() == 1 ? MachineReport(machines.front(), options.all)
                                : FleetReport(machines, options.all);
  fmt::print("{}", text);
}

/// Reports the missing verdict as invalid input, so that no script takes it for a faulty machine.
int Refused(const Error& error) {
  Fail(kCheck, error);
  return kExitUsage;
}

int Run(const CheckOptions& options) {
  const auto sources = Expanded(options.sources);
  if (!sources.ok()) return Refused(sources.error());
  const auto planning = PlanOptions(options);
  if (!planning.ok()) return Refused(planning.error());
  std::optional<HostView> expected;
  if (!options.expect.empty()) {
    Result<HostView> found = ExpectedMachine(options.expect);
    if (!found.ok()) return Refused(found.error());
    expected = *std::move(found);
  }
  std::vector<MachineToCheck> machines;
  std::vector<const HostView*> views;
  for (const std::string& source : *sources) machines.push_back(ReadMachine(source));
  for (const MachineToCheck& machine : machines) {
    views.push_back(machine.view ? &*machine.view : nullptr);
    for (const std::string& missing : machine.missing) PrintNote(kCheck, missing);
  }
  const auto usual = topology::UsualMachines(views);
  CheckRates rates(*planning);
  std::vector<CheckedMachine> checked;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const HostView* like = expected ? &*expected : nullptr;
    std::string name = options.expect;
    if (like == nullptr && usual[i]) {
      like = views[*usual[i]];
      name = machines[*usual[i]].title;
    }
    checked.push_back(CheckMachine(machines[i], like, name, rates));
  }
  Print(options, checked);
  return ExitOf(checked, FailOn(options));
}

}  // namespace

void AddTopoCheck(CLI::App& topo, Action& chosen) {
  CLI::App* check = topo.add_subcommand(
      "check",
      "Check machines: show each defect, its cost and its cure; exit with 1 on any defect");
  // The parser fills it, and the action reads it later.
  const auto options = std::make_shared<CheckOptions>();
  check
      ->add_option("FILE", options->sources,
                   "NCCL topology files or folders of them, or: this (default), the machine "
                   "itself; several are compared with each other")
      ->type_name(kFileType);
  check->add_option("--expect", options->expect, "Expected machine: a name or a topology file");
  check->add_option("--fail-on", options->fail_on, "Lowest severity that makes the exit status 1")
      ->check(CLI::IsMember({"note", "warning", "error"}))
      ->capture_default_str();
  check
      ->add_option("--policy", options->policy,
                   "Plan that costs are computed with: compat (of NCCL 2.30) or best (of Ringlet)")
      ->check(CLI::IsMember({"compat", "best"}))
      ->capture_default_str();
  CLI::Option* json = check->add_flag("--json", options->json,
                                      "One object per line and finding: machine, rule, lint_rule, "
                                      "severity, action, where, name, line, reason, cure, cost");
  check->add_flag("--prometheus", options->prometheus, "Gauges in Prometheus's text format")
      ->excludes(json);
  check->add_flag("--all", options->all,
                  "Show all findings and machines, not only the first ones of a rule");
  check->callback([options, &chosen] { chosen = [options] { return Run(*options); }; });
}

}  // namespace ringlet::cli
