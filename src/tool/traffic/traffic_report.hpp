// The traffic of a program on an emulated machine: the bytes that each link carried, the planned
// bytes, and the calls that caused them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tool/traffic/traffic_file.hpp"

namespace ringlet::cli {

/// A host. Hosts are numbered from 0 in natural order of their names: 2 precedes 10.
struct TrafficHost {
  std::string name;      ///< RINGLET_HOSTID; empty if no rank set it
  std::string identity;  ///< as in the ranks' files
};

/// One direction of a link.
struct LinkTraffic {
  std::uint32_t host = 0;
  std::string from, to;  ///< NCCL's names on that host
  std::string kind;      ///< "NVL", "PCI", "NET", ...
  std::uint32_t mb_per_s = 0;
  std::uint64_t measured_bytes = 0, planned_bytes = 0;
  std::uint32_t nominal_mb_per_s = 0;  ///< for a link that was made slow; else 0

  /// Returns the time of the measured bytes at the link's bandwidth.
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
  std::vector<std::uint32_t> missing = {};  ///< ranks without a file
};

/// Equal calls of all communicators of one size.
struct CallTraffic {
  std::string function;
  std::uint32_t ranks = 0;
  std::uint64_t count = 0, bytes = 0;  ///< a rank's block, as in its file
  std::optional<CallAlgorithm> algorithm = {};
  std::uint64_t calls = 0;  ///< a collective that all ranks call counts once
  /// Calls slower than predicted, if RINGLET_PACE is set; of the rank with the most.
  std::uint64_t slower_calls = 0;

  /// Returns bytes as `ringlet bench` counts them.
  std::uint64_t size() const;
  /// Returns GB/s as predicted by NCCL's model of times. \pre `algorithm` is not null
  double algbw() const { return BandwidthOf(algorithm->predicted_ns); }
  double busbw() const { return algbw() * bus_factor(); }
  /// \pre  NCCL would choose another algorithm
  double nccl_busbw() const { return BandwidthOf(algorithm->nccl_predicted_ns) * bus_factor(); }
  /// \pre  slow links have an effect
  double slowed_busbw() const { return BandwidthOf(algorithm->slowed_ns) * bus_factor(); }
  double BandwidthOf(std::uint64_t ns) const;  ///< `size` divided by the time
  double bus_factor() const;
};

struct TrafficReport {
  std::vector<TrafficHost> hosts;
  std::vector<CommunicatorTraffic> communicators;
  std::vector<LinkTraffic> links;  ///< busiest first
  std::vector<CallTraffic> calls;
  /// One sentence per mistake: a link with other bytes than planned, ranks without a file, or ranks
  /// with other calls. At most kTrafficFindingsMax.
  std::vector<std::string> findings;
  std::uint64_t findings_left_out = 0;

  /// Returns the microseconds of the busiest link; 0 if no data was moved.
  double busiest_us() const { return links.empty() ? 0 : links.front().time_us(); }
  /// Returns the time of a link divided by that of the busiest: 0 to 1.
  double Load(const LinkTraffic& link) const;
};

/// Adds numbers from files. The total saturates at the largest number.
void AddBytes(std::uint64_t& total, std::uint64_t more);

inline constexpr std::size_t kTrafficFindingsMax = 100;
inline constexpr std::size_t kTrafficFileBytesMax = std::size_t{16} << 20;

/// \param files  each with its path for errors
/// Errors  kInvalidArgument  two files contradict each other; names one of them
/// Cost    O(entries * log entries)
Result<TrafficReport> MergeTraffic(const std::vector<std::pair<std::string, TrafficFile>>& files);

/// Merges all files in a folder.
/// Errors  kSystem           it cannot be read
///         kInvalidArgument  it is empty, or a file in it is not a traffic file; names that file
///         kUnsupported      it has more than kTrafficFilesMax files, or a file has more than
///         kTrafficFileBytesMax bytes
Result<TrafficReport> ReadTraffic(const std::string& folder);

}  // namespace ringlet::cli
