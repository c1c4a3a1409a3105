// The libraries that Ringlet is measured beside, and how their programs of bench/peers come to be.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/env_map.hpp"

namespace ringlet::cli {

/// "gloo", "openmpi", "mpich", "intelmpi", "oneccl": the words of --vs.
std::vector<std::string> PeerNames();
/// "gloo, openmpi, mpich, intelmpi or oneccl".
std::string PeerNamesText();

/// BUILD/bin/ringlet_bench_gloo. \param purpose  "bench" or "init"
std::string PeerProgram(const std::filesystem::path& folder, std::string_view purpose,
                        const std::string& peer);
/// The launcher of the ranks of an MPI: BUILD/bin/ringlet_mpirun_openmpi.
std::string PeerLauncher(const std::filesystem::path& folder, const std::string& peer);

/// Open MPI refuses more ranks than cores, and root, unless it is told not to: 4 by OMPI_, 5 by
/// PRTE_.
void AllowOpenMpi(EnvMap& environment);

/// A line for a shell that installs the library `peer`, from PyPI into the build tree of this tool
/// or from Debian, and builds its program there.
/// \param folder  where the programs are: BUILD/bin
std::string PeerBuildCommand(const std::filesystem::path& folder, std::string_view purpose,
                             const std::string& peer);

}  // namespace ringlet::cli
