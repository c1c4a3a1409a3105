// GPUs that are soldered to boards of a fixed number, joined by NVLink or xGMI on each of them.
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
  std::uint32_t links;      ///< NVLinks or xGMI links that each GPU has on the board; 0: differs
  std::uint32_t gpus;       ///< PCI functions of a full board
  std::uint8_t generation;  ///< of PCIe
  std::string_view source;  ///< of links and gpus
};

/// Source  device ids: the PCI ID Repository and the files in test/fixtures/topologies
std::span<const GpuBoard> GpuBoards();
/// By vendor and device id, or nothing: then the GPU is a card, or of an unknown model.
const GpuBoard* FindGpuBoard(const PciIds& ids);

/// Whether a host may have so many GPUs of a board: all, several boards, or the half, the quarter
/// or one that virtual machines are given.
/// \param power  processors of the POWER family: their hosts have six V100, too
bool IsWholeBoard(const GpuBoard& board, std::uint32_t gpus, bool power);

}  // namespace ringlet::topology
