#include "plan/tuning/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plan/channels/capability.hpp"
#include "plan/tuning/tuning_cell.hpp"

namespace ringlet::plan {
namespace {

NcclAlgorithm AlgorithmOf(std::size_t number) {
  return static_cast<NcclAlgorithm>(number);
}

}  // namespace

Tuning::Tuning(TuningInput input, ChannelCounts channels)
    : input_(std::move(input)), channels_(channels) {
  FillCells();
}

void Tuning::SetConstants(const TuningConstants& constants) {
  input_.constants = constants;
  FillCells();
}

void Tuning::FillCells() {
  for (std::size_t f = 0; f < kFunctions; ++f)
    for (std::size_t a = 0; a < kAlgorithms; ++a)
      for (std::size_t p = 0; p < kProtocols; ++p)
        cells_[f][a][p] =
            CellOf(input_, static_cast<Function>(f), AlgorithmOf(a), static_cast<Protocol>(p));
}

const TuningCell& Tuning::At(Function function, NcclAlgorithm algorithm, Protocol protocol) const {
  return cells_[static_cast<std::size_t>(function)][static_cast<std::size_t>(algorithm)]
               [static_cast<std::size_t>(protocol)];
}

std::optional<std::uint64_t> Tuning::TimeNs(Function function, NcclAlgorithm algorithm,
                                            Protocol protocol, std::uint64_t bytes) const {
  const TuningCell& cell = At(function, algorithm, protocol);
  std::uint64_t bandwidth = cell.bandwidth.mb_per_s, latency = cell.latency_ns;
  if (bandwidth == 0) return std::nullopt;
  const bool all_reduce = function == Function::kAllReduce;
  if (all_reduce && (algorithm == NcclAlgorithm::kTree || (algorithm == NcclAlgorithm::kNvlsTree &&
                                                           input_.capability_min >= kBlackwell)))
    bandwidth = std::max<std::uint64_t>(1, bandwidth * TreeTenths(protocol, bytes) / 10);
  constexpr std::uint64_t kLargeBytes = 64;  // per rank and channel
  if (all_reduce && algorithm == NcclAlgorithm::kRing && protocol == Protocol::kSimple &&
      input_.nodes > 1 &&
      bytes / (std::uint64_t{std::max(1u, GraphOf(input_, algorithm).channels)} * input_.ranks) >=
          kLargeBytes)
    latency = latency * (input_.capability_min < kAmpere ? 19 : 14) / 10;
  // Microseconds are bytes divided by MB/s. Two parts avoid an overflow.
  return latency + bytes / bandwidth * 1000 + bytes % bandwidth * 1000 / bandwidth;
}

Result<TuningPick> Tuning::Pick(Function function, std::uint64_t bytes) const {
  std::array<NcclAlgorithm, kAlgorithms> all = {};
  for (std::size_t a = 0; a < kAlgorithms; ++a) all[a] = AlgorithmOf(a);
  if (const auto best = PickOf(function, all, bytes)) return *best;
  return Error{Code::kInvalidArgument,
               fmt::format("NCCL_ALGO and NCCL_PROTO leave no way to run {} on {} ranks of {} "
                           "nodes; Ring and Simple are always possible",
                           NameOf(function), input_.ranks, input_.nodes)};
}

std::optional<TuningPick> Tuning::PickOf(Function function,
                                         std::span<const NcclAlgorithm> algorithms,
                                         std::uint64_t bytes) const {
  std::optional<TuningPick> best;
  for (const NcclAlgorithm algorithm : algorithms)
    for (std::size_t p = 0; p < kProtocols; ++p) {
      const auto protocol = static_cast<Protocol>(p);
      const auto time = TimeNs(function, algorithm, protocol, bytes);
      if (time && (!best || *time < best->time_ns)) best = {algorithm, protocol, *time};
    }
  return best;
}

TimeTable Tuning::TimesOf(Function function, std::uint64_t bytes) const {
  TimeTable times;
  for (std::size_t a = 0; a < kAlgorithms; ++a)
    for (std::size_t p = 0; p < kProtocols; ++p)
      times[a][p] = TimeNs(function, AlgorithmOf(a), static_cast<Protocol>(p), bytes);
  return times;
}

// Source  NCCL 2.30: minimum bytes per thread, and threads per block.
TuningLaunch Tuning::LaunchOf(const TuningPick& pick, std::uint64_t bytes) const {
  const bool ring = pick.algorithm == NcclAlgorithm::kRing,
             tree = pick.algorithm == NcclAlgorithm::kTree;
  const bool simple = pick.protocol == Protocol::kSimple;
  const Common& graph = GraphOf(input_, NcclAlgorithm::kRing);
  const bool narrow = std::uint64_t{graph.intra.mb_per_s} * graph.channels <= 12'000;
  std::uint64_t worth = 8;
  std::uint32_t threads = 512;
  if (pick.protocol == Protocol::kLl && ring) worth *= input_.ranks;
  if (pick.protocol == Protocol::kLl128) threads = 640;
  if (simple) {
    worth = ring || tree ? 64 : 512;
    threads = ring ? (narrow ? 256 : 512) : tree ? 512 : 640;
  }
  std::uint32_t channels = tree ? channels_.trees : channels_.rings;
  if (!ring && !tree) return {channels, threads};
  const auto too_many = [&] { return bytes < std::uint64_t{channels} * threads * worth; };
  while (channels >= 2 && too_many()) --channels;
  while (threads % 128 == 0 && too_many()) threads /= 2;
  if (simple) threads = tree ? 640 : std::max(96u, threads + 32);
  return {channels, threads};
}

}  // namespace ringlet::plan
