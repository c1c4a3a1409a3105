#include "bootstrap/member/joining_phase.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::bootstrap {

std::string CallingPhase(const MemberCommon& common) {
  const Connections::Calls& calls = common.connections.calls();
  if (calls.empty()) return "beginning to join";
  const Connections::CallInProgress& first = calls.front();
  const std::string to =
      first.role == MemberLine::kNodeLeader ? "the node leader of this host" : "the root";
  const std::string stopped =
      StoppedText(common.config.is_stopped, common.config.member_address.host, first.dialler.pid());
  return fmt::format(
      "connecting to {}{}", to,
      stopped.empty() ? fmt::format(" ({})", first.dialler.Reasons()) : ", which " + stopped);
}

std::string ConnectingPhase(const MemberCommon& common, const RootCalls& roots) {
  std::vector<std::uint32_t> missing;
  for (const auto& [id, line] : common.connections.lines())
    if (line.role == MemberLine::kChild && !line.ready) missing.push_back(line.peer);
  for (const Connections::CallInProgress& call : common.connections.calls())
    if (call.role == MemberLine::kChild) missing.push_back(call.peer);
  if (missing.empty()) return "connected and waiting for the other ranks to connect";
  std::ranges::sort(missing);
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(missing.size(), 8); ++i) {
    const std::string stopped = roots.WhyStopped(missing[i]);
    names += (i == 0 ? "" : ", ") + roots.Name(missing[i]);
    if (!stopped.empty()) names += " " + stopped;
  }
  return "connecting to the ranks below: " + names + (missing.size() > 8 ? ", ..." : "");
}

}  // namespace ringlet::bootstrap
