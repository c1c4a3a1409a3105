#include "plan/channels/join.hpp"
#include "plan/channels/capability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace ringlet::plan {
namespace {

using topology::Bandwidth;

// Above kOneBlock between nodes, one ring channel carries more than one thread block of a newer GPU
// moves. Twice as many channels then help, if there are fewer than kEnoughChannels.
// Source  NCCL 2.30: 45 GB/s, 16 channels, compute capability 9.0.
constexpr Bandwidth kOneBlock{45'000};
constexpr std::uint32_t kEnoughChannels = 16;

Error RefusedJoin(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

/// The first node of a class, and its number of nodes.
struct ClassPresence {
  std::uint32_t first_node = 0;
  std::uint64_t nodes = 0;
};

class Joiner {
 public:
  Joiner(std::span<const NodeClass> classes, std::span<const NodeBlock> blocks,
         const ChannelLimits& limits)
      : classes_(classes), blocks_(blocks), limits_(limits), present_(classes.size()) {}

  Result<JoinedPlan> Run() {
    RINGLET_TRY(Count());
    for (std::size_t id = 0; id < kGraphIds; ++id) Reduce(static_cast<GraphId>(id));
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) RINGLET_TRY(KeepToRails(id));
    Common& ring = joined_.common[0];
    Common& tree = joined_.common[1];
    const std::uint32_t fewer = std::min(ring.channels, tree.channels);
    if (fewer == 0) return RefusedJoin("a node does not have any ring or tree");
    if (limits_.one_number) ring.channels = tree.channels = fewer;
    ChannelPlan::Options options;
    options.rings.assign(ring.channels, SpeedOf(ring));
    options.trees.assign(tree.channels, SpeedOf(tree));
    options.channels_of_a_tree = tree.channels;
    options.exchange = nodes_ > 1 && ring.cross_nic == 2 && ring.channels % 2 == 0;
    RINGLET_TRY_ASSIGN(options.ring_channels, ChannelCount(ring.channels));
    RINGLET_TRY_ASSIGN(options.tree_channels, ChannelCount(tree.channels));
    Assemble(std::move(options));
    joined_.nvls = NvlsHeads();
    return std::move(joined_);
  }

 private:
  Status Count() {
    std::uint64_t rank = 0;
    for (const NodeBlock& block : blocks_) {
      if (block.node_class >= classes_.size() || block.nodes == 0)
        return RefusedJoin(
            fmt::format("node {} is of class {}, which does not exist", nodes_, block.node_class));
      if (Index(block.first) != rank)
        return RefusedJoin(fmt::format("node {} begins with rank {}, but rank {} is next", nodes_,
                                       Index(block.first), rank));
      ClassPresence& present = present_[block.node_class];
      if (present.nodes == 0) present.first_node = static_cast<std::uint32_t>(nodes_);
      present.nodes += block.nodes;
      nodes_ += block.nodes;
      rank += std::uint64_t{block.nodes} * classes_[block.node_class].plan.devices;
    }
    if (nodes_ == 0 || rank == 0 || rank > topology::kGraphRanksMax)
      return RefusedJoin(fmt::format("{} nodes have {} ranks; 1 to {} can be planned", nodes_, rank,
                                     topology::kGraphRanksMax));
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (present_[i].nodes > 0) RINGLET_TRY(CheckClass(i));
    return Ok();
  }

  Status CheckClass(std::size_t number) const {
    const NodeClass& one = classes_[number];
    for (const GraphId id : {GraphId::kRing, GraphId::kTree})
      for (const LocalChannel& channel : one.plan.of(id).channels)
        if (channel.devices.size() != one.plan.devices)
          return RefusedJoin(fmt::format("a {} channel of node {} visits {} of {} devices",
                                         NameOf(id), present_[number].first_node,
                                         channel.devices.size(), one.plan.devices));
    if (!one.locals.empty() && one.locals.size() != one.plan.devices)
      return RefusedJoin(fmt::format("node {} has {} devices and {} numbers for them",
                                     present_[number].first_node, one.plan.devices,
                                     one.locals.size()));
    return Ok();
  }

  /// Keeps each channel on one rail from node to node. Drops the first channel that changes rails
  /// and all channels after it; see AlignRails.
  Status KeepToRails(GraphId id) {
    if (nodes_ < 2) return Ok();
    for (std::uint32_t channel = 0; channel < joined_.of(id).channels; ++channel) {
      std::optional<std::pair<std::uint32_t, std::uint32_t>> first;  // rail and node
      for (std::size_t i = 0; i < classes_.size(); ++i) {
        if (present_[i].nodes == 0 || classes_[i].rails.empty()) continue;
        const LocalChannel& its = classes_[i].plan.of(id).channels[channel];
        for (const std::optional<std::uint32_t> nic : {its.entry, its.exit}) {
          if (!nic) continue;
          const std::uint32_t rail = classes_[i].rails[*nic];
          if (!first) first = {rail, present_[i].first_node};
          if (first->first == rail) continue;
          if (channel > 0) {
            joined_.shortfalls.push_back({id, "channels on common rails", channel,
                                          joined_.of(id).channels, static_cast<std::uint32_t>(i),
                                          present_[i].first_node, present_[i].nodes});
            joined_.common[static_cast<std::size_t>(id)].channels = channel;
            return Ok();
          }
          return RefusedJoin(fmt::format(
              "channel {} of the {} would lead from rail {} on node {} to rail {} on node {}, but "
              "NICs of different rails do not reach each other; give each node a NIC on every "
              "rail, or join the rails",
              channel, NameOf(id), first->first, first->second, rail, present_[i].first_node));
        }
      }
    }
    return Ok();
  }

  /// The lowest value over the classes in use. Records the lowest class if values differ.
  template <typename Value>
  std::uint64_t Least(GraphId id, std::string_view what, const Value& value) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
    std::size_t who = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (present_[i].nodes == 0) continue;
      const std::uint64_t its = value(classes_[i].plan.of(id));
      most = std::max(most, its);
      if (its < least) least = its, who = i;
    }
    if (least < most)
      joined_.shortfalls.push_back({id, std::string(what), least, most,
                                    static_cast<std::uint32_t>(who), present_[who].first_node,
                                    present_[who].nodes});
    return least;
  }

  void Reduce(GraphId id) {
    Common& common = joined_.common[static_cast<std::size_t>(id)];
    const auto channels = [](const PatternGraph& graph) { return graph.channels.size(); };
    const auto intra = [](const PatternGraph& graph) { return graph.intra.mb_per_s; };
    const auto inter = [](const PatternGraph& graph) { return graph.inter.mb_per_s; };
    common.channels = static_cast<std::uint32_t>(Least(id, "channels", channels));
    if (common.channels > 0) {
      common.intra = {
          static_cast<std::uint32_t>(Least(id, "MB/s of a channel within a node", intra))};
      common.inter = {
          static_cast<std::uint32_t>(Least(id, "MB/s of a channel between nodes", inter))};
    }
    common.same_channels = true;
    common.pattern = Pattern::kBalancedTree;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (present_[i].nodes == 0) continue;
      const PatternGraph& graph = classes_[i].plan.of(id);
      common.pattern = std::max(common.pattern, graph.pattern);
      common.type_intra = std::max(common.type_intra, graph.type_intra);
      common.type_inter = std::max(common.type_inter, graph.type_inter);
      common.cross_nic = std::max(common.cross_nic, graph.cross_nic);
      common.latency_inter_ns = std::max(common.latency_inter_ns, graph.latency_inter_ns);
      common.same_channels = common.same_channels && graph.same_channels;
    }
  }

  Bandwidth SpeedOf(const Common& common) const {
    return nodes_ > 1 ? std::min(common.intra, common.inter) : common.intra;
  }

  std::uint32_t LeastCapability() const {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (present_[i].nodes > 0) least = std::min(least, classes_[i].compute_capability);
    return least;
  }

  std::uint32_t LargestNode() const {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (present_[i].nodes > 0) largest = std::max(largest, classes_[i].plan.devices);
    return largest;
  }

  Result<std::uint32_t> ChannelCount(std::uint32_t base) const {
    constexpr auto kMost = static_cast<std::uint32_t>(kChannelsMax);
    if (limits_.min == 0 || limits_.min > kMost || limits_.max == 0)
      return RefusedJoin(fmt::format("{} to {} channels were requested; the limits are 1 to {}",
                                     limits_.min, limits_.max, kMost));
    std::uint32_t channels = std::min(kMost, 2 * base);
    const Common& ring = joined_.of(GraphId::kRing);
    const Common& chain = joined_.of(GraphId::kCollnetChain);
    const bool inside = LargestNode() > 1;
    if (chain.channels > 0 && nodes_ > 1 && inside && chain.intra > chain.inter)
      channels = std::min(kMost, channels + channels / 2);
    if (LeastCapability() >= kHopper && nodes_ > 1 && ring.intra > kOneBlock &&
        channels < kEnoughChannels)
      channels = std::min(kMost, 2 * channels);
    return std::max(std::min(channels, limits_.max), limits_.min);
  }

  static std::vector<std::uint32_t> Local(const NodeClass& node_class,
                                          const std::vector<std::uint32_t>& devices) {
    std::vector<std::uint32_t> locals;
    for (const std::uint32_t device : devices)
      locals.push_back(node_class.locals.empty() ? device : node_class.locals[device]);
    return locals;
  }

  NodeShape ShapeOf(const NodeClass& node_class) const {
    NodeShape shape{node_class.plan.devices, {}, {}};
    const PatternGraph& ring = node_class.plan.of(GraphId::kRing);
    const PatternGraph& tree = node_class.plan.of(GraphId::kTree);
    for (std::size_t i = 0; i < joined_.of(GraphId::kRing).channels; ++i)
      shape.rings.push_back(Local(node_class, ring.channels[i].devices));
    for (std::size_t i = 0; i < joined_.of(GraphId::kTree).channels; ++i)
      shape.trees.push_back(ChainOf(Local(node_class, tree.channels[i].devices), tree.pattern));
    shape.leader = shape.rings.front().front();
    return shape;
  }

  void Assemble(ChannelPlan::Options options) {
    std::vector<std::uint32_t> shape_of(classes_.size());
    std::vector<NodeShape> shapes;
    for (std::uint32_t i = 0; i < classes_.size(); ++i) {
      if (present_[i].nodes == 0) continue;
      shape_of[i] = static_cast<std::uint32_t>(shapes.size());
      shapes.push_back(ShapeOf(classes_[i]));
    }
    joined_.plan = ChannelPlan(std::move(options), std::move(shapes));
    for (const NodeBlock& block : blocks_)
      joined_.plan.AddNodes(shape_of[block.node_class], block.nodes, block.first);
    joined_.plan.Finish();
  }

  /// Counts the distinct first devices of the NVLS channels.
  std::optional<NvlsHeadCounts> NvlsHeads() const {
    const Common& common = joined_.of(GraphId::kNvls);
    if (common.channels == 0) return std::nullopt;
    NvlsHeadCounts heads{std::numeric_limits<std::uint32_t>::max(), NvlsChannels()};
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      if (present_[i].nodes == 0) continue;
      std::vector<std::uint32_t> devices;
      for (const LocalChannel& channel : classes_[i].plan.of(GraphId::kNvls).channels)
        if (std::ranges::find(devices, channel.devices.front()) == devices.end())
          devices.push_back(channel.devices.front());
      heads.count = std::min(heads.count, static_cast<std::uint32_t>(devices.size()));
    }
    return heads;
  }

  // Source  NCCL 2.30, without its further tuning by the speed of NICs.
  std::uint32_t NvlsChannels() const {
    constexpr std::uint32_t kFirst = 16, kOneNode = 24, kManyNodes = 32;
    if (LeastCapability() < kBlackwell) return kFirst;
    return nodes_ > 1 ? kManyNodes : kOneNode;
  }

  std::span<const NodeClass> classes_;
  std::span<const NodeBlock> blocks_;
  const ChannelLimits& limits_;
  std::vector<ClassPresence> present_;
  std::uint64_t nodes_ = 0;
  JoinedPlan joined_;
};

/// The rail where a channel enters and leaves. Null if a NIC is missing, or the two rails differ.
std::optional<std::uint32_t> RailOf(const NodeClass& one, const LocalChannel& channel) {
  if (one.rails.empty() || !channel.entry || !channel.exit) return std::nullopt;
  const std::uint32_t rail = one.rails[*channel.entry];
  return rail == one.rails[*channel.exit] ? std::optional(rail) : std::nullopt;
}

/// The rails of channels that all classes have, in the order of the first class.
std::vector<std::uint32_t> CommonRails(std::span<const NodeClass> classes, GraphId id) {
  std::vector<std::uint32_t> common;
  bool is_first = true;
  for (const NodeClass& one : classes) {
    if (one.rails.empty()) continue;
    std::map<std::uint32_t, std::size_t> left;
    std::vector<std::uint32_t> rails;
    for (const LocalChannel& channel : one.plan.of(id).channels)
      if (const auto rail = RailOf(one, channel)) {
        rails.push_back(*rail);
        ++left[*rail];
      }
    if (std::exchange(is_first, false)) common = std::move(rails);
    std::erase_if(common, [&](std::uint32_t rail) {
      std::size_t& more = left[rail];
      if (more == 0) return true;
      --more;
      return false;
    });
  }
  return common;
}

}  // namespace

void AlignRails(std::span<NodeClass> classes) {
  for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
    const std::vector<std::uint32_t> rails = CommonRails(classes, id);
    for (NodeClass& one : classes) {
      if (one.rails.empty()) continue;
      auto place = one.plan.of(id).channels.begin();
      for (const std::uint32_t rail : rails) {
        const auto found =
            std::find_if(place, one.plan.of(id).channels.end(),
                         [&](const LocalChannel& channel) { return RailOf(one, channel) == rail; });
        std::rotate(place, found, found + 1);
        ++place;
      }
    }
  }
}

LocalTree ChainOf(std::vector<std::uint32_t> order, Pattern pattern) {
  const std::uint32_t second = order.size() > 1 ? 1 : 0;
  LocalTree tree{.order = std::move(order)};
  tree.to_children[0] = pattern == Pattern::kTree ? 0 : second;
  tree.to_children[1] = pattern == Pattern::kSplitTree ? second : 0;
  return tree;
}

std::string ToText(const Shortfall& shortfall) {
  return fmt::format(
      "{}: all nodes get {} {} instead of {}, because of node {} ({} node{} like it)",
      NameOf(shortfall.graph), shortfall.least, shortfall.what, shortfall.most,
      shortfall.first_node, shortfall.nodes, shortfall.nodes == 1 ? "" : "s");
}

Result<JoinedPlan> Join(std::span<const NodeClass> classes, std::span<const NodeBlock> blocks,
                        const ChannelLimits& limits) {
  return Joiner(classes, blocks, limits).Run();
}

}  // namespace ringlet::plan
