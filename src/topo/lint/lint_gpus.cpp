// Rules about GPUs, except for links.
#include <fmt/format.h>

#include <map>

#include "topo/lint/lint_context.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

void LintNeeded(LintContext& context, Part part, const Gpu& gpu) {
  std::string missing;
  const auto need = [&](bool is_there, std::string_view name) {
    if (!is_there) missing += (missing.empty() ? "" : ", ") + std::string(name);
  };
  need(gpu.dev.has_value(), "dev");
  need(gpu.compute_capability != 0, "sm");
  need(gpu.gdr.has_value(), "gdr");
  if (!missing.empty())
    context.AddFinding(
        Severity::kWarning, "incomplete-gpu", part, "",
        fmt::format("missing: {}; NCCL stops if it does not find the GPU itself", missing), "");
  if (gpu.mlopart.value_or(0) > 1)
    context.AddFinding(
        Severity::kError, "odd-partition", part, "mlopart",
        fmt::format("mlopart is {}; a GPU has at most two halves, 0 and 1", *gpu.mlopart), "");
}

void LintModel(LintContext& context, Part part, const Gpu& gpu) {
  const GpuModel* model = FindGpuModel(context.view().pci[gpu.pci].ids);
  if (model == nullptr || !model->gcn.empty() || gpu.compute_capability == 0 ||
      gpu.compute_capability == model->compute_capability)
    return;
  context.AddFinding(
      Severity::kWarning, "odd-compute-capability", part, "sm",
      fmt::format("sm is {}, but device 0x{:04x} is a {}, which has {}", gpu.compute_capability,
                  model->device, model->name, model->compute_capability),
      fmt::format("write sm=\"{}\"", model->compute_capability));
}

/// A function is one GPU. Several elements are ranks that share it, or its halves: one dev.
void LintFunction(LintContext& context, Part part, std::uint32_t first) {
  const Gpu& gpu = context.view().gpus[part.index];
  const Gpu& other = context.view().gpus[first];
  if (first == part.index || !gpu.dev || !other.dev || gpu.dev == other.dev) return;
  context.AddFinding(
      Severity::kError, "gpus-on-one-function", part, "dev",
      fmt::format("device {} is on the function {}, which is already device {} ({}); a PCI "
                  "function holds one GPU",
                  *gpu.dev, ToString(context.view().pci[gpu.pci].bus), *other.dev,
                  context.Where({PartKind::kGpu, first})),
      "give each GPU its own pci; nvidia-smi shows the bus ids");
}

}  // namespace

void LintGpus(LintContext& context) {
  const HostView& view = context.view();
  std::map<std::uint32_t, std::uint32_t> ranks;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> devices;
  for (std::uint32_t i = 0; i < view.gpus.size(); ++i) {
    const Gpu& gpu = view.gpus[i];
    const Part part{PartKind::kGpu, i};
    LintNeeded(context, part, gpu);
    LintModel(context, part, gpu);
    LintFunction(context, part, context.GpusOf(gpu.pci).front());
    if (gpu.rank) {
      const auto [first, is_new] = ranks.emplace(*gpu.rank, i);
      if (!is_new)
        context.AddFinding(Severity::kError, "duplicate-rank", part, "rank",
                           fmt::format("rank {} is already used at {}", *gpu.rank,
                                       context.Where({PartKind::kGpu, first->second})),
                           "");
    }
    if (!gpu.dev) continue;
    const auto [first, is_new] = devices.emplace(std::pair(context.HostOf(part), *gpu.dev), i);
    if (!is_new && view.gpus[first->second].pci != gpu.pci)
      context.AddFinding(Severity::kError, "duplicate-device", part, "dev",
                         fmt::format("device {} is already used at {}", *gpu.dev,
                                     context.Where({PartKind::kGpu, first->second})),
                         "dev is the number that nvidia-smi shows");
  }
}

}  // namespace ringlet::topology
