// Prints the table of docs/explanation/planner.md, and the cost of planning (docs/performance.md):
// plan_table [part of a name]. One line per machine and number of hosts: channels, bound, those of
// the knee, planning time, NCCL's time, and memory.
//
// Times are processor times, so other load disturbs them little. Cold is the first plan of a
// process, with the knee as communicators have it: plan_table --cold NAME HOSTS prints one, in
// microseconds.
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/policy/host_search.hpp"
#include "plan_machines.hpp"

namespace ringlet::plan {
namespace {

std::int64_t CpuMicroseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

std::int64_t StatusKib(std::string_view key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return std::stoll(line.substr(key.size() + 1));
  return 0;
}

struct Measured {
  std::int64_t microseconds = 0;
  std::int64_t peak_kib = 0;  ///< above the initial memory
};

/// Returns the median of several runs, and the peak memory of the first.
Measured Measure(const std::function<void()>& what) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const std::int64_t before = StatusKib("VmRSS");
  Measured measured;
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 9; ++i) {
    const std::int64_t start = CpuMicroseconds();
    what();
    runs.push_back(CpuMicroseconds() - start);
    if (i == 0) measured.peak_kib = std::max<std::int64_t>(0, StatusKib("VmHWM") - before);
  }
  std::sort(runs.begin(), runs.end());
  measured.microseconds = runs[runs.size() / 2];
  return measured;
}

/// Returns the median of several processes.
std::int64_t MeasureCold(const std::string& name, bool multi_node) {
  const std::string command =
      fmt::format("'{}' --cold '{}' {}", std::filesystem::read_symlink("/proc/self/exe").string(),
                  name, multi_node ? 2 : 1);
  std::vector<std::int64_t> runs;
  for (int i = 0; i < 5; ++i) {
    std::FILE* const process = popen(command.c_str(), "r");
    char text[32] = "0";
    if (process == nullptr || std::fgets(text, sizeof text, process) == nullptr) return 0;
    pclose(process);
    runs.push_back(std::stoll(text));
  }
  std::sort(runs.begin(), runs.end());
  return runs[runs.size() / 2];
}

std::string Channels(const PatternGraph& graph) {
  if (graph.channels.empty()) return "-";
  const double each = graph.total().mb_per_s / 1000.0 / static_cast<double>(graph.channels.size());
  return fmt::format("{}x{:g}", graph.channels.size(), each);
}

std::string Cell(const PatternGraph& compat, const PatternGraph& best) {
  const double bound = best.bound.mb_per_s / 1000.0;
  const double part = bound > 0 ? best.total().mb_per_s / 10.0 / bound : 0;
  return fmt::format("{} | {} | {:.1f} | {:.0f} %", Channels(compat), Channels(best), bound, part);
}

std::uint64_t StepsOf(const HostPlan& plan) {
  std::uint64_t steps = 0;
  for (const PatternGraph& graph : plan.graphs) steps += graph.steps;
  return steps;
}

void PrintHead() {
  fmt::print(
      "| machine | hosts | ring compat | best | bound | of it | tree compat | best | bound | of it "
      "| ring knee | tree knee | compat ms | best ms | knee ms | cold ms | NCCL ms | steps compat "
      "| best | KiB "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

void PrintRow(const std::string& name, const topology::Paths& paths, bool multi_node,
              const std::string& nccl_ms) {
  Result<HostPlan> compat = Error{}, best = Error{};
  const Measured of_compat = Measure(
      [&] { compat = SearchHost(paths, {.policy = Policy::kCompat, .multi_node = multi_node}); });
  const Measured of_best = Measure([&] { best = SearchHost(paths, {.multi_node = multi_node}); });
  Result<HostPlan> knee = Error{};
  const Measured of_knee =
      Measure([&] { knee = SearchHost(paths, {.multi_node = multi_node, .knee = true}); });
  if (!compat.ok() || !best.ok() || !knee.ok()) return fmt::print("| {} | not planned |\n", name);
  fmt::print(
      "| {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {} | {} | {} "
      "| {} |\n",
      name, multi_node ? 2 : 1, Cell(compat->of(GraphId::kRing), best->of(GraphId::kRing)),
      Cell(compat->of(GraphId::kTree), best->of(GraphId::kTree)),
      Channels(knee->of(GraphId::kRing)), Channels(knee->of(GraphId::kTree)),
      static_cast<double>(of_compat.microseconds) / 1e3,
      static_cast<double>(of_best.microseconds) / 1e3,
      static_cast<double>(of_knee.microseconds) / 1e3,
      static_cast<double>(MeasureCold(name, multi_node)) / 1e3, nccl_ms, StepsOf(*compat),
      StepsOf(*best), std::max(of_compat.peak_kib, of_best.peak_kib));
  std::fflush(stdout);
}

/// Returns the measured time of NCCL 2.30 for ring, tree and NVLS together, if any.
std::string NcclMs(const nlohmann::json& results, const std::string& file, bool multi_node) {
  const std::string stem = std::filesystem::path(file).stem().stem();
  const auto at = results.find(fmt::format("{}.{}hosts", stem, multi_node ? 2 : 1));
  if (at == results.end()) return "";
  double us = 0;
  for (const char* key : {"ring", "tree", "nvls"})
    if (!at->at(key).is_null()) us += at->at(key)["best_cpu_us"].get<double>();
  return fmt::format("{:.2f}", us / 1e3);
}

/// Takes the name of a file, or "72 GPUs".
Result<topology::HostView> ViewOf(const std::string& name) {
  if (const std::size_t gpus = name.find(" GPUs"); gpus != std::string::npos)
    return LargeDomain(static_cast<std::uint32_t>(std::stoul(name.substr(0, gpus))));
  RINGLET_TRY_ASSIGN(topology::HostView view, topology::ViewFromXml(Contents(name), name));
  RINGLET_TRY_ASSIGN(topology::PlannedPorts ports, topology::ApplyPortRules(std::move(view), {}));
  return std::move(ports.view);
}

/// A machine, and its paths with references to it.
struct Planned {
  PlannedMachine machine;
  topology::Paths paths;
};

Result<std::unique_ptr<Planned>> PlannedOn(const std::string& name) {
  RINGLET_TRY_ASSIGN(const topology::HostView view, ViewOf(name));
  const topology::PathOptions options = OptionsFor(name);
  RINGLET_TRY_ASSIGN(PlannedMachine machine,
                     PlannedMachine::Of(view, {.gpus = topology::GpuRanks::kAll}, options));
  auto planned = std::make_unique<Planned>(Planned{std::move(machine), {}});
  RINGLET_TRY_ASSIGN(planned->paths, topology::FindPaths(planned->machine.graph, 0, options));
  return planned;
}

void PrintMachine(const std::string& name, const nlohmann::json& results) {
  const auto planned = PlannedOn(name);
  if (!planned.ok()) return;
  for (const bool multi_node : {false, true})
    PrintRow(name, (*planned)->paths, multi_node, NcclMs(results, name, multi_node));
}

void PrintTable(std::string_view part) {
  const auto results = test::ReadResults();
  PrintHead();
  std::vector<std::string> names = Files();
  for (const std::uint32_t gpus : {72u, 144u, 576u}) names.push_back(fmt::format("{} GPUs", gpus));
  for (const std::string& name : names)
    if (name.find(part) != std::string::npos) PrintMachine(name, results);
}

void PrintCold(const std::string& name, bool multi_node) {
  const auto planned = PlannedOn(name);
  if (!planned.ok()) return fmt::print("0\n");
  const std::int64_t start = CpuMicroseconds();
  const auto plan = SearchHost((*planned)->paths, {.multi_node = multi_node, .knee = true});
  fmt::print("{}\n", plan.ok() ? CpuMicroseconds() - start : 0);
}

}  // namespace
}  // namespace ringlet::plan

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--cold")
    ringlet::plan::PrintCold(argv[2], std::string_view(argv[3]) == "2");
  else
    ringlet::plan::PrintTable(argc > 1 ? argv[1] : "");
}
