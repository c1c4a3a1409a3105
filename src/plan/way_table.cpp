#include "plan/way_table.hpp"

#include <fmt/format.h>

#include "plan/dead_ends.hpp"

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

bool IsPlain(const WayStep& step) {
  return !step.split_packets && step.backwash == Backwash::kNone;
}

/// A number that stands for the step's link, and how it is charged.
std::uint64_t MarkOf(const WayStep& step) {
  const auto how = static_cast<std::uint64_t>(step.backwash) << 1 | (step.split_packets ? 1 : 0);
  return Scatter(std::uint64_t{step.link} << 3 | how);
}

bool LoadSameLink(const WayStep& a, const WayStep& b) {
  const bool a_back = a.backwash != Backwash::kNone, b_back = b.backwash != Backwash::kNone;
  return a.link == b.link || (a_back && a.back == b.link) || (b_back && b.back == a.link) ||
         (a_back && b_back && a.back == b.back);
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
  hops_.clear();
  paths_.AppendRoute(hops_, NodeOf(from), NodeOf(to));
  const NodeKind start = graph.at(NodeOf(from)).kind;
  const bool split =
      path.type == PathType::kPhb && start == NodeKind::kGpu && PassesIntel(graph, hops_);
  for (const Hop& hop : hops_) {
    steps_.push_back({LinkBetween(hop.from, hop.to, hop.kind),
                      LinkBetween(hop.to, hop.from, hop.kind), BackwashOf(graph, start, hop),
                      split && hop.kind == LinkKind::kPci});
    way.mark += MarkOf(steps_.back());
    for (std::size_t other = way.first; other + 1 < steps_.size(); ++other)
      way.plain = way.plain && !LoadSameLink(steps_[other], steps_.back());
    way.plain = way.plain && IsPlain(steps_.back());
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

void Residual::FindFares(const Way& way, Fares& fares) {
  Fare* const list = &fares_list_[2 * std::size_t{way.first}];
  fares.count = 0;
  const auto add = [&](std::uint32_t link, std::int64_t mb_per_s) {
    if (mb_per_s == 0) return;
    std::uint32_t at = 0;
    while (at < fares.count && list[at].link != link) ++at;
    if (at == fares.count) list[fares.count++] = {link, 0};
    list[at].mb_per_s += mb_per_s;
  };
  for (std::uint32_t i = 0; i < way.count; ++i) {
    const WayStep& step = table_.Steps(way)[i];
    const Charge charge = ChargeOf(step, fares.mb_per_s);
    add(step.link, charge.forth);
    add(step.back, charge.back);
  }
}

std::span<const Residual::Fare> Residual::FaresOf(const Way& way, std::int64_t mb_per_s) {
  if (fares_.size() < table_.step_count()) {
    fares_.resize(table_.step_count());
    fares_list_.resize(2 * table_.step_count());
  }
  Fares& fares = fares_[way.first];
  if (fares.mb_per_s != mb_per_s) {
    fares.mb_per_s = mb_per_s;
    FindFares(way, fares);
  }
  return {&fares_list_[2 * std::size_t{way.first}], fares.count};
}

bool Residual::HasRoomCharged(const Way& way, std::int64_t mb_per_s) {
  for (const Fare& fare : FaresOf(way, mb_per_s))
    if (left_[fare.link] < fare.mb_per_s) return false;
  return true;
}

std::optional<std::uint32_t> Residual::FullOf(const Way& way, std::int64_t mb_per_s) const {
  const WayStep* const steps = table_.Steps(way);
  for (std::uint32_t i = 0; i < way.count; ++i) {
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

void Residual::MoveCharged(const Way& way, std::int64_t mb_per_s) {
  const std::int64_t sign = mb_per_s < 0 ? -1 : 1;
  for (const Fare& fare : FaresOf(way, sign * mb_per_s)) left_[fare.link] += sign * fare.mb_per_s;
}

}  // namespace ringlet::plan
