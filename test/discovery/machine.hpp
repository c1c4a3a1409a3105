// Makes the /sys tree and the list of GPUs that a machine must have had of which a topology is
// known: so that files that people have dumped test discovery from end to end.
#pragma once
#include <string>

#include "discovery/gpus.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Writes every PCI function of `view` below ports of its own, interfaces and NUMA nodes.
void WriteMachine(os::TempTree& tree, const topology::HostView& view);

/// The GPUs of `view`, as their driver would tell.
GpuReport GpusOf(const topology::HostView& view);

/// Sets a variable of this process's environment, and takes it away at the end.
class Variable {
 public:
  Variable(std::string name, const std::string& value);
  ~Variable();
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

}  // namespace ringlet::discovery
