#include "collective/algorithm/shared_hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/bruck.hpp"
#include "collective/algorithm/direct.hpp"
#include "ringlet/status.hpp"

namespace ringlet::collective {
namespace {

Rank PlaceAt(std::size_t local) {
  return Rank{static_cast<std::uint32_t>(local)};
}

struct Portion {
  std::size_t begin = 0, count = 0;
};

/// Cuts all pieces but the last to the same length, a multiple of `multiple`.
std::vector<Portion> CutIntoPieces(std::size_t count, std::size_t pieces, std::size_t multiple) {
  const std::size_t length = count / pieces / multiple * multiple;
  if (pieces == 1 || length == 0) return {{0, count}};
  std::vector<Portion> cut;
  for (std::size_t i = 0; i < pieces; ++i) cut.push_back({i * length, length});
  cut.back().count = count - cut.back().begin;
  return cut;
}

/// Assembles the parts of one rank.
class PartsBuilder {
 public:
  PartsBuilder(const Groups& hosts, Rank self, std::size_t input_count, std::size_t output_count)
      : hosts_(hosts), input_count_(input_count), output_count_(output_count) {
    const auto found = PlaceIn(hosts, self);
    RINGLET_ASSERT(found.has_value() && hosts.size() > 1);
    place_ = *found;
  }

  std::size_t host() const { return place_.group; }
  std::size_t local() const { return place_.local; }
  std::size_t mates() const { return hosts_[host()].size(); }  ///< including this rank
  bool alone() const { return mates() == 1; }

  /// Reserves `count` scratch elements that persist across parts.
  Place Keep(std::size_t count) { return Scratch(std::exchange(kept_, kept_ + count)); }
  /// Adds a part on the host that needs all earlier parts over links.
  void OnHost(HostPart part) { OnHost(part, links_); }
  /// Adds a part on the host that needs this rank's first `links_before` parts over links.
  void OnHost(HostPart part, std::size_t links_before) {
    if (alone() || part.count == 0) return;
    part.links_before = links_before;
    part.after_links = std::exchange(crossed_, false);
    parts_.parts.emplace_back(part);
  }
  /// Adds a part on the host that needs no data from other hosts.
  void OnHostBeside(HostPart part) {
    if (!alone() && part.count > 0) parts_.parts.emplace_back(part);
  }
  /// Adds an exchange between hosts. This rank runs it only if `takes_part` is true.
  void BetweenHosts(bool takes_part, const std::function<Schedule()>& make, const Mount& mount) {
    crossed_ = true;
    if (!takes_part) return;
    const Schedule inner = make();
    Schedule schedule{
        .input_count = input_count_, .output_count = output_count_, .scratch_count = kept_};
    schedule.Append(inner, mount);
    parts_.scratch_count = std::max(parts_.scratch_count, schedule.scratch_count);
    parts_.parts.emplace_back(std::move(schedule));
    ++links_;
  }
  /// Adds, for each piece, its way to other hosts, then the parts on the host that follow the
  /// previous piece.
  /// \param after  receives the number of parts over links that it needs
  void InPieces(const std::vector<Portion>& pieces, const std::function<void(Portion)>& to_hosts,
                const std::function<void(Portion, std::size_t)>& after) {
    std::size_t needed = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      to_hosts(pieces[i]);
      const std::size_t now = links_;
      if (i > 0) after(pieces[i - 1], needed);
      needed = now;
    }
    after(pieces.back(), needed);
  }

  CallParts Take() {
    parts_.scratch_count = std::max(parts_.scratch_count, kept_);
    for (CallPart& part : parts_.parts)
      if (auto* schedule = std::get_if<Schedule>(&part))
        schedule->scratch_count = parts_.scratch_count;
    return std::move(parts_);
  }

 private:
  const Groups& hosts_;
  GroupPosition place_;
  std::size_t input_count_, output_count_, kept_ = 0, links_ = 0;
  bool crossed_ = false;  // since the last part on the host
  CallParts parts_;
};

/// Each rank exchanges blocks with the ranks that have the same index on other hosts.
Schedule RailAllGather(const Groups& hosts, GroupPosition place, std::size_t count) {
  Schedule schedule;
  const auto block = [&](Rank rank) { return Output(Index(rank) * count); };
  const auto others = [&](auto visit) {
    for (std::size_t i = 1; i < hosts.size(); ++i)
      visit(hosts[(place.group + i) % hosts.size()][place.local]);
  };
  others([&](Rank peer) { schedule.Send(peer, Input(), count); });
  others([&](Rank peer) { schedule.Receive(peer, block(peer), count); });
  schedule.Copy(Input(), block(hosts[place.group][place.local]), count);
  return schedule;
}

const char* RootWord(CallKind kind) {
  return kind == CallKind::kReduce || kind == CallKind::kGather ? " to" : " from";
}

std::string ToText(const HostPart& part) {
  return fmt::format("  {} of {} elements through the memory of the host{}, {} to {}\n",
                     Name(part.kind), part.count,
                     HasRoot(part.kind)
                         ? fmt::format("{} its place {}", RootWord(part.kind), Index(part.root))
                         : "",
                     ToText(part.input), ToText(part.output));
}

}  // namespace

bool AreInRankOrder(const Groups& hosts) {
  std::uint32_t next = 0;
  for (const auto& host : hosts) {
    if (host.size() != hosts.front().size()) return false;
    for (const Rank rank : host)
      if (Index(rank) != next++) return false;
  }
  return true;
}

CallParts SharedAllReduce(const Groups& hosts, std::size_t shards, std::size_t pieces,
                          Between between, Rank self, std::size_t count) {
  PartsBuilder builder(hosts, self, count, count);
  const std::size_t local = builder.local();
  const Rank last = PlaceAt(shards - 1);
  // The last shard also takes the elements that do not divide evenly.
  const auto tail = [&](Portion piece) {
    const std::size_t equal = piece.count / shards * shards;
    return Portion{piece.begin + equal, piece.count - equal};
  };
  const auto shard = [&](Portion piece) {
    const std::size_t block = piece.count / shards;
    return Portion{piece.begin + local * block, block};
  };
  const auto to_hosts = [&](Portion piece) {
    const Portion mine = shard(piece), rest = tail(piece);
    const Place at = Output(mine.begin), left = Output(rest.begin);
    if (shards == 1) {
      builder.OnHostBeside(
          {CallKind::kReduce, Rank{0}, piece.count, Input(piece.begin), Output(piece.begin)});
    } else {
      builder.OnHostBeside({CallKind::kReduceScatter, Rank{}, mine.count, Input(piece.begin), at});
      builder.OnHostBeside({CallKind::kReduce, last, rest.count, Input(rest.begin), left});
    }
    const std::size_t elements = local + 1 == shards ? mine.count + rest.count : mine.count;
    builder.BetweenHosts(
        local < shards,
        [&] { return RailAllReduce(RailAt(hosts, local), between, self, elements); },
        {builder.alone() ? Input(mine.begin) : at, at});
  };
  const auto after = [&](Portion piece, std::size_t links) {
    const Portion mine = shard(piece), rest = tail(piece);
    const Place all = Output(piece.begin), left = Output(rest.begin);
    if (shards == 1) {
      builder.OnHost({CallKind::kBroadcast, Rank{0}, piece.count, all, all}, links);
    } else {
      builder.OnHost({CallKind::kAllGather, Rank{}, mine.count, Output(mine.begin), all}, links);
      builder.OnHost({CallKind::kBroadcast, last, rest.count, left, left}, links);
    }
  };
  builder.InPieces(CutIntoPieces(count, pieces, shards), to_hosts, after);
  return builder.Take();
}

CallParts SharedBroadcast(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                          Rank root, std::size_t count) {
  const bool is_root = self == root;
  PartsBuilder builder(hosts, self, is_root ? count : 0, count);
  const std::vector<Rank> leaders = LeadersFor(hosts, root);
  const Rank leader = leaders[builder.host()];
  const Rank from = PlaceAt(PlaceIn(hosts, leader)->local);
  const auto source = [&](Portion piece) {
    return is_root ? Input(piece.begin) : Output(piece.begin);
  };
  const auto to_hosts = [&](Portion piece) {
    builder.BetweenHosts(self == leader,
                         [&] { return RailBroadcast(leaders, between, self, root, piece.count); },
                         {source(piece), Output(piece.begin)});
  };
  const auto after = [&](Portion piece, std::size_t links) {
    builder.OnHost({CallKind::kBroadcast, from, piece.count, source(piece), Output(piece.begin)},
                   links);
  };
  builder.InPieces(CutIntoPieces(count, pieces, 1), to_hosts, after);
  return builder.Take();
}

CallParts SharedReduce(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                       Rank root, std::size_t count) {
  const bool is_root = self == root;
  PartsBuilder builder(hosts, self, count, is_root ? count : 0);
  const std::vector<Rank> leaders = LeadersFor(hosts, root);
  const Rank leader = leaders[builder.host()];
  const Rank to = PlaceAt(PlaceIn(hosts, leader)->local);
  Place sum = Output();  // of this host
  if (self == leader && !is_root && !builder.alone()) sum = builder.Keep(count);
  const auto to_hosts = [&](Portion piece) {
    const Place mine{sum.buffer, sum.begin + piece.begin};
    builder.OnHostBeside({CallKind::kReduce, to, piece.count, Input(piece.begin), mine});
    builder.BetweenHosts(self == leader,
                         [&] { return RailReduce(leaders, between, self, root, piece.count); },
                         {builder.alone() ? Input(piece.begin) : mine, Output(piece.begin)});
  };
  builder.InPieces(CutIntoPieces(count, pieces, 1), to_hosts, [](Portion, std::size_t) {});
  return builder.Take();
}

CallParts SharedAllGather(const Groups& hosts, std::size_t shards, Rank self, std::size_t count) {
  const std::size_t mates = hosts.front().size(), total = hosts.size() * mates * count;
  PartsBuilder builder(hosts, self, count, total);
  const auto region = [&](std::size_t host) { return Output(host * mates * count); };
  if (shards > 1) {
    const GroupPosition here{builder.host(), builder.local()};
    builder.BetweenHosts(true, [&] { return RailAllGather(hosts, here, count); },
                         {Input(), Output()});
    for (std::size_t host = 0; host < hosts.size(); ++host)
      builder.OnHost({CallKind::kAllGather, Rank{}, count,
                      Output(region(host).begin + builder.local() * count), region(host)});
    return builder.Take();
  }
  const Place mine = region(builder.host());
  builder.OnHost({CallKind::kAllGather, Rank{}, count, Input(), mine});
  const PeerSet peers{PlaceAt(builder.host()), static_cast<std::uint32_t>(hosts.size())};
  builder.BetweenHosts(
      builder.local() == 0,
      [&] { return OnRail(BruckAllGather(peers, mates * count), RailAt(hosts, 0)); },
      {builder.alone() ? Input() : mine, Output()});
  builder.OnHost({CallKind::kBroadcast, Rank{0}, total, Output(), Output()});
  return builder.Take();
}

CallParts SharedReduceScatter(const Groups& hosts, std::size_t shards, Rank self,
                              std::size_t count) {
  const std::size_t mates = hosts.front().size(), total = hosts.size() * mates * count;
  PartsBuilder builder(hosts, self, total, count);
  const PeerSet peers{PlaceAt(builder.host()), static_cast<std::uint32_t>(hosts.size())};
  const std::vector<Rank> rail = RailAt(hosts, shards > 1 ? builder.local() : 0);
  if (shards > 1) {
    const Place sums = builder.Keep(hosts.size() * count);
    for (std::size_t host = 0; host < hosts.size(); ++host)
      builder.OnHost({CallKind::kReduceScatter, Rank{}, count, Input(host * mates * count),
                      Scratch(sums.begin + host * count)});
    builder.BetweenHosts(true, [&] { return OnRail(DirectReduceScatter(peers, count), rail); },
                         {sums, Output()});
    return builder.Take();
  }
  const bool leads = builder.local() == 0, keeps = leads && !builder.alone();
  const Place sums = keeps ? builder.Keep(total) : Input();
  const Place shares = keeps ? builder.Keep(mates * count) : Output();
  builder.OnHost({CallKind::kReduce, Rank{0}, total, Input(), sums});
  builder.BetweenHosts(leads,
                       [&] { return OnRail(DirectReduceScatter(peers, mates * count), rail); },
                       {sums, shares});
  builder.OnHost({CallKind::kScatter, Rank{0}, count, shares, Output()});
  return builder.Take();
}

std::string ToText(const CallParts& parts) {
  if (parts.parts.size() == 1)
    if (const auto* schedule = std::get_if<Schedule>(&parts.parts.front()))
      return ToText(*schedule);
  std::string text = fmt::format("{} parts\n", parts.parts.size());
  for (const CallPart& part : parts.parts) {
    const auto* host_part = std::get_if<HostPart>(&part);
    text += host_part ? ToText(*host_part) : ToText(std::get<Schedule>(part));
  }
  return text;
}

std::size_t SharedShardsOf(const Call& call, const Layout& layout) {
  const std::size_t mates = SmallestOf(layout.sharing);
  if (LargestOf(layout.sharing) != mates) return 1;
  const bool block_each =
      call.kind == CallKind::kAllGather || call.kind == CallKind::kReduceScatter;
  const std::size_t shard = block_each ? call.count : call.count / mates;
  return shard >= layout.shard_elements_min ? mates : 1;
}

std::size_t SharedPiecesOf(const Call& call, const Layout& layout) {
  return std::clamp<std::size_t>(call.count / layout.piece_elements_min, 1, kPiecesMax);
}

namespace {

bool AmongSharingHosts(const Layout& layout) {
  return AmongHosts(layout) && LargestOf(layout.groups) > 1 && !layout.sharing.empty();
}

bool AmongSharingHostsInOrder(const Layout& layout) {
  return AmongSharingHosts(layout) && AreInRankOrder(layout.sharing);
}

template <Between between>
CallParts BuildSharedAllReduce(const Call& call, CallPlace place, const Layout& layout) {
  const bool barrier = call.kind == CallKind::kBarrier;
  return SharedAllReduce(layout.sharing, barrier ? 1 : SharedShardsOf(call, layout),
                         barrier ? 1 : SharedPiecesOf(call, layout), between, place.self,
                         call.count);
}

template <Between between>
CallParts BuildSharedBroadcast(const Call& call, CallPlace place, const Layout& layout) {
  return SharedBroadcast(layout.sharing, SharedPiecesOf(call, layout), between, place.self,
                         call.root, call.count);
}

template <Between between>
CallParts BuildSharedReduce(const Call& call, CallPlace place, const Layout& layout) {
  return SharedReduce(layout.sharing, SharedPiecesOf(call, layout), between, place.self, call.root,
                      call.count);
}

CallParts BuildSharedAllGather(const Call& call, CallPlace place, const Layout& layout) {
  return SharedAllGather(layout.sharing, SharedShardsOf(call, layout), place.self, call.count);
}

CallParts BuildSharedReduceScatter(const Call& call, CallPlace place, const Layout& layout) {
  return SharedReduceScatter(layout.sharing, SharedShardsOf(call, layout), place.self, call.count);
}

/// A post in shared memory costs a processor as much as a message but takes no time to travel. Data
/// is written and read there once, but twice through a link. (docs/decisions/0071)
std::uint64_t PostNs(const CallCost& one) {
  return one.model.local.overhead_ns;
}

/// Time to move `bytes` bytes through the memory of a host, from one rank to all, or from all ranks
/// to one in turn.
std::uint64_t HostCopyNs(const CallCost& one, std::uint64_t bytes) {
  return one.mates == 1 ? 0 : PostNs(one) + one.Moving(one.model.local, bytes) / 2;
}

/// Time to move `bytes` bytes from each rank, which all ranks add up.
std::uint64_t HostReduceNs(const CallCost& one, std::uint64_t bytes) {
  return HostCopyNs(one, bytes) + (one.mates == 1 ? 0 : one.Reducing(bytes));
}

/// Combines the times of the whole message on the host and between hosts. For all pieces but one,
/// the shorter time is hidden behind the longer. Each piece adds a latency between hosts.
std::uint64_t InPiecesNs(const CallCost& one, std::uint64_t on_host, std::uint64_t between) {
  const std::uint64_t pieces = SharedPiecesOf(one.call, one.layout);
  const std::uint64_t hidden = (pieces - 1) * (std::min(on_host, between) / pieces);
  return on_host + between - hidden + (pieces - 1) * one.Hop(one.model.remote);
}

template <Between between>
std::uint64_t SharedAllReduceNs(const CallCost& one) {
  return InPiecesNs(one, HostReduceNs(one, one.bytes) + HostCopyNs(one, one.bytes),
                    RailsNs(one, between, SharedShardsOf(one.call, one.layout)));
}

template <Between between>
std::uint64_t SharedBroadcastNs(const CallCost& one) {
  const bool reduces = one.call.kind == CallKind::kReduce;
  return InPiecesNs(one, reduces ? HostReduceNs(one, one.bytes) : HostCopyNs(one, one.bytes),
                    RailWithRootNs(one, between));
}

std::uint64_t SharedAllGatherNs(const CallCost& one) {
  const bool reduces = one.call.kind == CallKind::kReduceScatter;
  const std::uint64_t far = (one.ranks - one.mates) * one.bytes;
  const std::uint64_t ends = reduces ? HostReduceNs(one, one.ranks * one.bytes) + one.Reducing(far)
                                     : HostCopyNs(one, one.ranks * one.bytes);
  const std::uint64_t between = one.Burst(one.model.remote, one.hosts - 1, far);
  if (SharedShardsOf(one.call, one.layout) > 1)
    return ends + (one.hosts - 1) * PostNs(one) + between;
  return ends + HostCopyNs(one, one.mates * one.bytes) + between;
}

template <Between between>
constexpr AlgorithmCase kSharedAllReduceCase{CallKind::kAllReduce, AmongSharingHosts,
                                             BuildSharedAllReduce<between>,
                                             SharedAllReduceNs<between>};
template <Between between>
constexpr AlgorithmCase kSharedBroadcastCase{CallKind::kBroadcast, AmongSharingHosts,
                                             BuildSharedBroadcast<between>,
                                             SharedBroadcastNs<between>};
template <Between between>
constexpr AlgorithmCase kSharedReduceCase{CallKind::kReduce, AmongSharingHosts,
                                          BuildSharedReduce<between>, SharedBroadcastNs<between>};

constexpr AlgorithmCase kSharedRingCases[] = {
    kSharedAllReduceCase<Between::kRing>,
    kSharedBroadcastCase<Between::kRing>,
    kSharedReduceCase<Between::kRing>,
    {CallKind::kAllGather, AmongSharingHostsInOrder, BuildSharedAllGather, SharedAllGatherNs},
    {CallKind::kReduceScatter, AmongSharingHostsInOrder, BuildSharedReduceScatter,
     SharedAllGatherNs},
};

template <Between between>
constexpr AlgorithmCase kSharedCases[] = {
    kSharedAllReduceCase<between>,
    kSharedBroadcastCase<between>,
    kSharedReduceCase<between>,
    {CallKind::kBarrier, AmongSharingHosts, BuildSharedAllReduce<between>,
     SharedAllReduceNs<between>},
};

}  // namespace

constinit const AlgorithmRow kSharedHierarchicalRows[] = {
    {"hierarchical_shared", kSharedRingCases, {}, NcclShape::kRing},
    {"hierarchical_shared_doubling", kSharedCases<Between::kDoubling>, {}, NcclShape::kTree},
    {"hierarchical_shared_direct", kSharedCases<Between::kDirect>},
};

}  // namespace ringlet::collective
