#include "comm/establish/data_plane.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "comm/control/link_request.hpp"
#include "os/driver/socket_driver.hpp"
#include "transport/wireup/connect.hpp"

namespace ringlet::comm {
namespace {

// Returns the reason why some of `peers` do not answer, if this host knows it.
std::string StoppedAmong(const std::vector<Rank>& peers, const bootstrap::Roster& roster,
                         const Process& process) {
  std::string text;
  for (const Rank peer : peers)
    if (const std::string stopped = roster.StoppedText(peer, process.facts().is_stopped());
        !stopped.empty())
      text += roster.DescribeRank(peer) + " " + stopped + "; ";
  return text;
}

}  // namespace

Result<std::unique_ptr<transport::Links>> Connect(const Origin& origin,
                                                  const plan::ChannelPlan& plan,
                                                  const PeerTable& peer_table, Control& control,
                                                  transport::ListenerSet listeners,
                                                  const std::stop_token& abort) {
  Process& process = *origin.process;
  const Instant deadline = os::SocketDriver::Now() + InitTimeout(process, origin.config);
  // Ranks that share their host's memory make links within the host on first use.
  std::vector<Rank> peers = plan.RingNeighboursOf(Rank{origin.config.rank});
  if (UsesHostMemory(origin, peer_table))
    std::erase_if(peers,
                  [&](Rank peer) { return SameHost(peer_table, origin.config.rank, Index(peer)); });
  RINGLET_TRY_ASSIGN(auto request, RequestFor(origin, peers, peer_table, control, deadline));
  for (std::uint32_t rank = 0; rank < origin.config.size; ++rank)
    if (SameHost(peer_table, origin.config.rank, rank))
      request.later.push_back(PlaceOfNeighbour(Rank{rank}, peer_table));

  return control.WhileStanding(abort, [&](const std::stop_token& stop) {
    transport::ConnectTools tools = ToolsOf(process);
    tools.abort = stop;
    auto links = transport::Connect(std::move(request), std::move(listeners), tools);
    if (links.ok() || links.error().code != Code::kTimeout) return links;
    Error error = std::move(links).error();
    error.message = StoppedAmong(peers, control.roster(), process) + error.message;
    return Result<std::unique_ptr<transport::Links>>(std::move(error));
  });
}

// Joins all transports at once. If the peer infos contain the location of the host's memory, its
// ranks need no wireup for it. If one rank cannot open it, all ranks fall back to the wireup.
Result<DataPlane> JoinDataPlane(const Origin& origin, const plan::ChannelPlan& plan,
                                const PeerTable& peer_table, Control& control, LocalResources own,
                                Timeline& timeline, const std::stop_token& abort) {
  std::unique_ptr<transport::Links> links;
  if (HasHostMemoryPlace(origin.process->settings(), peer_table)) {
    RINGLET_TRY_ASSIGN(links,
                       Connect(origin, plan, peer_table, control, std::move(own.listeners), abort));
    timeline.Reached(Phase::kConnect);
    RINGLET_TRY_ASSIGN(auto known, UseKnownHostMemory(origin, peer_table, control,
                                                      std::move(own.memory), plan.digest()));
    if (known) return DataPlane{std::move(links), *std::move(known)};
  }
  RINGLET_TRY_ASSIGN(auto offer, OfferHostMemory(origin, peer_table));
  RINGLET_TRY_ASSIGN(auto proof, ProcessProof::Draw());
  RINGLET_TRY_ASSIGN(auto nonces,
                     control.RequireEqual(plan.digest(), "channel plan", proof.nonce()));
  RINGLET_TRY_ASSIGN(auto share,
                     FetchHostMemory(origin, peer_table, std::move(offer), control, abort));
  if (!links) {
    RINGLET_TRY_ASSIGN(links,
                       Connect(origin, plan, peer_table, control, std::move(own.listeners), abort));
    timeline.Reached(Phase::kConnect);
  }
  RINGLET_TRY_ASSIGN(auto memory, AgreeOnHostMemory(origin, peer_table, control, std::move(share),
                                                    {std::move(proof), std::move(nonces)}));
  return DataPlane{std::move(links), std::move(memory)};
}

}  // namespace ringlet::comm
