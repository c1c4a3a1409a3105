#include "comm/run/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/value/text.hpp"
#include "comm/establish/numa_groups.hpp"
#include "comm/establish/stages.hpp"
#include "comm/process/process_proof.hpp"
#include "os/process/clock.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

using transport::ArenaOffer;
using transport::ArenaRequest;
using transport::ArenaShape;

constexpr std::size_t kReasonBytesMax = 400;

bool OnOneHost(const PeerTable& peer_table) {
  const PeerInfo& first = peer_table.peer_infos.front();
  return std::all_of(peer_table.peer_infos.begin(), peer_table.peer_infos.end(),
                     [&](const PeerInfo& peer_info) {
                       return peer_info.host_hash == first.host_hash &&
                              peer_info.network_namespace == first.network_namespace;
                     });
}

Result<ArenaRequest> RequestFor(const Origin& origin) {
  const std::uint32_t ranks = origin.config.size;
  ArenaRequest request{.credentials = origin.credentials,
                       .nonce_seed = {},
                       .host = origin.process->host().name,
                       .members = {},
                       .self = origin.config.rank,
                       .shape = {.ranks = ranks},
                       .deadline = os::Now() + InitTimeout(*origin.process, origin.config)};
  RINGLET_TRY_ASSIGN(request.nonce_seed, os::SecureRandom());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) request.members.push_back(Rank{rank});
  return request;
}

// The message of each rank to the others: its nonce, and why it has no arena; nothing more if it
// has one.
Bytes Told(const HostMemoryShare& share, const Secret& nonce) {
  std::string why = share.why_not.substr(0, kReasonBytesMax);
  if (!share.arena && why.empty()) why = "no reason";
  Bytes told;
  told.reserve(nonce.size() + why.size());
  for (const std::byte byte : nonce) told.push_back(byte);
  for (const std::byte byte : AsView(why)) told.push_back(byte);
  return told;
}

// The first of those that have none, and why; empty: all have it.
std::optional<std::string> WhoHasNone(const bootstrap::Table& told, const Control& control) {
  for (std::uint32_t rank = 0; rank < told.size(); ++rank) {
    const View said = told.At(Rank{rank});
    if (said.size() == sizeof(Secret)) continue;
    const View why = said.subspan(std::min(said.size(), sizeof(Secret)));
    return fmt::format(
        "{}: {}", control.roster().DescribeRank(Rank{rank}),
        Printable({reinterpret_cast<const char*>(why.data()), why.size()}, kReasonBytesMax));
  }
  return std::nullopt;
}

std::vector<View> NoncesIn(const bootstrap::Table& told) {
  std::vector<View> nonces;
  for (std::uint32_t rank = 0; rank < told.size(); ++rank)
    nonces.push_back(told.At(Rank{rank}).first(sizeof(Secret)));
  return nonces;
}

}  // namespace

bool AllowsHostMemory(const Settings& settings, std::uint32_t ranks) {
  const bool wanted =
      settings.host_memory && !settings.shm_disable && settings.links == LinkChoice::kAuto;
  return wanted && ranks > 1 && ranks <= ArenaShape::kRanksMax;
}

bool UsesHostMemory(const Origin& origin, const PeerTable& peer_table) {
  return AllowsHostMemory(origin.process->settings(), origin.config.size) && OnOneHost(peer_table);
}

Result<ArenaOffer> OfferHostMemory(const Origin& origin, const PeerTable& peer_table) {
  if (!UsesHostMemory(origin, peer_table)) return ArenaOffer{};
  RINGLET_TRY_ASSIGN(const ArenaRequest request, RequestFor(origin));
  return transport::OfferArena(request);
}

Result<HostMemoryShare> FetchHostMemory(const Origin& origin, const PeerTable& peer_table,
                                        ArenaOffer offer, Control& control,
                                        const std::stop_token& abort) {
  HostMemoryShare share;
  if (!UsesHostMemory(origin, peer_table)) return share;
  RINGLET_TRY_ASSIGN(const ArenaRequest request, RequestFor(origin));
  auto arena = control.WhileStanding(abort, [&](const std::stop_token& stop) {
    const transport::ArenaTools tools{
        .driver = origin.process->driver(), .abort = stop, .note = ToolsOf(*origin.process).note};
    return transport::ShareArena(request, std::move(offer), tools);
  });
  if (arena.ok()) {
    share.arena = std::move(*arena);
    return share;
  }
  const Error& error = arena.error();
  // Without descriptors nothing else would work, and those who wait for this would not hear why.
  const bool exhausted = error.os_errno == EMFILE || error.os_errno == ENFILE;
  if (error.code == Code::kAborted || error.code == Code::kTimeout || exhausted) return error;
  share.why_not = error.message;
  return share;
}

Result<HostMemoryParts> AgreeOnHostMemory(const Origin& origin, const PeerTable& peer_table,
                                          Control& control, HostMemoryShare share) {
  if (!UsesHostMemory(origin, peer_table)) {
    RINGLET_TRY(control.Barrier());
    return HostMemoryParts{};
  }
  RINGLET_TRY_ASSIGN(ProcessProof proof, ProcessProof::Draw());
  RINGLET_TRY_ASSIGN(const bootstrap::Table told, control.AllGather(Told(share, proof.nonce())));
  if (const auto lacking = WhoHasNone(told, control)) {
    if (origin.config.rank == 0)
      origin.process->WarnOnce(
          "collectives of one host go over links, for want of shared memory: " + *lacking);
    return HostMemoryParts{};
  }
  RINGLET_TRY_ASSIGN(auto processes, proof.Exchange(control, NoncesIn(told)));
  return HostMemoryParts{std::move(share.arena), std::move(processes), std::move(proof)};
}

HostMemory::HostMemory(const Origin& origin, const PeerTable& peer_table,
                       collective::WaitPolicy wait_policy, HostMemoryParts parts)
    : proof_(std::move(parts.proof)), buffers_(std::make_shared<transport::SharedBuffers>()) {
  if (!parts.arena) return;
  const std::uint32_t self = origin.config.rank;
  const std::uint64_t local_host = origin.process->process_hash();
  collective::HostReach reach{
      .shared = buffers_,
      .near = origin.process->InProcessBuffersOf(origin.credentials.secret, origin.config.size),
      .is_near = {}};
  for (const PeerInfo& peer_info : peer_table.peer_infos)
    reach.is_near.push_back(peer_info.process_hash == local_host);
  buffers_->Publish(parts.arena, self);
  buffers_->KnowProcesses(std::move(parts.processes));
  collective::ShmOptions options;
  options.nodes = NumaGroups(peer_table.peer_infos, origin.process->settings().numa_ranks);
  engine_ = std::make_unique<collective::ShmCollective>(std::move(parts.arena), self, wait_policy,
                                                        std::move(options), std::move(reach));
}

void HostMemory::Leave() {
  if (engine_) engine_->Leave();
}

void HostMemory::GiveUp() {
  if (engine_) engine_->GiveUp();
}

}  // namespace ringlet::comm
