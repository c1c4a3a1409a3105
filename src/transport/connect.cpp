#include "transport/connect.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "os/congestion.hpp"
#include "os/sockaddr.hpp"
#include "transport/session.hpp"
#include "transport/shm/shm_link.hpp"

namespace ringlet::transport {
namespace {

std::string Named(const Neighbour& peer) {
  return fmt::format("rank {} on {}", Index(peer.rank), peer.host);
}

// ---- who is reached how -----------------------------------------------------------------------

bool SameHost(const Neighbour& a, const Neighbour& b) {
  return a.host_hash == b.host_hash && a.network_namespace == b.network_namespace;
}

// kAuto resolved. A pure function of what both sides know, so that they agree without asking.
Result<Choice> Resolve(Choice choice, const Neighbour& self, const Neighbour& peer) {
  const bool same_process = self.process_hash == peer.process_hash;
  const bool unix_sockets = self.unix_socket.kind == Address::Kind::kUnix &&
                            peer.unix_socket.kind == Address::Kind::kUnix;
  const bool shm_possible = SameHost(self, peer) && unix_sockets;
  const auto impossible = [&](std::string_view kind, std::string_view why) {
    return Error{Code::kUnsupported,
                 fmt::format("rank {} on {} cannot reach {} by {}: {}", Index(self.rank), self.host,
                             Named(peer), kind, why)};
  };
  if (choice == Choice::kAuto)
    choice = same_process ? Choice::kInproc : shm_possible ? Choice::kShm : Choice::kTcp;
  if (choice == Choice::kInproc && !same_process)
    return impossible("inproc", "it is another process");
  if (choice == Choice::kShm && !shm_possible)
    return impossible("shm", !SameHost(self, peer) ? "it is another host or network namespace"
                                                   : "one of them has no UNIX socket");
  const Neighbour& called = self.rank < peer.rank ? peer : self;
  if (choice == Choice::kTcp && called.tcp.empty())
    return impossible("tcp", fmt::format("{} has no TCP address", Named(called)));
  return choice;
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
  Status ChooseWays(std::uint32_t pipes_taken);
  Status MakeBell();
  Status UseReserveOf(Links& links);
  Status Arrive(const std::vector<os::Listener>& listeners);
  Status Meet();
  Status MakeLinks();

  std::unique_ptr<Links> Take(std::vector<os::Listener> listeners);
  void AddTo(Links& links);

 private:
  struct Way {
    const Neighbour* peer;
    Choice choice;
    std::uint32_t pipe = 0;  // kShm: which pipe of our segment is the peer's
  };
  std::uint32_t Count(Choice choice) const;
  InprocExchange::Pair PairWith(const Neighbour& peer) const {
    return {request_.credentials.magic, request_.self.rank, peer.rank};
  }
  std::uint32_t PipesForLater() const;
  Result<MeetingPeer> Invite(const Way& way) const;
  Status AddLink(const Way& way, MetLine line);
  Status AddShmLink(const Way& way, MetLine line);
  Status AddTcpLink(const Way& way, MetLine line);

  ConnectRequest request_;
  const ConnectTools tools_;
  std::vector<Way> ways_;
  std::uint32_t pipes_taken_ = 0;
  std::optional<SessionParts> session_;                   // empty without peers to meet
  std::vector<MetLine> lines_;                            // by those ways that are not inproc
  std::vector<std::shared_ptr<InprocChannel>> channels_;  // by those that are
  std::shared_ptr<Segment> segment_;                      // null without shm peers
  std::shared_ptr<RankBell> bell_;
  std::vector<std::unique_ptr<Link>> links_;
};

// Whoever was promised an inproc link and does not get it hears so at once. (After success all have
// been taken, and this does nothing.)
Connector::~Connector() {
  for (const Way& way : ways_)
    if (way.choice == Choice::kInproc) tools_.inproc.Withdraw(PairWith(*way.peer));
}

Status Connector::ChooseWays(std::uint32_t pipes_taken) {
  const ConnectOptions& options = request_.options;
  if (!IsPipeSize(options.pipe_bytes))
    return Error{Code::kInvalidArgument,
                 fmt::format("a pipe of {} bytes; use a power of two from {} to {}",
                             options.pipe_bytes, kPipeBytesMin, kPipeBytesMax)};
  std::set<Rank> seen = {request_.self.rank};
  std::vector<Way> ways;
  std::uint32_t pipes = pipes_taken;
  for (const Neighbour& peer : request_.peers) {
    if (!seen.insert(peer.rank).second)
      return Error{Code::kInvalidArgument,
                   fmt::format("rank {} is asked to connect with rank {} twice or with itself",
                               Index(request_.self.rank), Index(peer.rank))};
    RINGLET_TRY_ASSIGN(const Choice choice, Resolve(options.choice, request_.self, peer));
    ways.push_back(Way{&peer, choice, choice == Choice::kShm ? pipes++ : 0});
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
    const auto choice = Resolve(request_.options.choice, request_.self, peer);
    const bool shm = choice.ok() && *choice == Choice::kShm;
    if (shm && counted.insert(peer.rank).second) ++pipes;
  }
  return std::min(pipes, SegmentShape::kPipesMax - pipes_taken_);
}

std::uint32_t Connector::Count(Choice choice) const {
  return static_cast<std::uint32_t>(std::count_if(
      ways_.begin(), ways_.end(), [&](const Way& way) { return way.choice == choice; }));
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
  RINGLET_TRY_ASSIGN(bell_->waiter, DoorbellWaiter::Create(*word, request_.options.waiter));
  return Ok();
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
  reserve.pipes_taken = pipes_taken_;
  return Ok();
}

Status Connector::Arrive(const std::vector<os::Listener>& listeners) {
  for (const Way& way : ways_)
    if (way.choice == Choice::kInproc)
      tools_.inproc.Arrive(PairWith(*way.peer), bell_, request_.options.pipe_bytes);
  if (ways_.size() == Count(Choice::kInproc)) return Ok();
  RINGLET_TRY_ASSIGN(auto copies, Copies(listeners));
  session_ = SessionParts{.meeting = {.self = request_.self.rank,
                                      .credentials = request_.credentials,
                                      .nonce_seed = request_.nonce_seed,
                                      .peers = {},
                                      .deadline = request_.deadline,
                                      .limits = request_.options.meeting},
                          .listeners = std::move(copies),
                          .note = tools_.note};
  for (const Way& way : ways_) {
    if (way.choice == Choice::kInproc) continue;
    RINGLET_TRY_ASSIGN(MeetingPeer invited, Invite(way));
    session_->meeting.peers.push_back(std::move(invited));
  }
  return Ok();
}

Result<MeetingPeer> Connector::Invite(const Way& way) const {
  const Neighbour& peer = *way.peer;
  const bool dials = request_.self.rank < peer.rank;
  MeetingPeer invited{.rank = peer.rank,
                      .host = peer.host,
                      .role = dials ? MeetingPeer::Role::kDial : MeetingPeer::Role::kAccept,
                      .purpose = Purpose::kData,
                      .addresses = peer.tcp,
                      .offer = {},
                      .descriptors = {}};
  if (way.choice != Choice::kShm) return invited;
  invited.purpose = Purpose::kMemory;
  invited.addresses = {peer.unix_socket};
  RINGLET_TRY_ASSIGN(ShmOffer offer, MakeShmOffer(*segment_, way.pipe, bell_->waiter->event_fd()));
  invited.offer = std::move(offer.bytes);
  invited.descriptors = std::move(offer.descriptors);
  return invited;
}

Status Connector::Meet() {
  if (session_) {
    RINGLET_TRY_ASSIGN(lines_, RunSession(std::move(*session_), tools_.driver, tools_.abort));
  }
  for (const Way& way : ways_) {
    if (way.choice != Choice::kInproc) continue;
    RINGLET_TRY_ASSIGN(auto channel,
                       tools_.inproc.Await(PairWith(*way.peer), request_.deadline, tools_.abort));
    channels_.push_back(std::move(channel));
  }
  return Ok();
}

Status Connector::MakeLinks() {
  auto line = lines_.begin();
  auto channel = channels_.begin();
  for (const Way& way : ways_) {
    if (way.choice != Choice::kInproc) {
      RINGLET_TRY(AddLink(way, std::move(*line++)));
      continue;
    }
    links_.push_back(
        MakeInprocLink(std::move(*channel++), request_.self.rank, way.peer->rank, way.peer->host));
  }
  return Ok();
}

std::unique_ptr<Links> Connector::Take(std::vector<os::Listener> listeners) {
  auto links = std::make_unique<Links>(bell_, std::move(links_));
  links->reserve() = {segment_, pipes_taken_, std::move(listeners)};
  return links;
}

void Connector::AddTo(Links& links) {
  links.Add(std::move(links_));
}

Status Connector::AddLink(const Way& way, MetLine line) {
  return way.choice == Choice::kShm ? AddShmLink(way, std::move(line))
                                    : AddTcpLink(way, std::move(line));
}

Status Connector::AddShmLink(const Way& way, MetLine line) {
  ShmLinkParts parts{.peer = way.peer->rank,
                     .peer_name = Named(*way.peer),
                     .own = segment_,
                     .pipe = way.pipe,
                     .reply = line.met.offer,
                     .descriptors = std::move(line.met.descriptors),
                     .line = std::move(line.socket),
                     .prefault = request_.options.prefault};
  RINGLET_TRY_ASSIGN(auto link, MakeShmLink(std::move(parts), *bell_->waiter));
  links_.push_back(std::move(link));
  return Ok();
}

Status Connector::AddTcpLink(const Way& way, MetLine line) {
  os::SocketAddress remote;
  remote.bytes = sizeof remote.storage;
  std::string name = Named(*way.peer);
  if (::getpeername(line.socket.get(), remote.get(), &remote.bytes) == 0)
    name += " at " + ToString(os::FromSocketAddress(remote));
  if (const std::string& congestion = request_.options.congestion; !congestion.empty())
    RINGLET_TRY(os::SetCongestionControl(line.socket, congestion));
  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(bell_->waiter->WatchSocket(line.socket.get(), gone));
  links_.push_back(std::make_unique<TcpLink>(TcpLink::Parts{.peer = way.peer->rank,
                                                            .peer_name = std::move(name),
                                                            .socket = std::move(line.socket),
                                                            .arrived = std::move(line.met.unread),
                                                            .options = request_.options.tcp,
                                                            .gone = std::move(gone)}));
  return Ok();
}

std::optional<Choice> ChoiceNamed(std::string_view name) {
  if (name == "auto") return Choice::kAuto;
  if (name == "inproc") return Choice::kInproc;
  if (name == "shm") return Choice::kShm;
  if (name == "tcp") return Choice::kTcp;
  return std::nullopt;
}

Result<std::unique_ptr<Links>> Connect(ConnectRequest request, Endpoint endpoint,
                                       const ConnectTools& tools) {
  Connector connector(std::move(request), tools);
  RINGLET_TRY(connector.ChooseWays(0));
  RINGLET_TRY(connector.MakeBell());
  RINGLET_TRY(connector.Arrive(endpoint.listeners));
  RINGLET_TRY(connector.Meet());
  RINGLET_TRY(connector.MakeLinks());
  return connector.Take(std::move(endpoint.listeners));
}

Extension::Extension(std::unique_ptr<Connector> connector, Links& links)
    : connector_(std::move(connector)), links_(links) {}
Extension::~Extension() = default;

Result<std::unique_ptr<Extension>> Extension::Begin(ConnectRequest request, Links& links,
                                                    const ConnectTools& tools) {
  auto connector = std::make_unique<Connector>(std::move(request), tools);
  RINGLET_TRY(connector->ChooseWays(links.reserve().pipes_taken));
  RINGLET_TRY(connector->UseReserveOf(links));
  RINGLET_TRY(connector->Arrive(links.reserve().listeners));
  return std::unique_ptr<Extension>(new Extension(std::move(connector), links));
}

Status Extension::Meet() {
  return connector_->Meet();
}

Status Extension::Finish() {
  RINGLET_TRY(connector_->MakeLinks());
  connector_->AddTo(links_);
  return Ok();
}

}  // namespace ringlet::transport
