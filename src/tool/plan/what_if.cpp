#include "tool/plan/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/value/text.hpp"
#include "tool/text/quantity.hpp"
#include "tool/text/value_types.hpp"
#include "tool/topo/topo_paths.hpp"
#include "topo/check/repair.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::cli {
namespace {

using topology::Change;
using topology::HostView;
using topology::NodeIndex;
using topology::NodeKind;
using topology::Part;
using topology::PartKind;

constexpr std::uint64_t kMbitPerMb = 8;
constexpr std::uint32_t kPcieLanesMax = 32;
constexpr std::uint32_t kPcieGenerationMax = 7;

constexpr const char* kSettings =
    "pcie=gen5x16, rate=400Gb/s, nvlinks=4, gdr=on or gdr=off; or remove PART, or add PART for a "
    "copy of it";

std::optional<std::uint32_t> NumberIn(std::string_view text, std::uint32_t least,
                                      std::uint32_t most) {
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < least || number > most) return std::nullopt;
  return number;
}

/// A value such as "gen5x16".
struct PcieWords {
  std::uint8_t generation = 0;
  std::uint16_t lanes = 0;
};
std::optional<PcieWords> ReadPcie(std::string_view text) {
  constexpr std::string_view kGen = "gen";
  const std::size_t cross = text.find('x');
  if (!text.starts_with(kGen) || cross == std::string_view::npos) return std::nullopt;
  const auto generation =
      NumberIn(text.substr(kGen.size(), cross - kGen.size()), 1, kPcieGenerationMax);
  const auto lanes = NumberIn(text.substr(cross + 1), 1, kPcieLanesMax);
  if (!generation || !lanes) return std::nullopt;
  return PcieWords{static_cast<std::uint8_t>(*generation), static_cast<std::uint16_t>(*lanes)};
}

/// Parses one change and applies it to a view.
class ViewChanger {
 public:
  ViewChanger(HostView view, std::string_view words) : view_(std::move(view)), words_(words) {}

  Result<HostView> Run() {
    std::istringstream stream{std::string(words_)};
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(std::move(word));
    if (words.size() < 2)
      return Bad(fmt::format("a change needs a part and a setting: {}", kSettings));
    const bool remove = words.front() == "remove", add = words.front() == "add";
    const std::size_t settings = remove || add ? words.size() : 1;
    std::vector<Part> parts;
    for (std::size_t i = settings == 1 ? 0 : 1; i < settings; ++i) {
      RINGLET_TRY_ASSIGN(const std::vector<Part> some, PartsOf(words[i]));
      parts.insert(parts.end(), some.begin(), some.end());
    }
    if (remove) return Remove(parts);
    if (add) return Add(parts);
    for (std::size_t i = settings; i < words.size(); ++i) RINGLET_TRY(Set(parts, words[i]));
    return std::move(view_);
  }

 private:
  Error Bad(const std::string& why) const {
    return {Code::kInvalidArgument,
            fmt::format("--what-if {}: {}", Quoted(Printable(words_, kQuotedBytesMax)), why)};
  }

  static std::vector<Part> All(PartKind kind, std::size_t count) {
    std::vector<Part> parts;
    for (std::uint32_t i = 0; i < count; ++i) parts.push_back({kind, i});
    return parts;
  }

  /// Returns the functions that are parents of others.
  std::vector<Part> Switches() const {
    std::vector<Part> parts;
    for (const topology::PciDevice& device : view_.pci)
      if (device.parent.kind == PartKind::kPci) parts.push_back(device.parent);
    std::ranges::sort(parts);
    const auto same = std::ranges::unique(parts);
    parts.erase(same.begin(), same.end());
    return parts;
  }

  /// \param list  separated by commas
  Result<std::vector<Part>> PartsOf(std::string_view list) const {
    std::vector<Part> parts;
    while (!list.empty()) {
      const std::string_view word = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), word.size() + 1));
      std::vector<Part> some;
      if (EqualIgnoringCase(word, "gpus"))
        some = All(PartKind::kGpu, view_.gpus.size());
      else if (EqualIgnoringCase(word, "nics"))
        some = All(PartKind::kNet, view_.nets.size());
      else if (EqualIgnoringCase(word, "switches"))
        some = Switches();
      else {
        RINGLET_TRY_ASSIGN(const Part part, PartCalled(word));
        some.push_back(part);
      }
      if (some.empty()) return Bad(fmt::format("the machine does not have {}", word));
      parts.insert(parts.end(), some.begin(), some.end());
    }
    return parts;
  }

  /// Returns the part on a function: its GPU, its port, or the function itself.
  Part OnFunction(std::uint32_t pci) const {
    for (std::uint32_t i = 0; i < view_.gpus.size(); ++i)
      if (view_.gpus[i].pci == pci) return {PartKind::kGpu, i};
    for (std::uint32_t i = 0; i < view_.nets.size(); ++i)
      if (FunctionOf({PartKind::kNet, i}) == pci) return {PartKind::kNet, i};
    return {PartKind::kPci, pci};
  }

  Result<Part> PartCalled(std::string_view word) const {
    const auto bus = topology::BusId::Parse(word);
    if (bus.ok()) {
      const auto at = std::ranges::find(view_.pci, *bus, &topology::PciDevice::bus);
      if (at == view_.pci.end())
        return Bad(fmt::format("PCI function {} does not exist", ToString(*bus)));
      return OnFunction(static_cast<std::uint32_t>(at - view_.pci.begin()));
    }
    const auto graph =
        topology::Build({&view_, 1}, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false});
    if (!graph.ok()) return Bad(graph.error().message);
    const auto node = NodeCalled(*graph, word);
    if (!node.ok()) return Bad(node.error().message);
    const NodeKind kind = graph->at(*node).kind;
    if (kind == NodeKind::kNet) {
      const auto at =
          std::ranges::find(view_.nets, graph->at(*node).name, &topology::NetInterface::name);
      if (at != view_.nets.end())
        return Part{PartKind::kNet, static_cast<std::uint32_t>(at - view_.nets.begin())};
    }
    if (kind == NodeKind::kGpu) {
      const topology::BusId its = graph->device(graph->gpu(*node).device).bus;
      for (std::uint32_t i = 0; i < view_.gpus.size(); ++i)
        if (view_.pci[view_.gpus[i].pci].bus == its) return Part{PartKind::kGpu, i};
    }
    return Bad(fmt::format("{} is not a GPU, port or PCI function", word));
  }

  /// Returns the function of a part; null for a port without one.
  std::optional<std::uint32_t> FunctionOf(Part part) const {
    if (part.kind == PartKind::kPci) return part.index;
    if (part.kind == PartKind::kGpu) return view_.gpus[part.index].pci;
    const auto nic = view_.nets[part.index].nic;
    if (!nic || view_.nics[*nic].parent.kind != PartKind::kPci) return std::nullopt;
    return view_.nics[*nic].parent.index;
  }

  std::string NameOfPart(Part part) const {
    if (part.kind == PartKind::kNet) return view_.nets[part.index].name;
    return ToString(view_.pci[*FunctionOf(part)].bus);
  }

  Status Set(const std::vector<Part>& parts, const std::string& setting) {
    const std::size_t sign = setting.find('=');
    const std::string key = setting.substr(0, sign);
    const std::string value = sign == std::string::npos ? "" : setting.substr(sign + 1);
    if (key == "pcie") return SetPcie(parts, value);
    if (key == "rate") return SetRate(parts, value);
    if (key == "nvlinks") return SetNvLinks(parts, value);
    if (key == "gdr") return SetGdr(parts, value);
    return Bad(fmt::format("{} is not a setting; the settings are {}",
                           Quoted(Printable(setting, kQuotedBytesMax)), kSettings));
  }

  Status SetPcie(const std::vector<Part>& parts, const std::string& value) {
    const auto speed = ReadPcie(value);
    if (!speed)
      return Bad(fmt::format("pcie takes a generation and lanes, gen1x1 to gen{}x{}: pcie=gen5x16",
                             kPcieGenerationMax, kPcieLanesMax));
    std::vector<Change> changes;
    for (const Part part : parts) {
      const auto pci = FunctionOf(part);
      if (!pci) return Bad(fmt::format("{} does not have a PCI function", NameOfPart(part)));
      changes.emplace_back(
          topology::PcieChange{*pci, topology::PcieSpeed::Of(speed->generation), speed->lanes});
    }
    return Make(changes);
  }

  Status SetRate(const std::vector<Part>& parts, const std::string& value) {
    const auto rate = ParseBandwidth(value);
    if (!rate.ok()) return Bad(rate.error().message);
    if (*rate == 0) return Bad("the rate of a port cannot be 0; remove the port instead");
    std::vector<Change> changes;
    for (const Part part : parts) {
      if (part.kind != PartKind::kNet)
        return Bad(
            fmt::format("{} is not a port of a NIC, so it does not have a rate", NameOfPart(part)));
      changes.emplace_back(
          topology::RateChange{part.index, static_cast<std::uint32_t>(*rate * kMbitPerMb)});
    }
    return Make(changes);
  }

  Status SetGdr(const std::vector<Part>& parts, const std::string& value) {
    if (value != "on" && value != "off") return Bad("gdr takes on or off");
    std::vector<Change> changes;
    for (const Part part : parts) {
      if (part.kind == PartKind::kPci)
        return Bad(fmt::format("{} is neither a GPU nor a port of a NIC", NameOfPart(part)));
      changes.emplace_back(topology::GdrChange{part, value == "on"});
    }
    return Make(changes);
  }

  Status SetNvLinks(const std::vector<Part>& parts, const std::string& value) {
    const auto count = NumberIn(value, 0, HostView::kLinksMax);
    if (!count)
      return Bad(fmt::format("nvlinks takes a number of links, 0 to {}", HostView::kLinksMax));
    for (const Part part : parts) {
      if (part.kind != PartKind::kGpu)
        return Bad(fmt::format("{} is not a GPU, so it does not have NVLinks", NameOfPart(part)));
      if (view_.gpus[part.index].links.empty())
        return Bad(fmt::format("{} does not have NVLinks, so its neighbours are unknown",
                               NameOfPart(part)));
    }
    for (const Part part : parts) RINGLET_TRY(DivideNvLinks(part.index, *count));
    return Ok();
  }

  /// Divides NVLinks in the present proportion. The first neighbors get the remainder.
  Status DivideNvLinks(std::uint32_t gpu, std::uint32_t count) {
    std::vector<topology::GpuLink> links = view_.gpus[gpu].links;
    std::uint64_t now = 0;
    for (const topology::GpuLink& link : links) now += link.count;
    std::uint64_t before = 0, given = 0;
    for (topology::GpuLink& link : links) {
      before += now == 0 ? 1 : link.count;
      const std::uint64_t total = now == 0 ? links.size() : now;
      const std::uint64_t until = (before * count + total - 1) / total;
      link.count = static_cast<std::uint32_t>(until - given);
      given = until;
    }
    const topology::BusId bus = view_.pci[view_.gpus[gpu].pci].bus;
    std::vector<Change> changes;
    for (std::uint32_t i = 0; i < view_.gpus.size(); ++i) {
      if (i == gpu) continue;
      const auto to = std::ranges::find(links, std::optional(view_.pci[view_.gpus[i].pci].bus),
                                        &topology::GpuLink::target);
      if (to == links.end()) continue;
      std::vector<topology::GpuLink> its = view_.gpus[i].links;
      for (topology::GpuLink& link : its)
        if (link.target == bus) link.count = to->count;
      changes.emplace_back(topology::LinksChange{i, WithLinks(std::move(its))});
    }
    changes.emplace_back(topology::LinksChange{gpu, WithLinks(std::move(links))});
    return Make(changes);
  }

  static std::vector<topology::GpuLink> WithLinks(std::vector<topology::GpuLink> links) {
    std::erase_if(links, [](const topology::GpuLink& link) { return link.count == 0; });
    return links;
  }

  Result<HostView> Remove(const std::vector<Part>& parts) {
    std::vector<Change> changes;
    for (const Part part : parts) {
      if (part.kind == PartKind::kPci)
        return Bad(fmt::format("{} is neither a GPU nor a port of a NIC", NameOfPart(part)));
      changes.emplace_back(topology::PartRemoved{part});
    }
    RINGLET_TRY(Make(changes));
    return std::move(view_);
  }

  /// Adds a copy of each part below the same parent.
  Result<HostView> Add(const std::vector<Part>& parts) {
    std::vector<Change> changes;
    for (const Part part : parts) {
      const auto pci = FunctionOf(part);
      if (part.kind == PartKind::kPci || !pci)
        return Bad(
            fmt::format("{} is neither a GPU nor a port with a PCI function", NameOfPart(part)));
      const Part parent = view_.pci[*pci].parent;
      if (part.kind == PartKind::kGpu)
        changes.emplace_back(topology::GpuAdded{part.index, parent});
      else
        changes.emplace_back(topology::NicAdded{*view_.nets[part.index].nic, parent});
    }
    RINGLET_TRY(Make(changes));
    return std::move(view_);
  }

  Status Make(const std::vector<Change>& changes) {
    Result<HostView> changed = topology::Repaired(view_, changes);
    if (!changed.ok()) return Bad(changed.error().message);
    view_ = *std::move(changed);
    return Ok();
  }

  static constexpr std::size_t kQuotedBytesMax = 60;
  HostView view_;
  const std::string_view words_;
};

}  // namespace

Result<HostView> ChangedView(HostView view, std::string_view change) {
  return ViewChanger(std::move(view), change).Run();
}

ViewEdit EditOf(std::vector<std::string> changes) {
  if (changes.empty()) return {};
  return [changes = std::move(changes)](HostView view) -> Result<HostView> {
    for (const std::string& change : changes) {
      RINGLET_TRY_ASSIGN(view, ChangedView(std::move(view), change));
    }
    return view;
  };
}

void AddWhatIf(CLI::App& command, std::vector<std::string>& changes) {
  command
      .add_option("--what-if", changes,
                  "Compare the plan with and without a change: \"PART pcie=gen5x16\", \"PART "
                  "rate=400Gb/s\", \"PART nvlinks=4\", \"PART gdr=on\", \"remove PART\" or \"add "
                  "PART\" for a copy of it; may be repeated")
      ->allow_extra_args(false)
      ->type_name(kChangeType);
}

}  // namespace ringlet::cli
