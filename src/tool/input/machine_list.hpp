// A short list of the named machines for `ringlet emulate --list-machines`. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// The facts by which users choose a machine.
struct MachineSummary {
  std::string name = {};
  std::string path = {};
  std::uint32_t gpus = 0;
  std::string gpu = {};                  ///< "NVIDIA H100 80GB HBM3", "sm_90"
  std::uint32_t compute_capability = 0;  ///< times 10
  std::uint32_t nv_switches = 0;         ///< number of switches in the file
  /// "NVLink to 4 switches", "NVLink to hidden switches", "NVLink", "none"
  std::string links = {};
  std::map<std::uint32_t, std::uint32_t> nets = {};  ///< count of ports by Mbit/s; 0: unknown
  bool cuda = true;                                  ///< CUDA programs can use its GPUs
};

MachineSummary Summarize(std::string name, std::string path, const topology::HostView& view);

/// Returns one line per machine.
std::string MachineListText(const std::vector<MachineSummary>& machines);
/// Returns one object with the member machines.
std::string MachineListJson(const std::vector<MachineSummary>& machines);

}  // namespace ringlet::cli
