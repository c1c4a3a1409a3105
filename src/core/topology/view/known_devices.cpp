#include "topology/view/known_devices.hpp"

#include <algorithm>
#include <array>

namespace ringlet::topology {
namespace {

constexpr std::uint16_t kNvidia = 0x10de;
constexpr std::uint16_t kAmd = 0x1002;

constexpr std::array kGpus = {
    GpuModel{"p100-sxm2", 0x15f9, kNvidia, 60, 4, 3, "", "Tesla P100-SXM2-16GB", 16, 56},
    GpuModel{"v100-sxm2", 0x1db5, kNvidia, 70, 6, 3, "", "Tesla V100-SXM2-32GB", 32, 80},
    GpuModel{"v100-sxm2-16gb", 0x1db1, kNvidia, 70, 6, 3, "", "Tesla V100-SXM2-16GB", 16, 80},
    GpuModel{"a100-sxm4", 0x20b0, kNvidia, 80, 12, 4, "", "NVIDIA A100-SXM4-40GB", 40, 108},
    GpuModel{"a100-sxm4-80gb", 0x20b2, kNvidia, 80, 12, 4, "", "NVIDIA A100-SXM4-80GB", 80, 108},
    GpuModel{"a100-pcie", 0x20f1, kNvidia, 80, 12, 4, "", "NVIDIA A100-PCIE-40GB", 40, 108},
    GpuModel{"a100-pcie-80gb", 0x20b5, kNvidia, 80, 12, 4, "", "NVIDIA A100 80GB PCIe", 80, 108},
    GpuModel{"a10g", 0x2237, kNvidia, 86, 0, 4, "", "NVIDIA A10G", 24, 80},
    GpuModel{"rtx3090", 0x2204, kNvidia, 86, 4, 4, "", "NVIDIA GeForce RTX 3090", 24, 82},
    GpuModel{"h100-sxm5", 0x2330, kNvidia, 90, 18, 5, "", "NVIDIA H100 80GB HBM3", 80, 132},
    GpuModel{"h100-pcie", 0x2331, kNvidia, 90, 12, 5, "", "NVIDIA H100 PCIe", 80, 114},
    GpuModel{"h200-sxm", 0x2335, kNvidia, 90, 18, 5, "", "NVIDIA H200", 141, 132},
    GpuModel{"b200-sxm", 0x2901, kNvidia, 100, 18, 5, "", "NVIDIA B200", 180, 148},
    GpuModel{"mi250x", 0x7408, kAmd, 90, 8, 4, "gfx90a", "AMD Instinct MI250X", 64, 110},
    GpuModel{"mi300x", 0x74a1, kAmd, 94, 7, 5, "gfx942", "AMD Instinct MI300X", 192, 304},
};

constexpr std::array<std::string_view, 5> kLayouts = {"none", "switch", "pairs", "mesh",
                                                      "cube-mesh"};

constexpr std::array kMachines = {
    KnownMachine{"aws-g5.48xlarge", "a10g", 8, LinkLayout::kNone, 100'000,
                 "aws.amazon.com/ec2/instance-types/g5: 8 A10G, 100 Gbit/s of network"},
    KnownMachine{"aws-p4d.24xlarge", "a100-sxm4", 8, LinkLayout::kSwitch, 100'000,
                 "aws.amazon.com/ec2/instance-types/p4: 8 A100 40 GB on NVSwitch, 400 Gbit/s over "
                 "four EFA devices"},
    KnownMachine{"aws-p4de.24xlarge", "a100-sxm4-80gb", 8, LinkLayout::kSwitch, 100'000,
                 "aws.amazon.com/ec2/instance-types/p4: 8 A100 80 GB on NVSwitch, 400 Gbit/s over "
                 "four EFA devices"},
    KnownMachine{"aws-p5.48xlarge", "h100-sxm5", 8, LinkLayout::kSwitch, 100'000,
                 "aws.amazon.com/ec2/instance-types/p5: 8 H100 on NVSwitch, 3200 Gbit/s over 32 "
                 "EFA devices"},
    KnownMachine{"azure-nd40rs-v2", "v100-sxm2", 8, LinkLayout::kCubeMesh, 100'000,
                 "learn.microsoft.com, NDv2 series: 8 V100 32 GB with NVLink, 100 Gbit/s EDR; its "
                 "host is built like a DGX-1, but the order of the GPUs in the mesh is a guess"},
    KnownMachine{"azure-nd96asr-v4", "a100-sxm4", 8, LinkLayout::kSwitch, 200'000,
                 "learn.microsoft.com, ND A100 v4 series: 8 A100 on NVLink 3.0, 200 Gbit/s HDR for "
                 "each GPU"},
    KnownMachine{"azure-nd96isr-h100-v5", "h100-sxm5", 8, LinkLayout::kSwitch, 400'000,
                 "learn.microsoft.com, ND H100 v5 series: 8 H100 on NVLink 4.0, 400 Gbit/s NDR for "
                 "each GPU"},
    KnownMachine{"dgx-a100", "a100-sxm4", 8, LinkLayout::kSwitch, 200'000,
                 "NVIDIA DGX A100 user guide: 8 A100 on six NVSwitches, 200 Gbit/s ConnectX-6"},
    KnownMachine{"dgx-h100", "h100-sxm5", 8, LinkLayout::kSwitch, 400'000,
                 "NVIDIA DGX H100/H200 user guide: 8 H100 on four NVSwitches, a ConnectX-7 of 400 "
                 "Gbit/s for each GPU"},
    KnownMachine{"nebius-h100", "h100-sxm5", 8, LinkLayout::kSwitch, 400'000,
                 "github.com/nebius/soperator, renderConfigMapNCCLTopology: 8 H100 (0x2330), NICs "
                 "of 400 Gbit/s"},
    KnownMachine{"oci-bm.gpu4.8", "a100-sxm4", 8, LinkLayout::kSwitch, 200'000,
                 "docs.oracle.com, compute shapes: 8 A100 40 GB, 8 network cards of two ports of "
                 "100 Gbit/s"},
};

template <typename T>
const T* ByName(std::span<const T> entries, std::string_view name) {
  const auto at =
      std::find_if(entries.begin(), entries.end(), [&](const T& one) { return one.name == name; });
  return at == entries.end() ? nullptr : &*at;
}

}  // namespace

std::span<const GpuModel> GpuModels() {
  return kGpus;
}

const GpuModel* FindGpuModel(std::string_view name) {
  return ByName(GpuModels(), name);
}

const GpuModel* FindGpuModel(const PciIds& ids) {
  const auto at = std::find_if(kGpus.begin(), kGpus.end(), [&](const GpuModel& model) {
    return model.vendor == ids.vendor && model.device == ids.device;
  });
  return at == kGpus.end() ? nullptr : &*at;
}

std::uint32_t NvLinksMax(std::uint32_t compute_capability) {
  if (compute_capability < 60) return 0;
  if (compute_capability < 70) return 4;
  if (compute_capability < 80) return 6;
  if (compute_capability < 90) return 12;
  const bool is_rubin = compute_capability >= 107 && compute_capability < 110;
  return is_rubin ? 36 : 18;
}

std::string_view LayoutName(LinkLayout layout) {
  return kLayouts[static_cast<std::size_t>(layout)];
}

std::optional<LinkLayout> FindLayout(std::string_view name) {
  const auto at = std::find(kLayouts.begin(), kLayouts.end(), name);
  if (at == kLayouts.end()) return std::nullopt;
  return static_cast<LinkLayout>(at - kLayouts.begin());
}

std::span<const KnownMachine> KnownMachines() {
  return kMachines;
}

const KnownMachine* FindKnownMachine(std::string_view name) {
  return ByName(KnownMachines(), name);
}

}  // namespace ringlet::topology
