// The answer of a process to `ringlet status`: its ranks, and their peers as far as it asked them.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "watch/findings.hpp"

namespace ringlet::watch {

/// The words of a peer about a communicator that the rank which asked need not be in.
struct ToldState {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  RankState state = {};
  bool operator==(const ToldState&) const = default;
};

/// One communicator, as one of its ranks knows it.
struct CommunicatorStatus {
  std::string communicator = {};  ///< 16 hexadecimal digits
  std::uint32_t ranks = 0;
  RankState self = {};
  std::vector<RankState> peers = {};  ///< that were asked over the control network, by rank
  std::vector<ToldState> told = {};   ///< by these, of the other communicators of their processes
  bool operator==(const CommunicatorStatus&) const = default;
};

struct ProcessStatus {
  std::string host = {};
  std::uint32_t pid = 0;
  std::vector<CommunicatorStatus> communicators = {};
  bool operator==(const ProcessStatus&) const = default;
};

inline constexpr std::size_t kStatusBytesMax = std::size_t{64} << 20;

/// With a newline at its end.
std::string ToJson(const ProcessStatus& status);
/// The inverse. Errors  kProtocol  says what is wrong with it
Result<ProcessStatus> ParseProcessStatus(std::string_view text);

Json RankStateJson(const RankState& state);

}  // namespace ringlet::watch
