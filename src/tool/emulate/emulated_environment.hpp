// The environment in which a program finds host devices in the place of GPUs. Pure.
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

/// Places of the libraries. Paths begin with '/'.
struct EmulateFolders {
  std::string emulate;  ///< libcudart.so.13 and those beside it
  std::string compat;   ///< libnccl.so.2
  std::string library;  ///< libringlet.so.0
};

/// The folders of the build tree or installation to which `tool` belongs.
/// \param tool    path of the running program
/// \param library_folder  of an installation, from the folder of the tool, such as "../lib"
/// \param exists  whether there is a file of this path
/// Errors  kUnsupported  the libraries are not there
Result<EmulateFolders> FindEmulateFolders(const std::string& tool, std::string_view library_folder,
                                          const std::function<bool(const std::string&)>& exists);

struct EmulatedMachine {
  std::uint32_t devices = 8;
  std::optional<std::uint64_t> memory_bytes = std::nullopt;  ///< of each device; else its share
  std::vector<std::string> kernels = {};                     ///< absolute paths
  std::string topology =
      {};                    ///< absolute path of the machine's file; empty: devices are plain ones
  bool pace = false;         ///< RINGLET_PACE
  std::string traffic = {};  ///< RINGLET_TRAFFIC_DIR; empty: none
  std::string fault = {};    ///< RINGLET_FAULT; empty: none
  std::string fault_file = {};  ///< RINGLET_FAULT_FILE; empty: none
  std::string policy = {};      ///< RINGLET_PLAN_POLICY; empty: what `base` says, else "compat"
};

/// `base` with what makes a program and all that it starts find our libraries. libnccl.so.2 and
/// libcudart are loaded first in any case: a program may have a run path (DT_RPATH), which
/// LD_LIBRARY_PATH does not beat. Errors  kUnsupported  a folder's name has a character at which
/// the loader cuts lists
///         kInvalidArgument  a path of `kernels` has a colon
Result<EnvMap> EmulatedEnvironment(EnvMap base, const EmulateFolders& folders,
                                   const EmulatedMachine& machine);

/// How ranks are spread over emulated hosts: as many on each, in order.
struct EmulatedRanks {
  std::uint32_t ranks = 1, hosts = 1;
};
/// \param ranks  without it one for each host
/// Errors  kInvalidArgument  the hosts do not divide the ranks
Result<EmulatedRanks> SpreadRanks(std::optional<std::uint32_t> ranks, std::uint32_t hosts);

/// RINGLET_HOSTID of one of several hosts.
std::string EmulatedHostName(std::uint32_t host, std::string_view launch);

/// `base` for the processes of one emulated host. Several hosts count as different machines, so
/// that nothing is shared between them but the network.
/// \param launch  differs from that of any other launch on this computer
EnvMap EmulatedHostEnvironment(EnvMap base, std::uint32_t host, std::uint32_t hosts,
                               std::string_view launch);

}  // namespace ringlet::cli
