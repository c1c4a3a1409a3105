#include "transport/shm/shm_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "os/net/sockaddr.hpp"
#include "transport/shm/pipe_link.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint8_t kOfferVersion = 5;

// The memory and descriptors that both pipes of a link use.
struct LinkMemory {
  std::shared_ptr<Segment> own;
  std::shared_ptr<Segment> theirs;
  Descriptor their_event;
  os::Fd line;
};

struct DecodedOffer {
  SegmentShape shape;
  std::uint32_t pipe = 0;
  RemoteAddress sign_at;
  Secret sign{};
};

Result<DecodedOffer> Decode(View bytes) {
  Reader in(bytes);
  const std::uint8_t version = in.U8();
  DecodedOffer offer;
  offer.shape.pipes = in.U32();
  offer.shape.pipe_bytes = in.U64();
  offer.pipe = in.U32();
  offer.sign_at = RemoteAddress(in.U64());
  const View sign = in.Raw(offer.sign.size());
  if (!in.AtEnd() || version != kOfferVersion || !offer.shape.Valid() ||
      offer.pipe >= offer.shape.pipes)
    return Error{Code::kProtocol, "an offer of shared memory that does not parse"};
  std::ranges::copy(sign, offer.sign.begin());
  return offer;
}

// Ringing must neither block nor raise SIGPIPE. So the descriptor must be an anonymous inode in
// non-blocking mode, as eventfds are. (Files, pipes and sockets have a type in their mode.)
Status RequireEventFd(int fd) {
  struct stat about {};
  const int flags = ::fcntl(fd, F_GETFL);
  if (::fstat(fd, &about) != 0 || (about.st_mode & S_IFMT) != 0 || flags < 0 ||
      (flags & O_NONBLOCK) == 0)
    return Error{Code::kProtocol, "a doorbell that is not a non-blocking eventfd"};
  return Ok();
}

// Returns the process at the other end of `line` according to the kernel, which the peer cannot
// forge. Returns 0 if it is outside this PID namespace.
std::int32_t ProcessAt(const os::Fd& line) {
  ucred about{};
  socklen_t bytes = sizeof about;
  if (::getsockopt(line.get(), SOL_SOCKET, SO_PEERCRED, &about, &bytes) != 0) return 0;
  return about.pid;
}

}  // namespace

Result<ShmOffer> MakeShmOffer(const Segment& own, std::uint32_t pipe, const os::Fd& event_fd) {
  Writer out;
  out.U8(kOfferVersion).U32(own.shape().pipes).U64(own.shape().pipe_bytes).U32(pipe);
  out.U64(RemoteAddress::Of(own.sign().data()).told()).Raw(own.sign());
  RINGLET_TRY_ASSIGN(os::Fd memory, os::Duplicate(own.fd().get()));
  RINGLET_TRY_ASSIGN(os::Fd event, os::Duplicate(event_fd.get()));
  return ShmOffer{out.Take(), {os::Keep(std::move(memory)), os::Keep(std::move(event))}};
}

Result<std::unique_ptr<Link>> MakeShmLink(ShmLinkParts parts, DoorbellWaiter& waiter) {
  const auto blame = [&](Error error) {
    error.message = fmt::format("{} offered {}", parts.peer_name, error.message);
    return error;
  };
  auto offer = Decode(parts.reply);
  if (!offer.ok()) return blame(offer.error());
  if (parts.descriptors.size() != 2)
    return blame(Error{Code::kProtocol, "shared memory with the wrong number of descriptors"});
  if (auto fit = RequireEventFd(parts.descriptors[1].value); !fit.ok()) return blame(fit.error());
  RINGLET_TRY_ASSIGN(os::Fd memory_fd, os::Duplicate(parts.descriptors[0].value));
  auto theirs = Segment::Map(std::move(memory_fd), offer->shape);
  if (!theirs.ok()) return blame(theirs.error());
  if (parts.prefault) {
    parts.own->Prefault(parts.pipe);
    (*theirs)->Prefault(offer->pipe);
  }

  auto gone = std::make_shared<std::atomic<bool>>(false);
  RINGLET_TRY(waiter.WatchLiveness(parts.line.get(), gone));
  const os::KnownProcess process{
      .pid = ProcessAt(parts.line), .sign_at = offer->sign_at, .sign = offer->sign};
  auto memory = std::make_shared<LinkMemory>(LinkMemory{
      parts.own, std::move(theirs).value(), parts.descriptors[1], std::move(parts.line)});
  const DoorbellButton bell(memory->theirs->word(), memory->their_event.value);
  return std::unique_ptr<Link>(std::make_unique<PipeLink>(
      PipeLinkParts{.peer = parts.peer,
                    .peer_name = parts.peer_name + " (shm)",
                    .kind = "shm",
                    .out = PipeWriter(memory->theirs->Pipe(offer->pipe), bell),
                    .in = PipeReader(memory->own->Pipe(parts.pipe), bell),
                    .memory = memory,
                    .gone = std::move(gone),
                    .process = process,
                    .registered = std::move(parts.registered),
                    .offers = parts.offers}));
}

std::string ShmObstacle(const Neighbour& self, const Neighbour& peer) {
  if (self.host_hash != peer.host_hash || self.network_namespace != peer.network_namespace)
    return "it is another host or network namespace";
  const bool unix_sockets = self.unix_socket.kind == Address::Kind::kUnix &&
                            peer.unix_socket.kind == Address::Kind::kUnix;
  return unix_sockets ? "" : "one of them lacks a UNIX socket";
}

Status ShmTransport::Expect(std::span<const Neighbour* const> peers) {
  const std::uint32_t room = parts_.segment ? parts_.segment->shape().pipes : 0;
  const std::size_t needed = pipes_taken_ + peers.size();
  if (needed > room)
    return Error{Code::kUnsupported,
                 fmt::format("rank {} needs {} pipes of shared memory and has room for {}",
                             Index(parts_.self), needed, room)};
  for (const Neighbour* peer : peers) pipes_[peer->rank] = pipes_taken_++;
  return Ok();
}

Result<LineOffer> ShmTransport::Invite(const Neighbour& peer) {
  DoorbellWaiter& waiter = *parts_.bell->waiter;
  RINGLET_TRY(waiter.PrepareOffer());
  RINGLET_TRY_ASSIGN(ShmOffer offer,
                     MakeShmOffer(*parts_.segment, pipes_.at(peer.rank), waiter.event_fd()));
  return LineOffer{.purpose = Purpose::kMemory,
                   .addresses = {peer.unix_socket},
                   .offer = std::move(offer.bytes),
                   .descriptors = std::move(offer.descriptors)};
}

Result<std::unique_ptr<Link>> ShmTransport::Make(const Neighbour& peer,
                                                 std::span<PeerConnection> met) {
  PeerConnection& line = met.front();
  return MakeShmLink({.peer = peer.rank,
                      .peer_name = Named(peer),
                      .own = parts_.segment,
                      .pipe = pipes_.at(peer.rank),
                      .reply = line.offer,
                      .descriptors = std::move(line.descriptors),
                      .line = std::move(line.socket),
                      .prefault = parts_.prefault,
                      .registered = parts_.rts->registered,
                      .offers = parts_.rts->sizes},
                     *parts_.bell->waiter);
}

}  // namespace ringlet::transport
