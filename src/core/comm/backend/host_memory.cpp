#include "comm/backend/host_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/value/text.hpp"
#include "comm/control/link_request.hpp"
#include "comm/peers/numa_groups.hpp"
#include "comm/process/process_proof.hpp"
#include "os/clock.hpp"
#include "os/process/random.hpp"

namespace ringlet::comm {
namespace {

using transport::ArenaOffer;
using transport::ArenaRequest;
using transport::ArenaShape;

constexpr std::size_t kReasonBytesMax = 400;

bool ShareOneNamespace(const std::vector<Rank>& host, const PeerTable& peer_table) {
  const PeerInfo& first = peer_table.peer_infos[Index(host.front())];
  return std::ranges::all_of(host, [&](Rank rank) {
    const PeerInfo& peer_info = peer_table.peer_infos[Index(rank)];
    return peer_info.host_hash == first.host_hash &&
           peer_info.network_namespace == first.network_namespace;
  });
}

/// The ranks of this rank's host, and its index among them.
struct RanksOfThisHost {
  std::vector<Rank> ranks;
  std::uint32_t self = 0;

  RanksOfThisHost(const collective::Groups& hosts, std::uint32_t rank) {
    const auto place = collective::PlaceIn(hosts, Rank{rank});
    if (!place) return;
    ranks = hosts[place->group];
    self = static_cast<std::uint32_t>(place->local);
  }
};

Result<ArenaRequest> RequestFor(const Origin& origin, const PeerTable& peer_table) {
  RanksOfThisHost here(HostsWithMemory(origin.process->settings(), peer_table), origin.config.rank);
  const auto ranks = static_cast<std::uint32_t>(here.ranks.size());
  ArenaRequest request{.credentials = origin.credentials,
                       .nonce_seed = {},
                       .host = origin.process->host().name,
                       .members = std::move(here.ranks),
                       .self = here.self,
                       .shape = {.ranks = ranks},
                       .deadline = os::Now() + InitTimeout(*origin.process, origin.config)};
  RINGLET_TRY_ASSIGN(request.nonce_seed, os::SecureRandom());
  return request;
}

// Returns a rank's message to the others: the place of its sign, and the reason if it lacks an
// arena. If it needs none, because it is alone on its host, it sends no reason.
Bytes EncodeClaim(const HostMemoryShare& share, bool wanted, Bytes claim) {
  std::string why = share.why_not.substr(0, kReasonBytesMax);
  if (wanted && !share.arena && why.empty()) why = "no reason";
  for (const std::byte byte : AsView(why)) claim.push_back(byte);
  return claim;
}

// Returns the first rank that lacks an arena, with its reason. Empty if all ranks have theirs.
std::optional<std::string> FindRankWithoutArena(const bootstrap::Table& told,
                                                const Control& control) {
  for (std::uint32_t rank = 0; rank < told.size(); ++rank) {
    const View said = told.At(Rank{rank});
    if (said.size() == ProcessProof::kClaimBytes) continue;
    const View why = said.subspan(std::min(said.size(), ProcessProof::kClaimBytes));
    return fmt::format(
        "{}: {}", control.roster().DescribeRank(Rank{rank}),
        Printable({reinterpret_cast<const char*>(why.data()), why.size()}, kReasonBytesMax));
  }
  return std::nullopt;
}

std::vector<View> Of(const std::vector<Rank>& ranks, const bootstrap::Table& told) {
  std::vector<View> theirs;
  for (const Rank rank : ranks) theirs.push_back(told.At(rank));
  return theirs;
}

}  // namespace

bool AllowsHostMemory(const Settings& settings, std::uint32_t ranks) {
  const bool wanted = settings.host_memory && !settings.shm_disable &&
                      settings.links == LinkChoice::kAuto && settings.machine.empty();
  return wanted && ranks > 1 && ranks <= ArenaShape::kRanksMax;
}

collective::Groups HostsWithMemory(const Settings& settings, const PeerTable& peer_table) {
  collective::Groups hosts(peer_table.hosts.size());
  for (std::uint32_t rank = 0; rank < peer_table.places.size(); ++rank)
    hosts[peer_table.places[rank].host].push_back(Rank{rank});
  std::erase_if(hosts, [](const auto& host) { return host.empty(); });
  const auto most = static_cast<std::uint32_t>(collective::LargestOf(hosts));
  const bool allowed = AllowsHostMemory(settings, most) &&
                       std::ranges::all_of(hosts, [&](const std::vector<Rank>& host) {
                         return ShareOneNamespace(host, peer_table);
                       });
  return allowed ? hosts : collective::Groups();
}

bool UsesHostMemory(const Origin& origin, const PeerTable& peer_table) {
  const auto hosts = HostsWithMemory(origin.process->settings(), peer_table);
  return RanksOfThisHost(hosts, origin.config.rank).ranks.size() > 1;
}

namespace {

bool ExpectsHostMemory(const Process& process, const Config& config) {
  return config.expects_one_host && AllowsHostMemory(process.settings(), config.size);
}

}  // namespace

std::shared_ptr<transport::Arena> MakeHostMemory(const Process& process, const Config& config) {
  if (config.rank + 1 != config.size || !ExpectsHostMemory(process, config)) return nullptr;
  auto arena = transport::Arena::Create({.ranks = config.size});
  return arena.ok() ? *std::move(arena) : nullptr;
}

Result<HostMemoryDraft> DraftHostMemory(const Process& process, const Config& config,
                                        std::shared_ptr<transport::Arena> made) {
  HostMemoryDraft draft;
  if (!ExpectsHostMemory(process, config)) return draft;
  RINGLET_TRY_ASSIGN(draft.proof, ProcessProof::Draw());
  draft.arena = made ? std::move(made) : MakeHostMemory(process, config);
  return draft;
}

bool HasHostMemoryPlace(const Settings& settings, const PeerTable& peer_table) {
  const std::vector<PeerInfo>& all = peer_table.peer_infos;
  return HostsWithMemory(settings, peer_table).size() == 1 && peer_table.hosts.size() == 1 &&
         all.back().arena &&
         std::ranges::all_of(all, [](const PeerInfo& one) { return one.nonce.has_value(); });
}

Result<ArenaOffer> OfferHostMemory(const Origin& origin, const PeerTable& peer_table) {
  if (!UsesHostMemory(origin, peer_table)) return ArenaOffer{};
  RINGLET_TRY_ASSIGN(const ArenaRequest request, RequestFor(origin, peer_table));
  return transport::OfferArena(request);
}

Result<HostMemoryShare> FetchHostMemory(const Origin& origin, const PeerTable& peer_table,
                                        ArenaOffer offer, Control& control,
                                        const std::stop_token& abort) {
  HostMemoryShare share;
  if (!UsesHostMemory(origin, peer_table)) return share;
  RINGLET_TRY_ASSIGN(const ArenaRequest request, RequestFor(origin, peer_table));
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
  // Without descriptors, other paths would fail too, and waiting ranks would not get the reason.
  const bool exhausted = error.os_errno == EMFILE || error.os_errno == ENFILE;
  if (error.code == Code::kAborted || error.code == Code::kTimeout || exhausted) return error;
  share.why_not = error.message;
  return share;
}

Result<HostMemoryParts> AgreeOnHostMemory(const Origin& origin, const PeerTable& peer_table,
                                          Control& control, HostMemoryShare share,
                                          ProofOfProcess proving) {
  collective::Groups hosts = HostsWithMemory(origin.process->settings(), peer_table);
  if (hosts.empty()) {
    RINGLET_TRY(control.Barrier());
    return HostMemoryParts{};
  }
  const RanksOfThisHost here(hosts, origin.config.rank);
  const Rank self{origin.config.rank};
  ProcessProof& proof = proving.proof;
  RINGLET_TRY_ASSIGN(const bootstrap::Table told,
                     control.AllGather(EncodeClaim(share, here.ranks.size() > 1,
                                                   proof.Claim(self, here.ranks, proving.nonces))));
  if (const auto lacking = FindRankWithoutArena(told, control)) {
    if (origin.config.rank == 0)
      origin.process->logger().WarnOnce(
          "collectives within hosts use links, because shared memory is missing: " + *lacking);
    return HostMemoryParts{};
  }
  if (share.arena) share.arena->MapPosts();
  auto processes = proof.Claimed(self, here.ranks, Of(here.ranks, told));
  return HostMemoryParts{std::move(hosts), std::move(share.arena), std::move(processes),
                         std::move(proof)};
}

namespace {

// Null, with a note in the log, if this rank cannot map the arena.
std::shared_ptr<transport::Arena> MapKnown(const Origin& origin, const PeerTable& peer_table,
                                           HostMemoryDraft& draft) {
  auto arena = std::move(draft.arena);
  if (!arena) {
    const ArenaShape shape{.ranks = origin.config.size};
    auto mapped = transport::Arena::MapAt(*peer_table.peer_infos.back().arena, shape);
    if (!mapped.ok()) {
      origin.process->logger().NoteOnce(
          "the memory of the host cannot be opened by its path, so its descriptor is sent: " +
          mapped.error().message);
      return nullptr;
    }
    arena = *std::move(mapped);
  }
  arena->PrefaultPosts(origin.config.rank);
  return arena;
}

}  // namespace

Result<std::optional<HostMemoryParts>> UseKnownHostMemory(const Origin& origin,
                                                          const PeerTable& peer_table,
                                                          Control& control, HostMemoryDraft draft,
                                                          std::uint64_t plan_digest) {
  const Rank self{origin.config.rank};
  collective::Groups hosts = HostsWithMemory(origin.process->settings(), peer_table);
  const std::vector<Rank>& ranks = hosts.front();
  std::vector<Secret> nonces;
  for (const PeerInfo& one : peer_table.peer_infos) nonces.push_back(*one.nonce);
  auto arena = MapKnown(origin, peer_table, draft);
  Writer own;
  own.U64(plan_digest).U8(arena ? 1 : 0).Raw(draft.proof->Claim(self, ranks, nonces));
  RINGLET_TRY_ASSIGN(const bootstrap::Table told, control.AllGather(own.Take()));
  RINGLET_TRY(Control::CheckEqual(told, "channel plan"));
  std::vector<View> claims;
  bool all_have_it = true;
  for (const Rank rank : ranks) {
    Reader in(told.At(rank));
    in.U64();
    all_have_it = in.U8() == 1 && all_have_it;
    claims.push_back(in.Raw(in.remaining()));
  }
  if (!all_have_it) return std::optional<HostMemoryParts>();
  arena->CloseDescriptor();
  arena->MapPosts();
  auto processes = draft.proof->Claimed(self, ranks, claims);
  return std::optional(HostMemoryParts{std::move(hosts), std::move(arena), std::move(processes),
                                       std::move(draft.proof)});
}

HostMemory::HostMemory(const Origin& origin, const PeerTable& peer_table,
                       collective::WaitPolicy wait_policy, HostMemoryParts parts)
    : hosts_(std::move(parts.hosts)),
      proof_(std::move(parts.proof)),
      buffers_(std::make_shared<transport::SharedBuffers>()) {
  if (!parts.arena) return;
  if (wait_policy.looks > 0) origin.process->services().JoinRemoteFences();
  const RanksOfThisHost here(hosts_, origin.config.rank);
  const auto ranks = static_cast<std::uint32_t>(here.ranks.size());
  collective::HostReach reach{
      .shared = buffers_,
      .near = origin.process->buffers().Of(origin.credentials.secret, ranks),
      .is_near = {}};
  for (const Rank rank : here.ranks)
    reach.is_near.push_back(peer_table.peer_infos[Index(rank)].process_hash ==
                            origin.process->facts().process_hash);
  buffers_->Publish(parts.arena, here.self);
  buffers_->SetProcesses(std::move(parts.processes));
  collective::ShmOptions options{.ranks = here.ranks, .ticks = &os::Ticks};
  options.nodes =
      NumaGroups(peer_table.peer_infos, here.ranks, origin.process->settings().numa_ranks);
  engine_ = std::make_unique<collective::ShmCollective>(
      std::move(parts.arena), here.self, wait_policy, std::move(options), std::move(reach));
}

void HostMemory::Leave() {
  if (engine_) engine_->Leave();
}

void HostMemory::GiveUp() {
  if (engine_) engine_->GiveUp();
}

}  // namespace ringlet::comm
