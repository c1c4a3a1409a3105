#include "comm/backend/links_on_demand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "comm/backend/gradual_messages.hpp"
#include "comm/backend/sequence.hpp"
#include "comm/control/link_request.hpp"
#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

using collective::Operation;

/// The rank that runs the operation can report more about a missing rank than the wireup can, so
/// the operation must time out first.
constexpr std::chrono::seconds kWireupGrace(10);

std::vector<Rank> PeersOf(const collective::Flow& flow) {
  std::vector<Rank> peers;
  for (const collective::Lane& lane : flow.lanes)
    if (lane.direction != collective::Lane::Direction::kLocal) peers.push_back(lane.peer);
  return peers;
}

}  // namespace

LinksOnDemand::Made LinksOnDemand::Run(collective::Task task) {
  const auto has_link = [&](const collective::Lane& lane) {
    const bool local = lane.direction == collective::Lane::Direction::kLocal;
    return local || lane.peer == self() || links_->Find(lane.peer) != nullptr;
  };
  std::unique_ptr<BlockingTask> makes_links;
  if (!std::ranges::all_of(task.flow->lanes, has_link)) [[unlikely]] {
    RINGLET_TRY_ASSIGN(makes_links, MakeLinks(PeersOf(*task.flow), ToText(task.fingerprint)));
  }
  const auto run = [this, task = std::move(task)]() -> Made {
    return std::unique_ptr<Operation>(std::make_unique<collective::Execution>(task, finder()));
  };
  return makes_links ? Sequence::Of(std::move(makes_links), run) : run();
}

LinksOnDemand::Made LinksOnDemand::Exchange(std::vector<collective::Message> messages,
                                            const std::string& purpose) {
  std::vector<Rank> peers;
  for (const collective::Message& message : messages) peers.push_back(message.peer);
  RINGLET_TRY_ASSIGN(auto makes_links, MakeLinks(std::move(peers), purpose));
  return std::unique_ptr<Operation>(std::make_unique<GradualMessages>(
      std::move(messages), self(), finder(), std::move(makes_links)));
}

Result<std::unique_ptr<BlockingTask>> LinksOnDemand::MakeLinks(std::vector<Rank> peers,
                                                               const std::string& purpose) {
  std::erase_if(peers, [&](Rank peer) { return peer == self() || links_->Find(peer) != nullptr; });
  if (peers.empty()) return std::unique_ptr<BlockingTask>();
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  auto begun = BeginLinks(std::move(peers), purpose);
  if (begun.ok()) return begun;
  // The operation has begun, so the other ranks would wait for it until this rank leaves.
  Error error = std::move(begun).error();
  error.message = fmt::format("{} cannot make the links that {} needs: {}{}",
                              control_.roster().DescribeRank(self()), purpose, error.message,
                              error.os_errno == EMFILE ? "; raise ulimit -n" : "");
  control_.Fail(error);
  return error;
}

Result<std::unique_ptr<BlockingTask>> LinksOnDemand::BeginLinks(std::vector<Rank> peers,
                                                                const std::string& purpose) {
  RINGLET_TRY_ASSIGN(auto request, RequestFor(origin_, peers, peer_table_, control_,
                                              os::Now() + timeout_ + kWireupGrace));
  std::stop_source stop;
  transport::ConnectTools tools = ToolsOf(*origin_.process);
  tools.abort = stop.get_token();
  RINGLET_TRY_ASSIGN(auto begun, transport::Extension::Begin(std::move(request), *links_, tools));
  const std::shared_ptr<transport::Extension> extension = std::move(begun);  // for both functions
  BlockingTask::Parts parts{.run = nullptr,
                            .stop = stop,
                            .take = [extension] { return extension->Take(); },
                            .waiter = links_->waiter(),
                            .self = self(),
                            .peers = std::move(peers),
                            .purpose = purpose};
  if (extension->meets()) parts.run = [extension] { return extension->AwaitPeers(); };
  return std::make_unique<BlockingTask>(std::move(parts));
}

}  // namespace ringlet::comm
