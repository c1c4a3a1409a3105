#include "tool/topo/graph_lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "plan/channels/graph_file.hpp"
#include "plan/policy/host_search.hpp"
#include "tool/topo/topo_paths.hpp"
#include "topology/graph/graph.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using plan::PatternGraph;
using topology::Finding;
using topology::Severity;

Finding GraphFinding(const std::string& file, Severity severity, std::string rule,
                     std::string reason, std::string cure) {
  return {.severity = severity,
          .rule = std::move(rule),
          .file = file,
          .at = {},
          .path = "graphs",
          .reason = std::move(reason),
          .cure = std::move(cure)};
}

/// Converts an error of the reader, "FILE:3:7: reason", to a finding with a position.
Finding FromReader(const std::string& file, std::string message) {
  Finding finding = GraphFinding(file, Severity::kError, "graph", "",
                                 "NCCL stops with \"XML Import Channel\"; a graph file is for one "
                                 "machine and its number of GPUs: remove it, or dump it again");
  std::string_view rest = message;
  const std::string head = file + ":";
  if (rest.starts_with(head)) {
    rest.remove_prefix(head.size());
    for (std::uint32_t* number : {&finding.at.line, &finding.at.column}) {
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *number);
      if (error != std::errc()) break;
      rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
      if (rest.starts_with(':')) rest.remove_prefix(1);
    }
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  finding.reason = rest;
  return finding;
}

/// Exceeds the rounding of files, which have one decimal of a GB/s.
constexpr std::uint64_t kTolerated = 102, kSlowPercent = 50;

void Judge(const PatternGraph& given, const PatternGraph& best, const PatternGraph& nccl,
           const std::string& file, std::vector<Finding>& findings) {
  if (given.channels.empty()) return;
  const std::uint64_t total = given.total().mb_per_s;
  const auto is_more = [&](std::uint64_t percent, topology::Bandwidth than) {
    return total * 100 > than.mb_per_s * percent;
  };
  if (best.bound.mb_per_s != 0 && is_more(kTolerated, best.bound))
    findings.push_back(GraphFinding(
        file, Severity::kError, "graph-too-fast",
        fmt::format("{}: {} channels of {} GB/s; the links of the topology file carry {} GB/s",
                    NameOf(given.id), given.channels.size(), GigabytesText(given.intra),
                    GigabytesText(best.bound)),
        "the graph belongs to another machine: remove the file, or dump it again"));
  if (!nccl.channels.empty() && total * 100 < nccl.total().mb_per_s * kSlowPercent)
    findings.push_back(GraphFinding(
        file, Severity::kWarning, "graph-slow",
        fmt::format("{}: {} GB/s together; NCCL's own search finds {} GB/s", NameOf(given.id),
                    GigabytesText(given.total()), GigabytesText(nccl.total())),
        "remove the graph file"));
}

}  // namespace

std::vector<Finding> LintGraph(const topology::HostView& view, std::string_view graph,
                               const std::string& file) {
  const auto cannot = [&](const Error& error) {
    return std::vector<Finding>{
        GraphFinding(file, Severity::kWarning, "graph",
                     "it cannot be checked against the topology file: " + error.message,
                     view.gpus.empty() ? "complete the file with ringlet topo complete" : "")};
  };
  if (view.gpus.empty())
    return cannot({Code::kInvalidArgument, "the topology file does not describe its GPUs"});
  const topology::BuildOptions build{.gpus = topology::GpuRanks::kAll, .unknown_net = false};
  const Result<topology::Graph> built = topology::Build({&view, 1}, {}, build);
  if (!built.ok()) return cannot(built.error());
  const Result<topology::Paths> paths = topology::FindPaths(*built, 0, {});
  if (!paths.ok()) return cannot(paths.error());
  const Result<plan::HostPlan> given = plan::ReadGraphs(graph, file, plan::NamesOf(*paths));
  if (!given.ok()) return {FromReader(file, given.error().message)};
  const bool beyond = std::ranges::any_of(given->graphs, [](const PatternGraph& one) {
    return !one.channels.empty() && one.channels.front().entry.has_value();
  });
  plan::SearchOptions options{.policy = plan::Policy::kBest, .multi_node = beyond, .bounds = true};
  const Result<plan::HostPlan> best = plan::SearchHost(*paths, options);
  options.policy = plan::Policy::kCompat;
  const Result<plan::HostPlan> nccl = plan::SearchHost(*paths, options);
  if (!best.ok()) return cannot(best.error());
  if (!nccl.ok()) return cannot(nccl.error());
  std::vector<Finding> findings;
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    Judge(given->of(id), best->of(id), nccl->of(id), file, findings);
  return findings;
}

bool LooksLikeTopology(std::string_view text) {
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!--")) {
      at = std::min(text.find("-->", at), text.size() - 1);
      continue;
    }
    if (rest.starts_with("<?") || rest.starts_with("<!")) continue;
    return rest.starts_with("<system") && rest.size() > 7 &&
           std::string_view(" \t\r\n>/").find(rest[7]) != std::string_view::npos &&
           text.find("<cpu") != std::string_view::npos;
  }
  return false;
}

}  // namespace ringlet::cli
