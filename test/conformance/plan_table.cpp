// Prints the table of docs/explanation/planner.md, and what planning takes (docs/performance.md):
// plan_table [part of a name]. One line a machine and number of hosts: channels, bound, those of
// the knee, the time that planning takes, what NCCL takes, and memory.
//
// Times are of the processor, so that what else runs disturbs them little.
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

#include "plan/search/host_search.hpp"
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
  std::int64_t peak_kib = 0;  ///< more than there was before
};

/// The median of several runs, and the most memory of the first.
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
      "| ring knee | tree knee | compat ms | best ms | knee ms | NCCL ms | steps compat | best | "
      "KiB "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
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
  fmt::print("| {} | {} | {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {} | {} | {} | {} |\n",
             name, multi_node ? 2 : 1, Cell(compat->of(GraphId::kRing), best->of(GraphId::kRing)),
             Cell(compat->of(GraphId::kTree), best->of(GraphId::kTree)),
             Channels(knee->of(GraphId::kRing)), Channels(knee->of(GraphId::kTree)),
             static_cast<double>(of_compat.microseconds) / 1e3,
             static_cast<double>(of_best.microseconds) / 1e3,
             static_cast<double>(of_knee.microseconds) / 1e3, nccl_ms, StepsOf(*compat),
             StepsOf(*best), std::max(of_compat.peak_kib, of_best.peak_kib));
  std::fflush(stdout);
}

/// The time of NCCL 2.30 for ring, tree and NVLS together, if that was measured.
std::string NcclMs(const nlohmann::json& results, const std::string& file, bool multi_node) {
  const std::string stem = std::filesystem::path(file).stem().stem();
  const auto at = results.find(fmt::format("{}.{}hosts", stem, multi_node ? 2 : 1));
  if (at == results.end()) return "";
  double us = 0;
  for (const char* key : {"ring", "tree", "nvls"})
    if (!at->at(key).is_null()) us += at->at(key)["best_cpu_us"].get<double>();
  return fmt::format("{:.2f}", us / 1e3);
}

void PrintMachine(const std::string& name, const topology::HostView& view,
                  const nlohmann::json& results) {
  const topology::PathOptions options = OptionsFor(name);
  const Result<Machine> machine = Machine::Of(view, {.gpus = topology::GpuRanks::kAll}, options);
  if (!machine.ok()) return;
  const Result<topology::Paths> paths = topology::FindPaths(machine->graph, 0, options);
  if (!paths.ok()) return;
  for (const bool multi_node : {false, true})
    PrintRow(name, *paths, multi_node, NcclMs(results, name, multi_node));
}

void PrintTable(std::string_view part) {
  const auto results = test::ReadResults();
  PrintHead();
  for (const std::string& file : Files()) {
    if (file.find(part) == std::string::npos) continue;
    Result<topology::HostView> view = topology::ViewFromXml(Contents(file), file);
    if (!view.ok()) continue;
    const auto ports = topology::ApplyPortRules(*std::move(view), {});
    if (ports.ok()) PrintMachine(file, ports->view, results);
  }
  for (const std::uint32_t gpus : {72u, 144u, 576u}) {
    const std::string name = fmt::format("{} GPUs", gpus);
    if (name.find(part) == std::string::npos) continue;
    const Result<topology::HostView> view = LargeDomain(gpus);
    if (view.ok()) PrintMachine(name, *view, results);
  }
}

}  // namespace
}  // namespace ringlet::plan

int main(int argc, char** argv) {
  ringlet::plan::PrintTable(argc > 1 ? argv[1] : "");
}
