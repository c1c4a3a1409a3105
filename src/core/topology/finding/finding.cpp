#include "topology/finding/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNameBytesShown = 60;

std::string NumaStep(const NumaNode& node) {
  return node.id == kUnknownNuma ? "cpu[-1]" : fmt::format("cpu[{}]", node.id);
}

std::string GpuStep(const HostView& view, std::uint32_t index) {
  const Gpu& gpu = view.gpus[index];
  const auto here = [&](const Gpu& other) { return other.pci == gpu.pci; };
  if (std::count_if(view.gpus.begin(), view.gpus.end(), here) < 2) return "gpu";
  return gpu.rank ? fmt::format("gpu[rank {}]", *gpu.rank) : "gpu";
}

std::string LinkStep(const GpuLink& link) {
  const std::string_view kind = link.kind == GpuLinkKind::kXgmi ? "xgmi" : "nvlink";
  return fmt::format("{}[{}]", kind, link.target ? ToString(*link.target) : "not visible");
}

/// The last step of a part's path, and the part above it.
std::pair<std::string, Part> LastStep(const HostView& view, Part part) {
  const Part system;
  switch (part.kind) {
    case PartKind::kSystem: break;
    case PartKind::kNuma: return {NumaStep(view.numa_nodes[part.index]), system};
    case PartKind::kPci: {
      const PciDevice& device = view.pci[part.index];
      return {fmt::format("pci[{}]", ToString(device.bus)), device.parent};
    }
    case PartKind::kGpu:
      return {GpuStep(view, part.index), {PartKind::kPci, view.gpus[part.index].pci}};
    case PartKind::kNic: return {"nic", view.nics[part.index].parent};
    case PartKind::kNet: {
      const NetInterface& net = view.nets[part.index];
      const Part above = net.nic ? Part{PartKind::kNic, *net.nic} : system;
      return {fmt::format("net[{}]", Printable(net.name, kNameBytesShown)), above};
    }
    case PartKind::kGpuLink:
      return {LinkStep(view.gpus[part.index].links[part.item]), {PartKind::kGpu, part.index}};
    case PartKind::kC2c: return {"c2c", {PartKind::kGpu, part.index}};
    case PartKind::kPciLink:
      return {fmt::format("pcilink[{}]", ToString(view.pci[part.index].peers[part.item])),
              {PartKind::kPci, part.index}};
  }
  return {"system", system};
}

}  // namespace

bool operator==(const Finding& a, const Finding& b) {
  return a.severity == b.severity && a.rule == b.rule && a.file == b.file && a.at == b.at &&
         a.path == b.path && a.reason == b.reason && a.cure == b.cure;
}

std::string_view SeverityName(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"note", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

std::string ToText(const Finding& finding) {
  std::string text;
  if (!finding.file.empty()) text += finding.file + ":";
  if (finding.at.line != 0) text += fmt::format("{}:{}:", finding.at.line, finding.at.column);
  if (!text.empty()) text += ' ';
  text += fmt::format("{}: ", SeverityName(finding.severity));
  if (!finding.path.empty()) text += finding.path + ": ";
  text += finding.reason;
  if (!finding.cure.empty()) text += "; " + finding.cure;
  return text + " [" + finding.rule + "]";
}

std::string ToText(const std::vector<Finding>& findings, std::size_t of_a_rule) {
  std::map<std::string_view, std::size_t> counts;
  std::string text;
  for (const Finding& finding : findings)
    if (++counts[finding.rule] <= of_a_rule) text += ToText(finding) + "\n";
  for (const auto& [rule, count] : counts)
    if (count > of_a_rule) text += fmt::format("and {} more of [{}]\n", count - of_a_rule, rule);
  return text;
}

void Positions::Set(Part part, std::string_view attribute, TextPosition at) {
  known_[part].insert_or_assign(std::string(attribute), at);
}

TextPosition Positions::Of(Part part, std::string_view attribute) const {
  const auto known = known_.find(part);
  if (known == known_.end()) return {};
  auto at = known->second.find(attribute);
  if (at == known->second.end()) at = known->second.find("");
  return at == known->second.end() ? TextPosition{} : at->second;
}

std::string PathOf(const HostView& view, Part part) {
  std::string path;
  for (std::size_t step = 0; part.kind != PartKind::kSystem; ++step) {
    RINGLET_ASSERT(step < HostView::kDepthMax + 4);
    auto [name, above] = LastStep(view, part);
    path = "/" + name + path;
    part = above;
  }
  return "system" + path;
}

void Findings::Add(Finding finding) {
  if (full(finding.severity)) {
    ++left_out_;
  } else {
    kept_[static_cast<std::size_t>(finding.severity)].push_back(std::move(finding));
  }
}

std::vector<Finding> Findings::Take() {
  std::vector<Finding> all;
  for (std::vector<Finding>& of_a_severity : kept_)
    for (Finding& finding : std::exchange(of_a_severity, {})) all.push_back(std::move(finding));
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& a, const Finding& b) { return a.at < b.at; });
  if (left_out_ > 0) {
    all.push_back({.severity = Severity::kWarning,
                   .rule = "too-many-findings",
                   .file = all.front().file,
                   .at = {},
                   .path = "",
                   .reason = fmt::format("{} more findings are not shown", left_out_),
                   .cure = ""});
  }
  left_out_ = 0;
  return all;
}

}  // namespace ringlet::topology
