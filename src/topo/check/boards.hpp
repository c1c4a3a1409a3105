// GPUs soldered to boards. Each board has a fixed number of them, joined by NVLink or xGMI.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "topology/view/pci.hpp"

namespace ringlet::topology {

struct GpuBoard {
  std::string_view model;  ///< "h100-sxm5"
  std::uint16_t device;    ///< PCI device id, of vendor
  std::uint16_t vendor;
  std::uint32_t links;      ///< NVLinks or xGMI links of each GPU on the board; 0: differs
  std::uint32_t gpus;       ///< PCI functions of a full board
  std::uint8_t generation;  ///< of PCIe
  std::string_view source;  ///< for links and gpus
};

/// Source  device ids: the PCI ID Repository and the files in test/fixtures/topologies
std::span<const GpuBoard> GpuBoards();
/// Finds the board by vendor and device id. Null: the GPU is a card, or an unknown model.
const GpuBoard* FindGpuBoard(const PciIds& ids);

/// Returns true if a host may have this number of GPUs of a board: all, several boards, or a
/// virtual machine's share of a half, a quarter or one.
/// \param power  true for POWER processors: their hosts may also have six V100
bool IsWholeBoard(const GpuBoard& board, std::uint32_t gpus, bool power);

}  // namespace ringlet::topology
