#include "topo/check/defect.hpp"

#include <algorithm>
#include <array>

#include "ringlet/status.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array kRules = {
    DefectRule{"gpu-missing", Severity::kError, Remedy::kDrain, "GPUs are missing"},
    DefectRule{"gpu-other-model", Severity::kError, Remedy::kRepair, "GPUs of another model"},
    DefectRule{"nvlinks-none", Severity::kError, Remedy::kDrain, "GPUs without NVLinks"},
    DefectRule{"nvlinks-fewer", Severity::kError, Remedy::kDrain, "GPUs with too few NVLinks"},
    DefectRule{"c2c-fewer", Severity::kError, Remedy::kDrain,
               "GPUs with a slower link to their processor than expected"},
    DefectRule{"gpu-pcie", Severity::kError, Remedy::kDrain,
               "GPUs with slower PCIe than their peers"},
    DefectRule{"card-pcie", Severity::kWarning, Remedy::kRepair,
               "GPU cards in slots slower than those of their peers"},
    DefectRule{"gpu-gdr", Severity::kWarning, Remedy::kRepair,
               "GPUs without the GPUDirect RDMA that their peers have"},
    DefectRule{"gpu-numa", Severity::kWarning, Remedy::kRepair, "GPUs at the wrong NUMA node"},
    DefectRule{"moved", Severity::kWarning, Remedy::kRepair, "devices in an unexpected place"},
    DefectRule{"switch-pcie", Severity::kError, Remedy::kRepair,
               "PCIe switches with slower links than their peers"},
    DefectRule{"nic-missing", Severity::kError, Remedy::kDrain, "NICs are missing"},
    DefectRule{"nic-pcie", Severity::kError, Remedy::kRepair,
               "NICs with slower PCIe than their peers"},
    DefectRule{"nic-rate", Severity::kError, Remedy::kRepair,
               "NIC ports at a lower rate than their peers"},
    DefectRule{"nic-gdr", Severity::kWarning, Remedy::kRepair,
               "NIC ports without the GPUDirect RDMA that their peers have"},
    DefectRule{"nic-numa", Severity::kWarning, Remedy::kRepair, "NICs at the wrong NUMA node"},
    DefectRule{"link-reduced", Severity::kError, Remedy::kRepair,
               "PCIe links slower than both ends support"},
    DefectRule{"link-at-rest", Severity::kNote, Remedy::kNone,
               "slow PCIe links of GPUs, possibly idle GPUs"},
    DefectRule{kNarrowRule, Severity::kWarning, Remedy::kEditFile,
               "PCIe links far narrower than the devices behind them"},
    DefectRule{kIdleNarrowRule, Severity::kNote, Remedy::kNone,
               "PCIe links far narrower than the devices behind them, at no cost"},
    DefectRule{"gpu-below-model", Severity::kNote, Remedy::kNone,
               "GPUs at a lower PCIe generation than their model supports"},
    DefectRule{"skeleton", Severity::kNote, Remedy::kNone,
               "files that leave GPUs, their links and ports to the machine"},
    DefectRule{kFileRule, Severity::kError, Remedy::kEditFile, "mistakes in the file"},
};

constexpr std::array<std::string_view, 4> kRemedies = {"none", "edit-file", "repair", "drain"};

}  // namespace

std::string_view NameOf(Remedy remedy) {
  return kRemedies[static_cast<std::size_t>(remedy)];
}

std::span<const DefectRule> DefectRules() {
  return kRules;
}

const DefectRule& DefectRuleOf(std::string_view word) {
  const auto at = std::find_if(kRules.begin(), kRules.end(),
                               [&](const DefectRule& rule) { return rule.word == word; });
  RINGLET_ASSERT(at != kRules.end());
  return *at;
}

}  // namespace ringlet::topology
