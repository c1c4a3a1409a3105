// The named machines, shortly: for `ringlet emulate --list-machines`. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// The facts by which people choose a machine.
struct MachineSummary {
  std::string name = {};
  std::string path = {};
  std::uint32_t gpus = 0;
  std::string gpu = {};                  ///< "NVIDIA H100 80GB HBM3", "sm_90"
  std::uint32_t compute_capability = 0;  ///< times 10
  std::uint32_t nv_switches = 0;         ///< those that the file shows
  /// "NVLink to 4 switches", "NVLink to hidden switches", "NVLink", "none"
  std::string links = {};
  std::map<std::uint32_t, std::uint32_t> nets = {};  ///< network ports by Mbit/s; 0: unknown
  bool cuda = true;                                  ///< whether CUDA programs can use its GPUs
};

MachineSummary Summarize(std::string name, std::string path, const topology::HostView& view);

/// A line for each.
std::string MachineListText(const std::vector<MachineSummary>& machines);
/// One object: machines.
std::string MachineListJson(const std::vector<MachineSummary>& machines);

}  // namespace ringlet::cli
