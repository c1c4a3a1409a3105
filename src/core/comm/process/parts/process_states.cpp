#include "comm/process/parts/process_states.hpp"

#include "os/process/process_state.hpp"

namespace ringlet::comm {

void AddProcessStates(const os::FileTree& files, std::string_view here,
                      std::vector<watch::ProcessStatus>& statuses) {
  const auto add = [&](watch::RankState& state) {
    if (state.host == here && state.pid != 0) state.process = os::ProcessState(files, state.pid);
    if (state.process == "ended" && state.reach != watch::RankState::Reach::kLeft)
      state.reach = watch::RankState::Reach::kGone;
  };
  for (watch::ProcessStatus& status : statuses)
    for (watch::CommunicatorStatus& one : status.communicators) {
      add(one.self);
      for (watch::RankState& peer : one.peers) add(peer);
    }
}

}  // namespace ringlet::comm
