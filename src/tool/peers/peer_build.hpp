// The libraries that Ringlet is compared with, and the commands that build bench/peers for them.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/env_map.hpp"

namespace ringlet::cli {

/// Returns "gloo", "openmpi", "mpich", "intelmpi", "oneccl": the values of --vs.
std::vector<std::string> PeerNames();
/// Returns "gloo, openmpi, mpich, intelmpi or oneccl".
std::string PeerNamesText();

/// Returns BUILD/bin/ringlet_bench_gloo. \param purpose  "bench" or "init"
std::string PeerProgram(const std::filesystem::path& folder, std::string_view purpose,
                        const std::string& peer);
/// Returns the launcher for the ranks of an MPI: BUILD/bin/ringlet_mpirun_openmpi.
std::string PeerLauncher(const std::filesystem::path& folder, const std::string& peer);

/// Allows Open MPI to run more ranks than cores, and to run as root. Version 4 reads OMPI_
/// variables, version 5 reads PRTE_ variables.
void AllowOpenMpi(EnvMap& environment);

/// Returns a shell command that installs the library `peer` and builds its program in this tool's
/// build tree. The library is installed there from PyPI, or from Debian.
/// \param folder  the folder of the programs: BUILD/bin
std::string PeerBuildCommand(const std::filesystem::path& folder, std::string_view purpose,
                             const std::string& peer);

}  // namespace ringlet::cli
