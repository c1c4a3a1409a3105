#include "tool/emulate/machine_sys.hpp"

#include "os/fs/file_tree.hpp"
#include "testbed/sys_space.hpp"

namespace ringlet::cli {

Status ShowMachineSys(const topology::HostView& view, testbed::SysCpus cpus) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  RINGLET_TRY_ASSIGN(const testbed::SysTree tree,
                     testbed::SysTreeOf(view, testbed::ReadComputerSys(files), cpus));
  return testbed::EnterSysSpace(tree);
}

}  // namespace ringlet::cli
