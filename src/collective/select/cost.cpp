#include "collective/select/cost.hpp"

#include <algorithm>
#include <bit>

#include "collective/algorithm/hierarchy.hpp"

namespace ringlet::collective {
namespace {

std::uint64_t Rounds(std::uint64_t ranks) {
  return static_cast<std::uint64_t>(std::bit_width(ranks - 1));
}

/// One call among so many ranks on so many hosts.
class Pricer {
 public:
  Pricer(std::uint64_t bytes, const Call& call, const Layout& layout, const CostModel& model)
      : bytes_(bytes),
        ranks_(layout.order.size()),
        hosts_(layout.groups.empty() ? 1 : layout.groups.size()),
        mates_(layout.groups.empty() ? ranks_ : LargestOf(layout.groups)),
        rails_(layout.groups.empty()
                   ? 1
                   : ShardsOf(layout.groups, call.count, layout.shard_elements_min)),
        model_(model) {}

  /// The same through memory within the hosts, on so many rails and in so many pieces.
  void ShareWithinHosts(std::uint64_t rails, std::uint64_t pieces) {
    rails_ = rails;
    pieces_ = pieces;
  }

  std::uint64_t AllReduce(Algorithm algorithm) const {
    const std::uint64_t share = bytes_ / ranks_;
    switch (algorithm) {
      case Algorithm::kDoubling: {
        std::uint64_t time = FoldTime();
        for (std::uint64_t distance = 1; distance * 2 <= ranks_; distance *= 2)
          time += Round(distance, bytes_) + Reducing(bytes_);
        return time;
      }
      case Algorithm::kHalving: {
        std::uint64_t time = FoldTime(), part = bytes_ / 2;
        for (std::uint64_t distance = 1; distance * 2 <= ranks_; distance *= 2, part /= 2)
          time += 2 * Round(distance, part) + Reducing(part);
        return time;
      }
      case Algorithm::kDoubleTree: return 2 * TreeHops() + 2 * ThroughTrees() + Reducing(bytes_);
      case Algorithm::kDirect: return ToEach() + (ranks_ - 1) * Reducing(bytes_);
      case Algorithm::kHierarchical:
      case Algorithm::kHierarchicalDoubling:
      case Algorithm::kHierarchicalDirect: {
        // The ranks that have a shard talk with all mates, and at once with other hosts.
        const std::uint64_t shard = bytes_ / rails_;
        const std::uint64_t near = std::max((mates_ - 1) * shard, bytes_ - shard);
        return 2 * Burst(model_.local, mates_ - 1, near) + Reducing((mates_ - 1) * shard) +
               OnRails(algorithm, shard);
      }
      case Algorithm::kHierarchicalShared:
      case Algorithm::kHierarchicalSharedDoubling:
      case Algorithm::kHierarchicalSharedDirect:
        return InPieces(SharedReduce(bytes_) + SharedCopy(bytes_),
                        OnRails(algorithm, bytes_ / rails_));
      default:
        return 2 * (ranks_ - 1) * (Hop(slowest()) + Moving(slowest(), share)) +
               (ranks_ - 1) * Reducing(share);
    }
  }

  /// `reduces`: the same backwards, adding up.
  std::uint64_t Broadcast(Algorithm algorithm, bool reduces) const {
    const std::uint64_t adding = reduces ? Reducing(bytes_) : 0;
    switch (algorithm) {
      case Algorithm::kBinomial: {
        std::uint64_t time = 0;
        for (std::uint64_t distance = 1; distance < ranks_; distance *= 2)
          time += Hop(LinkAt(distance)) + Moving(LinkAt(distance), bytes_) + adding;
        return time;
      }
      case Algorithm::kDoubleTree: return TreeHops() + ThroughTrees() + adding;
      case Algorithm::kHierarchicalDoubling:
        return Rounds(hosts_) * (Hop(model_.remote) + Moving(model_.remote, bytes_) + adding) +
               ToMates() + Rounds(mates_) * adding;
      case Algorithm::kDirect: return ToEach() + (ranks_ - 1) * adding;
      case Algorithm::kHierarchicalDirect:
        return Burst(model_.remote, hosts_ - 1, (hosts_ - 1) * bytes_) + (hosts_ - 1) * adding +
               ToMates() + Rounds(mates_) * adding;
      case Algorithm::kHierarchicalShared:
        return InPieces(SharedEnd(reduces),
                        (hosts_ - 1) * Hop(model_.remote) + Moving(model_.remote, bytes_) + adding);
      case Algorithm::kHierarchicalSharedDoubling:
        return InPieces(
            SharedEnd(reduces),
            Rounds(hosts_) * (Hop(model_.remote) + Moving(model_.remote, bytes_) + adding));
      case Algorithm::kHierarchicalSharedDirect:
        return InPieces(
            SharedEnd(reduces),
            Burst(model_.remote, hosts_ - 1, (hosts_ - 1) * bytes_) + (hosts_ - 1) * adding);
      default:
        return (ranks_ - hosts_) * Hop(model_.local) + (hosts_ - 1) * Hop(model_.remote) +
               Moving(slowest(), bytes_) + adding;
    }
  }

  /// `reduces`: reduce-scatter, the same backwards.
  std::uint64_t AllGather(Algorithm algorithm, bool reduces) const {
    const std::uint64_t adding = reduces ? (ranks_ - 1) * Reducing(bytes_) : 0;
    switch (algorithm) {
      case Algorithm::kDoubling:
      case Algorithm::kHalving:
      case Algorithm::kBruck: {
        std::uint64_t time = adding;
        if (algorithm == Algorithm::kHalving && !std::has_single_bit(ranks_))
          time += 2 * Hop(model_.local) + Moving(model_.local, ranks_ * bytes_);
        for (std::uint64_t held = 1; held < ranks_; held *= 2) time += Round(held, held * bytes_);
        return time;
      }
      case Algorithm::kDirect: return adding + ToEach();
      case Algorithm::kHierarchical:
        return adding + Burst(model_.remote, hosts_ - 1, (ranks_ - mates_) * bytes_ * mates_) +
               Burst(model_.local, (mates_ - 1) * hosts_, ranks_ * bytes_);
      case Algorithm::kHierarchicalShared: {
        const std::uint64_t far = (ranks_ - mates_) * bytes_;
        const std::uint64_t ends =
            reduces ? SharedReduce(ranks_ * bytes_) + Reducing(far) : SharedCopy(ranks_ * bytes_);
        if (rails_ > 1)
          return ends + (hosts_ - 1) * SharedHop() + Burst(model_.remote, hosts_ - 1, far);
        return ends + SharedCopy(mates_ * bytes_) + Burst(model_.remote, hosts_ - 1, far);
      }
      default: return adding + (ranks_ - 1) * (Hop(slowest()) + Moving(slowest(), bytes_));
    }
  }

  std::uint64_t AllToAll(Algorithm algorithm) const {
    if (algorithm == Algorithm::kDirect) return ToEach();
    std::uint64_t time = 0;
    for (std::uint64_t distance = 1; distance < ranks_; distance *= 2) {
      const std::uint64_t packed = ranks_ / 2 * bytes_;
      time += Round(distance, packed) + 2 * Reducing(packed);  // packs as fast as it reduces
    }
    return time;
  }

  std::uint64_t FromEach() const { return Burst(slowest(), ranks_ - 1, (ranks_ - 1) * bytes_); }
  std::uint64_t Barrier(Algorithm algorithm) const {
    if (algorithm != Algorithm::kDissemination) return AllReduce(algorithm);
    std::uint64_t time = 0;
    for (std::uint64_t distance = 1; distance < ranks_; distance *= 2) time += Round(distance, 0);
    return time;
  }

 private:
  /// The part of hierarchical all-reduces between hosts; `shard` bytes a rail.
  std::uint64_t OnRails(Algorithm algorithm, std::uint64_t shard) const {
    switch (algorithm) {
      case Algorithm::kHierarchicalDoubling:
      case Algorithm::kHierarchicalSharedDoubling: return Rounds(hosts_) * Together(rails_, bytes_);
      case Algorithm::kHierarchicalDirect:
      case Algorithm::kHierarchicalSharedDirect:
        return Burst(model_.remote, hosts_ - 1, (hosts_ - 1) * bytes_) +
               (rails_ - 1) * (hosts_ - 1) * (model_.remote.overhead_ns / 5) +
               (hosts_ - 1) * Reducing(shard);
      default:
        return 2 * (hosts_ - 1) * Together(rails_, 0) +
               Moving(model_.remote, 2 * (bytes_ - bytes_ / hosts_));
    }
  }

  const LinkCost& slowest() const { return hosts_ > 1 ? model_.remote : model_.local; }
  bool Crosses(std::uint64_t distance) const { return distance >= mates_; }
  const LinkCost& LinkAt(std::uint64_t distance) const {
    return Crosses(distance) ? model_.remote : model_.local;
  }

  static std::uint64_t Hop(const LinkCost& link) { return link.latency_ns + link.overhead_ns; }
  static std::uint64_t Moving(const LinkCost& link, std::uint64_t bytes) {
    return bytes * 1000 / link.mb_per_s;
  }
  std::uint64_t Reducing(std::uint64_t bytes) const {
    return bytes * 1000 / model_.reduce_mb_per_s;
  }
  /// Each rank exchanges with one that is `distance` away; beyond the host they share what leads
  /// out.
  std::uint64_t Round(std::uint64_t distance, std::uint64_t bytes) const {
    if (Crosses(distance)) return Together(mates_, mates_ * bytes);
    return Hop(model_.local) + Moving(model_.local, bytes);
  }
  /// So many ranks of a host send a message to another one each, of `bytes` together. Each has a
  /// processor for it, but they take turns at the host's card: a fifth of the share is a guess.
  std::uint64_t Together(std::uint64_t ranks, std::uint64_t bytes) const {
    return Hop(model_.remote) + (ranks - 1) * (model_.remote.overhead_ns / 5) +
           Moving(model_.remote, bytes);
  }
  /// Messages at once.
  static std::uint64_t Burst(const LinkCost& link, std::uint64_t messages, std::uint64_t bytes) {
    return messages == 0 ? 0 : link.latency_ns + messages * link.overhead_ns + Moving(link, bytes);
  }
  /// Every rank to every other, each its own block.
  std::uint64_t ToEach() const {
    const std::uint64_t near = Burst(model_.local, mates_ - 1, (mates_ - 1) * bytes_);
    const std::uint64_t far =
        Burst(model_.remote, ranks_ - mates_, (ranks_ - mates_) * bytes_ * mates_);
    return near + far;
  }
  /// A post in shared memory costs a processor what a message does, and nothing on its way; data
  /// are written and read there once, through a link twice. (docs/decisions/0071)
  std::uint64_t SharedHop() const { return model_.local.overhead_ns; }
  /// Through the memory of a host: so many bytes from one rank to all, or from all to one rank
  /// after the other.
  std::uint64_t SharedCopy(std::uint64_t bytes) const {
    return mates_ == 1 ? 0 : SharedHop() + Moving(model_.local, bytes) / 2;
  }
  /// The same from each rank, added up by all of them.
  std::uint64_t SharedReduce(std::uint64_t bytes) const {
    return SharedCopy(bytes) + (mates_ == 1 ? 0 : Reducing(bytes));
  }
  std::uint64_t SharedEnd(bool reduces) const {
    return reduces ? SharedReduce(bytes_) : SharedCopy(bytes_);
  }
  /// Times of the whole message, on the host and between hosts: of the pieces but one the shorter
  /// is hidden behind the other, and each takes its way between hosts.
  std::uint64_t InPieces(std::uint64_t on_host, std::uint64_t between) const {
    const std::uint64_t hidden = (pieces_ - 1) * (std::min(on_host, between) / pieces_);
    return on_host + between - hidden + (pieces_ - 1) * Hop(model_.remote);
  }
  /// From one rank of a host to all others of it, by a binomial tree.
  std::uint64_t ToMates() const {
    return Rounds(mates_) * (Hop(model_.local) + Moving(model_.local, bytes_));
  }
  /// Before and after doubling where the number of ranks is no power of two.
  std::uint64_t FoldTime() const {
    if (std::has_single_bit(ranks_)) return 0;
    return 2 * (Hop(model_.local) + Moving(model_.local, bytes_)) + Reducing(bytes_);
  }
  /// From a leaf of a binary tree to its root; a rank deals with two children.
  std::uint64_t TreeHops() const {
    return Rounds(mates_) * (Hop(model_.local) + model_.local.overhead_ns) +
           Rounds(hosts_) * (Hop(model_.remote) + model_.remote.overhead_ns);
  }

  /// Edges of both trees lead out of a host of several ranks: 8 MiB among 4 hosts of 2 ranks, 1
  /// Gb/s each, took 110 to 123 ms where a ring took 71 to 75 (docs/performance.md).
  std::uint64_t ThroughTrees() const {
    return Moving(slowest(), hosts_ > 1 && mates_ > 1 ? 2 * bytes_ : bytes_);
  }

  std::uint64_t bytes_;
  std::uint64_t ranks_;
  std::uint64_t hosts_;
  std::uint64_t mates_;  // ranks of a host
  std::uint64_t pieces_ = 1;
  std::uint64_t rails_;  // of them, those that talk to other hosts in hierarchical all-reduces
  CostModel model_;
};

}  // namespace

std::uint64_t TimeNs(Algorithm algorithm, const Call& call, const Layout& layout,
                     const CostModel& model) {
  if (layout.order.size() <= 1) return 0;
  // No time is longer than that of so many bytes, and the sums above stay within 64 bits.
  constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 40;
  const std::uint64_t bytes = std::min<std::uint64_t>(BlockBytes(call), kBytesMax);
  Pricer pricer(bytes, call, layout, model);
  if (SharesWithinHosts(algorithm))
    pricer.ShareWithinHosts(SharedShardsOf(call, layout), SharedPiecesOf(call, layout));
  switch (call.kind) {
    case CallKind::kAllReduce: return pricer.AllReduce(algorithm);
    case CallKind::kBroadcast: return pricer.Broadcast(algorithm, false);
    case CallKind::kReduce: return pricer.Broadcast(algorithm, true);
    case CallKind::kAllGather: return pricer.AllGather(algorithm, false);
    case CallKind::kReduceScatter: return pricer.AllGather(algorithm, true);
    case CallKind::kAllToAll: return pricer.AllToAll(algorithm);
    case CallKind::kBarrier: return pricer.Barrier(algorithm);
    default: return pricer.FromEach();
  }
}

}  // namespace ringlet::collective
