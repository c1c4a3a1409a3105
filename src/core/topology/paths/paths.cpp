#include "topology/paths/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <utility>

#include "topology/paths/path_correction.hpp"
#include "topology/paths/path_search.hpp"

namespace ringlet::topology {
namespace {

bool MayBeEnd(NodeKind kind) {
  return kind != NodeKind::kPci && kind != NodeKind::kNic && kind != NodeKind::kCxb;
}

bool MayPass(NodeKind kind) {
  return kind == NodeKind::kCpu || kind == NodeKind::kPci || kind == NodeKind::kNic;
}

}  // namespace

std::vector<Bandwidth> WidestFrom(const Graph& graph, NodeIndex from) {
  // Dijkstra's algorithm, where the narrowest link is the length and wider means shorter.
  const HostNodes& host = graph.hosts()[graph.at(from).host];
  std::vector<Bandwidth> widest(host.end - host.first);
  std::priority_queue<std::pair<Bandwidth, NodeIndex>> open;
  const auto offer = [&](NodeIndex node, Bandwidth width) {
    if (Index(node) < host.first || Index(node) >= host.end) return;
    Bandwidth& known = widest[Index(node) - host.first];
    if (width <= known) return;
    known = width;
    if (MayPass(graph.at(node).kind)) open.emplace(width, node);
  };
  for (const Link& link : graph.at(from).links) {
    offer(link.to, link.bandwidth);
    offer(from, link.bandwidth);
  }
  while (!open.empty()) {
    const auto [width, node] = open.top();
    open.pop();
    if (width < widest[Index(node) - host.first]) continue;  // a wider path is already known
    for (const Link& link : graph.at(node).links) offer(link.to, std::min(width, link.bandwidth));
  }
  return widest;
}

Paths::Record* Paths::Find(NodeIndex from, NodeIndex to) {
  return const_cast<Record*>(std::as_const(*this).Find(from, to));
}

std::uint64_t Paths::Key(NodeIndex from, NodeIndex to) const {
  return std::uint64_t{Index(to)} << 32 | Index(from);
}

void Paths::AppendRoute(std::vector<Hop>& hops, NodeIndex from, NodeIndex to) const {
  const auto take = [&](std::uint16_t number) {
    const Link& link = graph_->at(from).links[number];
    hops.push_back({from, link.to, link.kind, link.bandwidth});
    from = link.to;
  };
  while (from != to) {
    const Record* record = Find(from, to);
    if (record == nullptr || record->hops == 0) return;
    switch (static_cast<Form>(record->form)) {
      case Form::kLink: take(record->next); break;
      case Form::kVia: {
        const NodeIndex via{system_.first + record->next};
        AppendRoute(hops, from, via);
        from = via;
        break;
      }
      case Form::kListed: {
        const auto at =
            std::lower_bound(listed_.begin(), listed_.end(), Key(from, to),
                             [](const Listed& one, std::uint64_t key) { return one.key < key; });
        for (const std::uint16_t number : at->links) take(number);
        return;
      }
    }
  }
}

std::vector<Hop> Paths::Route(NodeIndex from, NodeIndex to) const {
  std::vector<Hop> hops;
  AppendRoute(hops, from, to);
  return hops;
}

std::optional<NodeIndex> Paths::LocalGpu(NodeIndex net) const {
  const std::vector<NodeIndex>& nets = Of(NodeKind::kNet);
  const auto at = std::find(nets.begin(), nets.end(), net);
  if (at == nets.end()) return std::nullopt;
  return local_gpus_[static_cast<std::size_t>(at - nets.begin())];
}

std::size_t Paths::bytes() const {
  std::size_t bytes = sizeof(*this) + records_.size() * sizeof(Record) +
                      end_of_.size() * sizeof(end_of_[0]) + listed_.size() * sizeof(Listed) +
                      local_gpus_.size() * sizeof(local_gpus_[0]);
  for (const Listed& one : listed_) bytes += one.links.size() * sizeof(one.links[0]);
  for (const auto& kind : kinds_) bytes += kind.size() * sizeof(NodeIndex);
  return bytes;
}

namespace {

Error TooLarge(std::string_view of, std::size_t max, std::size_t have) {
  return {Code::kUnsupported,
          fmt::format("one system may have {} {} at most, not {}; is one file meant for several?",
                      max, of, have)};
}

Status CheckSize(const Graph& graph, const SystemNodes& system, std::size_t ends) {
  const std::size_t nodes = system.end - system.first;
  if (nodes > Paths::kNodesMax) return TooLarge("nodes", Paths::kNodesMax, nodes);
  if (ends * nodes > Paths::kPathsMax) return TooLarge("paths", Paths::kPathsMax, ends * nodes);
  std::size_t links = 0;
  for (std::uint32_t i = system.first; i < system.end; ++i) links += graph.nodes()[i].links.size();
  if (ends * links > Paths::kStepsMax)
    return TooLarge("steps of searching", Paths::kStepsMax, ends * links);
  return Ok();
}

}  // namespace

Result<Paths> FindPaths(const Graph& graph, std::uint32_t system, const PathOptions& options) {
  if (system >= graph.systems().size())
    return Error{Code::kInvalidArgument,
                 fmt::format("the graph has {} systems; system {} does not exist",
                             graph.systems().size(), system)};
  Paths paths;
  paths.graph_ = &graph;
  paths.system_ = graph.systems()[system];
  const std::size_t nodes = paths.system_.end - paths.system_.first;
  paths.kinds_.resize(kNodeKinds);
  std::uint32_t ends = 0;
  for (std::uint32_t i = paths.system_.first; i < paths.system_.end; ++i) {
    const NodeKind kind = graph.nodes()[i].kind;
    paths.kinds_[static_cast<std::size_t>(kind)].push_back(NodeIndex{i});
    paths.end_of_.push_back(MayBeEnd(kind) ? ends++ : Paths::kNoEnd);
  }
  RINGLET_TRY(CheckSize(graph, paths.system_, ends));
  paths.records_.resize(std::size_t{ends} * nodes);
  RINGLET_TRY(PathSearch(paths, options.nvb).Run());
  RINGLET_TRY(PathCorrection(paths, options).Run());
  return paths;
}

}  // namespace ringlet::topology
