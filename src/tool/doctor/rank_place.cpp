#include "tool/doctor/rank_place.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/value/text.hpp"
#include "os/clock.hpp"
#include "os/error.hpp"
#include "os/net/listener.hpp"
#include "os/net/poll.hpp"
#include "os/net/resolve.hpp"
#include "os/net/sockaddr.hpp"
#include "os/process/random.hpp"
#include "rendezvous/invitation.hpp"
#include "tool/doctor/host_list.hpp"

namespace ringlet::cli {
namespace {

constexpr std::uint32_t kRanksMeetMax = 4096;
constexpr std::uint32_t kMeetPort = 29'500;
constexpr std::uint32_t kPortsOfJobs = 10'000;
constexpr std::size_t kKnockingMax = 4096;  // half-open connections
constexpr Instant kHandshakeWait = std::chrono::seconds(10);
constexpr Instant kRetryWait = std::chrono::milliseconds(100);
constexpr std::size_t kShakeBytes = 4096;
constexpr int kSegmentBytes = 536;  // fits every path

struct LauncherNames {
  std::string_view rank, ranks, local_ranks;
  std::string_view address = "MASTER_ADDR", port = "MASTER_PORT";  // unless the user sets these two
};
// The variables of ringlet.from_launcher(), in its order.
constexpr std::array<LauncherNames, 6> kLaunchers = {{
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
    {"PET_NODE_RANK", "PET_NNODES", "", "PET_MASTER_ADDR", "PET_MASTER_PORT"},
    {"JOB_COMPLETION_INDEX", "WORLD_SIZE", ""},
}};

std::string ValueOf(const EnvMap& environment, std::string_view name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

Result<std::uint32_t> NumberOf(const EnvMap& environment, std::string_view name) {
  const std::string text = ValueOf(environment, name);
  const auto number = ParseDecimal(text);
  if (!number || *number > kRanksMeetMax)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is {}, not a number up to {}", name, Quoted(text), kRanksMeetMax)};
  return static_cast<std::uint32_t>(*number);
}

Result<std::string> WireupAddress(const EnvMap& environment, const LauncherNames& names) {
  for (const std::string_view name : {"RINGLET_COMM_ID", "NCCL_COMM_ID"})
    if (const std::string text = ValueOf(environment, name); !text.empty()) return text;
  std::string port = ValueOf(environment, "MASTER_PORT");
  if (port.empty()) port = ValueOf(environment, names.port);
  if (port.empty()) {
    const auto job = ParseDecimal(ValueOf(environment, "SLURM_JOB_ID"));
    port = std::to_string(kMeetPort + (job ? *job % kPortsOfJobs : 0));
  }
  for (const std::string_view name : {std::string_view("MASTER_ADDR"), names.address})
    if (const std::string host = ValueOf(environment, name); !host.empty())
      return fmt::format("{}:{}", host.find(':') == std::string::npos ? host : "[" + host + "]",
                         port);
  for (const std::string_view name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (const std::string list = ValueOf(environment, name); !list.empty()) {
      RINGLET_TRY_ASSIGN(const auto hosts, ParseHostList(list));
      return fmt::format("{}:{}", hosts.front(), port);
    }
  if (ValueOf(environment, names.local_ranks) == ValueOf(environment, names.ranks))
    return "127.0.0.1:" + port;
  return Error{Code::kInvalidArgument,
               "the launcher does not pass the host of rank 0: set MASTER_ADDR to it, for all "
               "ranks, or use --hosts"};
}

/// A connection to rank 0 that has not yet proven that it belongs to this job.
struct UnprovenCaller {
  os::Fd fd;
  Handshake handshake;
  Instant since;
  std::string rank_line = {};
  bool over = false;
};

bool SendOutput(const os::Fd& fd, const Bytes& output) {
  return output.empty() || ::send(fd.get(), output.data(), output.size(), MSG_NOSIGNAL) ==
                               static_cast<ssize_t>(output.size());
}

/// Reads arrived data. Returns the rank once the caller has proven the secret and sent its number.
std::optional<std::uint32_t> Advance(UnprovenCaller& caller, std::uint32_t ranks) {
  std::array<std::byte, kShakeBytes> bytes;
  const ssize_t got = ::recv(caller.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got <= 0) {
    caller.over = got == 0 || (errno != EAGAIN && errno != EINTR);
    return std::nullopt;
  }
  View rest(bytes.data(), static_cast<std::size_t>(got));
  if (!caller.handshake.done()) {
    const Status pushed = caller.handshake.Push(rest);
    caller.over = !SendOutput(caller.fd, caller.handshake.TakeOutput()) || !pushed.ok();
  }
  if (!caller.handshake.done() || caller.over) return std::nullopt;
  caller.rank_line += AsText(rest);
  const std::size_t end = caller.rank_line.find('\n');
  caller.over = caller.rank_line.size() > 16;
  if (end == std::string::npos) return std::nullopt;
  const auto rank = ParseDecimal(caller.rank_line.substr(0, end));
  caller.over = caller.over || !rank || *rank == 0 || *rank >= ranks;
  if (caller.over) return std::nullopt;
  return static_cast<std::uint32_t>(*rank);
}

Result<Nonce> FreshNonce() {
  RINGLET_TRY_ASSIGN(const Secret seed, os::SecureRandom());
  return NonceSource(seed).Next();
}

Status AcceptCallers(const os::Fd& listener, const Credentials& credentials,
                     std::vector<UnprovenCaller>& callers) {
  while (true) {
    os::Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) return Ok();
    RINGLET_TRY_ASSIGN(const Nonce nonce, FreshNonce());
    if (callers.size() == kKnockingMax) callers.erase(callers.begin());
    callers.push_back({.fd = std::move(fd),
                       .handshake = Handshake::Acceptor(credentials, nonce),
                       .since = os::Now()});
  }
}

/// Returns loopback if the user named it; else all addresses. The name of rank 0's host may resolve
/// to loopback on this host and to another address elsewhere.
Address ListenAt(std::string_view meet, Address at) {
  const bool named_loopback = ParseAddress(meet).ok() || meet.starts_with("localhost:");
  if (!(at.IsLoopback() && named_loopback)) at.ip = {};
  at.scope = 0;
  return at;
}

/// Connects once. If that fails, `last` has the reason.
Result<os::Fd> CallOnce(const JobRank& place, Instant until, Error& last) {
  RINGLET_TRY_ASSIGN(const Address at, os::Resolve(place.meet));
  const os::SocketAddress to = os::ToSocketAddress(at);
  os::Fd fd(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return os::SystemError("cannot open a socket", errno);
  // Small segments pass a path that drops large packets, so the report of that defect arrives. The
  // limit applies to both directions.
  const int segment_bytes = kSegmentBytes;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_MAXSEG, &segment_bytes, sizeof segment_bytes);
  const timeval wait{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);  // also limits connect
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  if (::connect(fd.get(), to.get(), to.bytes) != 0) {
    last = os::SystemError("cannot connect to " + ToString(at), errno);
    return os::Fd();
  }
  RINGLET_TRY_ASSIGN(const Nonce nonce, FreshNonce());
  Handshake handshake = Handshake::Dialler(place.credentials, Purpose::kPeer, nonce);
  SendOutput(fd, handshake.TakeOutput());
  std::array<std::byte, kShakeBytes> bytes;
  while (!handshake.done() && os::Now() < until) {
    const ssize_t got = ::recv(fd.get(), bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      last = Error{Code::kPeerLost, "rank 0 does not answer as one of this job"};
      return os::Fd();
    }
    View rest(bytes.data(), static_cast<std::size_t>(got));
    RINGLET_TRY(handshake.Push(rest));
    SendOutput(fd, handshake.TakeOutput());
  }
  RINGLET_TRY(WriteLine(fd.get(), std::to_string(place.rank), until));
  return fd;
}

}  // namespace

Result<std::optional<JobRank>> JobRankOf(const EnvMap& environment) {
  for (const LauncherNames& names : kLaunchers) {
    if (ValueOf(environment, names.rank).empty() || ValueOf(environment, names.ranks).empty())
      continue;
    JobRank place;
    RINGLET_TRY_ASSIGN(place.rank, NumberOf(environment, names.rank));
    RINGLET_TRY_ASSIGN(place.ranks, NumberOf(environment, names.ranks));
    if (place.rank >= place.ranks)
      return Error{
          Code::kInvalidArgument,
          fmt::format("the launcher passed an impossible rank: {} of {}", place.rank, place.ranks)};
    if (place.ranks == 1) return std::optional<JobRank>();
    RINGLET_TRY_ASSIGN(place.meet, WireupAddress(environment, names));
    if (const std::string id = ValueOf(environment, "RINGLET_UNIQUE_ID"); !id.empty()) {
      RINGLET_TRY_ASSIGN(const UniqueId unique, rendezvous::FromText(id));
      RINGLET_TRY_ASSIGN(const rendezvous::Invitation invitation, rendezvous::Decode(unique));
      place.credentials = invitation.credentials;
    } else {
      // Ranks may resolve the name to different addresses.
      place.credentials =
          rendezvous::FromCommId(place.meet, {}, ValueOf(environment, "RINGLET_SECRET"))
              .credentials;
    }
    return std::optional(place);
  }
  return std::optional<JobRank>();
}

Result<ConnectedRanks> ConnectRanks(const JobRank& place, Instant until) {
  RINGLET_TRY_ASSIGN(const Address at, os::Resolve(place.meet));
  RINGLET_TRY_ASSIGN(const os::Listener listener, os::Listen(ListenAt(place.meet, at)));
  ConnectedRanks met;
  std::vector<bool> here(place.ranks);
  here[0] = true;
  std::vector<UnprovenCaller> callers;
  while (met.lines.size() + 1 < place.ranks && os::Now() < until) {
    std::vector<int> watched = {listener.fd.get()};
    for (const UnprovenCaller& caller : callers) watched.push_back(caller.fd.get());
    os::PollReadable(watched, std::min<Instant>(until - os::Now(), kHandshakeWait));
    RINGLET_TRY(AcceptCallers(listener.fd, place.credentials, callers));
    for (UnprovenCaller& caller : callers) {
      const auto rank = Advance(caller, place.ranks);
      if (os::Now() - caller.since > kHandshakeWait) caller.over = true;
      if (!rank) continue;
      caller.over = true;
      if (here[*rank]) continue;
      here[*rank] = true;
      met.lines.emplace_back(fmt::format("rank {}", *rank), std::move(caller.fd));
    }
    std::erase_if(callers, [](const UnprovenCaller& caller) { return caller.over; });
  }
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank)
    if (!here[rank]) met.missing.push_back(rank);
  return met;
}

Result<os::Fd> CallRankZero(const JobRank& place, Instant until) {
  Error last{Code::kTimeout, "no connection was tried"};
  while (os::Now() < until) {
    RINGLET_TRY_ASSIGN(os::Fd fd, CallOnce(place, until, last));
    if (fd.valid()) return fd;
    os::PollReadable({}, kRetryWait);
  }
  return Error{Code::kTimeout, fmt::format("rank {} cannot connect to rank 0 at {}: {}", place.rank,
                                           place.meet, last.message)};
}

}  // namespace ringlet::cli
