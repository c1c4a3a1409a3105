#include "plan/routes/route_table.hpp"

#include <fmt/format.h>

#include "plan/routes/transposition_table.hpp"

namespace ringlet::plan {
namespace {

using topology::Graph;
using topology::Hop;
using topology::LinkKind;
using topology::NodeIndex;
using topology::NodeKind;
using topology::PathType;

constexpr std::size_t kManyLinks = 16;             // nodes with more links get an index
constexpr std::uint32_t kAcknowledgesLittle = 80;  // lowest such compute capability

bool PassesIntel(const Graph& graph, const std::vector<Hop>& hops) {
  for (const Hop& hop : hops) {
    if (graph.at(hop.to).kind != NodeKind::kCpu) continue;
    const topology::CpuModel& cpu = graph.cpu(hop.to);
    if (cpu.arch == "x86_64" && cpu.vendor == "GenuineIntel") return true;
  }
  return false;
}

ReverseLoad ReverseLoadOf(const Graph& graph, NodeKind start, const Hop& hop) {
  const topology::Node& to = graph.at(hop.to);
  if (to.kind == NodeKind::kDev && start != NodeKind::kGpu &&
      graph.device(hop.to).compute_capability < kAcknowledgesLittle)
    return ReverseLoad::kEighth;
  if (to.kind == NodeKind::kCpu && hop.kind == LinkKind::kNvLink &&
      graph.cpu(hop.to).arch == "ppc64")
    return ReverseLoad::kFull;
  return ReverseLoad::kNone;
}

bool IsPlain(const RouteStep& step) {
  return !step.split_packets && step.reverse_load == ReverseLoad::kNone;
}

/// A hash of the step's link and its kind of charge.
std::uint64_t MarkOf(const RouteStep& step) {
  const auto how =
      static_cast<std::uint64_t>(step.reverse_load) << 1 | (step.split_packets ? 1 : 0);
  return Scatter(std::uint64_t{step.link} << 3 | how);
}

bool LoadSameLink(const RouteStep& a, const RouteStep& b) {
  const bool a_back = a.reverse_load != ReverseLoad::kNone,
             b_back = b.reverse_load != ReverseLoad::kNone;
  return a.link == b.link || (a_back && a.back == b.link) || (b_back && b.back == a.link) ||
         (a_back && b_back && a.back == b.back);
}

}  // namespace

RouteTable::RouteTable(const topology::Paths& paths) : paths_(paths) {
  ends_[0] = paths.Of(paths.Of(NodeKind::kGpu).empty() ? NodeKind::kRank : NodeKind::kGpu);
  ends_[1] = paths.Of(NodeKind::kNet);
  ends_[2] = paths.Of(NodeKind::kNvs);
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to || from == 0)
        route_of_[from][to].resize(ends_[from].size() * ends_[to].size(), kNoRoute);
  NumberLinks();
  FindPci();
}

void RouteTable::NumberLinks() {
  const topology::SystemNodes& system = paths_.system();
  first_node_ = system.first;
  position_.resize(system.end - system.first);
  first_link_.reserve(position_.size());
  std::size_t count = 0;
  for (std::uint32_t i = system.first; i < system.end; ++i)
    count += paths_.graph().nodes()[i].links.size();
  bandwidths_.reserve(count);
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

std::int64_t RouteTable::NetMbPerS(std::uint32_t net) const {
  const topology::Node& node = paths_.graph().at(ends_[1][net]);
  return node.links.empty() ? 0 : node.links.front().bandwidth.mb_per_s;
}

void RouteTable::FindPci() {
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

std::uint32_t RouteTable::LinkBetween(NodeIndex from, NodeIndex to, LinkKind kind) const {
  const std::vector<topology::Link>& links = paths_.graph().at(from).links;
  const std::uint32_t node = topology::Index(from) - first_node_;
  std::uint32_t at = 0;
  if (!position_[node].empty()) at = position_[node][topology::Index(to) - first_node_];
  while (links[at].to != to || links[at].kind != kind) ++at;
  return first_link_[node] + at;
}

std::uint32_t RouteTable::Make(EndIndex from, EndIndex to) {
  const Graph& graph = paths_.graph();
  const topology::Path path = PathOf(from, to);
  Route route;
  route.type = path.type;
  route.back_type = PathOf(to, from).type;
  route.first = static_cast<std::uint32_t>(steps_.size());
  hops_.clear();
  paths_.AppendRoute(hops_, NodeOf(from), NodeOf(to));
  const NodeKind start = graph.at(NodeOf(from)).kind;
  const bool split =
      path.type == PathType::kPhb && start == NodeKind::kGpu && PassesIntel(graph, hops_);
  for (const Hop& hop : hops_) {
    steps_.push_back({LinkBetween(hop.from, hop.to, hop.kind),
                      LinkBetween(hop.to, hop.from, hop.kind), ReverseLoadOf(graph, start, hop),
                      split && hop.kind == LinkKind::kPci});
    route.mark += MarkOf(steps_.back());
    for (std::size_t other = route.first; other + 1 < steps_.size(); ++other)
      route.plain = route.plain && !LoadSameLink(steps_[other], steps_.back());
    route.plain = route.plain && IsPlain(steps_.back());
  }
  route.hops = path.hops;
  route.count = static_cast<std::uint32_t>(steps_.size()) - route.first;
  routes_.push_back(route);
  return static_cast<std::uint32_t>(routes_.size()) - 1;
}

std::string RouteTable::LinkText(std::uint32_t link) const {
  std::uint32_t node = 0;
  while (node + 1 < first_link_.size() && first_link_[node + 1] <= link) ++node;
  const NodeIndex from{first_node_ + node};
  const topology::Link& one = paths_.graph().at(from).links[link - first_link_[node]];
  return fmt::format("{} > {} ({})", NcclName(paths_.graph(), from),
                     NcclName(paths_.graph(), one.to), topology::NameOf(one.kind));
}

void Residual::FindLinkLoads(const Route& route, LinkLoads& link_loads) {
  LinkLoad* const list = &link_loads_list_[2 * std::size_t{route.first}];
  link_loads.count = 0;
  const auto add = [&](std::uint32_t link, std::int64_t mb_per_s) {
    if (mb_per_s == 0) return;
    std::uint32_t at = 0;
    while (at < link_loads.count && list[at].link != link) ++at;
    if (at == link_loads.count) list[link_loads.count++] = {link, 0};
    list[at].mb_per_s += mb_per_s;
  };
  for (std::uint32_t i = 0; i < route.count; ++i) {
    const RouteStep& step = table_.Steps(route)[i];
    const Charge charge = ChargeOf(step, link_loads.mb_per_s);
    add(step.link, charge.forth);
    add(step.back, charge.back);
  }
}

std::span<const Residual::LinkLoad> Residual::LinkLoadsOf(const Route& route,
                                                          std::int64_t mb_per_s) {
  if (link_loads_.size() < table_.step_count()) {
    link_loads_.resize(table_.step_count());
    link_loads_list_.resize(2 * table_.step_count());
  }
  LinkLoads& link_loads = link_loads_[route.first];
  if (link_loads.mb_per_s != mb_per_s) {
    link_loads.mb_per_s = mb_per_s;
    FindLinkLoads(route, link_loads);
  }
  return {&link_loads_list_[2 * std::size_t{route.first}], link_loads.count};
}

bool Residual::HasRoomCharged(const Route& route, std::int64_t mb_per_s) {
  for (const LinkLoad& link_load : LinkLoadsOf(route, mb_per_s))
    if (left_[link_load.link] < link_load.mb_per_s) return false;
  return true;
}

std::optional<std::uint32_t> Residual::FullOf(const Route& route, std::int64_t mb_per_s) const {
  const RouteStep* const steps = table_.Steps(route);
  for (std::uint32_t i = 0; i < route.count; ++i) {
    const Charge charge = ChargeOf(steps[i], mb_per_s);
    std::int64_t left = left_[steps[i].link], left_back = left_[steps[i].back];
    for (std::uint32_t before = 0; before < i; ++before) {
      const Charge other = ChargeOf(steps[before], mb_per_s);
      for (const auto& [link, taken] : {std::pair(steps[before].link, other.forth),
                                        std::pair(steps[before].back, other.back)}) {
        if (link == steps[i].link) left -= taken;
        if (link == steps[i].back) left_back -= taken;
      }
    }
    if (charge.back > 0 && left_back < charge.back) return steps[i].back;
    if (left < charge.forth) return steps[i].link;
  }
  return std::nullopt;
}

void Residual::MoveCharged(const Route& route, std::int64_t mb_per_s) {
  const std::int64_t sign = mb_per_s < 0 ? -1 : 1;
  for (const LinkLoad& link_load : LinkLoadsOf(route, sign * mb_per_s))
    left_[link_load.link] += sign * link_load.mb_per_s;
}

}  // namespace ringlet::plan
