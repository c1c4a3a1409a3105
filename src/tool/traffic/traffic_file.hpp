// The file that a rank on an emulated machine writes into RINGLET_TRAFFIC_DIR. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Maximum number of files in a folder, and thus of ranks in a communicator; os::FileTree's limit.
inline constexpr std::size_t kTrafficFilesMax = 65'536;

/// Maximum bytes of paths and names in messages.
inline constexpr std::size_t kTrafficPathShown = 300, kTrafficNameShown = 60;

/// One direction of a link that carried data of the rank.
struct TrafficFileLink {
  std::string host;      ///< identity of the link's host
  std::string from, to;  ///< NCCL's names, "DEV/0-7000"
  std::string kind;      ///< as in NCCL's log: "NVL", "PCI", "NET"
  std::uint32_t mb_per_s = 0;
  std::uint64_t measured_bytes = 0, planned_bytes = 0;
  std::uint32_t nominal_mb_per_s = 0;  ///< for a link that RINGLET_SLOW made slow; else 0
};

/// NCCL's algorithm for a call on rings and trees.
struct CallAlgorithm {
  std::string name, protocol;  ///< "Ring", "LL128"
  std::uint32_t channels = 0;
  std::uint64_t predicted_ns = 0;
  /// The algorithm that NCCL would choose if the emulated machine had it: "NVLS". Empty: `name`.
  std::string nccl_name = {};
  std::uint64_t nccl_predicted_ns = 0;
  std::uint64_t slowed_ns = 0;  ///< with the slow links; 0: they have no effect
  auto operator<=>(const CallAlgorithm&) const = default;
};

struct TrafficFileCall {
  std::string function;     ///< as in collective::Name
  std::uint64_t count = 0;  ///< elements of a block
  std::uint64_t bytes = 0;  ///< bytes of a block
  std::uint64_t calls = 0;
  std::optional<CallAlgorithm> algorithm = {};  ///< null: messages
  std::uint64_t slower_calls = 0;               ///< slower than predicted, if RINGLET_PACE is set
};

struct TrafficFile {
  std::string communicator;  ///< its public number
  std::uint32_t rank = 0, ranks = 0;
  std::string host;           ///< RINGLET_HOSTID; empty: not set
  std::string host_identity;  ///< as in links
  std::string gpu;            ///< "DEV/0-7000"
  std::vector<TrafficFileLink> links = {};
  std::vector<TrafficFileCall> calls = {};
};

/// Parses one file. Keys: docs/reference/emulate-report.md.
/// \param path  for errors
/// Errors  kInvalidArgument  names the file and the mistake
Result<TrafficFile> ParseTrafficFile(const std::string& path, std::string_view text);

}  // namespace ringlet::cli
