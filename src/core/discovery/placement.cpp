#include "discovery/placement.hpp"

#include <algorithm>
#include <vector>

#include "discovery/kernel_text.hpp"

namespace ringlet::discovery {

using topology::CpuSet;

Result<CpuSet> AllowedCpus(const os::FileTree& files) {
  Result<std::string> status = files.Read("/proc/thread-self/status");
  if (!status.ok()) status = files.Read("/proc/self/status");  // kernels before 3.17
  if (!status.ok()) return std::move(status).error();
  const auto list = FindValue(*status, "Cpus_allowed_list");
  Result<CpuSet> cpus = CpuSet::Parse(list.value_or(""));
  if (cpus.ok() && !cpus->empty()) return cpus;
  return Error{Code::kUnsupported, "/proc/thread-self/status does not list the allowed CPUs"};
}

std::uint32_t NumaOf(const topology::HostView& host, const CpuSet& allowed,
                     std::uint32_t local_rank) {
  RINGLET_ASSERT(!host.numa_nodes.empty());
  std::size_t most = 0;
  std::vector<std::uint32_t> candidates;
  for (const topology::NumaNode& node : host.numa_nodes) {
    const std::size_t common = node.cpus.CountCommon(allowed);
    if (common > most) candidates.clear();
    most = std::max(most, common);
    if (common == most) candidates.push_back(node.id);
  }
  return candidates[local_rank % candidates.size()];
}

std::optional<std::uint32_t> FindGpu(const topology::HostView& host, std::uint32_t number) {
  const auto gpu = std::find_if(host.gpus.begin(), host.gpus.end(),
                                [&](const topology::Gpu& one) { return one.dev == number; });
  if (gpu == host.gpus.end()) return std::nullopt;
  return static_cast<std::uint32_t>(gpu - host.gpus.begin());
}

std::optional<std::uint32_t> NumaOfGpu(const topology::HostView& host, std::uint32_t gpu,
                                       const CpuSet& allowed) {
  const auto numa = host.NumaIndexOf({topology::PartKind::kGpu, gpu});
  if (!numa) return std::nullopt;
  const topology::NumaNode& node = host.numa_nodes[*numa];
  if (!allowed.empty() && node.cpus.CountCommon(allowed) == 0) return std::nullopt;
  return node.id;
}

CpuSet CpusNear(const topology::HostView& host, std::uint32_t numa, const CpuSet& allowed) {
  CpuSet near, all;
  for (const topology::NumaNode& node : host.numa_nodes) {
    all = all.JoinedWith(node.cpus);
    if (node.id == numa) near = node.cpus;
  }
  if (near == all) return {};
  return allowed.empty() ? near : near.CommonWith(allowed);
}

}  // namespace ringlet::discovery
