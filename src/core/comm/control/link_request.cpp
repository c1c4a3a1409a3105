#include "comm/control/link_request.hpp"

#include "comm/peers/waiting.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

// A spinning rank occupies a core that another may need, so ranks spin only if each has its own.
std::chrono::nanoseconds SpinFor(const collective::WaitPolicy& policy) {
  return policy.looks > 0 ? std::chrono::microseconds(50) : std::chrono::nanoseconds(0);
}

LinkChoice ChoiceOf(const Settings& settings) {
  const bool network = settings.links == LinkChoice::kAuto && settings.shm_disable;
  return network ? settings.net : settings.links;
}

}  // namespace

transport::Neighbour PlaceOfNeighbour(Rank rank, const PeerTable& peer_table) {
  const PeerInfo& peer_info = peer_table.peer_infos[Index(rank)];
  return {.rank = rank,
          .host = {},
          .host_hash = peer_info.host_hash,
          .network_namespace = peer_info.network_namespace,
          .process_hash = peer_info.process_hash,
          .tcp = {},
          .unix_socket = peer_info.unix_socket};
}

transport::Neighbour NeighbourOf(Rank rank, const PeerTable& peer_table,
                                 const bootstrap::Roster& roster) {
  const PeerInfo& peer_info = peer_table.peer_infos[Index(rank)];
  transport::Neighbour neighbour = PlaceOfNeighbour(rank, peer_table);
  if (auto member_address = roster.At(rank); member_address.ok())
    neighbour.host = std::move(member_address->host);
  neighbour.tcp = peer_info.tcp;
  neighbour.preferred = peer_info.preferred;
  if (peer_info.preferred > 1) neighbour.turn = PlaceOnHost(rank, peer_table);
  return neighbour;
}

Result<transport::ConnectRequest> RequestFor(const Origin& origin, const std::vector<Rank>& peers,
                                             const PeerTable& peer_table, const Control& control,
                                             Instant deadline) {
  const Process& process = *origin.process;
  transport::ConnectRequest request;
  request.credentials = origin.credentials;
  RINGLET_TRY_ASSIGN(request.nonce_seed, os::SecureRandom());
  request.self = NeighbourOf(Rank{origin.config.rank}, peer_table, control.roster());
  for (const Rank rank : peers)
    request.peers.push_back(NeighbourOf(rank, peer_table, control.roster()));
  request.deadline = deadline;
  request.options.choice = ChoiceOf(process.settings());
  request.options.network = process.settings().net;
  request.options.ofi_provider = process.settings().ofi_provider;
  request.options.pipe_bytes =
      PipeBytesFor(process.settings().pipe_bytes, peer_table.ranks_on_host);
  request.options.strands = static_cast<std::uint32_t>(process.settings().sockets_per_link);
  request.options.congestion = process.settings().tcp_congestion;
  request.options.waiter.spin =
      SpinFor(WaitPolicyOf(peer_table, Rank{origin.config.rank}, process.settings().wait));
  return request;
}

transport::ConnectTools ToolsOf(Process& process) {
  return {
      .driver = process.driver(), .inproc = process.inproc(), .note = [&process](const Note& note) {
        process.logger().Log(note.level, Subsystem::kNet, std::nullopt, note.text);
      }};
}

}  // namespace ringlet::comm
