#include "comm/machine/init_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringlet::comm {
namespace {

using plan::TransferPurpose;
using topology::NodeIndex;
using topology::PathType;

class LinesOfRank {
 public:
  LinesOfRank(const GpuMachine& machine, const PeerTable& peer_table, Rank self)
      : plan_(machine.gpus()), channels_(plan_.channels()), peer_table_(peer_table), self_(self) {}

  std::string Ranks(std::uint64_t communicator) const {
    const plan::NodePlace place = channels_.PlaceOf(self_);
    const plan::GpuNode& node = plan_.nodes[place.node];
    return fmt::format(
        "comm 0x{:x} rank {} nRanks {} nNodes {} localRanks {} localRank {} MNNVL {}", communicator,
        Index(self_), channels_.rank_count(), channels_.node_count(), node.ranks.size(),
        place.local, node.hosts.size() > 1 ? 1 : 0);
  }

  void AddRings(std::vector<std::string>& lines) const {
    const std::uint32_t count = channels_.counts().rings;
    if (self_ == Rank{0})
      for (std::uint32_t channel = 0; channel < count; ++channel) {
        std::string line = fmt::format("Channel {:02}/{:02} :", channel, count);
        for (const Rank rank : RingFrom0(channel)) line += fmt::format(" {}", Index(rank));
        lines.push_back(std::move(line));
      }
    for (std::uint32_t channel = 0; channel < count; ++channel) {
      const plan::Neighbours near = channels_.At(self_, channel);
      lines.push_back(fmt::format("Ring {:02} : {} -> {} -> {}", channel, Index(near.previous),
                                  Index(self_), Index(near.next)));
    }
  }

  std::string Trees() const {
    std::string line = "Trees";
    for (std::uint32_t channel = 0; channel < channels_.counts().trees; ++channel) {
      const plan::Neighbours near = channels_.At(self_, channel);
      line +=
          fmt::format(" [{}] {}/{}/{}->{}->{}", channel, Number(near.down[0]), Number(near.down[1]),
                      Number(near.down[2]), Index(self_), Number(near.up));
    }
    return line;
  }

  void AddConnections(std::vector<std::string>& lines) const {
    for (std::uint32_t channel = 0; channel < channels_.counts().rings; ++channel)
      AddConnection(lines, channel, channels_.At(self_, channel).next, TransferPurpose::kRing);
    lines.emplace_back("Connected all rings");
    for (std::uint32_t channel = 0; channel < channels_.counts().trees; ++channel) {
      const plan::Neighbours near = channels_.At(self_, channel);
      for (const auto& down : near.down)
        if (down) AddConnection(lines, channel, *down, TransferPurpose::kTree);
      if (near.up) AddConnection(lines, channel, *near.up, TransferPurpose::kTree);
    }
    lines.emplace_back("Connected all trees");
  }

  std::string Counts() const {
    const std::uint32_t nvls =
        plan_.joined.nvls && channels_.rank_count() > 1 ? plan_.joined.nvls->channels : 0;
    return fmt::format(
        "{} coll channels, 0 collnet channels, {} nvls channels, {} p2p channels, {} p2p channels "
        "per peer",
        channels_.channel_count(), nvls, plan_.messages.total, plan_.messages.of_a_peer);
  }

 private:
  static int Number(const std::optional<Rank>& rank) {
    return rank ? static_cast<int>(Index(*rank)) : -1;
  }

  // NCCL prints rings from rank 0 on.
  std::vector<Rank> RingFrom0(std::uint32_t channel) const {
    std::vector<Rank> ring = channels_.Ring(channel);
    std::ranges::rotate(ring, std::ranges::find(ring, Rank{0}));
    return ring;
  }

  std::uint32_t DeviceOf(Rank rank) const { return peer_table_.peer_infos[Index(rank)].device; }

  std::string Pair(std::uint32_t channel, Rank from, Rank to) const {
    return fmt::format("Channel {:02}/0 : {}[{}] -> {}[{}]", channel, Index(from), DeviceOf(from),
                       Index(to), DeviceOf(to));
  }

  void AddConnection(std::vector<std::string>& lines, std::uint32_t channel, Rank peer,
                     TransferPurpose carriage) const {
    if (peer == self_) return;
    const plan::GpuRoute sends = plan::RouteOf(plan_, self_, peer, channel, carriage);
    if (sends.type != PathType::kNet) {
      lines.push_back(fmt::format("{} via {}", Pair(channel, self_, peer), OnNode(sends, peer)));
      return;
    }
    lines.push_back(fmt::format("{} [send] via {}", Pair(channel, self_, peer),
                                OverNet(self_, sends.exit, true)));
    const plan::GpuRoute receives = plan::RouteOf(plan_, peer, self_, channel, carriage);
    lines.push_back(fmt::format("{} [receive] via {}", Pair(channel, peer, self_),
                                OverNet(self_, receives.entry, false)));
  }

  // GPUs that do not access each other meet in the memory of their processor.
  std::string OnNode(const plan::GpuRoute& route, Rank peer) const {
    if (route.type >= PathType::kPhb) return "SHM/direct/direct";
    const bool in_process = peer_table_.peer_infos[Index(peer)].process_hash ==
                            peer_table_.peer_infos[Index(self_)].process_hash;
    return in_process ? "P2P/direct pointer" : "P2P/CUMEM";
  }

  std::string OverNet(Rank rank, const std::optional<NodeIndex>& net, bool sends) const {
    if (!net) return "NET/Socket/0";
    const plan::NodePlace place = channels_.PlaceOf(rank);
    const plan::GpuNode& node = plan_.nodes[place.node];
    const plan::GpuSystem& system = plan_.systems[node.system];
    const topology::Graph& graph = *system.graph;
    const NodeIndex gpu = system.gpus[place.local];
    const PathType type = system.paths.From(gpu, *net).type;
    const bool direct = graph.gpu(gpu).gdr && graph.net(*net).gdr && type <= PathType::kPxn;
    const bool relayed = sends && type == PathType::kPxn;
    std::string relay;
    if (const auto near = relayed ? system.paths.LocalGpu(*net) : std::nullopt)
      relay = fmt::format("({})", Index(RankOn(system, node, *near)));
    return fmt::format("NET/{}/{}{}{}", Plugin(graph.at(*net).name), graph.at(*net).number, relay,
                       direct ? "/GDRDMA" : "");
  }

  static Rank RankOn(const plan::GpuSystem& system, const plan::GpuNode& node, NodeIndex gpu) {
    const auto at = std::ranges::find(system.gpus, gpu) - system.gpus.begin();
    return node.ranks[static_cast<std::size_t>(at)];
  }

  // Files name RDMA devices as the kernel does. Any other name is an interface.
  static std::string_view Plugin(const std::string& name) {
    for (const char* const prefix : {"mlx", "ib", "bnxt_re", "irdma", "rdma", "roce", "hfi", "qib"})
      if (name.starts_with(prefix)) return "IB";
    for (const char* const prefix : {"efa", "cxi"})
      if (name.starts_with(prefix)) return "Libfabric";
    return "Socket";
  }

  const plan::GpuPlan& plan_;
  const plan::ChannelPlan& channels_;
  const PeerTable& peer_table_;
  Rank self_;
};

}  // namespace

std::vector<InitLine> InitLines(const GpuMachine& machine, const PeerTable& peer_table, Rank self,
                                std::uint64_t communicator) {
  const LinesOfRank of_rank(machine, peer_table, self);
  std::vector<std::string> lines = {of_rank.Ranks(communicator)};
  of_rank.AddRings(lines);
  lines.push_back(of_rank.Trees());
  of_rank.AddConnections(lines);
  lines.push_back(of_rank.Counts());
  std::vector<InitLine> sorted;
  for (std::string& line : lines) {
    const bool of_graph = line.starts_with("Ring ");
    sorted.push_back({std::move(line), of_graph ? Subsystem::kGraph : Subsystem::kInit});
  }
  return sorted;
}

}  // namespace ringlet::comm
