#include "tool/topo/topo_fuse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "tool/input/topo_source.hpp"
#include "tool/text/value_types.hpp"
#include "topo/edit/fuse.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::cli {
namespace {

using topology::HostView;

struct FuseRequest {
  std::vector<std::string> files;
  bool distinct = false;
};

bool IsOneHost(const HostView& view) {
  return std::none_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                      [](const topology::NumaNode& node) { return node.host.has_value(); });
}

/// Assigns a new host to each file without one, or to all files if `distinct` is true.
void AssignHosts(std::vector<HostView>& views, bool distinct) {
  std::set<std::uint64_t> taken;
  for (const HostView& view : views)
    for (const auto& node : view.numa_nodes) taken.insert(view.HostOf(node));
  std::uint64_t next = 1;
  const auto fresh = [&] {
    while (!taken.insert(next).second) ++next;
    return next;
  };
  for (HostView& view : views) {
    if (IsOneHost(view)) {
      if (view.identity == 0 || distinct) view.identity = fresh();
      continue;
    }
    std::map<std::uint64_t, std::uint64_t> renamed;
    for (topology::NumaNode& node : view.numa_nodes) {
      if (!distinct) continue;
      const auto [it, is_new] = renamed.try_emplace(view.HostOf(node), 0);
      if (is_new) it->second = fresh();
      node.host = it->second;
    }
  }
}

int Run(const FuseRequest& request) {
  std::vector<HostView> views;
  for (const std::string& file : request.files) {
    Result<LoadedTopology> loaded = LoadTopology({.file = file, .root = {}, .synthetic = {}});
    if (!loaded.ok()) return Fail("topo fuse", loaded.error());
    views.push_back(std::move(loaded->view));
  }
  AssignHosts(views, request.distinct);
  const Result<topology::Fused> fused = topology::Fuse(views);
  if (!fused.ok()) return Fail("topo fuse", fused.error());
  for (const std::string& note : fused->notes) PrintNote("topo fuse", note);
  fmt::print("{}", topology::ToXml(fused->view));
  return kExitDone;
}

}  // namespace

void AddTopoFuse(CLI::App& topo, Action& chosen) {
  CLI::App* fuse = topo.add_subcommand(
      "fuse", "Combine the files of several hosts, or several views of a host, into one");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<FuseRequest>();
  fuse->add_option("FILE", request->files,
                   "NCCL topology files; files with equal host_hash describe one host")
      ->required()
      ->type_name(kFileType);
  fuse->add_flag("--distinct", request->distinct, "No two files show the same host");
  fuse->callback([request, &chosen] { chosen = [request] { return Run(*request); }; });
}

}  // namespace ringlet::cli
