// Adds the kernel's states of this host's processes to the statuses that ranks report.
#pragma once
#include <string_view>
#include <vector>

#include "os/fs/file_tree.hpp"
#include "watch/status.hpp"

namespace ringlet::comm {

/// Fills RankState::process of the ranks on host `here`. A rank of an ended process becomes kGone,
/// unless it has left before. Cost  a file of /proc for each rank
void AddProcessStates(const os::FileTree& files, std::string_view here,
                      std::vector<watch::ProcessStatus>& statuses);

}  // namespace ringlet::comm
