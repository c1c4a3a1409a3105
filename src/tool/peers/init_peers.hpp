// Other libraries that form groups of ranks. Each is measured by a small program of bench/peers,
// which exists if its library was installed when Ringlet was built.
#pragma once
#include <string>

#include "programs/child.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// Returns the command with which `peer` (of PeerNames) forms a group like that of `head` once.
/// \param folder       the folder with the programs of bench/peers
/// \param descriptors  descriptor limit of one process
os::Command PeerCommand(const std::string& peer, const InitHead& head, const std::string& folder,
                        std::uint64_t descriptors, EnvMap environment);

/// Runs `command` to its end. Reads the time that it prints as "total_ms NUMBER".
PeerRun RunPeer(const std::string& peer, const os::Command& command, Instant timeout);

/// Returns the folder of this tool's own program.
std::string ToolFolder();

}  // namespace ringlet::cli
