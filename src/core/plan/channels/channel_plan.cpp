#include "plan/channels/channel_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/value/digest.hpp"
#include "plan/channels/double_tree.hpp"

namespace ringlet::plan {
namespace {

bool EachOnce(const std::vector<std::uint32_t>& numbers, std::uint32_t below) {
  std::vector<bool> seen(below, false);
  for (const std::uint32_t number : numbers) {
    if (number >= below || seen[number]) return false;
    seen[number] = true;
  }
  return numbers.size() == below;
}

std::uint32_t PositionOf(const std::vector<std::uint32_t>& order, std::uint32_t local) {
  return static_cast<std::uint32_t>(std::ranges::find(order, local) - order.begin());
}

/// \pre position > 0
std::uint32_t ParentOf(const LocalTree& tree, std::uint32_t position) {
  return tree.above.empty() ? position - 1 : tree.above[position - 1];
}

/// Returns true if every position has a lower parent, and none has too many children.
bool IsValidTree(const LocalTree& tree) {
  if (!tree.above.empty() && tree.above.size() + 1 != tree.order.size()) return false;
  std::vector<std::size_t> below(tree.order.size());
  for (std::uint32_t position = 1; position < tree.order.size(); ++position) {
    const std::uint32_t above = ParentOf(tree, position);
    if (above >= position || ++below[above] > Neighbours::kDownMax - 2) return false;
  }
  return true;
}

Error Refused(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

void Append(Writer& out, const std::vector<std::uint32_t>& numbers) {
  out.U32(static_cast<std::uint32_t>(numbers.size()));
  for (const std::uint32_t number : numbers) out.U32(number);
}

void Append(Writer& out, const NodeShape& shape) {
  out.U32(shape.ranks).U32(shape.leader);
  for (const auto& ring : shape.rings) Append(out, ring);
  for (const LocalTree& tree : shape.trees) {
    Append(out, tree.order);
    Append(out, tree.above);
    out.U32(tree.to_children[0]).U32(tree.to_children[1]);
  }
  out.U32(static_cast<std::uint32_t>(shape.groups.size()));
  for (const LocalGroup& group : shape.groups) Append(out, group);
}

std::size_t BytesOf(const NodeShape& shape) {
  std::size_t numbers = 0;
  for (const auto& ring : shape.rings) numbers += ring.size();
  for (const LocalTree& tree : shape.trees) numbers += tree.order.size() + tree.above.size();
  for (const LocalGroup& group : shape.groups) numbers += group.size();
  return sizeof(NodeShape) + sizeof(LocalTree) * shape.trees.size() +
         sizeof(LocalGroup) * (shape.rings.size() + shape.groups.size()) +
         sizeof(std::uint32_t) * numbers;
}

Status CheckNumber(std::string_view of, std::size_t base, std::uint32_t channels) {
  if (base > 0 && base <= kChannelsMax && channels > 0 && channels <= kChannelsMax) return Ok();
  return Refused(fmt::format(
      "a plan has 1 to {} channels with {}; {} channels from {} found ones are not possible",
      kChannelsMax, of, channels, base));
}

std::vector<Rank> EachOnce(std::vector<Rank> ranks, Rank but) {
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::erase(ranks, but);
  return ranks;
}

}  // namespace

ChannelPlan::ChannelPlan(Options options, std::vector<NodeShape> shapes)
    : options_(std::move(options)), shapes_(std::move(shapes)) {}

void ChannelPlan::AddNode(std::uint32_t shape, std::span<const Rank> ranks) {
  const auto size = static_cast<std::uint32_t>(ranks.size());
  if (size > 0 && Index(ranks.back()) - Index(ranks.front()) + 1 == size)
    return AddNodes(shape, 1, ranks.front());
  if (runs_.empty() || !runs_.back().listed || runs_.back().shape != shape)
    runs_.push_back(
        {shape, node_count_, 0, static_cast<std::uint32_t>(listed_.size()), /*listed=*/true});
  ++runs_.back().nodes;
  for (std::uint32_t local = 0; local < size; ++local) {
    listed_.push_back(ranks[local]);
    found_.push_back({Index(ranks[local]), node_count_, local});
  }
  ++node_count_;
  rank_count_ += size;
}

void ChannelPlan::Finish() {
  std::ranges::sort(found_, {}, &Found::rank);
}

void ChannelPlan::AddNodes(std::uint32_t shape, std::uint32_t nodes, Rank first) {
  const std::uint32_t size = shapes_[shape].ranks;
  const bool goes_on = !runs_.empty() && !runs_.back().listed && runs_.back().shape == shape &&
                       runs_.back().first + runs_.back().nodes * size == Index(first);
  if (goes_on)
    runs_.back().nodes += nodes;
  else
    runs_.push_back({shape, node_count_, nodes, Index(first), /*listed=*/false});
  node_count_ += nodes;
  rank_count_ += nodes * size;
}

topology::Bandwidth ChannelPlan::ring_bandwidth() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < options_.rings.size() && i < options_.ring_channels; ++i)
    sum += options_.rings[i].mb_per_s;
  return {static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()))};
}

const ChannelPlan::Run& ChannelPlan::RunOf(std::uint32_t node) const {
  return *(std::ranges::upper_bound(runs_, node, {}, &Run::first_node) - 1);
}

Rank ChannelPlan::RankAt(NodePlace place) const {
  const Run& run = RunOf(place.node);
  const std::uint32_t at =
      run.first + (place.node - run.first_node) * shapes_[run.shape].ranks + place.local;
  return run.listed ? listed_[at] : Rank{at};
}

NodePlace ChannelPlan::PlaceOf(Rank rank) const {
  const auto found = std::ranges::lower_bound(found_, Index(rank), {}, &Found::rank);
  if (found != found_.end() && found->rank == Index(rank)) return {found->node, found->local};
  // Runs are sorted by their lowest rank. Listed runs do not contain this rank.
  auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& one) {
    return Index(RankAt({one.first_node, 0})) <= Index(rank);
  });
  do --run;
  while (run->listed);
  const std::uint32_t size = shapes_[run->shape].ranks, behind = Index(rank) - run->first;
  return {run->first_node + behind / size, behind % size};
}

std::vector<Rank> ChannelPlan::RanksOf(std::uint32_t node) const {
  std::vector<Rank> ranks;
  for (std::uint32_t local = 0; local < ShapeOf(node).ranks; ++local)
    ranks.push_back(RankAt({node, local}));
  return ranks;
}

const std::vector<std::uint32_t>& ChannelPlan::RingOf(std::uint32_t node,
                                                      std::uint32_t channel) const {
  const std::uint32_t swapped = options_.exchange && node % 2 == 1 ? 1 : 0;
  return ShapeOf(node).rings[BaseRing(channel) ^ swapped];
}

const LocalTree& ChannelPlan::TreeOf(std::uint32_t node, std::uint32_t channel) const {
  return ShapeOf(node).trees[BaseTree(channel)];
}

std::uint32_t ChannelPlan::OverNodes(std::uint32_t channel) const {
  return channel / options_.channels_of_a_tree % 2;
}

// The parent of a position of a node's tree. It is on the same node or on another one.
std::optional<Rank> ChannelPlan::ParentIn(std::uint32_t node, std::uint32_t position,
                                          std::uint32_t channel) const {
  const LocalTree& tree = TreeOf(node, channel);
  if (position > 0) return RankAt({node, tree.order[ParentOf(tree, position)]});
  const DoubleTreePlace over = PlaceInTree(node, node_count_, OverNodes(channel));
  if (!over.parent) return std::nullopt;
  const LocalTree& above = TreeOf(*over.parent, channel);
  return RankAt({*over.parent, above.order[above.to_children[over.side]]});
}

void ChannelPlan::AddTree(Neighbours& result, NodePlace place, std::uint32_t channel) const {
  const LocalTree& tree = TreeOf(place.node, channel);
  const std::uint32_t position = PositionOf(tree.order, place.local);
  result.up = ParentIn(place.node, position, channel);
  std::size_t used = 0;
  for (std::uint32_t below = position + 1; below < tree.order.size(); ++below)
    if (ParentOf(tree, below) == position)
      result.down[used++] = RankAt({place.node, tree.order[below]});
  const DoubleTreePlace over = PlaceInTree(place.node, node_count_, OverNodes(channel));
  for (std::uint32_t side = 0; side < 2; ++side) {
    if (!over.children[side] || tree.to_children[side] != position) continue;
    const std::uint32_t child = *over.children[side];
    result.down[used++] = RankAt({child, TreeOf(child, channel).order.front()});
  }
}

Neighbours ChannelPlan::At(Rank rank, std::uint32_t channel) const {
  const NodePlace place = PlaceOf(rank);
  const auto& ring = RingOf(place.node, channel);
  const std::uint32_t position = PositionOf(ring, place.local);
  const std::uint32_t before = (place.node + node_count_ - 1) % node_count_;
  const std::uint32_t after = (place.node + 1) % node_count_;
  Neighbours result;
  result.previous = position > 0 ? RankAt({place.node, ring[position - 1]})
                                 : RankAt({before, RingOf(before, channel).back()});
  result.next = position + 1 < ring.size() ? RankAt({place.node, ring[position + 1]})
                                           : RankAt({after, RingOf(after, channel).front()});
  AddTree(result, place, channel);
  return result;
}

std::vector<Rank> ChannelPlan::Ring(std::uint32_t channel) const {
  std::vector<Rank> ring;
  ring.reserve(rank_count_);
  for (std::uint32_t node = 0; node < node_count_; ++node)
    for (const std::uint32_t local : RingOf(node, channel)) ring.push_back(RankAt({node, local}));
  return ring;
}

std::vector<Rank> ChannelPlan::RingNeighboursOf(Rank rank) const {
  std::vector<Rank> all;
  // Channels beyond the base rings repeat them.
  const auto distinct =
      std::min(options_.ring_channels, static_cast<std::uint32_t>(options_.rings.size()));
  for (std::uint32_t channel = 0; channel < distinct; ++channel) {
    const Neighbours one = At(rank, channel);
    all.push_back(one.previous);
    all.push_back(one.next);
  }
  return EachOnce(std::move(all), rank);
}

std::uint64_t ChannelPlan::digest() const {
  Writer out;
  out.U32(options_.ring_channels).U32(options_.tree_channels);
  out.U32(options_.channels_of_a_tree).U8(options_.exchange ? 1 : 0);
  for (const auto* const speeds : {&options_.rings, &options_.trees}) {
    out.U32(static_cast<std::uint32_t>(speeds->size()));
    for (const topology::Bandwidth speed : *speeds) out.U32(speed.mb_per_s);
  }
  out.U32(static_cast<std::uint32_t>(shapes_.size()));
  for (const NodeShape& shape : shapes_) Append(out, shape);
  for (const Run& run : runs_)
    out.U32(run.shape).U32(run.nodes).U32(run.first).U8(run.listed ? 1 : 0);
  for (const Rank rank : listed_) out.U32(Index(rank));
  return BulkDigestOf(out.view());
}

std::size_t ChannelPlan::bytes() const {
  std::size_t sum = sizeof(ChannelPlan) +
                    sizeof(topology::Bandwidth) * (options_.rings.size() + options_.trees.size()) +
                    sizeof(Run) * runs_.size() + sizeof(Rank) * listed_.size() +
                    sizeof(Found) * found_.size();
  for (const NodeShape& shape : shapes_) sum += BytesOf(shape);
  return sum;
}

Status ChannelPlan::CheckShape(const NodeShape& shape) const {
  const std::size_t rings = options_.rings.size(), trees = options_.trees.size();
  if (shape.ranks == 0 || shape.leader >= shape.ranks || shape.rings.size() != rings ||
      shape.trees.size() != trees)
    return Refused(
        fmt::format("a node of {} ranks has {} rings and {} trees, but the plan has {} channels "
                    "with rings and {} with trees",
                    shape.ranks, shape.rings.size(), shape.trees.size(), rings, trees));
  for (std::size_t i = 0; i < rings; ++i)
    if (!EachOnce(shape.rings[i], shape.ranks))
      return Refused(
          fmt::format("channel {} does not visit each of {} ranks of a node once", i, shape.ranks));
  for (std::size_t i = 0; i < trees; ++i) {
    const LocalTree& tree = shape.trees[i];
    if (!EachOnce(tree.order, shape.ranks) || !IsValidTree(tree) ||
        tree.to_children[0] >= shape.ranks || tree.to_children[1] >= shape.ranks)
      return Refused(
          fmt::format("the tree of channel {} does not join {} ranks of a node", i, shape.ranks));
  }
  std::vector<std::uint32_t> grouped;
  for (const LocalGroup& group : shape.groups)
    grouped.insert(grouped.end(), group.begin(), group.end());
  if (!shape.groups.empty() && !EachOnce(grouped, shape.ranks))
    return Refused("the groups of a node do not contain each of its ranks exactly once");
  return Ok();
}

Status ChannelPlan::Check() const {
  const std::size_t rings = options_.rings.size();
  RINGLET_TRY(CheckNumber("rings", rings, options_.ring_channels));
  RINGLET_TRY(CheckNumber("trees", options_.trees.size(), options_.tree_channels));
  if (options_.channels_of_a_tree == 0 || (options_.exchange && rings % 2 == 1))
    return Refused(fmt::format("{} channels cannot be exchanged in pairs", rings));
  for (const NodeShape& shape : shapes_) RINGLET_TRY(CheckShape(shape));
  std::vector<bool> seen(rank_count_, false);
  for (std::uint32_t node = 0; node < node_count_; ++node)
    for (const Rank rank : RanksOf(node)) {
      if (Index(rank) >= rank_count_ || seen[Index(rank)])
        return Refused(
            fmt::format("node {} has rank {}, which is not one of {} ranks or is already on a node",
                        node, Index(rank), rank_count_));
      seen[Index(rank)] = true;
    }
  return rank_count_ > 0 ? Status(Ok()) : Status(Refused("a plan without ranks"));
}

Leaders LeadersOf(const ChannelPlan& plan, Rank rank) {
  const std::uint32_t node = plan.PlaceOf(rank).node;
  const NodeShape& shape = plan.ShapeOf(node);
  Leaders leaders{plan.RankAt({node, shape.leader}), plan.RanksOf(node), {}};
  for (const LocalGroup& group : shape.groups) {
    std::vector<Rank>& ranks = leaders.groups.emplace_back();
    for (const std::uint32_t local : group) ranks.push_back(leaders.ranks[local]);
  }
  return leaders;
}

std::string ToText(const ChannelPlan& plan) {
  std::string text;
  for (std::uint32_t i = 0; i < plan.counts().rings; ++i) {
    text += fmt::format("channel {}: {} MB/s, ring", i, plan.speed(i).ring.mb_per_s);
    for (const Rank rank : plan.Ring(i)) text += fmt::format(" {}", Index(rank));
    text += '\n';
  }
  return text;
}

}  // namespace ringlet::plan
