// Other libraries that form groups of ranks, measured beside ours. Each is a small program of
// bench/peers that exists where its library was installed when Ringlet was built.
#pragma once
#include <string>

#include "programs/child.hpp"
#include "tool/peers/init_report.hpp"

namespace ringlet::cli {

/// The setup that lets `peer` (of PeerNames) form a group like that of `head`, once.
/// \param folder       where the programs of bench/peers are
/// \param descriptors  that one process may have open
os::Command PeerCommand(const std::string& peer, const InitHead& head, const std::string& folder,
                        std::uint64_t descriptors, EnvMap environment);

/// Runs `command` to its end and takes the time that it prints as "total_ms NUMBER".
PeerRun RunPeer(const std::string& peer, const os::Command& command, Instant timeout);

/// The path of this tool's own program.
std::string ToolFolder();

}  // namespace ringlet::cli
