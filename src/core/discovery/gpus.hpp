// The driver's report of the GPUs of a machine, as a value, and its source.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

struct GpuReading {
  std::uint32_t index = 0;  ///< the driver's number
  topology::BusId bus = {};
  std::string name = {};
  std::uint32_t compute_capability = 0;  ///< multiplied by 10; 0: unknown
  topology::PciIds ids = {};
  std::uint8_t pcie_generation = 0;  ///< maximum of card and slot, 1 to 7; 0: unknown
  std::uint16_t pcie_width = 0;      ///< lanes in use; 0: unknown
  std::vector<topology::GpuLink> links =
      {};  ///< active ones, without target_class, which the driver does not know
  std::vector<topology::C2cLink> c2c = {};
  std::optional<topology::NvlinkFabric> fabric = {};
  bool operator==(const GpuReading&) const = default;
};

struct GpuReport {
  std::string driver;  ///< version, for people
  std::vector<GpuReading> gpus = {};
  /// A sentence for each fact that could not be determined.
  std::vector<std::string> missing = {};
  bool operator==(const GpuReport&) const = default;
};

class GpuSource {
 public:
  virtual ~GpuSource() = default;
  /// Queries the driver, or its stand-in. GpuReport::missing lists missing facts about single GPUs.
  /// Errors  kUnsupported  no driver exists; kSystem  the driver does not answer
  virtual Result<GpuReport> Read() = 0;
};

/// Returns the half of a split GPU, from its name.
/// Source  NCCL reads the number after "MLOPart".
std::optional<std::uint32_t> MloPartOf(std::string_view name);

/// The text form of a report. A captured machine stores it in kGpuTextPath.
///
///   ringlet-gpus 1
///   driver "535.104"
///   gpu 0 bus 0000:07:00.0 sm 80 pcie 4 16 vendor 0x10de device 0x20b0 name "NVIDIA A100"
///   nvlink 0 count 2 target 0000:0f:00.0
///   nvlink 0 count 2 target hidden
///   c2c 0 count 10 mb_per_s 44712
///   fabric 0 cluster 0x0123456789abcdef 0x0123456789abcdef clique 1
std::string ToText(const GpuReport& report);

/// Errors  kInvalidArgument  names the line and its defect
Result<GpuReport> ParseGpuText(std::string_view text);

inline constexpr std::string_view kGpuTextPath = "/ringlet/gpus";
inline constexpr std::size_t kGpuTextBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kGpusOfHostMax = 1024;

}  // namespace ringlet::discovery
