// `ringlet bench --tune`: measures every algorithm of every operation and writes down the fastest,
// for RINGLET_TUNE_FILE.
#pragma once
#include <CLI/CLI.hpp>

#include <vector>

#include "collective/select/tuning_table.hpp"
#include "tool/text/command.hpp"

namespace ringlet::cli {

/// Adds --tune and what it needs to `bench`. If it is given, and no operation, parsing sets
/// `chosen`.
void AddBenchTune(CLI::App& bench, Action& chosen);

/// The times of one algorithm for calls of each size.
struct AlgorithmTimes {
  collective::CallKind kind = collective::CallKind::kAllReduce;
  collective::Algorithm algorithm = collective::Algorithm::kRing;
  bool registered = false;  ///< in registered memory, which slices and zero_copy treat differently
  std::vector<std::pair<std::size_t, double>> us_by_bytes;  ///< ascending; bytes of TunedChoice
};

/// The fastest of each operation for each size, of algorithms over links and of ways through shared
/// memory each. Between two sizes with other winners the limit lies in the geometric middle; the
/// last winner stands for all that is larger. One memory or the other makes another way the
/// fastest: memory as it is decides, and where slices win there, registered memory decides between
/// slices and zero_copy, which takes slices wherever memory is not registered.
/// \param times  of each operation every algorithm has the same sizes; one_shot those that it takes
std::vector<collective::TunedChoice> FastestOf(const std::vector<AlgorithmTimes>& times,
                                               std::uint32_t ranks, std::uint32_t hosts);

/// The numbers of CostModel's links, worked out from what rings (and direct exchanges, for what
/// each message costs a processor) took for the smallest and the largest calls: those within a host
/// where there is one, those between hosts where there are several. Nothing where times do not
/// grow.
collective::MeasuredLinks LinksOf(const std::vector<AlgorithmTimes>& times, std::uint32_t ranks,
                                  std::uint32_t hosts);

}  // namespace ringlet::cli
