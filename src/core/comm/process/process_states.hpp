// States of processes as the kernel of this host has them, beside what ranks say.
#pragma once
#include <string_view>
#include <vector>

#include "os/fs/file_tree.hpp"
#include "watch/status.hpp"

namespace ringlet::comm {

/// Fills RankState::process of the ranks whose host is `here`; those whose process has ended are
/// gone, unless they have left before. Cost  a file of /proc for each of these
void AddProcessStates(const os::FileTree& files, std::string_view here,
                      std::vector<watch::ProcessStatus>& statuses);

}  // namespace ringlet::comm
