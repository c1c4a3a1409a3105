// Other libraries that do the same operations, measured beside ours by the programs of bench/peers;
// those that were installed when Ringlet was built. Their loop is that of measure.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "tool/bench/bench_run.hpp"

namespace ringlet::cli {

/// The commands that measure the operation of `job` with `peer` (of PeerNames), to run together.
/// \param folder  where the programs of bench/peers are
std::vector<os::Command> PeerBenchCommands(const std::string& peer, const BenchJob& job,
                                           const std::string& folder);

/// Whether it can be measured.
/// Errors  kUnsupported  its program of bench/peers was not built; says which package it needs; or
///                       it does not go over namespaces
Status CheckPeer(const std::string& peer, const std::string& folder, std::uint32_t hosts);

/// A line of such a program: "COUNT MEDIAN_US P99_US CPU_US". Empty for anything else.
struct PeerLine {
  std::size_t count = 0;
  Measurement measured;
};
std::optional<PeerLine> ParsePeerLine(std::string_view line);

/// The version that a line "version TEXT" of such a program names: up to a comma, with single
/// blanks. Empty for anything else.
std::string ParsePeerVersion(std::string_view line);

}  // namespace ringlet::cli
