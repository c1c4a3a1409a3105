#include "topo/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topo/edit/complete.hpp"
#include "topo/lint/element_count.hpp"
#include "topo/lint/lint_bytes.hpp"
#include "topo/lint/lint_context.hpp"
#include "topo/lint/nccl_dialect.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::topology {
namespace {

void LintSize(LintContext& context) {
  const HostView& view = context.view();
  const Part system;
  const std::size_t elements = CountElements(view);
  if (elements > kNcclElementsMax)
    return context.AddFinding(
        Severity::kError, "too-many-elements", system, "",
        fmt::format("{} elements; NCCL accepts {} for one host", elements, kNcclElementsMax),
        "remove elements that no job uses");
  const bool several = std::any_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                                   [](const NumaNode& node) { return node.host.has_value(); });
  if (several) return;  // NCCL's limit is larger for several hosts
  const std::uint32_t ranks = CountGpus(view);
  const std::size_t fused = PredictFused(view, ranks).elements;
  if (fused > kNcclElementsMax)
    context.AddFinding(
        Severity::kError, "too-many-fused", system, "",
        fmt::format("{} elements after NCCL has fused the views of {} ranks; it accepts {} "
                    "for one host, and stops with \"too many XML nodes\"",
                    fused, ranks, kNcclElementsMax),
        "remove NICs that no job uses (NCCL_IB_HCA, or the file); give GPUs behind "
        "NVSwitches one link to fffffff:ffff:ff");
}

}  // namespace

LintContext::LintContext(const HostView& view, const Positions& positions, std::string_view file)
    : view_(view), positions_(positions), file_(file), gpus_of_(view.pci.size()) {
  for (std::uint32_t i = 0; i < view.pci.size(); ++i)
    pci_at_[{HostOf({PartKind::kPci, i}), view.pci[i].bus}].push_back(i);
  for (std::uint32_t i = 0; i < view.gpus.size(); ++i) {
    gpus_of_[view.gpus[i].pci].push_back(i);
    gpu_at_.emplace(std::pair(HostOf({PartKind::kGpu, i}), view.pci[view.gpus[i].pci].bus), i);
  }
}

void LintContext::AddFinding(Severity severity, std::string_view rule, Part part,
                             std::string_view attribute, std::string reason, std::string cure) {
  findings_.Add({.severity = severity,
                 .rule = std::string(rule),
                 .file = file_,
                 .at = positions_.Of(part, attribute),
                 .path = findings_.full(severity) ? "" : PathOf(view_, part),
                 .reason = std::move(reason),
                 .cure = std::move(cure)});
}

std::string LintContext::Where(Part part) const {
  const TextPosition at = positions_.Of(part);
  return at.line == 0 ? PathOf(view_, part) : fmt::format("line {}", at.line);
}

std::uint64_t LintContext::HostOf(Part part) const {
  const std::optional<std::uint32_t> numa = view_.NumaIndexOf(part);
  return numa ? view_.HostOf(view_.numa_nodes[*numa]) : view_.identity;
}

const std::vector<std::uint32_t>& LintContext::PciAt(std::uint64_t host, BusId bus) const {
  static const std::vector<std::uint32_t> kNone;
  const auto at = pci_at_.find({host, bus});
  return at == pci_at_.end() ? kNone : at->second;
}

std::optional<std::uint32_t> LintContext::GpuAt(std::uint64_t host, BusId bus) const {
  const auto at = gpu_at_.find({host, bus});
  return at == gpu_at_.end() ? std::nullopt : std::optional(at->second);
}

void LintSystem(LintContext& context) {
  const HostView& view = context.view();
  const Part system;
  if (IsSkeleton(view)) {
    const auto count = [&](PciRole role) {
      return std::count_if(view.pci.begin(), view.pci.end(), [&](const PciDevice& device) {
        return device.device_class && device.device_class->role() == role;
      });
    };
    context.AddFinding(
        Severity::kNote, "skeleton", system, "",
        fmt::format("a skeleton: by their class, {} functions are GPUs and {} are NICs, "
                    "but the GPUs are not described; NCCL fills them in on the machine",
                    count(PciRole::kGpu), count(PciRole::kNic)),
        "to read it on another machine, use ringlet topo complete");
  }
  if (view.version == 2)
    context.AddFinding(Severity::kNote, "rccl", system, "version",
                       "version 2 belongs to RCCL; NCCL rejects it", "");
  if (std::any_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                  [](const NumaNode& node) { return node.host.has_value(); }))
    context.AddFinding(
        Severity::kNote, "several-hosts", system, "",
        "the file describes several hosts; NCCL treats the whole file as its own host", "");
  LintSize(context);
}

std::vector<Finding> Lint(const HostView& view, const Positions& positions, std::string_view file) {
  LintContext context(view, positions, file);
  LintSystem(context);
  LintCpus(context);
  LintPci(context);
  LintBusOrder(context);
  LintGpus(context);
  LintLinks(context);
  LintNets(context);
  return context.Take();
}

LintReport LintXml(std::string_view text, std::string_view file) {
  XmlReading reading = ReadXml(text, file);
  LintReport report{
      .view = std::move(reading.view), .findings = std::move(reading.findings), .positions = {}};
  if (!report.view) return report;
  const auto add = [&](std::vector<Finding> more) {
    report.findings.insert(report.findings.end(), more.begin(), more.end());
  };
  add(LintBytes(text, file));
  add(LintDialect(text, file));
  add(Lint(*report.view, reading.positions, file));
  report.positions = std::move(reading.positions);
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.at < b.at; });
  return report;
}

bool HasError(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.severity == Severity::kError; });
}

}  // namespace ringlet::topology
