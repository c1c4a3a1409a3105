// The answer of a process to `ringlet status`: its ranks, and the peers that it queried.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "watch/findings.hpp"

namespace ringlet::watch {

/// A peer's report about a communicator that may not contain the querying rank.
struct ReportedState {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  RankState state = {};
  bool operator==(const ReportedState&) const = default;
};

/// A communicator as one of its ranks knows it.
struct CommunicatorStatus {
  std::string communicator = {};  ///< 16 hexadecimal digits
  std::uint32_t ranks = 0;
  RankState self = {};
  std::vector<RankState> peers = {};     ///< queried over the control network; by rank
  std::vector<ReportedState> told = {};  ///< their reports on other communicators
  bool operator==(const CommunicatorStatus&) const = default;
};

struct ProcessStatus {
  std::string host = {};
  std::uint32_t pid = 0;
  std::vector<CommunicatorStatus> communicators = {};
  bool operator==(const ProcessStatus&) const = default;
};

inline constexpr std::size_t kStatusBytesMax = std::size_t{64} << 20;

/// Ends with a newline.
std::string ToJson(const ProcessStatus& status);
/// The inverse of ToJson. Errors  kProtocol  names the defect
Result<ProcessStatus> ParseProcessStatus(std::string_view text);

Json RankStateJson(const RankState& state);

}  // namespace ringlet::watch
