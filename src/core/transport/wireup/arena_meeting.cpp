#include "transport/wireup/arena_meeting.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "os/net/sockaddr.hpp"
#include "transport/wireup/session.hpp"

namespace ringlet::transport {
namespace {

SessionParts PartsOf(const ArenaRequest& request, const ArenaTools& tools) {
  return SessionParts{.wireup = {.self = request.members[request.self],
                                 .credentials = request.credentials,
                                 .nonce_seed = request.nonce_seed,
                                 .peers = {},
                                 .deadline = request.deadline,
                                 .limits = request.limits},
                      .listeners = {},
                      .note = tools.note};
}

WireupPeer PeerOf(const ArenaRequest& request, Rank rank, WireupPeer::Role role) {
  return WireupPeer{.rank = rank,
                    .host = request.host,
                    .role = role,
                    .purpose = Purpose::kMemory,
                    .addresses = {},
                    .offer = {},
                    .descriptors = {}};
}

Result<std::shared_ptr<Arena>> ShareArenaMemory(const ArenaRequest& request, ArenaOffer offer,
                                                const ArenaTools& tools) {
  SessionParts parts = PartsOf(request, tools);
  parts.listeners = std::move(offer.listeners);
  for (std::size_t i = 1; i < request.members.size(); ++i) {
    WireupPeer peer = PeerOf(request, request.members[i], WireupPeer::Role::kAccept);
    if (offer.arena) {
      RINGLET_TRY_ASSIGN(os::Fd memory, os::Duplicate(offer.arena->fd().get()));
      peer.descriptors = {os::Keep(std::move(memory))};
    }
    parts.wireup.peers.push_back(std::move(peer));
  }
  RINGLET_TRY(RunSession(std::move(parts), tools.driver, tools.abort));
  if (!offer.arena) return *offer.why_not;
  offer.arena->CloseDescriptor();
  return std::move(offer.arena);
}

Result<std::shared_ptr<Arena>> Fetch(const ArenaRequest& request, const ArenaTools& tools) {
  const Rank first = request.members.front();
  SessionParts parts = PartsOf(request, tools);
  WireupPeer peer = PeerOf(request, first, WireupPeer::Role::kDial);
  peer.addresses = {ArenaAddress(request.credentials, first)};
  parts.wireup.peers.push_back(std::move(peer));
  RINGLET_TRY_ASSIGN(auto met, RunSession(std::move(parts), tools.driver, tools.abort));
  ConnectedPeerLine& line = met.front();
  const auto blame = [&](const std::string& why) {
    return Error{Code::kProtocol,
                 fmt::format("rank {} on {} sent {}", Index(first), request.host, why)};
  };
  if (line.met.descriptors.size() != 1) return blame("no descriptor of an arena");
  RINGLET_TRY_ASSIGN(os::Fd memory, os::Duplicate(line.met.descriptors.front().value));
  auto arena = Arena::Map(std::move(memory), request.shape);
  if (!arena.ok()) return blame(arena.error().message);
  return std::move(arena).value();
}

}  // namespace

Address ArenaAddress(const Credentials& credentials, Rank first) {
  Writer place;
  place.U64(credentials.magic).U32(Index(first));
  const Secret name = KeyedHash(credentials.secret, {AsView("arena of a host"), place.view()});
  std::string text = "ringlet-";
  for (std::size_t i = 0; i < 16; ++i)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(name[i]));
  return Address::Unix(std::move(text));
}

Result<ArenaOffer> OfferArena(const ArenaRequest& request) {
  RINGLET_ASSERT(request.shape.Valid() && request.shape.ranks == request.members.size() &&
                 request.self < request.members.size());
  ArenaOffer offer;
  if (request.self != 0) return offer;
  auto arena = Arena::Create(request.shape);
  if (arena.ok()) {
    offer.arena = std::move(*arena);
  } else {
    offer.why_not = arena.error();
  }
  if (request.members.size() == 1) return offer;
  RINGLET_TRY_ASSIGN(os::Listener listener,
                     os::Listen(ArenaAddress(request.credentials, request.members.front())));
  offer.listeners.push_back(std::move(listener));
  return offer;
}

Result<std::shared_ptr<Arena>> ShareArena(const ArenaRequest& request, ArenaOffer offer,
                                          const ArenaTools& tools) {
  if (request.members.size() == 1) {
    if (!offer.arena) return *offer.why_not;
    return std::move(offer.arena);
  }
  auto arena = request.self == 0 ? ShareArenaMemory(request, std::move(offer), tools)
                                 : Fetch(request, tools);
  if (arena.ok()) (*arena)->PrefaultPosts(request.self);
  return arena;
}

}  // namespace ringlet::transport
