// Other libraries that do the same operations, measured beside ours by the programs of bench/peers;
// those that were installed when Ringlet was built. Their loop is that of measure.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "frontends/cli/bench_options.hpp"
#include "os/child.hpp"

namespace ringlet::cli {

/// What measures the operation of `options` with `peer` ("gloo", "openmpi", "mpich").
/// \param folder  where the programs of bench/peers are
os::Command PeerBenchCommand(const std::string& peer, const BenchOptions& options,
                             const std::string& folder, EnvMap environment);

/// The program of bench/peers among the arguments of such a command.
/// Errors  kUnsupported  it was not built; says which package it needs
Status CheckPeerProgram(const std::string& peer, const std::string& folder);

/// A line of such a program: "COUNT MEDIAN_US P99_US CPU_US". Empty for anything else.
struct PeerLine {
  std::size_t count = 0;
  Measurement measured;
};
std::optional<PeerLine> ParsePeerLine(std::string_view line);

}  // namespace ringlet::cli
