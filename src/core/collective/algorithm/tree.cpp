#include "collective/algorithm/tree.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/ring.hpp"
#include "plan/channels/double_tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

/// The ranks of `order` from the viewpoint of the root, which has place 0.
class FromRoot {
 public:
  FromRoot(std::span<const Rank> order, Rank self, Rank root) : order_(order) {
    root_ = PlaceOf(root);
    place_ = (PlaceOf(self) + size() - root_) % size();
  }
  std::size_t size() const { return order_.size(); }
  std::size_t place() const { return place_; }
  Rank At(std::size_t place) const { return order_[(root_ + place) % size()]; }

 private:
  std::size_t PlaceOf(Rank rank) const {
    const auto found = std::find(order_.begin(), order_.end(), rank);
    RINGLET_ASSERT(found != order_.end());
    return static_cast<std::size_t>(found - order_.begin());
  }
  std::span<const Rank> order_;
  std::size_t root_;
  std::size_t place_;
};

/// Returns a place's children in a binomial tree, nearest first. Its parent is place & (place - 1).
std::vector<std::size_t> BinomialChildren(std::size_t place, std::size_t ranks) {
  std::vector<std::size_t> children;
  for (std::size_t bit = 1; place + bit < ranks && (place & bit) == 0; bit *= 2)
    children.push_back(place + bit);
  return children;
}

/// Returns the half of the elements that tree 0 or 1 carries.
Range HalfOf(std::size_t count, std::uint32_t tree) {
  return EvenChunk(count, 2, tree);
}

/// This rank's place in one of two trees over all ranks except the root, as a place of FromRoot.
/// Place 0 is the root, which is above both trees.
struct TreeRelatives {
  std::optional<std::size_t> parent = {};
  std::vector<std::size_t> children = {};
};

TreeRelatives BelowRoot(const FromRoot& view, std::uint32_t tree) {
  const auto nodes = static_cast<std::uint32_t>(view.size() - 1);
  TreeRelatives result;
  if (view.place() == 0) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      // The top of the first tree is its first node, and that of the second its first or last.
      if (!plan::PlaceInTree(node, nodes, tree).parent) result.children.push_back(node + 1);
    }
    return result;
  }
  const auto node = static_cast<std::uint32_t>(view.place() - 1);
  const plan::DoubleTreePlace place = plan::PlaceInTree(node, nodes, tree);
  result.parent = place.parent ? *place.parent + 1 : 0;
  for (const auto& child : place.children)
    if (child) result.children.push_back(*child + 1);
  return result;
}

/// Adds the children's data to the elements at `from`, and returns the place of the sum.
Place SumOfChildren(Schedule& schedule, const std::vector<Rank>& children, Place from, Place sum,
                    std::size_t count) {
  for (const Rank child : children) {
    schedule.ReceiveReduce(child, from, sum, count);
    from = sum;
  }
  return from;
}

}  // namespace

Schedule BinomialBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const FromRoot view(order, self, root);
  const bool is_root = self == root;
  Schedule schedule{.input_count = is_root ? count : 0, .output_count = count};
  if (!is_root) schedule.Receive(view.At(view.place() & (view.place() - 1)), Output(), count);
  const std::vector<std::size_t> children = BinomialChildren(view.place(), view.size());
  // The farthest child has the largest subtree.
  for (auto child = children.rbegin(); child != children.rend(); ++child)
    schedule.Send(view.At(*child), is_root ? Input() : Output(), count);
  if (is_root) schedule.Copy(Input(), Output(), count);
  return schedule;
}

Schedule BinomialReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const FromRoot view(order, self, root);
  const bool is_root = self == root;
  std::vector<Rank> children;
  for (const std::size_t child : BinomialChildren(view.place(), view.size()))
    children.push_back(view.At(child));
  Schedule schedule{.input_count = count,
                    .output_count = is_root ? count : 0,
                    .scratch_count = is_root || children.empty() ? 0 : count};
  const Place sum =
      SumOfChildren(schedule, children, Input(), is_root ? Output() : Scratch(), count);
  if (!is_root) {
    schedule.Send(view.At(view.place() & (view.place() - 1)), sum, count);
  } else if (children.empty()) {
    schedule.Copy(Input(), Output(), count).finishes = true;
  } else {
    schedule.steps.back().finishes = true;
  }
  return schedule;
}

Schedule DoubleTreeBroadcast(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const FromRoot view(order, self, root);
  const bool is_root = self == root;
  Schedule schedule{.input_count = is_root ? count : 0, .output_count = count};
  for (std::uint32_t tree = 0; tree < 2 && view.size() > 1; ++tree) {
    const Range half = HalfOf(count, tree);
    const TreeRelatives around = BelowRoot(view, tree);
    if (around.parent) schedule.Receive(view.At(*around.parent), Output(half.begin), half.count);
    for (const std::size_t child : around.children)
      schedule.Send(view.At(child), is_root ? Input(half.begin) : Output(half.begin), half.count);
  }
  if (is_root) schedule.Copy(Input(), Output(), count);
  return schedule;
}

Schedule DoubleTreeReduce(std::span<const Rank> order, Rank self, Rank root, std::size_t count) {
  const FromRoot view(order, self, root);
  const bool is_root = self == root;
  Schedule schedule{.input_count = count,
                    .output_count = is_root ? count : 0,
                    .scratch_count = is_root ? 0 : count};
  if (view.size() == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  for (std::uint32_t tree = 0; tree < 2 && view.size() > 1; ++tree) {
    const Range half = HalfOf(count, tree);
    const TreeRelatives around = BelowRoot(view, tree);
    std::vector<Rank> children;
    for (const std::size_t child : around.children) children.push_back(view.At(child));
    const Place sum = SumOfChildren(schedule, children, Input(half.begin),
                                    is_root ? Output(half.begin) : Scratch(half.begin), half.count);
    if (around.parent) {
      schedule.Send(view.At(*around.parent), sum, half.count);
    } else {
      schedule.steps.back().finishes = true;
    }
  }
  return schedule;
}

Schedule DoubleTreeAllReduce(std::span<const Rank> order, Rank self, std::size_t count) {
  const FromRoot view(order, self, order.front());
  const auto ranks = static_cast<std::uint32_t>(order.size());
  const auto place = static_cast<std::uint32_t>(view.place());
  Schedule schedule{.input_count = count, .output_count = count};
  if (ranks == 1) schedule.Copy(Input(), Output(), count).finishes = true;
  if (ranks == 1) return schedule;
  for (std::uint32_t tree = 0; tree < 2; ++tree) {
    const Range half = HalfOf(count, tree);
    const plan::DoubleTreePlace around = plan::PlaceInTree(place, ranks, tree);
    std::vector<Rank> children;
    for (const auto& child : around.children)
      if (child) children.push_back(order[*child]);
    const Place sum =
        SumOfChildren(schedule, children, Input(half.begin), Output(half.begin), half.count);
    if (around.parent) {
      schedule.Send(order[*around.parent], sum, half.count);
    } else {
      schedule.steps.back().finishes = true;
    }
  }
  for (std::uint32_t tree = 0; tree < 2; ++tree) {
    const Range half = HalfOf(count, tree);
    const plan::DoubleTreePlace around = plan::PlaceInTree(place, ranks, tree);
    if (around.parent) schedule.Receive(order[*around.parent], Output(half.begin), half.count);
    for (const auto& child : around.children)
      if (child) schedule.Send(order[*child], Output(half.begin), half.count);
  }
  return schedule;
}

namespace {

std::uint64_t BinomialNs(const CallCost& one) {
  std::uint64_t time = 0;
  for (std::uint64_t distance = 1; distance < one.ranks; distance *= 2)
    time += one.Hop(one.LinkAt(distance)) + one.Moving(one.LinkAt(distance), one.bytes) +
            ReduceBlockNs(one);
  return time;
}

/// Time from a leaf of a binary tree to its root. A rank serves two children.
std::uint64_t TreeHopsNs(const CallCost& one) {
  const LinkCost &local = one.model.local, &remote = one.model.remote;
  return one.Rounds(one.mates) * (one.Hop(local) + local.overhead_ns) +
         one.Rounds(one.hosts) * (one.Hop(remote) + remote.overhead_ns);
}

/// On a host of several ranks, edges of both trees leave the host: 8 MiB among 4 hosts of 2 ranks,
/// 1 Gb/s each, took 110 to 123 ms, and 71 to 75 ms in a ring (docs/performance.md).
std::uint64_t ThroughTreesNs(const CallCost& one) {
  return one.Moving(one.slowest(), one.hosts > 1 && one.mates > 1 ? 2 * one.bytes : one.bytes);
}

std::uint64_t DoubleTreeAllReduceNs(const CallCost& one) {
  return 2 * TreeHopsNs(one) + 2 * ThroughTreesNs(one) + one.Reducing(one.bytes);
}

std::uint64_t DoubleTreeNs(const CallCost& one) {
  return TreeHopsNs(one) + ThroughTreesNs(one) + ReduceBlockNs(one);
}

constexpr AlgorithmCase kBinomialCases[] = {
    {CallKind::kBroadcast, Everywhere, OverOrderWithRoot<BinomialBroadcast>, BinomialNs},
    {CallKind::kReduce, Everywhere, OverOrderWithRoot<BinomialReduce>, BinomialNs},
};

constexpr AlgorithmCase kDoubleTreeCases[] = {
    {CallKind::kAllReduce, Everywhere, OverOrder<DoubleTreeAllReduce>, DoubleTreeAllReduceNs},
    {CallKind::kBroadcast, Everywhere, OverOrderWithRoot<DoubleTreeBroadcast>, DoubleTreeNs},
    {CallKind::kReduce, Everywhere, OverOrderWithRoot<DoubleTreeReduce>, DoubleTreeNs},
};

}  // namespace

constinit const AlgorithmRow kBinomialRow{"binomial", kBinomialCases, {}, NcclShape::kTree};
constinit const AlgorithmRow kDoubleTreeRow{"double_tree", kDoubleTreeCases, {}, NcclShape::kTree};

}  // namespace ringlet::collective
