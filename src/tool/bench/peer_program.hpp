// Other libraries with the same operations. The programs of bench/peers measure them if the library
// was installed when Ringlet was built. They use the same loop as measure.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tool/bench/bench_run.hpp"

namespace ringlet::cli {

/// Returns the commands that together measure the operation of `job` with `peer` (of PeerNames).
/// \param folder  the folder with the programs of bench/peers
std::vector<os::Command> PeerBenchCommands(const std::string& peer, const BenchJob& job,
                                           const std::string& folder);

/// Succeeds if `peer` can be measured.
/// Errors  kUnsupported  the program of bench/peers was not built (the message names the package
///                 that it needs), or the peer does not support network namespaces
Status CheckPeer(const std::string& peer, const std::string& folder, std::uint32_t hosts);

/// A line of output of such a program: "COUNT MEDIAN_US P99_US CPU_US".
struct PeerLine {
  std::size_t count = 0;
  Measurement measured;
};
std::optional<PeerLine> ParsePeerLine(std::string_view line);

/// Returns the version in an output line "version TEXT": the text up to a comma, with single
/// blanks. Returns an empty string for any other line.
std::string ParsePeerVersion(std::string_view line);

}  // namespace ringlet::cli
