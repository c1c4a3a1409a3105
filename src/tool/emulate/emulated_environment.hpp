// The environment in which a program uses host devices in place of GPUs. Pure.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Folders of the libraries. Paths begin with '/'.
struct EmulateFolders {
  std::string emulate;  ///< folder of libcudart.so.13 and its companions
  std::string compat;   ///< folder of libnccl.so.2
  std::string library;  ///< folder of libringlet.so.0
};

/// Returns the folders of the build tree or installation that contains `tool`.
/// \param tool    path of the running program
/// \param library_folder  relative path from the tool's folder in an installation, such as "../lib"
/// \param exists  returns true if a file with this path exists
/// Errors  kUnsupported  the libraries are missing
Result<EmulateFolders> FindEmulateFolders(const std::string& tool, std::string_view library_folder,
                                          const std::function<bool(const std::string&)>& exists);

struct EmulatedMachine {
  std::uint32_t devices = 8;
  std::optional<std::uint64_t> memory_bytes = std::nullopt;  ///< of each device; null: its share
  std::vector<std::string> kernels = {};                     ///< absolute paths
  std::string topology = {};    ///< absolute path of the machine's file; empty: plain devices
  bool pace = false;            ///< sets RINGLET_PACE
  std::string traffic = {};     ///< value of RINGLET_TRAFFIC_DIR; empty: unset
  std::string fault = {};       ///< value of RINGLET_FAULT; empty: unset
  std::string fault_file = {};  ///< value of RINGLET_FAULT_FILE; empty: unset
  std::string policy = {};  ///< value of RINGLET_PLAN_POLICY; empty: as in `base`, else "compat"
};

/// Returns `base` with variables through which a program and its children find Ringlet's libraries.
/// Preloads libnccl.so.2 and libcudart, because a program's DT_RPATH overrides LD_LIBRARY_PATH.
/// Errors  kUnsupported      a folder's name has a character that separates entries for the loader
///         kInvalidArgument  a path of `kernels` has a colon
Result<EnvMap> EmulatedEnvironment(EnvMap base, const EmulateFolders& folders,
                                   const EmulatedMachine& machine);

/// Spreads ranks over emulated hosts: an equal number on each, in order.
struct EmulatedRanks {
  std::uint32_t ranks = 1, hosts = 1;
};
/// \param ranks  null: one per host
/// Errors  kInvalidArgument  the number of hosts does not divide the number of ranks
Result<EmulatedRanks> SpreadRanks(std::optional<std::uint32_t> ranks, std::uint32_t hosts);

/// Returns RINGLET_HOSTID for one of several hosts.
std::string EmulatedHostName(std::uint32_t host, std::string_view launch);

/// Returns `base` for the processes of one emulated host. Ranks treat several hosts as different
/// machines and share only the network.
/// \param launch  unique among the launches on this computer
EnvMap EmulatedHostEnvironment(EnvMap base, std::uint32_t host, std::uint32_t hosts,
                               std::string_view launch);

}  // namespace ringlet::cli
