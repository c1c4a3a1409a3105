#include "comm/establish/gather_peers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/settings/agreement.hpp"
#include "topology/view/devices.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::comm {
namespace {

// Exchanges the values only if digests differ, which all ranks detect alike.
Status RequireSameSettings(Control& control, Rank self, const Settings& settings,
                           const std::vector<PeerInfo>& peer_infos) {
  const auto differs = [&](const PeerInfo& peer_info) {
    return peer_info.settings_digest != peer_infos[0].settings_digest;
  };
  if (std::ranges::none_of(peer_infos, differs)) return Ok();
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, control.AllGather(EncodeAgreement(settings)));
  const std::uint32_t odd =
      static_cast<std::uint32_t>(std::ranges::find_if(peer_infos, differs) - peer_infos.begin());
  const std::uint32_t other =
      peer_infos[Index(self)].settings_digest == peer_infos[odd].settings_digest ? 0 : odd;
  RINGLET_TRY_ASSIGN(const auto differences, CompareAgreement(settings, table.At(Rank{other})));
  std::string text;
  for (const SettingDifference& difference : differences)
    text += (text.empty() ? "" : "; ") + ToText(difference, control.roster().DescribeRank(self),
                                                control.roster().DescribeRank(Rank{other}));
  return Error{Code::kInvalidArgument, "settings that must agree differ: " + text};
}

Result<std::string> HostNameOf(const bootstrap::Roster& roster, std::uint32_t rank) {
  RINGLET_TRY_ASSIGN(bootstrap::MemberAddress member_address, roster.At(Rank{rank}));
  return std::move(member_address.host);
}

Result<std::vector<topology::RankDevice>> DevicesOf(const std::vector<PeerInfo>& peer_infos,
                                                    const bootstrap::Roster& roster) {
  std::vector<topology::RankDevice> devices;
  for (std::uint32_t rank = 0; rank < peer_infos.size(); ++rank) {
    const PeerInfo& peer_info = peer_infos[rank];
    if (!peer_info.names_device) continue;
    RINGLET_TRY_ASSIGN(std::string host, HostNameOf(roster, rank));
    devices.push_back({Rank{rank}, peer_info.host_hash, std::move(host), peer_info.device,
                       peer_info.gpu, peer_info.half});
  }
  return devices;
}

// Fills places and ranks_on_host. Returns the lowest rank of each host.
std::vector<Rank> PlaceRanks(PeerTable& peer_table, Rank self) {
  std::unordered_map<std::uint64_t, std::uint32_t> host_index;
  std::vector<Rank> first_of_host;
  for (std::uint32_t rank = 0; rank < peer_table.peer_infos.size(); ++rank) {
    const PeerInfo& peer_info = peer_table.peer_infos[rank];
    const auto [it, fresh] =
        host_index.emplace(peer_info.host_hash, static_cast<std::uint32_t>(first_of_host.size()));
    if (fresh) first_of_host.push_back(Rank{rank});
    peer_table.places.push_back({Rank{rank}, it->second, peer_info.numa});
    peer_table.ranks_on_host += peer_info.host_hash == peer_table.peer_infos[Index(self)].host_hash;
  }
  return first_of_host;
}

using Shapes = std::unordered_map<std::uint64_t, topology::HostView>;  // by digest

// The peer infos contain digests of the shapes. Among hosts with equal digests, only the first rank
// sends its shape. If all digests are equal, no rank sends one.
Result<Shapes> ExchangeShapes(Control& control, const PeerTable& peer_table,
                              const std::vector<Rank>& first_of_host,
                              const topology::HostView& local_host) {
  std::map<std::uint64_t, Rank> node_leaders;
  for (const Rank first : first_of_host)
    node_leaders.emplace(peer_table.peer_infos[Index(first)].host_shape_digest, first);
  if (node_leaders.size() == 1)
    return Shapes{{node_leaders.begin()->first, topology::ShapeOf(local_host)}};
  Writer own;
  for (const auto& [digest, node_leader] : node_leaders)
    if (node_leader == control.rank()) topology::Encode(own, topology::ShapeOf(local_host));
  RINGLET_TRY_ASSIGN(const bootstrap::Table table, control.AllGather(own.Take()));
  Shapes shapes;
  for (const auto& [digest, node_leader] : node_leaders) {
    Reader in(table.At(node_leader));
    topology::HostView shape = topology::DecodeHostView(in);
    if (!in.AtEnd() || shape.digest() != digest)
      return Error{Code::kProtocol, control.roster().DescribeRank(node_leader) +
                                        " sent a view of its host that cannot be read, or is not "
                                        "the one that it checked in with"};
    shapes.emplace(digest, std::move(shape));
  }
  return shapes;
}

void PutRanksOnGpus(PeerTable& peer_table) {
  for (const topology::RankPlace& place : peer_table.places) {
    const PeerInfo& peer_info = peer_table.peer_infos[Index(place.rank)];
    if (!peer_info.gpu) continue;
    topology::HostView& host = peer_table.hosts[place.host];
    const auto is_its = [&](const topology::Gpu& gpu) {
      return host.pci[gpu.pci].bus == *peer_info.gpu && gpu.mlopart == peer_info.half && !gpu.rank;
    };
    const auto gpu = std::ranges::find_if(host.gpus, is_its);
    if (gpu != host.gpus.end()) gpu->rank = Index(place.rank);
  }
}

}  // namespace

Result<std::vector<PeerInfo>> ReadPeerInfo(const Control& control) {
  const bootstrap::Roster& roster = control.roster();
  std::vector<PeerInfo> peer_infos;
  for (std::uint32_t rank = 0; rank < roster.size(); ++rank) {
    RINGLET_TRY_ASSIGN(const bootstrap::MemberAddress member_address, roster.At(Rank{rank}));
    RINGLET_TRY_ASSIGN(PeerInfo peer_info, DecodePeerInfo(member_address.peer_info));
    peer_infos.push_back(std::move(peer_info));
  }
  return peer_infos;
}

Result<PeerTable> MakePeerTable(Control& control, std::vector<PeerInfo> peer_infos,
                                const Settings& settings, const topology::HostView& local_host) {
  PeerTable peer_table;
  peer_table.peer_infos = std::move(peer_infos);
  RINGLET_TRY(RequireSameSettings(control, control.rank(), settings, peer_table.peer_infos));
  RINGLET_TRY_ASSIGN(const auto devices, DevicesOf(peer_table.peer_infos, control.roster()));
  RINGLET_TRY(topology::CheckDevices(devices, settings.multi_rank_gpu));
  const std::vector<Rank> first_of_host = PlaceRanks(peer_table, control.rank());
  RINGLET_TRY_ASSIGN(const auto shapes,
                     ExchangeShapes(control, peer_table, first_of_host, local_host));
  for (const Rank first : first_of_host) {
    const PeerInfo& peer_info = peer_table.peer_infos[Index(first)];
    RINGLET_TRY_ASSIGN(const std::string name, HostNameOf(control.roster(), Index(first)));
    peer_table.hosts.push_back(
        topology::HostOfShape(shapes.at(peer_info.host_shape_digest), name, peer_info.host_hash));
  }
  PutRanksOnGpus(peer_table);
  return peer_table;
}

}  // namespace ringlet::comm
