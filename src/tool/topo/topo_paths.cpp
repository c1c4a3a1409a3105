#include "tool/topo/topo_paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/value/text.hpp"
#include "os/fs/conf_files.hpp"
#include "topo/paths/host_paths.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kNameBytesShown = 60;

}  // namespace

void AddPathRequest(CLI::App& command, PathRequest& request) {
  AddTopoSource(command, request.source);
  command.add_flag("--as-wired", request.as_wired,
                   "Use the best paths, even if transports may not use them");
  command.add_flag("--as-nccl", request.as_nccl,
                   "Use the rules of NCCL 2.30, including its faults");
  command.add_flag("--no-peer-access", request.apart,
                   "Assume a driver that denies access between GPUs, as for GeForce");
}

Result<PathView> FindPathView(const PathRequest& request, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const Settings settings, os::ReadSettings(environment));
  PathView view;
  RINGLET_TRY_ASSIGN(view.options, topology::ReadPathOptions(settings));
  view.options.as_wired = request.as_wired;
  RINGLET_TRY_ASSIGN(LoadedTopology loaded, LoadPlanned(request.source, settings, request.edit));
  view.title = std::move(loaded.title);
  view.missing = std::move(loaded.missing);
  if (!settings.plan_variables_unused.empty())
    view.missing.push_back(fmt::format("ignored here, although NCCL's plans depend on it: {}",
                                       fmt::join(settings.plan_variables_unused, ", ")));
  RINGLET_TRY_ASSIGN(topology::HostPaths host,
                     topology::FindHostPaths(std::move(loaded.view),
                                             {.rules = request.as_nccl ? topology::Rules::kNccl
                                                                       : topology::Rules::kRinglet,
                                              .denies_peer_access = request.apart,
                                              .paths = std::move(view.options)}));
  view.missing.insert(view.missing.end(), host.notes.begin(), host.notes.end());
  view.graph = std::move(host.graph);
  view.paths = std::move(host.paths);
  view.options = std::move(host.options);
  view.machine = std::move(host.view);
  return view;
}

std::string ArchitectureText(std::string_view gcn, std::uint32_t compute_capability) {
  if (!gcn.empty()) return Printable(gcn, kNameBytesShown);
  return compute_capability == 0 ? "" : fmt::format("sm {}", compute_capability);
}

std::string GigabytesText(topology::Bandwidth bandwidth) {
  constexpr std::uint32_t kMb = 1000;
  const std::uint32_t tenths = (bandwidth.mb_per_s + kMb / 20) / (kMb / 10);
  if (tenths == 0) return fmt::format("{:.3f}", static_cast<double>(bandwidth.mb_per_s) / kMb);
  return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                          : fmt::format("{}.{}", tenths / 10, tenths % 10);
}

}  // namespace ringlet::cli
