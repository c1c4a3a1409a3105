#include "topology/paths/path_search.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::topology {
namespace {

PathType TypeOf(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvLink: return PathType::kNvl;
    case LinkKind::kC2c: return PathType::kC2c;
    case LinkKind::kPci: return PathType::kPix;
    case LinkKind::kSocket: return PathType::kSys;
    case LinkKind::kLocal:
    case LinkKind::kMemory:
    case LinkKind::kNetwork: break;  // a port adds no distance, as in NCCL
  }
  return PathType::kLoc;
}

bool Better(const Path& candidate, const Path& known) {
  if (candidate.type != known.type) return candidate.type < known.type;
  if (candidate.bandwidth != known.bandwidth) return candidate.bandwidth > known.bandwidth;
  return candidate.hops < known.hops;
}

}  // namespace

/// Beyond another rank's GPU, a path may reach its ranks and, over NVLink, one more device.
bool PathSearch::MayPass(NodeIndex node, const Link& link) const {
  if (graph_.at(node).kind != NodeKind::kDev || node == own_) return true;
  const NodeKind to = graph_.at(link.to).kind;
  if (link.kind == LinkKind::kLocal) return to == NodeKind::kGpu;
  return nvb_ && link.kind == LinkKind::kNvLink && to == NodeKind::kDev &&
         states_[paths_.Local(node)].path.hops <= nvb_hops_;
}

PathType PathSearch::TypeOver(NodeIndex node, const Link& link) const {
  const NodeKind near = graph_.at(node).kind;
  const NodeKind far = graph_.at(link.to).kind;
  const Path& path = states_[paths_.Local(node)].path;
  PathType type = TypeOf(link.kind);
  if (near == NodeKind::kPci && far == NodeKind::kPci) type = PathType::kPxb;
  if (link.kind == LinkKind::kPci && (near == NodeKind::kCpu || far == NodeKind::kCpu))
    type = PathType::kPhb;
  if (near == NodeKind::kDev && link.kind == LinkKind::kNvLink && path.type == PathType::kNvl &&
      path.hops == nvb_hops_)
    type = PathType::kNvb;
  return std::max(path.type, type);
}

void PathSearch::Spread(NodeIndex node) {
  for (const Link& link : graph_.at(node).links) {
    if (!MayPass(node, link)) continue;
    const PathState& near = states_[paths_.Local(node)];
    // Uses the outward bandwidth, as NCCL does, although the path uses the link inwards.
    const Path candidate{TypeOver(node, link), std::min(near.path.bandwidth, link.bandwidth),
                         near.path.hops + 1};
    PathState& far = states_[paths_.Local(link.to)];
    if (!Better(candidate, far.path)) continue;
    const std::vector<Link>& links = graph_.at(link.to).links;
    const auto back = std::find_if(links.begin(), links.end(), [&](const Link& other) {
      return other.to == node && other.kind == link.kind;
    });
    far.path = candidate;
    cells_.push_back({Index(link.to), static_cast<std::uint16_t>(back - links.begin()), near.cell});
    far.cell = static_cast<std::uint32_t>(cells_.size() - 1);
    if (!far.open) next_round_.push_back(link.to);
    far.open = true;
  }
}

void PathSearch::From(NodeIndex end) {
  const bool is_gpu = graph_.at(end).kind == NodeKind::kGpu;
  own_ = is_gpu ? graph_.gpu(end).device : end;
  nvb_hops_ = is_gpu ? 2 : 1;
  states_.assign(paths_.system_.end - paths_.system_.first, PathState{});
  cells_.assign(1, Cell{});
  states_[paths_.Local(end)].path = {PathType::kLoc, kLocalLink, 0};
  round_.assign(1, end);
  while (!round_.empty()) {
    next_round_.clear();
    for (const NodeIndex node : round_) Spread(node);
    for (const NodeIndex node : next_round_) states_[paths_.Local(node)].open = false;
    std::swap(round_, next_round_);
  }
}

void PathSearch::List(NodeIndex node, NodeIndex end) {
  std::vector<std::uint16_t> links;
  for (std::uint32_t at = states_[paths_.Local(node)].cell; at != 0; at = cells_[at].next)
    links.push_back(cells_[at].link);
  paths_.listed_.push_back({paths_.Key(node, end), std::move(links)});
}

Status PathSearch::Keep(NodeIndex end, std::uint32_t number) {
  const std::size_t nodes = states_.size();
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const PathState& state = states_[i];
    if (state.path.hops > Paths::kHopsMax)
      return Error{Code::kUnsupported,
                   fmt::format("the path from {} to {} has more than {} links",
                               NcclName(graph_, NodeIndex{paths_.system_.first + i}),
                               NcclName(graph_, end), Paths::kHopsMax)};
    Paths::Record& record = paths_.records_[number * nodes + i];
    record.mb_per_s = state.path.bandwidth.mb_per_s;
    record.type = static_cast<std::uint16_t>(state.path.type) & 0xf;
    record.hops = static_cast<std::uint16_t>(state.path.hops) & 0x3ff;
    if (state.cell == 0) continue;
    const Cell& cell = cells_[state.cell];
    record.next = cell.link;
    const NodeIndex node{paths_.system_.first + i};
    const NodeIndex through = graph_.at(node).links[cell.link].to;
    if (cell.next == states_[paths_.Local(through)].cell) continue;
    record.form = static_cast<std::uint16_t>(Paths::Form::kListed);
    List(node, end);
  }
  return Ok();
}

Status PathSearch::Run() {
  std::uint32_t number = 0;
  for (std::uint32_t i = paths_.system_.first; i < paths_.system_.end; ++i) {
    const NodeIndex node{i};
    if (paths_.end_of_[paths_.Local(node)] != number) continue;
    From(node);
    RINGLET_TRY(Keep(node, number++));
  }
  std::sort(paths_.listed_.begin(), paths_.listed_.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return Ok();
}

}  // namespace ringlet::topology
