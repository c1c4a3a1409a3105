#include "plan/search/given_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/channels/graph_file.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::PathType;

GraphNames NamesOf(const std::vector<Rank>& ranks) {
  GraphNames names;
  names.gpus.resize(ranks.size());
  std::iota(names.gpus.begin(), names.gpus.end(), 0u);
  for (const Rank rank : ranks) names.ranks.push_back(Index(rank));
  return names;
}

GraphNames NamesOf(const std::vector<Rank>& ranks, const topology::Graph& graph) {
  GraphNames names = NamesOf(ranks);
  const topology::HostNodes& host = graph.hosts()[graph.at(ranks.front()).host];
  for (std::uint32_t i = host.first; i < host.end; ++i)
    if (graph.nodes()[i].kind == topology::NodeKind::kNet)
      names.nets.push_back(graph.nodes()[i].id);
  return names;
}

Bandwidth SpeedOf(const PatternGraph& graph, bool multi_node) {
  return multi_node ? std::min(graph.intra, graph.inter) : graph.intra;
}

/// The channels of the file. Those that the file lacks are the found ones.
class Following {
 public:
  Following(const HostPlan& given, const ChannelPlan& found)
      : found_(found), ring_(given.of(GraphId::kRing)), tree_(given.of(GraphId::kTree)) {
    const std::size_t rings = ring_.channels.size(), trees = tree_.channels.size();
    base_ = rings > 0 && trees > 0 ? std::min(rings, trees) : std::max(rings, trees);
  }

  std::size_t base() const { return base_; }

  /// One bandwidth per channel. If the file lacks this graph, the found ones repeat.
  std::vector<Bandwidth> Speeds(GraphId id) const {
    const PatternGraph& graph = id == GraphId::kRing ? ring_ : tree_;
    if (!graph.channels.empty()) return std::vector(base_, SpeedOf(graph, found_.node_count() > 1));
    const ChannelPlan::Options& old = found_.options();
    const std::vector<Bandwidth>& found = id == GraphId::kRing ? old.rings : old.trees;
    std::vector<Bandwidth> speeds;
    for (std::size_t i = 0; i < base_; ++i) speeds.push_back(found[i % found.size()]);
    return speeds;
  }

  NodeShape ShapeLike(const NodeShape& old) const {
    NodeShape shape = old;
    shape.rings.clear();
    shape.trees.clear();
    for (std::size_t i = 0; i < base_; ++i) {
      shape.rings.push_back(ring_.channels.empty() ? old.rings[i % old.rings.size()]
                                                   : ring_.channels[i].devices);
      shape.trees.push_back(tree_.channels.empty()
                                ? old.trees[i % old.trees.size()]
                                : ChainOf(tree_.channels[i].devices, tree_.pattern));
    }
    return shape;
  }

 private:
  const ChannelPlan& found_;
  const PatternGraph& ring_;
  const PatternGraph& tree_;
  std::size_t base_ = 0;
};

/// The node of the ranks in a file. Node 0 if the file contains no rank of the communicator.
std::uint32_t NodeOfFile(const GraphText& given, const ChannelPlan& found) {
  const std::optional<std::uint32_t> rank = FirstRankIn(given.text);
  return rank && *rank < found.rank_count() ? found.PlaceOf(Rank{*rank}).node : 0;
}

Status RequireEqualHosts(const GraphText& given, const ChannelPlan& found, std::uint32_t ranks) {
  for (std::uint32_t node = 0; node < found.node_count(); ++node)
    if (const std::uint32_t its = found.ShapeOf(node).ranks; its != ranks)
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: its channels visit {} ranks of a host, but the host of rank {} "
                               "has {} of this communicator; a graph file fits only where all "
                               "hosts have as many",
                               given.file, ranks, Index(found.RankAt({node, 0})), its)};
  return Ok();
}

bool IsChain(const LocalTree& tree) {
  for (std::uint32_t i = 0; i < tree.above.size(); ++i)
    if (tree.above[i] != i) return false;
  return true;
}

Pattern PatternOf(const LocalTree& tree) {
  if (tree.to_children[1] == 1) return Pattern::kSplitTree;
  return tree.to_children[0] == 1 ? Pattern::kBalancedTree : Pattern::kTree;
}

PatternGraph GraphOf(GraphId id, Pattern pattern, Bandwidth speed, PathType intra) {
  PatternGraph graph;
  graph.id = id;
  graph.pattern = pattern;
  graph.intra = graph.inter = speed;
  graph.type_intra = intra;
  graph.type_inter = PathType::kSys;
  return graph;
}

bool AllSame(const std::vector<LocalChannel>& channels) {
  return std::ranges::all_of(
      channels, [&](const LocalChannel& channel) { return channel == channels.front(); });
}

}  // namespace

Result<ChannelPlan> FollowGraphs(const GraphText& given, const ChannelPlan& found,
                                 const topology::Graph& graph, const ChannelLimits& limits) {
  const std::vector<Rank> ranks = found.RanksOf(NodeOfFile(given, found));
  RINGLET_TRY_ASSIGN(const HostPlan plan,
                     ReadGraphs(given.text, given.file, NamesOf(ranks, graph)));
  RINGLET_TRY(RequireEqualHosts(given, found, static_cast<std::uint32_t>(ranks.size())));
  const Following following(plan, found);
  if (following.base() == 0)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has neither rings (graph 0) nor trees (graph 1)", given.file)};
  ChannelPlan::Options options = found.options();
  options.rings = following.Speeds(GraphId::kRing);
  options.trees = following.Speeds(GraphId::kTree);
  options.ring_channels = std::clamp(static_cast<std::uint32_t>(following.base()), limits.min,
                                     std::max(limits.min, limits.max));
  options.tree_channels = options.ring_channels;
  std::vector<NodeShape> shapes;
  for (const NodeShape& shape : found.shapes()) shapes.push_back(following.ShapeLike(shape));
  ChannelPlan result(std::move(options), std::move(shapes));
  for (std::uint32_t node = 0; node < found.node_count(); ++node)
    result.AddNode(static_cast<std::uint32_t>(&found.ShapeOf(node) - found.shapes().data()),
                   found.RanksOf(node));
  result.Finish();
  return result;
}

std::string GraphsOf(const ChannelPlan& plan, Rank rank) {
  const std::uint32_t node = plan.PlaceOf(rank).node;
  const NodeShape& shape = plan.ShapeOf(node);
  const PathType intra = shape.groups.size() > 1 ? PathType::kSys : PathType::kPhb;
  const ChannelSpeed speed = plan.speed(0);
  HostPlan host;
  host.devices = shape.ranks;
  for (std::size_t id = 0; id < kGraphIds; ++id) host.graphs[id].id = static_cast<GraphId>(id);
  PatternGraph& ring = host.of(GraphId::kRing);
  ring = GraphOf(GraphId::kRing, Pattern::kRing, speed.ring, intra);
  for (const std::vector<std::uint32_t>& order : shape.rings) ring.channels.push_back({order});
  ring.same_channels = AllSame(ring.channels);
  if (std::ranges::all_of(shape.trees, IsChain)) {
    PatternGraph& tree = host.of(GraphId::kTree);
    tree = GraphOf(GraphId::kTree, PatternOf(shape.trees.front()), speed.tree, intra);
    for (const LocalTree& one : shape.trees) tree.channels.push_back({one.order});
    tree.same_channels = AllSame(tree.channels);
  }
  return WriteGraphs(host, NamesOf(plan.RanksOf(node)));
}

}  // namespace ringlet::plan
