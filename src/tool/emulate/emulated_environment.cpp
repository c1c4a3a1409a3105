#include "tool/emulate/emulated_environment.hpp"

#include <fmt/format.h>

#include <array>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kShownBytesMax = 300;

constexpr std::array kPreloaded = {"libnccl.so.2", "libcudart.so.13", "libcudart.so.12"};

/// Normalizes a path: "/a/b/../c" is "/a/c". The kernel has already resolved links in it.
std::string Normal(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : Split(path, '/')) {
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  return fmt::format("/{}", fmt::join(parts, "/"));
}

Status CheckFolder(const std::string& folder) {
  if (folder.find_first_of(": ;") == std::string::npos) return Ok();
  return Error{Code::kUnsupported,
               fmt::format("the libraries are in {}, but the loader rejects folders with a space, "
                           "colon or semicolon in their names: install Ringlet elsewhere",
                           Printable(folder, kShownBytesMax))};
}

void PutFirst(EnvMap& environment, const std::string& name, const std::string& list) {
  std::string& value = environment[name];
  value = value.empty() ? list : list + ":" + value;
}

}  // namespace

Result<EmulateFolders> FindEmulateFolders(const std::string& tool, std::string_view library_folder,
                                          const std::function<bool(const std::string&)>& exists) {
  const std::string folder = tool.substr(0, tool.rfind('/'));
  const auto below = [&](std::string_view parent, std::string_view part) {
    return Normal(fmt::format("{}/{}/{}", folder, parent, part));
  };
  const EmulateFolders built{below("..", "emulate"), below("..", "compat"), below("..", "lib")};
  const EmulateFolders installed{below(library_folder, "ringlet/emulate"),
                                 below(library_folder, "ringlet/compat"),
                                 below(library_folder, "")};
  for (const EmulateFolders& found : {built, installed})
    if (exists(found.emulate + "/libcudart.so.13") && exists(found.compat + "/libnccl.so.2"))
      return found;
  return Error{Code::kUnsupported, fmt::format("the libraries of emulate are missing beside {}: "
                                               "build or install Ringlet with RINGLET_EMULATE=ON",
                                               Printable(tool, kShownBytesMax))};
}

Result<EnvMap> EmulatedEnvironment(EnvMap base, const EmulateFolders& folders,
                                   const EmulatedMachine& machine) {
  for (const std::string& folder : {folders.emulate, folders.compat, folders.library})
    RINGLET_TRY(CheckFolder(folder));
  for (const std::string& path : machine.kernels)
    if (path.find(':') != std::string::npos)
      return Error{Code::kInvalidArgument,
                   fmt::format("--kernels {} has a colon in its path", Quoted(path))};
  PutFirst(base, "LD_LIBRARY_PATH",
           fmt::format("{}:{}:{}", folders.emulate, folders.compat, folders.library));
  PutFirst(base, "LD_PRELOAD",
           fmt::format("{}/{}:{}/{}:{}/{}", folders.compat, kPreloaded[0], folders.emulate,
                       kPreloaded[1], folders.emulate, kPreloaded[2]));
  base["RINGLET_EMULATE_DEVICES"] = std::to_string(machine.devices);
  if (machine.memory_bytes) base["RINGLET_EMULATE_MEMORY"] = std::to_string(*machine.memory_bytes);
  if (!machine.kernels.empty())
    base["RINGLET_EMULATE_KERNELS"] = fmt::format("{}", fmt::join(machine.kernels, ":"));
  if (!machine.topology.empty()) base["RINGLET_MACHINE"] = machine.topology;
  if (machine.pace) base["RINGLET_PACE"] = "1";
  if (!machine.traffic.empty()) base["RINGLET_TRAFFIC_DIR"] = machine.traffic;
  if (!machine.fault.empty()) base["RINGLET_FAULT"] = machine.fault;
  if (!machine.fault_file.empty()) base["RINGLET_FAULT_FILE"] = machine.fault_file;
  if (!machine.policy.empty()) base["RINGLET_PLAN_POLICY"] = machine.policy;
  // Programs for NCCL receive the channels that NCCL would create on this machine.
  if (!machine.topology.empty()) base.try_emplace("RINGLET_PLAN_POLICY", "compat");
  return base;
}

Result<EmulatedRanks> SpreadRanks(std::optional<std::uint32_t> ranks, std::uint32_t hosts) {
  const EmulatedRanks spread{.ranks = ranks.value_or(hosts), .hosts = hosts};
  if (spread.ranks % hosts == 0) return spread;
  const std::uint32_t next = (spread.ranks / hosts + 1) * hosts;
  return Error{Code::kInvalidArgument,
               fmt::format("-n {} cannot be spread evenly over --hosts {}: -n {} could",
                           spread.ranks, hosts, next)};
}

std::string EmulatedHostName(std::uint32_t host, std::string_view launch) {
  return fmt::format("emulated-host-{}-{}", host, launch);
}

EnvMap EmulatedHostEnvironment(EnvMap base, std::uint32_t host, std::uint32_t hosts,
                               std::string_view launch) {
  base["RINGLET_EMULATE_HOST"] = std::to_string(host);
  if (hosts > 1) base["RINGLET_HOSTID"] = EmulatedHostName(host, launch);
  return base;
}

}  // namespace ringlet::cli
