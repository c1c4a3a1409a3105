// The traffic of a program on an emulated machine: the bytes that each link of the hardware
// carried, beside those that the plans say, and the calls that made them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/traffic/traffic_file.hpp"

namespace ringlet::cli {

/// By its number, from 0 on in the order of their names: 2 before 10.
struct TrafficHost {
  std::string name;      ///< RINGLET_HOSTID; empty where no rank has one
  std::string identity;  ///< as the ranks' files name it
};

/// One direction of a link.
struct LinkTraffic {
  std::uint32_t host = 0;
  std::string from, to;  ///< NCCL's names on that host
  std::string kind;      ///< "NVL", "PCI", "NET", ...
  std::uint32_t mb_per_s = 0;
  std::uint64_t measured_bytes = 0, planned_bytes = 0;
  std::uint32_t nominal_mb_per_s = 0;  ///< of a link that was made slow; else 0

  /// How long the measured bytes take at the link's width.
  double time_us() const { return static_cast<double>(measured_bytes) / mb_per_s; }
};

struct RankTraffic {
  std::uint32_t rank = 0, host = 0;
  std::string gpu;               ///< "DEV/0-7000"
  std::uint64_t sent_bytes = 0;  ///< over the first link of each route
};

struct CommunicatorTraffic {
  std::string communicator;
  std::uint32_t ranks = 0;
  std::vector<RankTraffic> by_rank = {};    ///< ascending
  std::vector<std::uint32_t> missing = {};  ///< ranks that left no file
};

/// Equal calls of all communicators of one size.
struct CallTraffic {
  std::string function;
  std::uint32_t ranks = 0;
  std::uint64_t count = 0, bytes = 0;  ///< of a block of a rank, as in its file
  std::optional<CallAlgorithm> algorithm = {};
  std::uint64_t calls = 0;  ///< of collectives each is called by all ranks, and counts once
  /// Those that took longer than predicted where RINGLET_PACE is set; of the rank with the most.
  std::uint64_t slower_calls = 0;

  /// Bytes, as `ringlet bench` counts them.
  std::uint64_t size() const;
  /// GB/s, as NCCL's model of times predicts them. \pre there is an algorithm
  double algbw() const { return BandwidthOf(algorithm->predicted_ns); }
  double busbw() const { return algbw() * bus_factor(); }
  /// \pre  NCCL would take another algorithm
  double nccl_busbw() const { return BandwidthOf(algorithm->nccl_predicted_ns) * bus_factor(); }
  /// \pre  slow links matter
  double slowed_busbw() const { return BandwidthOf(algorithm->slowed_ns) * bus_factor(); }
  double BandwidthOf(std::uint64_t ns) const;  ///< size in that time
  double bus_factor() const;
};

struct TrafficReport {
  std::vector<TrafficHost> hosts;
  std::vector<CommunicatorTraffic> communicators;
  std::vector<LinkTraffic> links;  ///< the busiest first
  std::vector<CallTraffic> calls;
  /// A sentence for each thing that is wrong: a link that carried something else than planned,
  /// ranks without a file, ranks that called something else. At most kTrafficFindingsMax.
  std::vector<std::string> findings;
  std::uint64_t findings_left_out = 0;

  /// Microseconds of the busiest link; 0: no data were moved.
  double busiest_us() const { return links.empty() ? 0 : links.front().time_us(); }
  /// The time of a link beside that of the busiest: 0 to 1.
  double Load(const LinkTraffic& link) const;
};

/// Totals of numbers from files end at the largest number there is.
void AddBytes(std::uint64_t& total, std::uint64_t more);

inline constexpr std::size_t kTrafficFindingsMax = 100;
inline constexpr std::size_t kTrafficFileBytesMax = std::size_t{16} << 20;

/// \param files  each with the path that errors name
/// Errors  kInvalidArgument  two files contradict each other; names one of them
/// Cost    O(entries * log entries)
Result<TrafficReport> MergeTraffic(const std::vector<std::pair<std::string, TrafficFile>>& files);

/// Of all files in a folder.
/// Errors  kSystem           it cannot be read
///         kInvalidArgument  nothing is in it, or a file that no rank left; names that
///         kUnsupported      it has more than kTrafficFilesMax files, or one of more than
///                           kTrafficFileBytesMax bytes
Result<TrafficReport> ReadTraffic(const std::string& folder);

}  // namespace ringlet::cli
