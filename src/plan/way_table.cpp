#include "plan/way_table.hpp"

#include <fmt/format.h>

namespace ringlet::plan {
namespace {

using topology::Graph;
using topology::Hop;
using topology::LinkKind;
using topology::NodeIndex;
using topology::NodeKind;
using topology::PathType;

constexpr std::size_t kManyLinks = 16;             // more are not looked through one by one
constexpr std::uint32_t kAcknowledgesLittle = 80;  // compute capability of the first GPU that does

bool PassesIntel(const Graph& graph, const std::vector<Hop>& hops) {
  for (const Hop& hop : hops) {
    if (graph.at(hop.to).kind != NodeKind::kCpu) continue;
    const topology::CpuModel& cpu = graph.cpu(hop.to);
    if (cpu.arch == "x86_64" && cpu.vendor == "GenuineIntel") return true;
  }
  return false;
}

Backwash BackwashOf(const Graph& graph, NodeKind start, const Hop& hop) {
  const topology::Node& to = graph.at(hop.to);
  if (to.kind == NodeKind::kDev && start != NodeKind::kGpu &&
      graph.device(hop.to).compute_capability < kAcknowledgesLittle)
    return Backwash::kEighth;
  if (to.kind == NodeKind::kCpu && hop.kind == LinkKind::kNvLink &&
      graph.cpu(hop.to).arch == "ppc64")
    return Backwash::kFull;
  return Backwash::kNone;
}

}  // namespace

WayTable::WayTable(const topology::Paths& paths) : paths_(paths) {
  ends_[0] = paths.Of(paths.Of(NodeKind::kGpu).empty() ? NodeKind::kRank : NodeKind::kGpu);
  ends_[1] = paths.Of(NodeKind::kNet);
  ends_[2] = paths.Of(NodeKind::kNvs);
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to || from == 0)
        way_of_[from][to].resize(ends_[from].size() * ends_[to].size(), kNoWay);
  NumberLinks();
  FindPci();
}

void WayTable::NumberLinks() {
  const topology::SystemNodes& system = paths_.system();
  first_node_ = system.first;
  position_.resize(system.end - system.first);
  for (std::uint32_t i = system.first; i < system.end; ++i) {
    first_link_.push_back(static_cast<std::uint32_t>(bandwidths_.size()));
    const std::vector<topology::Link>& links = paths_.graph().nodes()[i].links;
    for (const topology::Link& link : links) bandwidths_.push_back(link.bandwidth.mb_per_s);
    if (links.size() <= kManyLinks) continue;
    std::vector<std::uint32_t>& position = position_[i - system.first];
    position.resize(system.end - system.first, 0);
    for (std::size_t at = links.size(); at-- > 0;)
      position[topology::Index(links[at].to) - first_node_] = static_cast<std::uint32_t>(at);
  }
}

topology::Path WayTable::PathOf(EndIndex from, EndIndex to) const {
  return paths_.From(NodeOf(from), NodeOf(to));
}

std::int64_t WayTable::NetMbPerS(std::uint32_t net) const {
  const topology::Node& node = paths_.graph().at(ends_[1][net]);
  return node.links.empty() ? 0 : node.links.front().bandwidth.mb_per_s;
}

void WayTable::FindPci() {
  const Graph& graph = paths_.graph();
  pci_.resize(ends_[0].size());
  for (std::size_t i = 0; i < ends_[0].size(); ++i) {
    if (graph.at(ends_[0][i]).kind != NodeKind::kGpu) continue;
    const NodeIndex device = graph.gpu(ends_[0][i]).device;
    for (const topology::Link& link : graph.at(device).links) {
      if (link.kind != LinkKind::kPci) continue;
      pci_[i] = {LinkBetween(device, link.to, link.kind), LinkBetween(link.to, device, link.kind)};
      break;
    }
  }
}

std::uint32_t WayTable::LinkBetween(NodeIndex from, NodeIndex to, LinkKind kind) const {
  const std::vector<topology::Link>& links = paths_.graph().at(from).links;
  const std::uint32_t node = topology::Index(from) - first_node_;
  std::uint32_t at = 0;
  if (!position_[node].empty()) at = position_[node][topology::Index(to) - first_node_];
  while (links[at].to != to || links[at].kind != kind) ++at;
  return first_link_[node] + at;
}

std::uint32_t WayTable::Make(EndIndex from, EndIndex to) {
  const Graph& graph = paths_.graph();
  const topology::Path path = PathOf(from, to);
  Way way;
  way.type = path.type;
  way.back_type = PathOf(to, from).type;
  way.first = static_cast<std::uint32_t>(steps_.size());
  const std::vector<Hop> hops = paths_.Route(NodeOf(from), NodeOf(to));
  const NodeKind start = graph.at(NodeOf(from)).kind;
  const bool split =
      path.type == PathType::kPhb && start == NodeKind::kGpu && PassesIntel(graph, hops);
  for (const Hop& hop : hops) {
    steps_.push_back({LinkBetween(hop.from, hop.to, hop.kind),
                      LinkBetween(hop.to, hop.from, hop.kind), BackwashOf(graph, start, hop),
                      split && hop.kind == LinkKind::kPci});
    way.plain =
        way.plain && !steps_.back().split_packets && steps_.back().backwash == Backwash::kNone;
  }
  way.hops = path.hops;
  way.count = static_cast<std::uint32_t>(steps_.size()) - way.first;
  ways_.push_back(way);
  return static_cast<std::uint32_t>(ways_.size()) - 1;
}

std::string WayTable::LinkText(std::uint32_t link) const {
  std::uint32_t node = 0;
  while (node + 1 < first_link_.size() && first_link_[node + 1] <= link) ++node;
  const NodeIndex from{first_node_ + node};
  const topology::Link& one = paths_.graph().at(from).links[link - first_link_[node]];
  return fmt::format("{} > {} ({})", NcclName(paths_.graph(), from),
                     NcclName(paths_.graph(), one.to), topology::NameOf(one.kind));
}

std::optional<std::uint32_t> Residual::TakeCharged(const Way& way, std::int64_t mb_per_s) {
  const WayStep* steps = table_.Steps(way);
  for (std::uint32_t i = 0; i < way.count; ++i) {
    const WayStep& step = steps[i];
    const Charge charge = ChargeOf(step, mb_per_s);
    const bool back_full = charge.back > 0 && left_[step.back] < charge.back;
    if (left_[step.link] < charge.forth || back_full) {
      GiveSteps(way, mb_per_s, i);
      return back_full ? step.back : step.link;
    }
    left_[step.link] -= charge.forth;
    left_[step.back] -= charge.back;
  }
  return std::nullopt;
}

void Residual::GiveSteps(const Way& way, std::int64_t mb_per_s, std::uint32_t count) {
  const WayStep* steps = table_.Steps(way);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Charge charge = ChargeOf(steps[i], mb_per_s);
    left_[steps[i].link] += charge.forth;
    left_[steps[i].back] += charge.back;
  }
}

}  // namespace ringlet::plan
