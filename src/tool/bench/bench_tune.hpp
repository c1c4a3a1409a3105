// `ringlet bench --tune`: measures all algorithms of each operation and writes the fastest into a
// file for RINGLET_TUNE_FILE.
#pragma once
#include <CLI/CLI.hpp>

#include <vector>

#include "collective/select/tuning_table.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds --tune and its options to `bench`. Parsing sets `chosen` if no operation is named.
void AddBenchTune(CLI::App& bench, Action& chosen);

/// Times of one algorithm, per size of a call.
struct AlgorithmTimes {
  collective::CallKind kind = collective::CallKind::kAllReduce;
  collective::Algorithm algorithm = collective::Algorithm::kRing;
  bool registered = false;  ///< in registered memory, which slices and zero_copy treat differently
  std::vector<std::pair<std::size_t, double>> us_by_bytes;  ///< ascending; bytes as in TunedChoice
};

/// Returns the fastest algorithm of each operation for each size: one over links and one through
/// shared memory. Two sizes with different winners are separated at their geometric mean. The last
/// winner applies to all larger sizes. Through shared memory, times in unregistered memory decide.
/// If slices win there, times in registered memory decide between slices and zero_copy, because
/// zero_copy runs slices wherever memory is not registered.
/// \param times  all algorithms of an operation have the same sizes; one_shot has those that it
///               takes
std::vector<collective::TunedChoice> FastestOf(const std::vector<AlgorithmTimes>& times,
                                               std::uint32_t ranks, std::uint32_t hosts);

/// Derives the links of CostModel: those within the host for one host, those between hosts for
/// several. Uses the times of rings for the smallest and the largest calls, and of direct exchanges
/// for the processor time per message. Returns no links if the times do not grow.
collective::MeasuredLinks LinksOf(const std::vector<AlgorithmTimes>& times, std::uint32_t ranks,
                                  std::uint32_t hosts);

}  // namespace ringlet::cli
