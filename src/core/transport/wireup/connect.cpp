#include "transport/wireup/connect.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "os/error.hpp"
#include "transport/tcp/striped_link.hpp"
#include "transport/wireup/session.hpp"
#include "transport/wireup/transports.hpp"

namespace ringlet::transport {
namespace {

const TransportRow& RowOf(LinkChoice choice) {
  return kTransportRows[static_cast<std::size_t>(choice)];
}

// Resolves kAuto. Uses only data that both sides have, so that they agree without messages.
Result<LinkChoice> Resolve(const ConnectOptions& options, const Neighbour& self,
                           const Neighbour& peer) {
  LinkChoice choice = options.choice;
  if (choice == LinkChoice::kAuto) {
    choice = options.network;
    // The table ends with the nearest kind.
    for (std::size_t i = 0; i < kTransportRows.size(); ++i)
      if (kTransportRows[i].within_host && kTransportRows[i].obstacle(self, peer).empty())
        choice = static_cast<LinkChoice>(i);
  }
  const std::string obstacle = RowOf(choice).obstacle(self, peer);
  if (obstacle.empty()) return choice;
  return Error{Code::kUnsupported, fmt::format("{} cannot reach {} by {}: {}", Named(self),
                                               Named(peer), RowOf(choice).name, obstacle)};
}

// Returns the index of the peer's address to dial first. Strands use the preferred addresses in
// turn, from the peer's index on its host on, so that its ranks share its NICs. If none is
// preferred, several strands dial one address each, of the best one's family, because an interface
// usually has one per family. A single strand takes the address that answers first.
std::optional<std::size_t> AddressOfStrand(const Neighbour& peer, std::uint32_t strand,
                                           std::uint32_t strands) {
  if (peer.preferred > 0) return (peer.turn + strand) % std::min(peer.preferred, peer.tcp.size());
  if (strands < 2) return std::nullopt;
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < peer.tcp.size(); ++i)
    if (peer.tcp[i].kind == peer.tcp.front().kind) alike.push_back(i);
  return alike[strand % alike.size()];
}

// A session listens on copies of the listeners, which stay open for later callers.
Result<std::vector<os::Listener>> Copies(const std::vector<os::Listener>& listeners) {
  std::vector<os::Listener> copies;
  for (const os::Listener& listener : listeners) {
    os::Fd fd(::fcntl(listener.fd.get(), F_DUPFD_CLOEXEC, 0));
    if (!fd.valid()) return os::SystemError("cannot duplicate a listener", errno);
    copies.push_back({std::move(fd), listener.address});
  }
  return copies;
}

}  // namespace

// ---- one call of Connect, or one Extension ------------------------------------------------------

class Connector {
 public:
  Connector(ConnectRequest request, ConnectTools tools)
      : request_(std::move(request)), tools_(std::move(tools)) {}
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // Called in this order, on the rank's thread except for AwaitPeers.
  Status ChoosePeerRoutes();
  Status MakeBell();
  void UseReserveOf(Links& links);
  Status Expect();
  Status Arrive();
  bool meets() const { return met_->lines.size() > 0; }
  Status AwaitPeers();
  Status AwaitPeersOfProcess();
  Status MakeLinks();
  Status AwaitOpen();

  void Listen(ListenerSet endpoint);
  std::unique_ptr<Links> Take();
  std::vector<Rank> AddTo(Links& links);

 private:
  struct PeerRoute {
    const Neighbour* peer;
    LinkChoice choice;
    std::shared_ptr<Transport> transport = {};  // set by Expect; must outlive the links
    std::size_t first_line = 0;                 // its index in the session
    Link* link = nullptr;                       // null until it is created
  };
  // Peers that have been met. Shared with the driver's thread, which adds them.
  struct ConnectedPeerLines {
    std::mutex mutex;
    std::vector<std::optional<ConnectedPeerLine>> lines;  // by index in the session
  };
  std::uint32_t PipesForLater() const;
  Result<WireupPeer> Invite(const PeerRoute& way, std::uint32_t strand) const;
  std::optional<std::vector<PeerConnection>> TakeLines(const PeerRoute& way);

  ConnectRequest request_;
  const ConnectTools tools_;
  std::vector<PeerRoute> ways_;
  std::optional<SessionParts> session_;  // empty if no peer needs a session
  const std::shared_ptr<ConnectedPeerLines> met_ = std::make_shared<ConnectedPeerLines>();
  std::shared_ptr<RankBell> bell_;
  Links::Reserve fresh_;
  Links::Reserve* reserve_ = &fresh_;  // or the reserve of existing links
  std::vector<std::unique_ptr<Link>> links_;
};

Connector::~Connector() {
  for (const PeerRoute& way : ways_)
    if (way.transport) way.transport->Withdraw(*way.peer);
}

Status Connector::ChoosePeerRoutes() {
  const ConnectOptions& options = request_.options;
  if (!IsPipeSize(options.pipe_bytes))
    return Error{Code::kInvalidArgument,
                 fmt::format("a pipe of {} bytes; use a power of two from {} to {}",
                             options.pipe_bytes, kPipeBytesMin, kPipeBytesMax)};
  RINGLET_ASSERT(options.strands >= 1 && options.strands <= kStrandsMax);
  std::set<Rank> seen = {request_.self.rank};
  std::vector<PeerRoute> ways;
  for (const Neighbour& peer : request_.peers) {
    if (!seen.insert(peer.rank).second)
      return Error{Code::kInvalidArgument,
                   fmt::format("rank {} cannot connect with rank {} twice or with itself",
                               Index(request_.self.rank), Index(peer.rank))};
    RINGLET_TRY_ASSIGN(const LinkChoice choice, Resolve(options, request_.self, peer));
    ways.push_back(PeerRoute{&peer, choice});
  }
  ways_ = std::move(ways);
  return Ok();
}

// Counts the pipes for all ranks of this host, including those that may need links later. Untouched
// memory costs only addresses.
std::uint32_t Connector::PipesForLater() const {
  std::set<Rank> counted = {request_.self.rank};
  for (const auto* list : {&request_.peers, &request_.later})
    for (const Neighbour& peer : *list) {
      const auto choice = Resolve(request_.options, request_.self, peer);
      if (choice.ok() && *choice == LinkChoice::kShm) counted.insert(peer.rank);
    }
  return static_cast<std::uint32_t>(
      std::min<std::size_t>(counted.size() - 1, SegmentShape::kPipesMax));
}

Status Connector::MakeBell() {
  bell_ = std::make_shared<RankBell>();
  DoorbellWord* word = nullptr;
  if (const std::uint32_t pipes = PipesForLater(); pipes > 0) {
    RINGLET_TRY_ASSIGN(reserve_->segment,
                       Segment::Create(SegmentShape{pipes, request_.options.pipe_bytes}));
    word = &reserve_->segment->word();
    bell_->memory = reserve_->segment;
  } else {
    const auto own = std::make_shared<DoorbellWord>();
    word = own.get();
    bell_->memory = own;
  }
  DoorbellWaiterOptions options = request_.options.waiter;
  options.ready = tools_.inproc.Ready();
  options.rung_from_outside = tools_.inproc.RungFromOutside();
  RINGLET_TRY_ASSIGN(bell_->waiter, DoorbellWaiter::Create(*word, options));
  return Ok();
}

void Connector::UseReserveOf(Links& links) {
  bell_ = links.bell();
  reserve_ = &links.reserve();
}

// Passes to each transport all peers that it must reach, in one call.
Status Connector::Expect() {
  for (std::size_t i = 0; i < kTransportRows.size(); ++i) {
    const auto choice = static_cast<LinkChoice>(i);
    std::vector<const Neighbour*> peers;
    for (const PeerRoute& way : ways_)
      if (way.choice == choice) peers.push_back(way.peer);
    if (peers.empty()) continue;
    std::shared_ptr<Transport>& transport = reserve_->transports[i];
    if (!transport) {
      RINGLET_TRY_ASSIGN(transport, kTransportRows[i].make({request_, tools_, bell_, *reserve_}));
    }
    RINGLET_TRY(transport->Expect(peers));
    for (PeerRoute& way : ways_)
      if (way.choice == choice) way.transport = transport;
  }
  return Ok();
}

Status Connector::Arrive() {
  RINGLET_TRY(Expect());
  std::vector<WireupPeer> invited;
  for (PeerRoute& way : ways_) {
    way.first_line = invited.size();
    for (std::uint32_t strand = 0; strand < way.transport->lines(); ++strand) {
      RINGLET_TRY_ASSIGN(WireupPeer peer, Invite(way, strand));
      invited.push_back(std::move(peer));
    }
  }
  if (invited.empty()) return Ok();
  met_->lines.resize(invited.size());
  RINGLET_TRY_ASSIGN(auto copies, Copies(reserve_->listeners));
  session_ =
      SessionParts{.wireup = {.self = request_.self.rank,
                              .credentials = request_.credentials,
                              .nonce_seed = request_.nonce_seed,
                              .peers = std::move(invited),
                              .deadline = request_.deadline,
                              .limits = request_.options.wireup},
                   .listeners = std::move(copies),
                   .entrance = reserve_->entrance,
                   .note = tools_.note,
                   .met = [met = met_, bell = bell_](std::size_t place, ConnectedPeerLine line) {
                     const std::lock_guard lock(met->mutex);
                     met->lines[place] = std::move(line);
                     bell->waiter->Wake();
                   }};
  return Ok();
}

Result<WireupPeer> Connector::Invite(const PeerRoute& way, std::uint32_t strand) const {
  const Neighbour& peer = *way.peer;
  RINGLET_TRY_ASSIGN(LineOffer line, way.transport->Invite(peer));
  const bool dials = request_.self.rank < peer.rank;
  WireupPeer invited{.rank = peer.rank,
                     .host = peer.host,
                     .role = dials ? WireupPeer::Role::kDial : WireupPeer::Role::kAccept,
                     .purpose = line.purpose,
                     .strand = static_cast<std::uint8_t>(strand),
                     .addresses = std::move(line.addresses),
                     .offer = std::move(line.offer),
                     .descriptors = std::move(line.descriptors)};
  if (!invited.addresses.empty()) return invited;
  invited.addresses = peer.tcp;
  const auto first = dials ? AddressOfStrand(peer, strand, way.transport->lines()) : std::nullopt;
  if (!first) return invited;
  const auto begin = invited.addresses.begin() + static_cast<std::ptrdiff_t>(*first);
  std::rotate(invited.addresses.begin(), begin, begin + 1);
  invited.best_first = true;
  return invited;
}

Status Connector::AwaitPeers() {
  if (session_) RINGLET_TRY(RunSession(std::move(*session_), tools_.driver, tools_.abort));
  return Ok();
}

Status Connector::AwaitPeersOfProcess() {
  for (const PeerRoute& way : ways_)
    RINGLET_TRY(way.transport->Await(*way.peer, request_.deadline, tools_.abort));
  return Ok();
}

// Creates links to the peers that have been met.
Status Connector::MakeLinks() {
  for (PeerRoute& way : ways_) {
    if (way.link) continue;
    auto lines = TakeLines(way);
    if (!lines) continue;
    RINGLET_TRY_ASSIGN(auto link, way.transport->Make(*way.peer, *lines));
    if (!link) continue;
    way.link = link.get();
    links_.push_back(std::move(link));
  }
  return Ok();
}

// Returns empty until all lines of the peer exist.
std::optional<std::vector<PeerConnection>> Connector::TakeLines(const PeerRoute& way) {
  const std::lock_guard lock(met_->mutex);
  const auto all = std::span(met_->lines).subspan(way.first_line, way.transport->lines());
  if (!std::all_of(all.begin(), all.end(), [](const auto& line) { return line.has_value(); }))
    return std::nullopt;
  std::vector<PeerConnection> lines;
  for (auto& line : all)
    lines.push_back({.offer = std::move(line->met.offer),
                     .descriptors = std::move(line->met.descriptors),
                     .unread = std::move(line->met.unread),
                     .socket = std::move(line->socket)});
  return lines;
}

Status Connector::AwaitOpen() {
  for (const auto& transport : reserve_->transports) {
    std::vector<Link*> links;
    for (const PeerRoute& way : ways_)
      if (transport && way.transport == transport) links.push_back(way.link);
    if (!links.empty()) RINGLET_TRY(transport->AwaitOpen(links, request_.deadline, tools_.abort));
  }
  return Ok();
}

void Connector::Listen(ListenerSet endpoint) {
  reserve_->listeners = std::move(endpoint.listeners);
  reserve_->entrance = std::move(endpoint.entrance);
}

std::unique_ptr<Links> Connector::Take() {
  auto links = std::make_unique<Links>(bell_, std::move(links_));
  links->reserve() = std::move(fresh_);
  return links;
}

// Returns the ranks that still lack a link.
std::vector<Rank> Connector::AddTo(Links& links) {
  if (!links_.empty()) links.Add(std::exchange(links_, {}));
  std::vector<Rank> missing;
  for (const PeerRoute& way : ways_)
    if (!way.link) missing.push_back(way.peer->rank);
  return missing;
}

Result<std::unique_ptr<Links>> Connect(ConnectRequest request, ListenerSet endpoint,
                                       const ConnectTools& tools) {
  Connector connector(std::move(request), tools);
  connector.Listen(std::move(endpoint));
  RINGLET_TRY(connector.ChoosePeerRoutes());
  RINGLET_TRY(connector.MakeBell());
  RINGLET_TRY(connector.Arrive());
  RINGLET_TRY(connector.AwaitPeers());
  RINGLET_TRY(connector.AwaitPeersOfProcess());
  RINGLET_TRY(connector.MakeLinks());
  RINGLET_TRY(connector.AwaitOpen());
  return connector.Take();
}

Extension::Extension(std::unique_ptr<Connector> connector, Links& links)
    : connector_(std::move(connector)), links_(links) {}
Extension::~Extension() = default;

Result<std::unique_ptr<Extension>> Extension::Begin(ConnectRequest request, Links& links,
                                                    const ConnectTools& tools) {
  auto connector = std::make_unique<Connector>(std::move(request), tools);
  RINGLET_TRY(connector->ChoosePeerRoutes());
  connector->UseReserveOf(links);
  RINGLET_TRY(connector->Arrive());
  return std::unique_ptr<Extension>(new Extension(std::move(connector), links));
}

bool Extension::meets() const {
  return connector_->meets();
}

Status Extension::AwaitPeers() {
  return connector_->AwaitPeers();
}

Result<std::vector<Rank>> Extension::Take() {
  RINGLET_TRY(connector_->MakeLinks());
  return connector_->AddTo(links_);
}

}  // namespace ringlet::transport
