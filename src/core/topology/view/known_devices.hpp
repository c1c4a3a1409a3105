// GPUs and machines that people have, as far as a topology file may leave them out.
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
  std::uint16_t device;   ///< PCI device id, of vendor
  std::uint16_t vendor;
  std::uint32_t compute_capability;  ///< times 10; of AMD's as RCCL's files have it
  std::uint32_t links;               ///< NVLinks or xGMI links that the GPU has at all
  std::uint8_t pcie_generation;
  std::string_view gcn;      ///< AMD's name of the architecture; empty of others
  std::string_view product;  ///< the name by which its driver calls it
  std::uint32_t memory_gib;  ///< of one PCI function; data sheets write GB
  std::uint32_t processors;  ///< multiprocessors, or AMD's compute units, of one PCI function
};

/// Source  device ids: the PCI ID Repository and the files in test/fixtures/topologies; the rest:
///         the makers' data sheets.
std::span<const GpuModel> GpuModels();
/// By name, or nothing.
const GpuModel* FindGpuModel(std::string_view name);
/// By vendor and device id, or nothing.
const GpuModel* FindGpuModel(const PciIds& ids);

/// The most NVLinks that NCCL looks for on a GPU.
/// Source  NCCL: compute capability below 6.0 none, below 7.0 4, below 8.0 6, below 9.0 12,
///         else 18; of Rubin, 10.7, its dumps have 36.
std::uint32_t NvLinksMax(std::uint32_t compute_capability);

/// How the GPUs of a host are joined.
enum class LinkLayout : std::uint8_t {
  kNone,
  kSwitch,    ///< every GPU by all its links to NVSwitches
  kPairs,     ///< 0 with 1, 2 with 3, ... by all links: bridges
  kMesh,      ///< every GPU with every other by an equal number of links
  kCubeMesh,  ///< the hybrid cube mesh of eight GPUs with six links each
};
std::string_view LayoutName(LinkLayout layout);  ///< "none", "switch", "pairs", "mesh", "cube-mesh"
std::optional<LinkLayout> FindLayout(std::string_view name);

struct KnownMachine {
  std::string_view name;  ///< "azure-nd96asr-v4"
  std::string_view gpu;   ///< a GpuModel
  std::uint32_t gpus;     ///< of one host
  LinkLayout layout;
  std::uint32_t nic_mbit_per_s;  ///< of one NIC function
  std::string_view source;       ///< its source
};
std::span<const KnownMachine> KnownMachines();
const KnownMachine* FindKnownMachine(std::string_view name);

}  // namespace ringlet::topology
