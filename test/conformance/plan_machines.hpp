// The machines with compared and listed plans: files of real ones, and large ones in words.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "topo/edit/synthetic.hpp"
#include "topology/graph/port_rules.hpp"
#include "topology/paths/paths.hpp"
#include "topology/paths/trim.hpp"
#include "topology/xml/xml_reader.hpp"
#include "vectors.hpp"

namespace ringlet::plan {

using test::Contents;

/// A machine as NCCL sees it: the part that rank 0 keeps.
struct PlannedMachine {
  topology::Graph graph;

  static Result<PlannedMachine> Of(const topology::HostView& view,
                                   const topology::BuildOptions& build,
                                   const topology::PathOptions& options) {
    RINGLET_TRY_ASSIGN(const topology::Graph whole, topology::Build({&view, 1}, {}, build));
    if (whole.rank_count() == 0) return Error{Code::kUnsupported, "no GPUs"};
    RINGLET_TRY_ASSIGN(const topology::Paths all, topology::FindPaths(whole, 0, options));
    RINGLET_TRY_ASSIGN(topology::Graph kept, topology::TrimToDomain(all, Rank{0}));
    return PlannedMachine{std::move(kept)};
  }

  /// Reads by NCCL's rules, faults included.
  static Result<PlannedMachine> Read(const std::string& file, bool merge_ports,
                                     const topology::PathOptions& options) {
    RINGLET_TRY_ASSIGN(topology::HostView view, topology::ViewFromXml(Contents(file), file));
    if (merge_ports) {
      RINGLET_TRY_ASSIGN(topology::PlannedPorts ports,
                         topology::ApplyPortRules(std::move(view), {}));
      view = std::move(ports.view);
    }
    return Of(
        view,
        {.rules = topology::Rules::kNccl, .gpus = topology::GpuRanks::kGiven, .unknown_net = false},
        options);
  }
};

/// The drivers of these cards prohibit access between them.
inline topology::PathOptions OptionsFor(const std::string& file) {
  topology::PathOptions options;
  if (file.find("3090") != std::string::npos)
    options.peer_access = [](Rank, Rank) { return false; };
  return options;
}

/// Returns all files of machines, relative to the fixtures.
inline std::vector<std::string> Files() {
  std::vector<std::string> files;
  const std::filesystem::path root = RINGLET_FIXTURES;
  for (const char* folder : {"topologies/nvidia", "topologies/amd", "topo-vectors"})
    for (const auto& entry : std::filesystem::directory_iterator(root / folder))
      if (entry.path().extension() == ".xml")
        files.push_back(std::filesystem::relative(entry.path(), root));
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns one NVLink domain with 4 GPUs per host.
inline Result<topology::HostView> LargeDomain(std::uint32_t gpus) {
  return topology::ParseSynthetic(
      fmt::format("{}x(host: 2x(numa: 2 gpu b200-sxm switch, 2 nic 400g))", gpus / 4));
}

}  // namespace ringlet::plan
