// Known GPUs and machines. They supply facts that a topology file may lack.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct GpuModel {
  std::string_view name;  ///< "a100-sxm4"
  std::uint16_t device;   ///< PCI device id
  std::uint16_t vendor;
  std::uint32_t compute_capability;  ///< times 10; for AMD's, as in RCCL's files
  std::uint32_t links;               ///< total NVLinks or xGMI links of the GPU
  std::uint8_t pcie_generation;
  std::string_view gcn;      ///< AMD's name of the architecture; empty for others
  std::string_view product;  ///< the driver's name of the GPU
  std::uint32_t memory_gib;  ///< of one PCI function; data sheets write GB
  std::uint32_t processors;  ///< multiprocessors, or AMD's compute units, of one PCI function
};

/// Source  device ids: the PCI ID Repository and the files in test/fixtures/topologies; the rest:
///         the makers' data sheets.
std::span<const GpuModel> GpuModels();
/// Finds a model by name. Null if unknown.
const GpuModel* FindGpuModel(std::string_view name);
/// Finds a model by vendor and device id. Null if unknown.
const GpuModel* FindGpuModel(const PciIds& ids);

/// The maximum number of NVLinks that NCCL looks for on a GPU.
/// Source  NCCL: compute capability below 6.0: 0, below 7.0: 4, below 8.0: 6, below 9.0: 12, else
///         18; for Rubin, 10.7, its dumps contain 36.
std::uint32_t NvLinksMax(std::uint32_t compute_capability);

/// The links between the GPUs of a host.
enum class LinkLayout : std::uint8_t {
  kNone,
  kSwitch,    ///< all links of every GPU lead to NVSwitches
  kPairs,     ///< all links join 0 with 1, 2 with 3, ...: bridges
  kMesh,      ///< equal numbers of links between all pairs of GPUs
  kCubeMesh,  ///< the hybrid cube mesh of eight GPUs with six links each
};
std::string_view LayoutName(LinkLayout layout);  ///< "none", "switch", "pairs", "mesh", "cube-mesh"
std::optional<LinkLayout> FindLayout(std::string_view name);

struct KnownMachine {
  std::string_view name;  ///< "azure-nd96asr-v4"
  std::string_view gpu;   ///< name of a GpuModel
  std::uint32_t gpus;     ///< number per host
  LinkLayout layout;
  std::uint32_t nic_mbit_per_s;  ///< of one NIC function
  std::string_view source;
};
std::span<const KnownMachine> KnownMachines();
const KnownMachine* FindKnownMachine(std::string_view name);

}  // namespace ringlet::topology
