#include "transport/wireup/connect.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "os/net/congestion.hpp"
#include "os/error.hpp"
#include "os/net/sockaddr.hpp"
#include "os/clock.hpp"
#include "transport/ofi/libfabric.hpp"
#include "transport/wireup/session.hpp"
#include "transport/shm/shm_link.hpp"
#include "transport/tcp/striped_link.hpp"

namespace ringlet::transport {
namespace {

std::string Named(const Neighbour& peer) {
  return fmt::format("rank {} on {}", Index(peer.rank), peer.host);
}

/// With the address at the other end of `socket`.
std::string NamedAt(const Neighbour& peer, const os::Fd& socket) {
  os::SocketAddress remote;
  remote.bytes = sizeof remote.storage;
  if (::getpeername(socket.get(), remote.get(), &remote.bytes) != 0) return Named(peer);
  return fmt::format("{} at {}", Named(peer), ToString(os::FromSocketAddress(remote)));
}

// ---- who is reached how -----------------------------------------------------------------------

bool MaySharePipes(const Neighbour& a, const Neighbour& b) {
  return a.host_hash == b.host_hash && a.network_namespace == b.network_namespace;
}

// The beginning of both `tcp` and `ofi`: a TCP connection between the two.
bool Dialled(Choice choice) {
  return choice == Choice::kTcp || choice == Choice::kOfi;
}

// kAuto resolved. A pure function of what both sides know, so that they agree without asking.
Result<Choice> Resolve(const ConnectOptions& options, const Neighbour& self,
                       const Neighbour& peer) {
  Choice choice = options.choice;
  const bool same_process = self.process_hash == peer.process_hash;
  const bool unix_sockets = self.unix_socket.kind == Address::Kind::kUnix &&
                            peer.unix_socket.kind == Address::Kind::kUnix;
  const bool shm_possible = MaySharePipes(self, peer) && unix_sockets;
  const auto impossible = [&](std::string_view kind, std::string_view why) {
    return Error{Code::kUnsupported,
                 fmt::format("rank {} on {} cannot reach {} by {}: {}", Index(self.rank), self.host,
                             Named(peer), kind, why)};
  };
  if (choice == Choice::kAuto)
    choice = same_process ? Choice::kInproc : shm_possible ? Choice::kShm : options.network;
  if (choice == Choice::kInproc && !same_process)
    return impossible("inproc", "it is another process");
  if (choice == Choice::kShm && !shm_possible)
    return impossible("shm", !MaySharePipes(self, peer) ? "it is another host or network namespace"
                                                        : "one of them has no UNIX socket");
  const Neighbour& called = self.rank < peer.rank ? peer : self;
  if (Dialled(choice) && called.tcp.empty())
    return impossible(choice == Choice::kTcp ? "tcp" : "ofi",
                      fmt::format("{} has no TCP address", Named(called)));
  return choice;
}

// Which of the peer's addresses a strand dials first: the preferred ones in turn, by the peer's
// place on its host, so that its ranks share its NICs. If none is preferred, one strand an address,
// of the family of the best one, for an interface mostly has one of each; a single strand takes the
// one that answers first.
std::optional<std::size_t> AddressOfStrand(const Neighbour& peer, std::uint32_t strand,
                                           std::uint32_t strands) {
  if (peer.preferred > 0) return (peer.turn + strand) % std::min(peer.preferred, peer.tcp.size());
  if (strands < 2) return std::nullopt;
  std::vector<std::size_t> alike;
  for (std::size_t i = 0; i < peer.tcp.size(); ++i)
    if (peer.tcp[i].kind == peer.tcp.front().kind) alike.push_back(i);
  return alike[strand % alike.size()];
}

// The door stays open for later callers while a session listens at a copy of it.
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

  // In this order. Of the rank's thread but for Meet.
  Status ChoosePeerRoutes(std::uint32_t pipes_taken);
  Status MakeBell();
  Status UseReserveOf(Links& links);
  Status OpenFabric();
  Status Arrive(const std::vector<os::Listener>& listeners,
                const std::shared_ptr<os::Entrance>& entrance);
  bool meets() const { return met_->lines.size() > 0; }
  Status Meet();
  Status AwaitInproc();
  Status MakeLinks();
  Status AwaitOpen();

  std::unique_ptr<Links> Take(ListenerSet endpoint);
  std::vector<Rank> AddTo(Links& links);

 private:
  struct PeerRoute {
    const Neighbour* peer;
    Choice choice;
    std::uint32_t pipe = 0;          // kShm: which pipe of our segment is the peer's
    ofi::EndpointAddress card = {};  // kOfi: what the peer is told
    std::size_t first_line = 0;      // of the session's
    bool made = false;               // the link
  };
  // Those who have come. Shared with the driver's thread, which brings them.
  struct MetLines {
    std::mutex mutex;
    std::vector<std::optional<MetLine>> lines;  // by place in the session
  };
  std::uint32_t Count(Choice choice) const;
  InprocExchange::RankPair PairWith(const Neighbour& peer) const {
    return {request_.credentials.magic, request_.self.rank, peer.rank};
  }
  std::uint32_t PipesForLater() const;
  std::uint32_t Lines(const PeerRoute& way) const;
  Result<WireupPeer> Invite(const PeerRoute& way, std::uint32_t strand) const;
  Result<bool> MakeLink(const PeerRoute& way);
  std::vector<MetLine> TakeLines(const PeerRoute& way);
  void AddInprocLink(const PeerRoute& way, std::shared_ptr<InprocChannel> channel);
  Status AddLink(const PeerRoute& way, std::span<MetLine> lines);
  Status AddShmLink(const PeerRoute& way, MetLine line);
  Status AddTcpLink(const PeerRoute& way, std::span<MetLine> lines);
  Result<std::unique_ptr<Link>> MakeTcpLink(const PeerRoute& way, MetLine line);
  Status AddOfiLink(const PeerRoute& way, MetLine line);

  ConnectRequest request_;
  const ConnectTools tools_;
  std::vector<PeerRoute> ways_;
  std::uint32_t pipes_taken_ = 0;
  std::optional<SessionParts> session_;  // empty without peers to meet
  const std::shared_ptr<MetLines> met_ = std::make_shared<MetLines>();
  std::shared_ptr<Segment> segment_;  // null without shm peers
  std::shared_ptr<RankBell> bell_;
  std::shared_ptr<ofi::Fabric> fabric_;  // null without ofi peers
  std::shared_ptr<SharedBuffers> registered_;
  RtsSizes offers_;
  std::shared_ptr<SendQueues> send_queues_ = std::make_shared<SendQueues>();
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<ofi::OfiLink*> opening_;  // of links_
};

// A rank that was promised an inproc link and does not get it hears so at once. (After success all
// have been taken, and this does nothing.)
Connector::~Connector() {
  for (const PeerRoute& way : ways_)
    if (way.choice == Choice::kInproc) tools_.inproc.Withdraw(PairWith(*way.peer));
}

Status Connector::ChoosePeerRoutes(std::uint32_t pipes_taken) {
  const ConnectOptions& options = request_.options;
  if (!IsPipeSize(options.pipe_bytes))
    return Error{Code::kInvalidArgument,
                 fmt::format("a pipe of {} bytes; use a power of two from {} to {}",
                             options.pipe_bytes, kPipeBytesMin, kPipeBytesMax)};
  RINGLET_ASSERT(options.strands >= 1 && options.strands <= kStrandsMax);
  std::set<Rank> seen = {request_.self.rank};
  std::vector<PeerRoute> ways;
  std::uint32_t pipes = pipes_taken;
  for (const Neighbour& peer : request_.peers) {
    if (!seen.insert(peer.rank).second)
      return Error{Code::kInvalidArgument,
                   fmt::format("rank {} is asked to connect with rank {} twice or with itself",
                               Index(request_.self.rank), Index(peer.rank))};
    RINGLET_TRY_ASSIGN(const Choice choice, Resolve(options, request_.self, peer));
    ways.push_back(PeerRoute{&peer, choice, choice == Choice::kShm ? pipes++ : 0});
  }
  if (pipes > SegmentShape::kPipesMax)
    return Error{Code::kUnsupported,
                 fmt::format("{} peers over shared memory; at most {} are possible", pipes,
                             SegmentShape::kPipesMax)};
  ways_ = std::move(ways);
  pipes_taken_ = pipes;
  return Ok();
}

// Room in the segment for ranks of this host that may be wanted later. Memory that is not touched
// costs nothing but addresses.
std::uint32_t Connector::PipesForLater() const {
  std::set<Rank> counted = {request_.self.rank};
  for (const Neighbour& peer : request_.peers) counted.insert(peer.rank);
  std::uint32_t pipes = 0;
  for (const Neighbour& peer : request_.later) {
    const auto choice = Resolve(request_.options, request_.self, peer);
    const bool shm = choice.ok() && *choice == Choice::kShm;
    if (shm && counted.insert(peer.rank).second) ++pipes;
  }
  return std::min(pipes, SegmentShape::kPipesMax - pipes_taken_);
}

std::uint32_t Connector::Count(Choice choice) const {
  return static_cast<std::uint32_t>(std::count_if(
      ways_.begin(), ways_.end(), [&](const PeerRoute& way) { return way.choice == choice; }));
}

Status Connector::MakeBell() {
  bell_ = std::make_shared<RankBell>();
  DoorbellWord* word = nullptr;
  if (const std::uint32_t pipes = pipes_taken_ + PipesForLater(); pipes > 0) {
    RINGLET_TRY_ASSIGN(segment_, Segment::Create(SegmentShape{pipes, request_.options.pipe_bytes}));
    word = &segment_->word();
    bell_->memory = segment_;
  } else {
    const auto own = std::make_shared<DoorbellWord>();
    word = own.get();
    bell_->memory = own;
  }
  DoorbellWaiterOptions options = request_.options.waiter;
  options.ready = tools_.inproc.Ready();
  options.rung_from_outside = tools_.inproc.RungFromOutside();
  RINGLET_TRY_ASSIGN(bell_->waiter, DoorbellWaiter::Create(*word, options));
  return OpenFabric();
}

Status Connector::UseReserveOf(Links& links) {
  Links::Reserve& reserve = links.reserve();
  const std::uint32_t room = reserve.segment ? reserve.segment->shape().pipes : 0;
  if (pipes_taken_ > room)
    return Error{Code::kUnsupported,
                 fmt::format("rank {} needs {} pipes of shared memory and has room for {}",
                             Index(request_.self.rank), pipes_taken_, room)};
  bell_ = links.bell();
  segment_ = reserve.segment;
  fabric_ = reserve.fabric;
  registered_ = reserve.registered;
  offers_ = reserve.offers;
  send_queues_ = reserve.send_queues;
  reserve.pipes_taken = pipes_taken_;
  RINGLET_TRY(OpenFabric());
  reserve.fabric = fabric_;
  return Ok();
}

// The rank's endpoint, with the first of its links over libfabric, and what each peer is told.
Status Connector::OpenFabric() {
  if (Count(Choice::kOfi) == 0) return Ok();
  if (!fabric_) {
    const std::vector<Address>& own = request_.self.tcp;
    RINGLET_TRY_ASSIGN(fabric_,
                       ofi::OpenLibfabric({.provider = request_.options.ofi_provider,
                                           .source = own.empty() ? Address() : own.front()}));
    RINGLET_TRY(bell_->waiter->WatchSource(fabric_));
  }
  for (PeerRoute& way : ways_) {
    if (way.choice != Choice::kOfi) continue;
    Writer peer;
    peer.U32(Index(way.peer->rank));
    // The wireup's nonces, which any peer sees, come from the same seed under another label.
    way.card =
        ofi::AddressOf(*fabric_, request_.options.ofi,
                       KeyedHash(request_.nonce_seed, {AsView("tag of a link"), peer.view()}));
  }
  return Ok();
}

Status Connector::Arrive(const std::vector<os::Listener>& listeners,
                         const std::shared_ptr<os::Entrance>& entrance) {
  for (const PeerRoute& way : ways_)
    if (way.choice == Choice::kInproc)
      tools_.inproc.Arrive(PairWith(*way.peer), bell_, request_.options.pipe_bytes);
  if (ways_.size() == Count(Choice::kInproc)) return Ok();
  RINGLET_TRY_ASSIGN(auto copies, Copies(listeners));
  session_ = SessionParts{.wireup = {.self = request_.self.rank,
                                     .credentials = request_.credentials,
                                     .nonce_seed = request_.nonce_seed,
                                     .peers = {},
                                     .deadline = request_.deadline,
                                     .limits = request_.options.wireup},
                          .listeners = std::move(copies),
                          .entrance = entrance,
                          .note = tools_.note,
                          .met = [met = met_, bell = bell_](std::size_t place, MetLine line) {
                            const std::lock_guard lock(met->mutex);
                            met->lines[place] = std::move(line);
                            bell->waiter->Wake();
                          }};
  for (PeerRoute& way : ways_) {
    way.first_line = session_->wireup.peers.size();
    for (std::uint32_t strand = 0; strand < Lines(way); ++strand) {
      RINGLET_TRY_ASSIGN(WireupPeer invited, Invite(way, strand));
      session_->wireup.peers.push_back(std::move(invited));
    }
  }
  met_->lines.resize(session_->wireup.peers.size());
  return Ok();
}

// How many of the session's lines a way has.
std::uint32_t Connector::Lines(const PeerRoute& way) const {
  if (way.choice == Choice::kInproc) return 0;
  return way.choice == Choice::kTcp ? request_.options.strands : 1;
}

Result<WireupPeer> Connector::Invite(const PeerRoute& way, std::uint32_t strand) const {
  const Neighbour& peer = *way.peer;
  const bool dials = request_.self.rank < peer.rank;
  WireupPeer invited{.rank = peer.rank,
                     .host = peer.host,
                     .role = dials ? WireupPeer::Role::kDial : WireupPeer::Role::kAccept,
                     .purpose = Purpose::kData,
                     .strand = static_cast<std::uint8_t>(strand),
                     .addresses = peer.tcp,
                     .offer = {},
                     .descriptors = {}};
  const auto first =
      Dialled(way.choice) && dials ? AddressOfStrand(peer, strand, Lines(way)) : std::nullopt;
  if (first) {
    const auto begin = invited.addresses.begin() + static_cast<std::ptrdiff_t>(*first);
    std::rotate(invited.addresses.begin(), begin, begin + 1);
    invited.best_first = true;
  }
  if (way.choice == Choice::kOfi) {
    invited.purpose = Purpose::kFabric;
    invited.offer = Encode(way.card);
  }
  if (way.choice != Choice::kShm) return invited;
  invited.purpose = Purpose::kMemory;
  invited.addresses = {peer.unix_socket};
  RINGLET_TRY(bell_->waiter->PrepareOffer());
  RINGLET_TRY_ASSIGN(ShmOffer offer, MakeShmOffer(*segment_, way.pipe, bell_->waiter->event_fd()));
  invited.offer = std::move(offer.bytes);
  invited.descriptors = std::move(offer.descriptors);
  return invited;
}

Status Connector::Meet() {
  if (session_) RINGLET_TRY(RunSession(std::move(*session_), tools_.driver, tools_.abort));
  return Ok();
}

Status Connector::AwaitInproc() {
  for (PeerRoute& way : ways_) {
    if (way.choice != Choice::kInproc) continue;
    RINGLET_TRY_ASSIGN(auto channel,
                       tools_.inproc.Await(PairWith(*way.peer), request_.deadline, tools_.abort));
    AddInprocLink(way, std::move(channel));
    way.made = true;
  }
  return Ok();
}

// To those who have come.
Status Connector::MakeLinks() {
  for (PeerRoute& way : ways_) {
    if (way.made) continue;
    RINGLET_TRY_ASSIGN(way.made, MakeLink(way));
  }
  return Ok();
}

Result<bool> Connector::MakeLink(const PeerRoute& way) {
  if (way.choice == Choice::kInproc) {
    auto channel = tools_.inproc.Take(PairWith(*way.peer));
    if (!channel) return false;
    AddInprocLink(way, std::move(channel));
    return true;
  }
  std::vector<MetLine> lines = TakeLines(way);
  if (lines.empty()) return false;
  RINGLET_TRY(AddLink(way, lines));
  return true;
}

// None before all of them are there.
std::vector<MetLine> Connector::TakeLines(const PeerRoute& way) {
  const std::lock_guard lock(met_->mutex);
  const auto all = std::span(met_->lines).subspan(way.first_line, Lines(way));
  std::vector<MetLine> lines;
  if (!std::all_of(all.begin(), all.end(), [](const auto& line) { return line.has_value(); }))
    return lines;
  for (auto& line : all) lines.push_back(std::move(*line));
  return lines;
}

void Connector::AddInprocLink(const PeerRoute& way, std::shared_ptr<InprocChannel> channel) {
  links_.push_back(MakeInprocLink(std::move(channel), request_.self.rank, way.peer->rank,
                                  way.peer->host, offers_));
}

std::unique_ptr<Links> Connector::Take(ListenerSet endpoint) {
  auto links = std::make_unique<Links>(bell_, std::move(links_));
  links->reserve() = {.segment = segment_,
                      .pipes_taken = pipes_taken_,
                      .listeners = std::move(endpoint.listeners),
                      .entrance = std::move(endpoint.entrance),
                      .fabric = fabric_,
                      .offers = offers_,
                      .send_queues = send_queues_};
  return links;
}

// Gives those who are missing.
std::vector<Rank> Connector::AddTo(Links& links) {
  if (!links_.empty()) links.Add(std::exchange(links_, {}));
  std::vector<Rank> missing;
  for (const PeerRoute& way : ways_)
    if (!way.made) missing.push_back(way.peer->rank);
  return missing;
}

Status Connector::AddLink(const PeerRoute& way, std::span<MetLine> lines) {
  switch (way.choice) {
    case Choice::kShm: return AddShmLink(way, std::move(lines.front()));
    case Choice::kOfi: return AddOfiLink(way, std::move(lines.front()));
    default: return AddTcpLink(way, lines);
  }
}

Status Connector::AddShmLink(const PeerRoute& way, MetLine line) {
  ShmLinkParts parts{.peer = way.peer->rank,
                     .peer_name = Named(*way.peer),
                     .own = segment_,
                     .pipe = way.pipe,
                     .reply = line.met.offer,
                     .descriptors = std::move(line.met.descriptors),
                     .line = std::move(line.socket),
                     .prefault = request_.options.prefault,
                     .registered = registered_,
                     .offers = offers_};
  RINGLET_TRY_ASSIGN(auto link, MakeShmLink(std::move(parts), *bell_->waiter));
  links_.push_back(std::move(link));
  return Ok();
}

Status Connector::AddTcpLink(const PeerRoute& way, std::span<MetLine> lines) {
  std::vector<std::unique_ptr<Link>> strands;
  for (MetLine& line : lines) {
    RINGLET_TRY_ASSIGN(auto strand, MakeTcpLink(way, std::move(line)));
    strands.push_back(std::move(strand));
  }
  links_.push_back(strands.size() == 1 ? std::move(strands.front())
                                       : std::make_unique<StripedLink>(std::move(strands)));
  return Ok();
}

Result<std::unique_ptr<Link>> Connector::MakeTcpLink(const PeerRoute& way, MetLine line) {
  std::string name = NamedAt(*way.peer, line.socket);
  if (const std::string& congestion = request_.options.congestion; !congestion.empty())
    RINGLET_TRY(os::SetCongestionControl(line.socket, congestion));
  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(bell_->waiter->WatchSocket(line.socket.get(), gone));
  return std::unique_ptr<Link>(
      std::make_unique<TcpLink>(TcpLinkParts{.peer = way.peer->rank,
                                             .peer_name = std::move(name),
                                             .socket = std::move(line.socket),
                                             .arrived = std::move(line.met.unread),
                                             .options = request_.options.tcp,
                                             .gone = std::move(gone),
                                             .send_queues = send_queues_}));
}

Status Connector::AddOfiLink(const PeerRoute& way, MetLine line) {
  TuneSocket(line.socket.get(), request_.options.tcp);
  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(bell_->waiter->WatchSocket(line.socket.get(), gone));
  RINGLET_TRY_ASSIGN(auto link,
                     ofi::OfiLink::Make({.peer = way.peer->rank,
                                         .peer_name = NamedAt(*way.peer, line.socket),
                                         .fabric = fabric_,
                                         .mine = way.card,
                                         .theirs = line.met.offer,
                                         .line = std::move(line.socket),
                                         .arrived = std::move(line.met.unread),
                                         .gone = std::move(gone),
                                         .greets = request_.self.rank < way.peer->rank}));
  opening_.push_back(link.get());
  links_.push_back(std::move(link));
  return Ok();
}

// Endpoints connect with the first message, which takes calls of both ranks. Afterwards a rank can
// write while the other does something else.
Status Connector::AwaitOpen() {
  constexpr std::chrono::milliseconds kAbortPeriod(10);
  DoorbellWaiter& waiter = *bell_->waiter;
  while (!opening_.empty()) {
    const Waiter::Ticket ticket = waiter.Prepare();
    for (std::size_t i = opening_.size(); i-- > 0;) {
      RINGLET_TRY_ASSIGN(const bool open, opening_[i]->Opened());
      if (open) opening_.erase(opening_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (opening_.empty()) break;
    if (tools_.abort.stop_requested())
      return Error{Code::kAborted,
                   fmt::format("aborted while {} was connecting", Named(request_.self))};
    if (os::Now() >= request_.deadline)
      return Error{
          Code::kTimeout,
          fmt::format("{} was met, but its libfabric endpoint ({}) does not answer that of "
                      "{}; {} missing so. Do RINGLET_SOCKET_IFNAME and "
                      "RINGLET_OFI_PROVIDER name a network that joins them?",
                      opening_.front()->peer_name(), fabric_->provider(), Named(request_.self),
                      opening_.size())};
    waiter.Wait(ticket, kAbortPeriod);
  }
  return Ok();
}

Result<std::unique_ptr<Links>> Connect(ConnectRequest request, ListenerSet endpoint,
                                       const ConnectTools& tools) {
  Connector connector(std::move(request), tools);
  RINGLET_TRY(connector.ChoosePeerRoutes(0));
  RINGLET_TRY(connector.MakeBell());
  RINGLET_TRY(connector.Arrive(endpoint.listeners, endpoint.entrance));
  RINGLET_TRY(connector.Meet());
  RINGLET_TRY(connector.AwaitInproc());
  RINGLET_TRY(connector.MakeLinks());
  RINGLET_TRY(connector.AwaitOpen());
  return connector.Take(std::move(endpoint));
}

Extension::Extension(std::unique_ptr<Connector> connector, Links& links)
    : connector_(std::move(connector)), links_(links) {}
Extension::~Extension() = default;

Result<std::unique_ptr<Extension>> Extension::Begin(ConnectRequest request, Links& links,
                                                    const ConnectTools& tools) {
  auto connector = std::make_unique<Connector>(std::move(request), tools);
  RINGLET_TRY(connector->ChoosePeerRoutes(links.reserve().pipes_taken));
  RINGLET_TRY(connector->UseReserveOf(links));
  RINGLET_TRY(connector->Arrive(links.reserve().listeners, links.reserve().entrance));
  return std::unique_ptr<Extension>(new Extension(std::move(connector), links));
}

bool Extension::meets() const {
  return connector_->meets();
}

Status Extension::Meet() {
  return connector_->Meet();
}

Result<std::vector<Rank>> Extension::Take() {
  RINGLET_TRY(connector_->MakeLinks());
  return connector_->AddTo(links_);
}

}  // namespace ringlet::transport
