// Opens a path below a directory without openat2, component by component.
#pragma once
#include <string_view>

#include "os/fs/fd.hpp"

namespace ringlet::os {

/// Opens `path` with `flags` as if `root` were the root directory: absolute links start there and
/// ".." stops there. With O_NOFOLLOW the last component is not followed. On failure the result is
/// invalid and errno is set; ELOOP after 40 links, as in the kernel.
///
/// If the tree changes during the walk, the result can be another file of the tree, but never one
/// outside the directories that the walk has opened.
Fd OpenByWalk(int root, std::string_view path, int flags);

}  // namespace ringlet::os
