// Builds the /sys tree and the list of GPUs of a machine from its topology. So published files test
// discovery from end to end.
#pragma once
#include <string>

#include "discovery/gpus.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Writes every PCI function of `view` below ports of its own, interfaces and NUMA nodes.
void WriteMachine(os::TempTree& tree, const topology::HostView& view);

/// Returns the GPUs of `view` in the form of their driver.
GpuReport GpusOf(const topology::HostView& view);

/// Sets a variable of this process's environment, and removes it at the end.
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
