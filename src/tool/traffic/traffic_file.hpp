// The file that a rank of a communicator on an emulated machine leaves in RINGLET_TRAFFIC_DIR.
// Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Files of a folder, and so ranks of a communicator: as many as os::FileTree lists.
inline constexpr std::size_t kTrafficFilesMax = 65'536;

/// Bytes of paths and of names in messages.
inline constexpr std::size_t kTrafficPathShown = 300, kTrafficNameShown = 60;

/// One direction of a link that data of the rank went over.
struct TrafficFileLink {
  std::string host;      ///< identity of the host that has the link
  std::string from, to;  ///< NCCL's names, "DEV/0-7000"
  std::string kind;      ///< as NCCL's log has it: "NVL", "PCI", "NET"
  std::uint32_t mb_per_s = 0;
  std::uint64_t measured_bytes = 0, planned_bytes = 0;
  std::uint32_t nominal_mb_per_s = 0;  ///< of a link that RINGLET_SLOW made slow; else 0
};

/// How NCCL runs a call on rings and trees.
struct CallAlgorithm {
  std::string name, protocol;  ///< "Ring", "LL128"
  std::uint32_t channels = 0;
  std::uint64_t predicted_ns = 0;
  /// The algorithm that NCCL would take, and the emulated machine does not have: "NVLS". Empty: it
  /// is `name`.
  std::string nccl_name = {};
  std::uint64_t nccl_predicted_ns = 0;
  std::uint64_t slowed_ns = 0;  ///< with the slow links; 0: they do not matter
  auto operator<=>(const CallAlgorithm&) const = default;
};

struct TrafficFileCall {
  std::string function;     ///< as collective::Name
  std::uint64_t count = 0;  ///< elements of a block
  std::uint64_t bytes = 0;  ///< of these
  std::uint64_t calls = 0;
  std::optional<CallAlgorithm> algorithm = {};  ///< none: messages
  std::uint64_t slower_calls = 0;               ///< than predicted, where RINGLET_PACE is set
};

struct TrafficFile {
  std::string communicator;  ///< its public number
  std::uint32_t rank = 0, ranks = 0;
  std::string host;           ///< of RINGLET_HOSTID; empty: it was not set
  std::string host_identity;  ///< as in links
  std::string gpu;            ///< "DEV/0-7000"
  std::vector<TrafficFileLink> links = {};
  std::vector<TrafficFileCall> calls = {};
};

/// One file. Keys: docs/reference/emulate-report.md.
/// \param path  for errors
/// Errors  kInvalidArgument  names the file and what is wrong with it
Result<TrafficFile> ParseTrafficFile(const std::string& path, std::string_view text);

}  // namespace ringlet::cli
