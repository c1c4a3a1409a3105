#include "tool/plan/plan_gain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tool/plan/what_if.hpp"
#include "topo/check/check.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::cli {
namespace {

using topology::Bandwidth;
using topology::HostView;
using topology::LinkKind;

constexpr std::size_t kRepairsMax = 4;
constexpr std::size_t kGroupsMax = 3;
constexpr std::uint32_t kWorthOneOf = 100;
constexpr std::uint16_t kLanesFull = 16;
constexpr std::uint8_t kGenerationFastest = 6;
constexpr std::size_t kListedMax = 16;

Bandwidth RingsOf(const PlanView& view) {
  return view.classes.front().plan.of(plan::GraphId::kRing).total();
}

/// Finds changes to try, in the words of --what-if.
class ChangeFinder {
 public:
  ChangeFinder(const HostView& machine, const PlanView& planned)
      : machine_(machine), planned_(planned) {}

  std::vector<std::string> Find(const std::vector<LimitGroup>& groups) {
    std::vector<std::uint64_t> pcie;
    for (std::size_t i = 0; i < groups.size() && i < kGroupsMax; ++i) {
      if (groups[i].is_port || groups[i].kind == LinkKind::kNetwork) FasterPorts(groups[i]);
      if (groups[i].kind == LinkKind::kPci) FasterPcie(groups[i].bus);
      pcie.insert(pcie.end(), groups[i].bus.begin(), groups[i].bus.end());
      if (groups[i].kind == LinkKind::kNvLink) MoreNvLinks();
    }
    FasterPcie(pcie);  // all at once, because each link in a row may bound the plan
    if (planned_.search.multi_node) Direct();
    return std::move(changes_);
  }

 private:
  void Add(std::string change) {
    if (std::ranges::find(changes_, change) == changes_.end())
      changes_.push_back(std::move(change));
  }

  /// Returns the names of ports. Splits the names of merged ports.
  static std::set<std::string> PortsOf(const LimitGroup& group) {
    std::set<std::string> ports;
    for (std::string_view names : group.names)
      while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find('+'));
        ports.emplace(name);
        names.remove_prefix(std::min(names.size(), name.size() + 1));
      }
    return ports;
  }

  static std::string RateWord(std::uint64_t mbit_per_s) {
    constexpr std::uint64_t kGigabit = 1000;
    return mbit_per_s % kGigabit == 0 ? fmt::format("{}Gb/s", mbit_per_s / kGigabit)
                                      : fmt::format("{}Mb/s", mbit_per_s);
  }

  void FasterPorts(const LimitGroup& group) {
    const std::set<std::string> names = PortsOf(group);
    std::uint32_t rate = 0;
    std::size_t ports = 0;
    for (const topology::NetInterface& net : machine_.nets) {
      if (!names.contains(net.name)) continue;
      ++ports;
      rate = std::max(rate, net.speed_mbit_per_s.value_or(0));
    }
    if (ports == 0 || rate == 0) return;
    const std::string part =
        ports == machine_.nets.size() ? "NICs" : fmt::format("{}", fmt::join(names, ","));
    if (ports <= kListedMax || part == "NICs")
      Add(fmt::format("{} rate={}", part, RateWord(std::uint64_t{rate} * 2)));
    Add(fmt::format("add {}", *names.begin()));
  }

  const topology::PciDevice* Function(std::uint64_t bus) const {
    const auto at =
        std::ranges::find(machine_.pci, topology::BusId{bus}, &topology::PciDevice::bus);
    return at == machine_.pci.end() ? nullptr : &*at;
  }

  /// Returns addresses, or the words "GPUs" and "NICs" if all parts of that kind are included.
  std::vector<std::string> PartWords(std::set<std::uint64_t> left) const {
    std::vector<std::string> words;
    const auto take_all = [&](const std::set<std::uint64_t>& all, const char* word) {
      if (all.size() < 2 || !std::ranges::includes(left, all)) return;
      for (const std::uint64_t bus : all) left.erase(bus);
      words.emplace_back(word);
    };
    std::set<std::uint64_t> gpus, nics;
    for (const topology::Gpu& gpu : machine_.gpus) gpus.insert(machine_.pci[gpu.pci].bus.value);
    for (const topology::Nic& nic : machine_.nics)
      if (nic.parent.kind == topology::PartKind::kPci)
        nics.insert(machine_.pci[nic.parent.index].bus.value);
    take_all(gpus, "GPUs");
    take_all(nics, "NICs");
    for (const std::uint64_t bus : left) words.push_back(ToString(topology::BusId{bus}));
    return words;
  }

  /// Proposes the full width for the links, or one more generation.
  void FasterPcie(const std::vector<std::uint64_t>& links) {
    std::uint8_t generation = 0;
    std::uint16_t lanes = kLanesFull;
    for (const std::uint64_t bus : links) {
      const topology::PciDevice* const function = Function(bus);
      if (function == nullptr || function->link_speed.generation == 0) return;
      generation = std::max(generation, function->link_speed.generation);
      if (function->link_width != 0) lanes = std::min(lanes, function->link_width);
    }
    const std::vector<std::string> parts = PartWords({links.begin(), links.end()});
    if (parts.empty() || parts.size() > kListedMax) return;
    if (lanes >= kLanesFull) ++generation;
    if (generation > kGenerationFastest) return;
    Add(fmt::format("{} pcie=gen{}x{}", fmt::join(parts, ","), generation, kLanesFull));
  }

  /// Proposes the maximum number of NVLinks of the GPU model.
  void MoreNvLinks() {
    std::uint32_t most = 0, now = 0;
    for (const topology::Gpu& gpu : machine_.gpus) {
      if (!gpu.gcn.empty()) return;  // the maximum of AMD GPUs is unknown
      most = std::max(most, topology::NvLinksMax(gpu.compute_capability));
      std::uint32_t its = 0;
      for (const topology::GpuLink& link : gpu.links) its += link.count;
      now = std::max(now, its);
    }
    if (now > 0 && now < most) Add(fmt::format("GPUs nvlinks={}", most));
  }

  void Direct() {
    const auto without = [](const auto& one) { return one.gdr == false; };
    if (std::ranges::any_of(machine_.nets, without) || std::ranges::any_of(machine_.gpus, without))
      Add("GPUs,NICs gdr=on");
  }

  const HostView& machine_;
  const PlanView& planned_;
  std::vector<std::string> changes_;
};

/// Plans a changed machine with the number of channels that carries most. The default is the fewest
/// channels that carry nearly as much, and the difference varies between machines.
class GainFinder {
 public:
  GainFinder(const PlanRequest& request, const EnvMap& environment, const PlanView& view)
      : request_(request), environment_(environment), without_(RingsOf(view)) {
    request_.graph_dump.clear();
    if (request_.channels != 0) return;
    request_.channels = plan::kSearchChannelsMax;
    const Result<PlanView> all = MakePlanView(request_, environment_);
    if (all.ok()) without_ = RingsOf(*all);
  }

  /// \return null if the changed machine cannot be planned
  std::optional<Gain> Find(std::string what, const ViewEdit& edit) {
    const ViewEdit first = view_edit_;
    request_.machine.edit = [first, edit](HostView view) -> Result<HostView> {
      if (first) {
        RINGLET_TRY_ASSIGN(view, first(std::move(view)));
      }
      return edit(std::move(view));
    };
    const Result<PlanView> changed = MakePlanView(request_, environment_);
    if (!changed.ok()) return std::nullopt;
    return Gain{std::move(what), without_, RingsOf(*changed)};
  }

 private:
  PlanRequest request_;
  const EnvMap& environment_;
  Bandwidth without_;
  const ViewEdit view_edit_ = request_.machine.edit;
};

void BestFirst(std::vector<Gain>& gains) {
  std::ranges::stable_sort(gains, std::ranges::greater(), &Gain::with);
}

nlohmann::ordered_json ListJson(const std::vector<Gain>& gains) {
  auto list = nlohmann::ordered_json::array();
  for (const Gain& gain : gains)
    list.push_back({{"what", gain.what},
                    {"without_gb_s", gain.without.mb_per_s / 1000.0},
                    {"with_gb_s", gain.with.mb_per_s / 1000.0}});
  return list;
}

std::string RateText(const Gain& gain) {
  return fmt::format("{} instead of {} GB/s", GigabytesText(gain.with),
                     GigabytesText(gain.without));
}

/// Returns why gains cannot be computed; "" if they can.
std::string WhyNot(const PlanRequest& request, const PlanView& view) {
  if (request.machine.source.file == "-")
    return "standard input can be read only once; name the file";
  if (!request.graph_file.empty()) return "the channels are from a file";
  if (view.nodes.front().gpus.size() > kGainDevicesMax)
    return fmt::format("hosts with more than {} GPUs take long to plan; name a change by --what-if",
                       kGainDevicesMax);
  return "";
}

}  // namespace

bool Gain::is_more() const {
  return with.mb_per_s > without.mb_per_s + without.mb_per_s / kWorthOneOf;
}

Gains FindGains(const PlanRequest& request, const EnvMap& environment, const PlanView& view,
                const std::vector<LimitGroup>& groups) {
  Gains gains{.why_not = WhyNot(request, view)};
  if (!gains.why_not.empty()) return gains;
  Result<LoadedTopology> loaded = LoadTopology(request.machine.source);
  Result<HostView> machine = Error{};
  if (loaded.ok())
    machine = request.machine.edit ? request.machine.edit(loaded->view) : loaded->view;
  if (!loaded.ok() || !machine.ok()) {
    gains.why_not = loaded.ok() ? machine.error().message : loaded.error().message;
    return gains;
  }
  GainFinder finder(request, environment, view);
  for (const topology::Defect& defect :
       topology::Check({.view = *machine, .positions = loaded->positions})) {
    if (defect.repair.empty() || gains.repairs.size() == kRepairsMax) continue;
    const auto repair = [&](HostView sick) { return topology::Repaired(sick, defect.repair); };
    if (auto gain = finder.Find(defect.name + ": " + defect.reason, repair))
      gains.repairs.push_back(*std::move(gain));
  }
  for (const std::string& change : ChangeFinder(*machine, view).Find(groups)) {
    if (gains.repairs.size() + gains.changes.size() == kPlannedGainsMax) break;
    if (auto gain = finder.Find(change, EditOf({change})))
      gains.changes.push_back(*std::move(gain));
  }
  BestFirst(gains.repairs);
  BestFirst(gains.changes);
  return gains;
}

std::string GainsText(const Gains& gains) {
  if (!gains.why_not.empty())
    return fmt::format("repair: not planned\none change: not planned: {}", gains.why_not);
  std::string text = "repair: no known defect lowers the bandwidth";
  if (!gains.repairs.empty() && gains.repairs.front().is_more())
    text = fmt::format("repair: {} ({}; see ringlet topo check)", RateText(gains.repairs.front()),
                       gains.repairs.front().what);
  if (gains.changes.empty()) return text + "\none change: no candidates";
  const Gain& best = gains.changes.front();
  if (!best.is_more())
    return text + fmt::format("\none change: no gain from {} tried, best: {}", gains.changes.size(),
                              best.what);
  return text + fmt::format("\none change: {} by --what-if \"{}\"", RateText(best), best.what);
}

nlohmann::ordered_json GainsJson(const Gains& gains) {
  nlohmann::ordered_json json = {{"repairs", ListJson(gains.repairs)},
                                 {"changes", ListJson(gains.changes)}};
  if (!gains.why_not.empty()) json["why_not"] = gains.why_not;
  return json;
}

PlanBounds PlanBoundsOf(const PlanRequest& request, const EnvMap& environment,
                        const PlanView& view) {
  PlanBounds bounds{.ring = LimitGroupsOf(view, 0, plan::GraphId::kRing),
                    .tree = LimitGroupsOf(view, 0, plan::GraphId::kTree)};
  bounds.gains = FindGains(request, environment, view, bounds.ring);
  return bounds;
}

std::string ToText(const PlanBounds& bounds) {
  return LimitedByText(bounds.ring) + "\n" + GainsText(bounds.gains) + "\n";
}

}  // namespace ringlet::cli
