#include "topo/check/boards.hpp"

#include <algorithm>
#include <array>

namespace ringlet::topology {
namespace {

constexpr std::uint16_t kNvidiaBoards = 0x10de;
constexpr std::uint16_t kAmdBoards = 0x1002;

constexpr std::string_view kDgx1 = "NVIDIA DGX-1 with Tesla V100 system architecture white paper";
constexpr std::string_view kAmpere = "NVIDIA A100 Tensor Core GPU architecture white paper";
constexpr std::string_view kHopper = "NVIDIA H100 Tensor Core GPU architecture white paper";

constexpr std::array kBoards = {
    GpuBoard{"p100-sxm2", 0x15f9, kNvidiaBoards, 4, 8, 3, kDgx1},
    GpuBoard{"v100-sxm2-16gb", 0x1db1, kNvidiaBoards, 6, 8, 3, kDgx1},
    GpuBoard{"v100-sxm2", 0x1db5, kNvidiaBoards, 6, 8, 3, kDgx1},
    GpuBoard{"v100-sxm3", 0x1db8, kNvidiaBoards, 6, 8, 3,
             "NVIDIA DGX-2 data sheet: two boards of 8"},
    GpuBoard{"a100-sxm4", 0x20b0, kNvidiaBoards, 12, 8, 4, kAmpere},
    GpuBoard{"a100-sxm4-80gb", 0x20b2, kNvidiaBoards, 12, 8, 4, kAmpere},
    GpuBoard{"a800-sxm4-80gb", 0x20f3, kNvidiaBoards, 8, 8, 4, "NVIDIA A800 data sheet: 400 GB/s"},
    GpuBoard{"h800-sxm5", 0x2324, kNvidiaBoards, 8, 8, 5, "NVIDIA H800 data sheet: 400 GB/s"},
    GpuBoard{"h100-sxm5", 0x2330, kNvidiaBoards, 18, 8, 5, kHopper},
    GpuBoard{"h200-sxm", 0x2335, kNvidiaBoards, 18, 8, 5, "NVIDIA H200 data sheet: 900 GB/s"},
    GpuBoard{"b200-sxm", 0x2901, kNvidiaBoards, 18, 8, 5,
             "NVIDIA DGX B200 data sheet: 14.4 TB/s of 8"},
    // Four or two packages of two functions each. The number of links depends on the place.
    GpuBoard{"mi250x", 0x7408, kAmdBoards, 0, 8, 4, "AMD Instinct MI200 data sheet"},
    GpuBoard{"mi300x", 0x74a1, kAmdBoards, 7, 8, 5, "AMD Instinct MI300X data sheet: seven links"},
};

}  // namespace

std::span<const GpuBoard> GpuBoards() {
  return kBoards;
}

const GpuBoard* FindGpuBoard(const PciIds& ids) {
  const auto at = std::find_if(kBoards.begin(), kBoards.end(), [&](const GpuBoard& board) {
    return board.vendor == ids.vendor && board.device == ids.device;
  });
  return at == kBoards.end() ? nullptr : &*at;
}

bool IsWholeBoard(const GpuBoard& board, std::uint32_t gpus, bool power) {
  if (gpus >= board.gpus) return gpus % board.gpus == 0;
  const bool is_share = gpus != 0 && board.gpus % gpus == 0;
  constexpr std::uint32_t kOfAPowerHost = 6;  // Power System AC922: two processors, three GPUs each
  return is_share || (power && gpus == kOfAPowerHost);
}

}  // namespace ringlet::topology
